# limits.sh - little memory, a small stack, and a program that is told to stop.
. "$(dirname "$0")/harness.sh"

graph=synth:nodes=150,classes=3
run -q train $graph --epochs 30 -o small.model
exits 0
run -q attack $graph --model-file small.model --victims 0.1 -o small.flips
exits 0
run -q apply $graph --flips small.flips -o attacked.npz
exits 0

# limited KILOBYTES ARGUMENT...: as run, with so much address space
limited() {
    most=$1
    shift
    command="(ulimit -v $most; graphss $*)"
    code=0
    (ulimit -v "$most"; exec "$graphss" "$@") >../stdout 2>../stderr </dev/null || code=$?
}

case_ "with little memory every command is done or says that there is none"
large=synth:nodes=3000,classes=3 # needs megabytes beyond what loading takes
run -q train $large --epochs 30 -o large.model
exits 0
run -q attack $large --model-file large.model --method random --victims 0.02 -o large.flips
exits 0
run -q apply $large --flips large.flips -o large.npz
exits 0
least=20000 # below, the libraries cannot be loaded
while [ $least -lt 400000 ]; do
    limited $least --version
    [ "$code" != 0 ] || break
    least=$((least + 500))
done
for threads in 1 2; do
    for what in "predict $large --model-file large.model -o p.npz" \
        "train $large --epochs 2 -o t.model" \
        "alert --model-file large.model --current large.npz --previous $large" \
        "recover --model-file large.model --current large.npz --previous $large -o r.npz"; do
        done=0 # runs with enough
        none=0 # with too little
        more=500
        while [ $more -le 90000 ] && [ $done -lt 2 ]; do
            limited $((least + more)) -q --threads $threads $what
            case $code in
            0 | 1) done=$((done + 1)) ;;
            4) none=$((none + 1)); err "memory" ;;
            *) complain "code $code with $((least + more)) kB" ;;
            esac
            more=$((more + 1500))
        done
        [ $none -gt 0 ] || complain "there was always enough: $what"
        [ $done -gt 0 ] || complain "there was never enough: $what"
    done
done

steady="setarch $(uname -m) -R"
$steady true 2>/dev/null || steady=
case_ "a small stack is enough"
for kilobytes in 16 64 512; do
    command="(ulimit -s $kilobytes; graphss ...)"
    for what in --version "info $graph" "predict $graph --model-file small.model -o s.npz" \
        "recover --model-file small.model --current attacked.npz -o s.npz"; do
        code=0
        # Words and environment lie on the stack, too, and where it begins is drawn at random.
        (ulimit -s $kilobytes; exec $steady env -i "$graphss" -q --threads 2 $what) \
            >../stdout 2>../stderr || code=$?
        exits 0
    done
done

# stops_soon SECONDS OUTPUT ARGUMENT...: tells the program to stop after so many seconds; it ends
# within three, or was done before. It used to take a minute.
stops_soon() {
    wait=$1
    output=$2
    shift 2
    command="graphss $* (SIGTERM after $wait s)"
    "$graphss" "$@" >../stdout 2>../stderr &
    child=$!
    sleep "$wait"
    if kill -TERM $child 2>/dev/null; then
        (sleep 3; kill -KILL $child) 2>/dev/null &
        watch=$!
        code=0
        wait $child || code=$?
        kill $watch 2>/dev/null
        if [ "$code" != 0 ]; then
            exits 130; err "interrupted"; absent "$output"
        fi
    else
        wait $child || complain "it failed by itself"
    fi
    rm -f "$output"
}

case_ "a program that is told to stop does so soon, also with many classes"
classes=synth:nodes=1200,classes=400
run -q train $classes --epochs 3 --noise 0 -o many.model
exits 0
for seconds in 0.5 1 2; do
    stops_soon $seconds many.npz recover --model-file many.model --current $classes -o many.npz
    stops_soon $seconds again.model train $classes --epochs 300 --noise 0 -o again.model
done

finish
