# recover.sh - labels for a snapshot, by each method.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=400,classes=3,features=60,degree=6
run train $graph --epochs 30 --hidden 16 -o gcn.model -q

case_ "every method runs and keeps the contract"
run --json recover --list
exits 0
for method in $(run recover --list; sed -n 's/^\([a-z-]*\) .*/\1/p' ../stdout); do
    run --json recover --model-file gcn.model --current $graph --previous $graph \
        --method "$method" -o "$method.npz" -q
    exits 0; no_err; present "$method.npz"; json method "$method"; json nodes 400
    for field in changed seconds train how peak_memory_bytes options.mode; do
        "$json_value" $field <../stdout >/dev/null || complain "$method: no field $field"
    done
    run --json evaluate "$method.npz" --truth $graph
    exits 0; json nodes 160; json counted test
done

case_ "no defence is the model's own answer"
run predict $graph --model-file gcn.model -o own.npz
run --json evaluate own.npz --truth $graph
accuracy=$("$json_value" accuracy <../stdout)
run --json evaluate none.npz --truth $graph
json accuracy "$accuracy"

case_ "labels are written as tables, names in quotes where they need them"
mkdir people
awk 'BEGIN { print "node_id,label,words"; for (i = 0; i < 60; i++)
    printf "\"p%d, \"\"x\"\"\",%s,%d\n", i, i % 2 ? "\"bot, new\"" : "human", 100 * (i % 2) + i
}' >people/nodes.csv
awk 'BEGIN { print "src,dst"; for (i = 0; i < 58; i++)
    printf "\"p%d, \"\"x\"\"\",\"p%d, \"\"x\"\"\"\n", i, i + 2 }' >people/edges.csv
run train people --noise 0 --val 0.4 -q -o people.model
run predict people --model-file people.model -o people.csv
exits 0; out "people.csv"
[ "$(head -n 1 people.csv)" = node,label,probability ] || complain "$(head -n 1 people.csv)"
[ "$(wc -l <people.csv)" = 61 ] || complain "not a line for each node"
grep -q '^"p1, ""x""","bot, new",[01]\.*[0-9]*$' people.csv || complain "$(sed -n 3p people.csv)"
run predict people --model-file people.model -o people.tsv
grep -q "^p1, \"x\"$(printf '\t')bot, new$(printf '\t')" people.tsv ||
    complain "$(sed -n 3p people.tsv)"
[ "$(ls -a | grep -c 'people\.tsv')" = 1 ] || complain "left: $(ls -a | grep people.tsv)"
run -q recover --model-file people.model --current people --method mlp --abstain 1 -o p.csv
exits 0
[ "$(head -n 1 p.csv)" = node,label,probability,classifier_label,perturbed ] ||
    complain "$(head -n 1 p.csv)"
grep -q '^"p0, ""x""",,,human,' p.csv || complain "withheld labels are not empty"
run evaluate p.csv --truth people
exits 3; err "p.csv"

case_ "the nodes that were relabelled are shown, the surest first"
run snapshots $graph -o day -q
run recover --model-file day/model --current day/current.npz --previous day/previous.npz \
    -o day.csv
exits 0; out " -> "; out "... and "
[ "$(grep -c -e ' -> ' ../stdout)" = 10 ] || complain "not ten"
out "Labels   $(awk -F, 'NR > 1 && $2 != $4 { n++ } END { print n }' day.csv) of 400 differ"

case_ "where nothing happened nothing is relabelled"
calm=synth:nodes=1200,classes=4,features=300,degree=6
run train $calm --epochs 30 --hidden 16 -o calm.model -q
run --json recover --model-file calm.model --current $calm --previous $calm -o calm.npz -q
exits 0; json changed 0; json kind none

case_ "wrong options are refused before any work"
run recover --model-file gcn.model --current $graph --method keep-lst -o a.npz
exits 2; err "did you mean keep-last?"; absent a.npz
run recover --model-file gcn.model --current $graph --method none --hidden 3 -o a.npz
exits 2; err "--hidden has no meaning for none"; absent a.npz
run recover --model-file gcn.model --current $graph --method none --train retrain -o a.npz
exits 2; err "has no meaning for none"; absent a.npz
run recover --model-file gcn.model --current $graph --method keep-last -o a.npz
exits 2; err "needs the previous snapshot"; absent a.npz
run recover --model-file gcn.model --current $graph -o a.txt
exits 2; err "ends in .npz, .csv or .tsv"
run recover --current $graph -o a.npz
exits 2; err "--model-file"
run recover --model-file gcn.model --current $graph -o gcn.model
exits 2

case_ "the paper's method on the paper's snapshots"
run snapshots $graph --mode paper -o paper -q
exits 0
for phi in dynamic-phi no-dynamic-phi; do
    run --json recover --mode paper --model-file paper/model --current paper/current.npz \
        --previous paper/previous.npz --sweeps 30 --warmup 5 --retrain-epochs 3 --prior 1 \
        --$phi -o $phi.npz -q
    exits 0; no_err; json method graphss; json options.warmup 5; json options.mode paper
done
json changed 0
run recover --mode paper --model-file gcn.model --current $graph -o a.npz
exits 2; err "needs the previous snapshot"; absent a.npz
run recover --model-file gcn.model --current $graph --previous $graph --warmup 5 -o a.npz
exits 2; err "--warmup has no meaning for graphss in default mode"; absent a.npz
run recover --mode paper --model-file gcn.model --current $graph --previous $graph \
    --warmup 100 -o a.npz
exits 2; err "warm-up"; absent a.npz

case_ "the changes that would clean a snapshot"
run snapshots $graph --setting seen -o seen -q
exits 0
run --json recover --model-file seen/model --current seen/current.npz \
    --split seen/split.npz --previous seen/previous.npz --flips back.tsv -o a.npz -q
exits 0; no_err; present back.tsv; json flips back.tsv
links=$("$json_value" links_flipped <../stdout)
[ "$links" -gt 0 ] || complain "no link is suspicious"
run --json apply seen/current.npz --flips back.tsv -o cleaned.npz
exits 0; json links_flipped "$links"
run --json recover --model-file seen/model --current seen/current.npz \
    --split seen/split.npz --flips guess.tsv -o a.npz -q
exits 0; present guess.tsv
run apply seen/current.npz --flips guess.tsv -o cleaned.npz -q
exits 0
run recover --model-file gcn.model --current $graph --method none --flips b.tsv -o a.npz
exits 2; err "--flips has no meaning for none"; absent b.tsv
run recover --model-file gcn.model --current $graph --flips a.npz -o a.npz
exits 2

case_ "trusted nodes are read as untouched"
seq 0 399 >trusted.txt
run --json recover --model-file seen/model --current seen/current.npz \
    --split seen/split.npz --previous seen/previous.npz --trusted trusted.txt -o sure.csv
exits 0; json trusted 400; json changed 0; json kind none
[ "$(sed 1d sure.csv | cut -d , -f 5 | sort -u)" = 0 ] || complain "a trusted node is suspected"
sed -n 1,200p trusted.txt >half.txt
run recover --model-file seen/model --current seen/current.npz --split seen/split.npz \
    --trusted half.txt -o half.csv
exits 0; out "Trusted  200 nodes, read as untouched"
awk 'length > 80 { exit 1 }' ../stdout || complain "a line is too wide"
awk -F, 'NR > 1 && $1 >= 200 && $5 > 0.5 { found = 1 } END { exit !found }' half.csv ||
    complain "nobody else is suspected"
echo nobody >>half.txt
run recover --model-file seen/model --current seen/current.npz --trusted half.txt -o no.npz
exits 3; err "half.txt:201: "; err "nobody"; absent no.npz
run recover --model-file gcn.model --current $graph --method retrain --trusted trusted.txt -o no.npz
exits 2; err "--trusted has no meaning for retrain"; absent no.npz
run recover --model-file gcn.model --current $graph --trusted trusted.txt -o trusted.txt
exits 2

case_ "a graph attacked before training: what is left out makes the past"
made=synth:nodes=600,classes=3,topic=0.5,homophily=0.9
run train $made -q -o first.model
run -q attack $made --model-file first.model --method dice --links 4 --features 0 -o before.flips
run apply $made --flips before.flips -o poisoned.npz
run train poisoned.npz --poisoned --flips cut.tsv -o kept.model
exits 0; out "are not trusted and left out: cut.tsv"; out "training labels are doubted"
run --json train poisoned.npz --poisoned --flips again.tsv -o again.model
exits 0; same cut.tsv again.tsv; same kept.model again.model
json poisoned.flips again.tsv; json poisoned.distrusted_links "$(grep -vc '^#' cut.tsv)"
json poisoned.doubted_labels $((240 - $("$json_value" train_nodes <../stdout)))
[ "$("$json_value" poisoned.distrusted_links <../stdout)" -gt 100 ] || complain "too few"
run apply poisoned.npz --flips cut.tsv -o kept.npz
exits 0; out "Changes  $(grep -vc '^#' cut.tsv) links and 0 features"
run --json alert --model-file kept.model --current kept.npz --previous kept.npz
exits 0
run -q attack kept.npz --model-file kept.model --links 5 --features 0 -o later.flips
run apply kept.npz --flips later.flips -o later.npz
run alert --model-file kept.model --current later.npz --previous kept.npz
exits 1; out "ALERT"
run -q recover --model-file kept.model --current later.npz --previous kept.npz -o later.csv
exits 0; out " -> "
run --json recover --model-file kept.model --current poisoned.npz --poisoned --flips back.tsv \
    -o back.csv
exits 0; json distrusted_links "$(grep -vc '^#' back.tsv)"
case_ "what --poisoned has no meaning for is refused"
run train $made --poisoned --model mlp
exits 2; err "links can not mislead mlp"
run train $made --poisoned --predictor true
exits 2; err "--poisoned is of our own training"
run train $made --flips cut.tsv
exits 2; err "--flips is of --poisoned"
run train $made --poisoned --flips two -o two
exits 2; err "--output and --flips both name two"; absent two
echo 3 >three.txt
run recover --model-file kept.model --current poisoned.npz --poisoned --trusted three.txt -o t.csv
exits 2; err "--trusted has no meaning for poisoned"
run recover --model-file kept.model --current poisoned.npz --poisoned --method mlp -o t.csv
exits 2; err "--poisoned is the method poisoned, found mlp"
run train $made --model mlp -q -o mlp.model
run recover --model-file mlp.model --current $made --poisoned -o t.csv
exits 2; err "mlp, which does not use links"; absent t.csv

case_ "the same seed gives the same bytes, whatever the threads"
for threads in 1 2; do
    run recover --model-file gcn.model --current $graph --method retrain \
        --threads $threads -o threads$threads.npz -q
    exits 0
done
same threads1.npz threads2.npz
case_ "nodes, words and classes of another export go by name"
mkdir first again
awk 'BEGIN { srand(1); print "id,label,feat"
    for (i = 0; i < 300; i++) {
        k = i % 3; printf "u%d,%s,\"", i, substr("abc", k + 1, 1)
        for (j = 0; j < 8; j++) printf "w%d:1 ", int(rand() * 20) * 3 + (rand() < 0.7 ? k : int(rand() * 3))
        print "\""
    } }' >first/nodes.csv
awk 'BEGIN { srand(2); print "source,target"
    for (i = 0; i < 900; i++) { a = int(rand() * 300); b = int(rand() * 100) * 3 + (rand() < 0.9 ? a % 3 : int(rand() * 3)); print "u" a ",u" b }
    }' >first/edges.csv
{ head -1 first/nodes.csv; tail -n +2 first/nodes.csv | tac; } >again/nodes.csv
cp first/edges.csv again/edges.csv
run train first --epochs 100 -o words.model -q
exits 0
for place in first again; do
    run --json recover --model-file words.model --current $place -o $place.npz
    exits 0
    run --json evaluate $place.npz --truth first
    exits 0
    "$json_value" accuracy <../stdout | awk '{ exit !($1 > 0.9) }' ||
        complain "$place: $("$json_value" accuracy <../stdout) of the labels are right"
done
run train first --epochs 100 --seed 2 -o attacker.model -q
run attack again --model-file attacker.model -o hits.tsv -q
exits 3; err "feature 0 is"; err "to the model"
run train again --epochs 100 -o other.model -q
run attack again --model-file other.model --victims 0.2 -o hits.tsv -q
run apply again --flips hits.tsv -o hit.npz -q
exits 0
run recover --model-file words.model --current hit.npz --previous first --flips back.tsv -o hit_labels.npz
exits 0; err "features taken by name, their order differs"
run apply hit.npz --flips back.tsv -o cleaned.npz -q # which checks every value of before
exits 0; grep -q "feature" back.tsv || complain "no feature is proposed"
run alert --model-file words.model --current again
[ "$code" -le 1 ] || complain "code $code"
err "features taken by name"
run split again -o again_split.npz --noise 0 -q # whose labels are in the order of that file
exits 0
run recover --model-file words.model --current again --split again_split.npz -o again2.npz -q
exits 0
run --json evaluate again2.npz --truth first
"$json_value" accuracy <../stdout | awk '{ exit !($1 > 0.9) }' ||
    complain "with its split $("$json_value" accuracy <../stdout) of the labels are right"
sed 's/u\([0-9]\)/v\1/g' first/nodes.csv >again/nodes.csv
sed 's/u\([0-9]\)/v\1/g' first/edges.csv >again/edges.csv
run recover --model-file words.model --current again -o no.npz
exits 3; err "none of the"; err "is called 'v0', the model's 'u0'"; absent no.npz

case_ "who did not change was not hit, be features measurements rather than words"
mkdir measured
awk 'BEGIN { srand(3); print "id,label,f,g,h"
    for (i = 0; i < 300; i++) { k = i % 2; printf "u%d,%d", i, k
        for (j = 0; j < 3; j++) printf ",%.4f", rand() + rand() + rand() - 1.5 + (j < 2 ? k : 0); print "" } }' >measured/nodes.csv
awk 'BEGIN { srand(4); print "source,target"
    for (i = 0; i < 900; i++) { a = int(rand() * 300); b = int(rand() * 150) * 2 + (rand() < 0.9 ? a % 2 : int(rand() * 2)); print "u" a ",u" b }
    }' >measured/edges.csv
run train measured --noise 0.1 -o measured.model -q
exits 0
run --json recover --model-file measured.model --current measured --previous measured -o m.npz
exits 0; json kind none; json share 0.0
run --json recover --model-file measured.model --current measured -o m.npz
exits 0
[ "$("$json_value" changed <../stdout)" -le 3 ] || complain "more than 3 of 300 labels changed"
run attack measured --model-file measured.model --method copy --victims 0.3 --links 0 --features 3 -o copied.tsv -q
exits 0
run apply measured --flips copied.tsv -o copied.npz -q
exits 0
run --json recover --model-file measured.model --current copied.npz --previous measured -o m.npz
exits 0; json kind features
mkdir renamed
sed 's/^u/v/' measured/nodes.csv >renamed/nodes.csv
sed 's/u\([0-9]\)/v\1/g' measured/edges.csv >renamed/edges.csv
run recover --model-file measured.model --current measured --previous renamed -o no.npz
exits 3; err "no node is in both snapshots"; absent no.npz

case_ "no line of an answer is wider than a terminal"
run recover --model-file gcn.model --current $graph --method graphss -o wide.npz
exits 0; out "Method   graphss"
awk 'length > 80 { exit 1 }' ../stdout || complain "a line of recover is too wide"
run alert --model-file gcn.model --current $graph
awk 'length > 80 { exit 1 }' ../stdout || complain "a line of alert is too wide"

finish
