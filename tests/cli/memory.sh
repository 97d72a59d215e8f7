# memory.sh - each allocation of jansson and expat fails in turn: what is out of
# memory is told as that (code 4) and never as bad data. Usage: as the others, and fail_malloc.
. "$(dirname "$0")/harness.sh"
fail_malloc=$3

# each_fails LIBRARY LAST ARGUMENT...: runs the command with the 1st, 2nd ... allocation of
# the library failing, up to the LAST, or until twelve in a row did no harm. One must have.
each_fails() {
    library=$1
    last=$2
    shift 2
    at=1
    failed=0
    good=0
    while [ "$at" -le "$last" ] && [ "$good" -lt 12 ]; do
        FAIL_IN=$library FAIL_AT=$at LD_PRELOAD=$fail_malloc "$graphss" --threads 1 "$@" \
            >../stdout 2>../stderr
        code=$?
        case $code in
            0) good=$((good + 1)) ;;
            4) good=0; failed=$((failed + 1)) ;;
            *) complain "allocation $at of $library fails: code $code, want 4: $(cat ../stderr)"
               return ;;
        esac
        at=$((at + 1))
    done
    [ "$failed" -gt 0 ] || complain "no allocation of $library failed"
}

case_ "a model that cannot be read for want of memory is not called corrupt"
run convert synth:nodes=60,features=20,classes=2 -o data.npz
exits 0
run train data.npz --epochs 2 -o data.model
exits 0
# jansson 2.14 writes beyond a buffer of its own when the tenth fails, which nobody can mend
# from outside.
each_fails libjansson. 9 predict data.npz --model-file data.model -o labels.npz

finish
