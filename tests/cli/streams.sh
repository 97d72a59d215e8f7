# streams.sh - closed pipes, full disks, folders that cannot be written, Ctrl-C, terminals.
. "$(dirname "$0")/harness.sh"

case_ "a closed stdout is an error"
command="graphss info synth: >&-"
code=0
"$graphss" info synth: >&- 2>../stderr || code=$?
: >../stdout
exits 4; err "standard output"
"$graphss" --json info synth: >&- 2>/dev/null
[ $? = 4 ] || complain "with --json the code was not 4"

case_ "a full disk is an error"
if [ -w /dev/full ]; then
    command="graphss info synth: >/dev/full"
    code=0
    "$graphss" info synth: >/dev/full 2>../stderr || code=$?
    exits 4; err "standard output"
fi

case_ "a file larger than the limit is an error and leaves nothing"
command="graphss convert under ulimit -f"
code=0
(ulimit -f 4; exec "$graphss" convert synth:nodes=2000 -o large.npz) \
    >../stdout 2>../stderr || code=$?
exits 4; err "large.npz"; err "File too large"
(ulimit -f 4; exec "$graphss" train synth:nodes=300 --epochs 2 -o large.model) \
    >../stdout 2>../stderr && complain "no error"
err "large.model"; err "File too large"
[ "$(ls -a | grep -c 'large')" = 0 ] || complain "left: $(ls -a | grep large)"

case_ "a reader that left ends the program as it ends others: by SIGPIPE, without words"
command="graphss --man into a pipe nobody reads"
{ sleep 0.5; "$graphss" --man 2>../stderr; echo $? >../code; } | :
code=$(cat ../code)
exits 141; no_err
command="graphss convert --json into a pipe nobody reads"
{ sleep 0.5; "$graphss" -q --json convert synth:nodes=100 -o piped.npz 2>../stderr
  echo $? >../code; } | :
code=$(cat ../code)
exits 141; no_err; present piped.npz

case_ "results and files go where they should when stdin, stdout and stderr are closed"
"$graphss" convert synth:nodes=30 -o made.npz <&- >&- 2>&-
run --json info made.npz
exits 0; json nodes 30

case_ "an output in a folder that is not there is refused before the work"
run convert synth:nodes=30 -o nowhere/out.npz
exits 4; no_out; err "nowhere"
run --json train synth:nodes=30 -o nowhere/out.model
exits 4; json error.code 4
run convert synth:nodes=30 -o made.npz/out.npz
exits 4

case_ "an output that is a device or a pipe is refused"
mkfifo pipe.npz
run convert synth:nodes=30 -o pipe.npz
exits 2; err "not a plain file"
[ -p pipe.npz ] || complain "the pipe was replaced"
rm pipe.npz

case_ "an output that is a folder is refused"
mkdir folder.npz
run convert synth:nodes=30 -o folder.npz
exits 2; err "is a folder"

case_ "a folder without permission is refused"
if ! skip_as_root; then
    mkdir locked
    chmod a-w locked
    run convert synth:nodes=30 -o locked/out.npz
    exits 4; err "locked"
fi

case_ "nothing is left behind beside the output"
run convert synth:nodes=30 -o only.npz
[ "$(ls -a | grep -c 'only')" = 1 ] || complain "left: $(ls -a | grep only)"

case_ "Ctrl-C ends with 130 and writes nothing"
command="graphss train ... then SIGINT"
"$graphss" train synth:nodes=3000 --epochs 1000000 -o long.model >../stdout 2>../stderr &
child=$!
sleep 1
kill -INT $child
code=0
wait $child || code=$?
exits 130; err "interrupted"; absent long.model
[ "$(ls -a | grep -c 'long')" = 0 ] || complain "left: $(ls -a | grep long)"

case_ "without a terminal there is no progress and no colour"
run train synth:nodes=300 --epochs 50
exits 0; no_err
! grep -q "$(printf '\033')" ../stdout || complain "an escape sequence in stdout"

case_ "on a terminal there is a progress line, with loss, and it is taken away"
if command -v script >/dev/null; then
    command="graphss train on a terminal"
    script -qec "'$graphss' train synth:nodes=300 --epochs 50" /dev/null \
        >../stdout 2>../stderr </dev/null
    out "train ["; out "loss"; out "$(printf '\r\033[K')"
    script -qec "'$graphss' -q train synth:nodes=300 --epochs 50" /dev/null \
        >../stdout 2>../stderr </dev/null
    ! grep -q "train \[" ../stdout || complain "--quiet shows progress"
    script -qec "NO_COLOR=1 '$graphss' -q info synth:nodes=300" /dev/null \
        >../stdout 2>../stderr </dev/null
    ! grep -q "$(printf '\033')" ../stdout || complain "NO_COLOR is ignored"
fi

case_ "a narrow terminal gets narrow curves, and loss before a bar"
if command -v script >/dev/null; then
    command="graphss train in 50 columns"
    script -qec "stty cols 50; LC_ALL=C '$graphss' --no-color train synth:nodes=300 \
        --epochs 50 --curves" /dev/null >../stdout 2>../stderr </dev/null
    out "loss"; out "|"
    ! grep -q "train \[" ../stdout || complain "a bar takes the room of the loss"
    grep '|' ../stdout | tr -d '\r' | awk 'length > 50 { exit 1 }' || complain "wide curves"
fi

case_ "without UTF-8 the pictures are ASCII"
LC_ALL=C
run train synth:nodes=300 --epochs 20 --curves
exits 0
[ "$(LC_ALL=C tr -d '\000-\177' <../stdout | wc -c)" = 0 ] || complain "not ASCII"
LC_ALL=C.UTF-8

finish
