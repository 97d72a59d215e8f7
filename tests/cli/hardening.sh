# hardening.sh - files made to hurt (folder hardening of GRAPHSS_REFERENCE): a clear answer each.
# Skipped where they are missing.
. "$(dirname "$0")/harness.sh"
files=${GRAPHSS_REFERENCE:-}/hardening
if [ ! -r "$files/base.npz" ]; then
    echo "skipped: no folder hardening in GRAPHSS_REFERENCE"
    exit 77
fi

# limited KILOBYTES ARGUMENT...: as run, with so much address space
limited() {
    most=$1
    shift
    command="(ulimit -v $most; graphss $*)"
    code=0
    (ulimit -v "$most"; exec "$graphss" "$@") >../stdout 2>../stderr </dev/null || code=$?
}

run -q train "$files/base.npz" -o base.model
exits 0

case_ "at each level of memory predict and info work or say that there is none"
least=20000 # below, the libraries cannot be loaded
while [ $least -lt 200000 ]; do
    limited $least --version
    [ "$code" != 0 ] || break
    least=$((least + 500))
done
for what in "predict $files/base.npz --model-file base.model -o p.npz" \
    "info $files/base.npz"; do
    level=$((least + 500)) # the first one is on the brink
    done=0
    while [ $level -lt $((least + 60000)) ] && [ $done -lt 4 ]; do
        limited $level --threads 1 -q $what
        case $code in
        0) done=$((done + 1)) ;;
        4) done=0; err "memory" ;;
        *) complain "code $code with $level kB" ;;
        esac
        level=$((level + 500))
    done
    [ $done -gt 0 ] || complain "there was never enough: $what"
done

case_ "columns that no node has take no memory"
limited 600000 --json train "$files/wide4m.npz" --epochs 5 -o wide.model
exits 0
out "3999960 of 4000000 feature columns have no entry"
limited 600000 --json predict "$files/wide4m.npz" --model-file wide.model -o wide.npz
exits 0
limited 600000 --json info "$files/widecsv"
exits 0; json features 6
limited 600000 -q train "$files/widecsv" --epochs 5 -o widecsv.model
exits 0

case_ "numbers too large or too small to compute with are refused at the entry"
for what in "train DATA -o no.model" "predict DATA --model-file base.model -o no.npz" \
    "alert --model-file base.model --current DATA" \
    "alert --model-file base.model --current $files/base.npz --previous DATA" \
    "recover --model-file base.model --current DATA -o no.npz" \
    "attack DATA --model-file base.model -o no.flips"; do
    for size in huge tiny; do
        run -q $(echo "$what" | sed "s|DATA|$files/all$size.npz|")
        exits 3; err "feature 0 of node 0"
        [ $size = huge ] && err "too large" || err "too small"
    done
done
absent no.model; absent no.npz; absent no.flips

case_ "names made to hurt reach neither a spreadsheet nor the terminal"
run -q train "$files/xss.npz" -o xss.model
exits 0
run -q predict "$files/xss.npz" --model-file xss.model -o xss.csv
exits 0
! grep -q '^"\{0,1\}[=+@-]' xss.csv || complain "a name in xss.csv is a formula"
! grep -q ',"\{0,1\}[=+@-]' xss.csv || complain "a label in xss.csv is a formula"
for what in "info $files/xss.npz" "evaluate p.npz --truth $files/xss.npz" \
    "alert --model-file xss.model --current $files/xss.npz"; do
    run $what
    ! LC_ALL=C grep -q "$(printf '[\033\007]')" ../stdout ../stderr ||
        complain "a control character got through"
done

# Hundredths of a second of processor time: of a process, and of all children that ended.
used_by() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }
used_by_ended() { sed 's/.*) //' "/proc/$$/stat" | awk '{ print $14 + $15 }'; }

# Processor time, on one thread: on a busy machine the clock would tell how busy it is.
case_ "recover with a thousand classes ends within a second of work when told to"
run -q train "$files/k1000.npz" --epochs 3 --noise 0 -o many.model
exits 0
for hundredths in 30 100 250 400; do
    command="graphss recover ... k1000.npz, SIGTERM after $hundredths hundredths of a second"
    "$graphss" --threads 1 recover --model-file many.model --current "$files/k1000.npz" \
        -o many.npz >../stdout 2>../stderr &
    child=$!
    while used=$(used_by $child 2>/dev/null) && [ "${used:-9999}" -lt $hundredths ]; do
        sleep 0.1
    done
    ended=$(used_by_ended) # now: the loop above had children, too
    used=$(used_by $child 2>/dev/null)
    if kill -TERM $child 2>/dev/null; then
        (sleep 60; kill -KILL $child) >/dev/null 2>&1 & # it must not hold the runner's pipe
        watch=$!
        code=0
        wait $child || code=$?
        after=$(($(used_by_ended) - ended - ${used:-0}))
        kill $watch 2>/dev/null
        if [ "$code" != 0 ]; then
            exits 130; err "interrupted"; absent many.npz
            [ $after -lt 100 ] || complain "it worked on for $after hundredths of a second"
        fi
    else # done before it was told to stop
        wait $child || complain "it failed by itself"
    fi
    rm -f many.npz
done

finish
