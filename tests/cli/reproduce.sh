# reproduce.sh - experiments as records: run, resume, refuse.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=90,classes=3,features=30,degree=4

case_ "the recipes are named with what they make"
run reproduce --list
exits 0; out "datasets: "; out "defence-honest: "; out "defence-paper: "

case_ "statistics of a dataset"
run --json reproduce datasets --datasets $graph -o stats -q
exits 0; no_err; json cells 1; json run 1; json failed 0; present stats/records.jsonl
grep -qF '"nodes":90' stats/records.jsonl || complain "no nodes in the record"

case_ "two cheap methods, five sets of victims or three settings; then nothing is left to do"
run --json reproduce defence --datasets $graph --models gcn --seeds 1 \
    --methods none,keep-last -o out -q --threads 2
exits 0; no_err; json cells 16; json run 16; json failed 0
run --json reproduce defence --datasets $graph --models gcn --seeds 1 \
    --methods none,keep-last -o out -q
exits 0; json before 16; json run 0

case_ "an alert is measured by its area under the curve"
run --json reproduce alert --mode honest --datasets synth:nodes=150,classes=3 --models gcn \
    --seeds 1 -o alerts -q --threads 2
exits 0; no_err; json cells 3; json failed 0
grep -qF '"auc":' alerts/records.jsonl || complain "no auc in the records"

case_ "time and memory are measured though who starts the program ignores its children"
if env --ignore-signal=CHLD true 2>/dev/null; then
    command="graphss reproduce, its children ignored"
    env --ignore-signal=CHLD "$graphss" reproduce defence --datasets $graph --models gcn \
        --settings seen --mode honest --seeds 1 --methods none -o ignored -q \
        >../stdout 2>../stderr </dev/null
    code=$?
    exits 0; no_err
    grep -qF '"cpu_seconds":' ignored/records.jsonl || complain "no time"
    ! grep -qE '"(cpu_seconds|peak_memory)":0(\.0)?[,}]' ignored/records.jsonl ||
        complain "no time or no memory"
else
    echo "skipped: env cannot ignore a signal"
fi

case_ "a torn line is mended, and its cell run again"
size=$(wc -c <out/records.jsonl)
head -c $((size - 7)) out/records.jsonl >shorter && cp shorter out/records.jsonl
run reproduce defence --datasets $graph --models gcn --seeds 1 --methods none,keep-last -o out
exits 0; err "never finished"; out "15 recorded before, 1 run now"

case_ "wrong words are refused before any work"
run reproduce
exits 2
run reproduce defence
exits 2; err "-o DIR"
run reproduce nonsense -o nowhere
exits 2; err "no recipe for 'nonsense'"; absent nowhere
run reproduce defence --mode both -o nowhere
exits 2; err "paper or honest"; absent nowhere
run reproduce defence --datasets missing -o nowhere
exits 3; err "missing"; absent nowhere
run reproduce defence --datasets $graph --methods none,nonsense -o nowhere
exits 2; err "--methods: found 'nonsense', want one of graphss, none"; absent nowhere
run reproduce defence --datasets $graph --settings old -o nowhere
exits 2; err "--settings: found 'old', want one of seen, new, growing"; absent nowhere
run reproduce defence --datasets $graph --models gnc -o nowhere
exits 2; err "--models: found 'gnc', want one of gcn, sgc, sage, sage-mean, gat, mlp"; absent nowhere
run reproduce defence --datasets $graph --methods alert -o nowhere
exits 2; err "defence: no experiment is left"; absent nowhere
mkdir foreign && echo "my diary" >foreign/records.jsonl
run reproduce datasets --datasets $graph -o foreign
exits 3; err "line 1"
case_ "lines of a recipe that would have no effect are refused"
head='what = defence
mode = honest
datasets = synth:nodes=60
models = sgc
methods = none
settings = new'
for fault in "alone = perhaps|7: found 'perhaps', want yes or no" \
    "parameter = links|7: a parameter wants points" \
    "colour = blue|7: no key is called 'colour'"; do
    printf '%s\n%s\n' "$head" "${fault%%|*}" >my.recipe
    run reproduce --recipe my.recipe -o faulty
    exits 2; err "line ${fault#*|}"
done
run reproduce alert --recipe my.recipe -o faulty
exits 2; err "'alert' cannot"; absent faulty

case_ "where a cell fails the rest is run, and the code says so, also when it is not run again"
cat >slow.recipe <<'RECIPE'
what = defence
mode = honest
datasets = synth:nodes=900,features=300
models = gcn
methods = none prognn
settings = seen
limit = 1
RECIPE
for before in 0 3; do
    run --json reproduce --recipe slow.recipe --seeds 1 -o slow -q --threads 2
    exits 4; json cells 3; json before $before; json run $((3 - before))
    failed=$("$json_value" failed <../stdout)
    [ "$failed" -gt 0 ] || complain "none failed"
done

case_ "the paper's snapshots are those of its experiments"
small=synth:nodes=90,classes=3,features=30,degree=4
for model in gcn sgc; do
    run --json reproduce defence --mode paper --datasets $small --models $model --seeds 1 \
        --methods none -o published -q
    exits 0
    run --json snapshots $small --mode paper --model $model -o "published_$model" -q
    exits 0
    after=$("$json_value" accuracy_after <../stdout | cut -c 1-6) # records have more digits
    grep '"set":1' published/records.jsonl | grep "\"model\":\"$model\"" |
        grep -q "\"victims_attacked\":$after" ||
        complain "$model: victims at $after after the attack, the records say otherwise"
done

finish
