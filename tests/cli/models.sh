# models.sh - train, predict, evaluate.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=400,classes=3,features=60,degree=6

case_ "train reports what the contract promises"
run --json train $graph --model gcn --epochs 30 -o gcn.model
exits 0; no_err; present gcn.model
for field in train_accuracy val_accuracy test_accuracy epochs seconds best_epoch \
    majority_accuracy options.hidden dataset.hash seed threads version peak_memory_bytes \
    test_nodes val_labels_flipped train_labels_flipped; do
    "$json_value" $field <../stdout >/dev/null || complain "no field $field"
done
json model gcn; json epochs 30; json path gcn.model; json dataset.nodes 400

case_ "train prints a table with the trivial baseline"
run train $graph --model mlp --epochs 20
exits 0; out "always saying the largest class"; out "the labels it saw"; out "20 epochs"

case_ "--quiet leaves the results alone"
run -q train $graph --epochs 20
exits 0; no_err; out "test"
! grep -q "^Dataset\|^Cleaned\|^Split" ../stdout || complain "--quiet describes the inputs"
run -q split $graph -o quiet.npz
exits 0; out "Split"

case_ "every model trains, saves and predicts"
run --completion bash
models=$(sed -n "s/.* train:--model) values='\(.*\)'.*/\1/p" ../stdout)
[ -n "$models" ] || complain "no models"
for model in $models; do
    run train $graph --model $model --epochs 10 -o $model.model -q
    exits 0
    run --json predict $graph --model-file $model.model -o $model.npz
    exits 0; json nodes 400; json model $model; json same_dataset true
    run --json evaluate $model.npz --truth $graph
    exits 0; json nodes 160; json missing 0; json counted test
done

case_ "the test accuracy of train is that of predict and evaluate"
run --json train $graph --epochs 30 -o a.model
accuracy=$("$json_value" test_accuracy <../stdout)
run split $graph -o split.npz
run predict $graph --model-file a.model -o a.npz
for by in "" "--split split.npz" "--split a.model" "--split a.npz"; do
    run --json evaluate a.npz --truth $graph $by
    exits 0; json accuracy "$accuracy"; json nodes 160; json counted test
done
"$json_value" confusion.2.2 <../stdout >/dev/null || complain "confusion is not 3 x 3"

case_ "evaluate says which nodes it counted"
run evaluate a.npz --truth $graph
exits 0; out "of 160 nodes"; out "Counted  test nodes by the split of a.npz"
run evaluate a.npz --truth $graph --split a.model --part train
exits 0; out "of 160 nodes"; out "Counted  training nodes by the split of a.model"
run --json evaluate a.npz --truth $graph --part val
exits 0; json nodes 80; json counted val; json counted_from a.npz
run --json evaluate a.npz --truth $graph --nodes all
exits 0; json nodes 400; json counted all
run evaluate a.npz --truth $graph --nodes all
exits 0; out "every node with a known label, 240 that the model was trained on among them"
printf '3\n5\n' >two.txt
run --json evaluate a.npz --truth $graph --nodes two.txt
exits 0; json nodes 2; json counted listed; json counted_from two.txt
run evaluate a.npz --truth $graph --nodes all --part val
exits 2; err "--nodes and --part both choose nodes"

case_ "nodes that the model never met count as test nodes"
run train synth:nodes=300,classes=3,features=60 --epochs 5 -o less.model -q
run predict synth:nodes=320,classes=3,features=60 --model-file less.model -o more.npz -q
exits 0
run --json evaluate more.npz --truth synth:nodes=320,classes=3,features=60
exits 0; json nodes 140; json counted test
run predict synth:nodes=50,classes=3,features=60 --model-file less.model -o fewer.npz -q
exits 0

case_ "the same seed gives the same bytes, whatever the threads"
run train $graph --epochs 30 --threads 1 -o one.model
run train $graph --epochs 30 --threads 2 -o two.model
same one.model two.model
run predict $graph --model-file one.model --threads 1 -o one.npz
run predict $graph --model-file one.model --threads 2 -o two.npz
exits 0; same one.npz two.npz
run train $graph --epochs 30 --seed 2 -o other.model
! cmp -s one.model other.model || complain "another seed gave the same model"

case_ "options win over the preset"
run --json train $graph --mode paper --epochs 3 --hidden 8
exits 0; json mode paper; json options.hidden 8; json epochs 3
run train $graph --mode paper --epochs 3
exits 0; out "by the paper's generator"
run train $graph --mode paper --noise-kind uniform --epochs 3
! grep -q "the paper's generator" ../stdout || complain "--noise-kind did not win"

case_ "options that a classifier does not use are refused"
run train $graph --model gcn --hops 3
exits 2; no_out; err "--hops has no meaning for gcn, only for sgc"
run train $graph --model sage --no-self-loops
exits 2; err "--self-loops has no meaning for sage, only for gcn, sgc"
run train $graph --model sgc --hops 1 --no-self-loops --epochs 2 -q
exits 0; no_err

case_ "labels of one's own data are used as they are"
run convert $graph -o own.npz -q
run --json split own.npz -o own_split.npz
exits 0; json noise 0.0; json labels_flipped 0
run --json train own.npz --epochs 2
exits 0; json noise 0.0; json train_labels_flipped 0; json val_labels_flipped 0
run train own.npz --epochs 2
exits 0; out "Noise    none: labels are used as they are"
run --json train own.npz --epochs 2 --noise 0.2
exits 0; json noise 0.2; json train_labels_flipped 32

case_ "labels of public and generated data are noisy as in the benchmark"
mkdir named
cp own.npz named/cora.npz
for data in $graph named/cora.npz "cora --data-dir named"; do
    run --json split $data -o noisy.npz
    exits 0; json noise 0.1; json labels_flipped 24
done
run split named/cora.npz -o noisy.npz
exits 0; out "Noise    10 % of the training and validation labels made wrong on purpose: 24"
run --json train own.npz --mode paper --epochs 2
exits 0; json noise 0.1
run --json split named/cora.npz --noise 0 -o clean.npz
exits 0; json noise 0.0; json labels_flipped 0

case_ "an output that would hide a dataset is refused"
for name in cora ./cora "$PWD/citeseer"; do
    run train $graph --epochs 2 -o "$name"
    exits 2; no_out; err "is the name of a dataset"; absent "$name"
done
cp own.npz named/mine.npz
run train mine --data-dir named --epochs 2 -o mine
exits 2; err "mine is the name of a dataset"; absent mine
run train mine --data-dir named --epochs 2 -o named/mine -q
exits 0

case_ "a file given to the wrong option is named, and the right option too"
run predict a.model --model-file own.npz -o no.npz
exits 3; err "they are swapped, want --model-file a.model and own.npz as the dataset"
run predict $graph --model-file own.npz -o no.npz
exits 3; err "own.npz is a dataset, want a model"; err "right after 'predict'"
run predict a.model --model-file a.model -o no.npz
exits 3; err "a.model is a model that train wrote, want a dataset"; err "--model-file"
run predict $graph --model-file cora -o no.npz
exits 3; err "there is no file 'cora', which is the name of a dataset"
run recover --model-file own.npz --current a.model -o no.npz
exits 3; err "they are swapped, want --model-file a.model"
run recover --model-file own.npz --current own.npz -o no.npz
exits 3; err "own.npz is a dataset, want a model: give it with --current instead"
run attack own.npz --model-file a.model --victims 0.02 -o a.flips -q
exits 0
run apply a.flips --flips own.npz -o no.npz
exits 3; err "a.flips is a list of changes that attack wrote, want a dataset"; err "--flips"
run apply own.npz --flips a.model -o no.npz
exits 3; err "a.model is a model that train wrote, want a list of changes"
run info a.npz
exits 3; err "a.npz is a file of labels that predict or recover wrote, want a dataset"
run info split.npz
exits 3; err "split.npz is a split, want a dataset"
run evaluate own.npz --truth a.npz
exits 3; err "a.npz is a file of labels"
run evaluate a.model --truth own.npz
exits 3; err "a.model is a model that train wrote, want the OUT.npz of predict or recover"
absent no.npz

case_ "a split from a file is used"
run --json train $graph --split split.npz --epochs 30 -o b.model
exits 0; json test_accuracy "$accuracy"
run train $graph --split missing.npz -o c.model
exits 3; err "missing.npz"; absent c.model

case_ "names in any bytes: a model is saved and fits again"
odd=$(printf 'd\351j\340')
mkdir "$odd"
printf 'id,label,f\na,caf\351,1\nb,x,2\nc,x,3\nd,caf\351,3\n' >"$odd/nodes.csv"
printf 'a,b\n' >"$odd/edges.csv"
run train "$odd" --train 1 --val 0 --noise 0 --epochs 3 -o odd.model
exits 0; err "Latin-1"
run --json predict "$odd" --model-file odd.model -o odd.npz
exits 0; json dataset.name 'd?j?'

case_ "data without labels is refused, with or without a split"
mkdir bare
printf 'node_id,f\na,1\nb,2\nc,3\n' >bare/nodes.csv
printf 'a,b\n' >bare/edges.csv
for split in "" "--split split.npz"; do
    run train bare $split
    exits 3; err "bare has no labels"
done

case_ "nodes without features: the message says what to do, and that works"
mkdir bare
awk 'BEGIN { print "id,label"; for (i = 0; i < 40; i++) print i "," i % 2 }' >bare/nodes.csv
awk 'BEGIN { for (i = 0; i < 40; i++) print i "," (i + 2) % 40 }' >bare/edges.csv
run train bare
exits 3; err "no features"; err "a column feat with NODE:1"
awk 'BEGIN { print "id,label,feat"; for (i = 0; i < 40; i++) print i "," i % 2 "," i ":1" }' \
    >bare/nodes.csv
run --json train bare
exits 0; json dataset.features 40

case_ "curves are drawn and plotted"
run train $graph --epochs 10 --curves --plot curves.svg
exits 0; out "Validation accuracy by epoch"; present curves.svg
grep -q "</svg>" curves.svg || complain "curves.svg is not whole"
run train $graph --epochs 10 --plot curves.png
exits 2; absent curves.png

case_ "a model that does not fit is refused, and nothing is written"
run predict synth:nodes=400,classes=3,features=61 --model-file gcn.model -o no.npz
exits 3; err "61"; err "60"; absent no.npz

case_ "a class that the model does not know is told, and does not matter"
run predict synth:nodes=400,classes=4,features=60 --model-file gcn.model -o four.npz
exits 0; err "83 nodes have a class that the model does not know ('3')"
run -q alert --current synth:nodes=400,classes=4,features=60 --model-file gcn.model
exits 0; err "83 nodes have a class that the model does not know ('3')"

case_ "a broken model is refused"
head -c 200 gcn.model >cut.model
run --json predict $graph --model-file cut.model -o no.npz
exits 3; json error.code 3; absent no.npz
printf 'hello' >text.model
run predict $graph --model-file text.model -o no.npz
exits 3; absent no.npz
run predict $graph --model-file missing.model -o no.npz
exits 3; err "missing.model"

case_ "predict does not overwrite the model"
cp gcn.model model.npz
run predict $graph --model-file model.npz -o model.npz
exits 2; same gcn.model model.npz

case_ "evaluate counts the nodes asked for, in any order of names"
mkdir before after
printf 'node_id,label,feat\na,x,"1,0"\nb,y,"0,1"\nc,x,"1,0"\nd,y,"0,1"\n' >before/nodes.csv
printf 'src_id,dst_id\na,c\nb,d\n' >before/edges.csv
printf 'node_id,label,feat\nd,x,"0,1"\nnew,y,"0,1"\na,x,"1,0"\n' >after/nodes.csv
printf 'src_id,dst_id\na,d\n' >after/edges.csv
run train before --model mlp --train 0.5 --val 0.25 --noise 0 -o small.model
run predict before --model-file small.model -o small.npz
exits 0
run --json evaluate small.npz --truth after --nodes all
exits 0; json nodes 2; json missing 1
printf '# only one\na\n\n' >nodes.txt
run --json evaluate small.npz --truth before --nodes nodes.txt
exits 0; json nodes 1; json classes.0 x
printf 'a\nnobody\n' >nodes.txt
run evaluate small.npz --truth before --nodes nodes.txt
exits 3; err "nobody"; err "nodes.txt"

case_ "a later snapshot may list its classes in another order, or lack one"
mkdir old later
printf 'id,label,f,g\na,cat,0,1\nb,cat,0,1\nc,dog,1,0\nd,dog,1,0\n' >old/nodes.csv
printf 'id,label,f,g\nd,dog,1,0\nc,dog,1,0\ne,,0,1\na,cat,0,1\n' >later/nodes.csv
printf 'a,b\nc,d\n' >old/edges.csv
printf 'c,d\na,e\n' >later/edges.csv
run train old --train 1 --val 0 --noise 0 --dropout 0 --epochs 100 -o animals.model
exits 0
run predict later --model-file animals.model -o later.npz
exits 0
for truth in later old; do
    run --json evaluate later.npz --truth $truth --nodes all
    exits 0; json accuracy 1.0; json nodes 3; json counted all
done
run --json evaluate later.npz --truth old
exits 0; json nodes 3; json counted all; err "no test node of later.npz has a label in old"

case_ "evaluate goes by names of classes, and says where only one side has any"
cp -r old numbered
sed -i 's/cat/1/; s/dog/0/' numbered/nodes.csv
run --json evaluate later.npz --truth numbered --nodes all
exits 0; json accuracy 0.0
err "warning: later.npz has class names and numbered has none"
case $("$json_value" warnings.0 <../stdout) in
    *"has class names"*) ;;
    *) complain "no warning in the JSON" ;;
esac
cp -r old tens; cp -r old more
sed -i 's/cat/2/; s/dog/1/' tens/nodes.csv more/nodes.csv
printf 'e,0,1,1\n' >>more/nodes.csv
run train tens --train 1 --val 0 --noise 0 --dropout 0 --epochs 100 -o tens.model
run predict tens --model-file tens.model -o tens.npz
exits 0
run --json evaluate tens.npz --truth more --nodes all
exits 0; no_err; json accuracy 1.0; json nodes 4; json missing 1

sed -i 's/dog/cow/' later/nodes.csv
run predict later --model-file animals.model -o cow.npz
exits 0; err "warning: later: "; err "a class that the model does not know ('cow')"
run --json evaluate cow.npz --truth later
exits 0; json nodes 3; json accuracy 0.333333333333333; json unknown_class 2
run evaluate cow.npz --truth later
exits 0; out "Counted as wrong 2 nodes of a class that the file does not know"

case_ "evaluate counts the victims of a list of changes"
run attack $graph --model-file gcn.model --victims 0.05 -o some.flips -q
exits 0
cut -f 1 some.flips | grep -v '#' | sort -u >victims.txt
run --json evaluate gcn.npz --truth $graph --nodes victims.txt
accuracy=$("$json_value" accuracy <../stdout)
run --json evaluate gcn.npz --truth $graph --nodes some.flips
exits 0; json accuracy "$accuracy"; json nodes "$(wc -l <victims.txt | tr -d ' ')"
grep '^#' some.flips >empty.flips
run evaluate gcn.npz --truth $graph --nodes empty.flips
exits 3; err "empty.flips: no change in it"
{ cat empty.flips; echo nonsense; } >bad.flips
run evaluate gcn.npz --truth $graph --nodes bad.flips
exits 3; err "bad.flips:"; err "1 fields, want 6"

case_ "evaluate refuses what it cannot match"
run evaluate gcn.npz --truth synth:nodes=10
exits 3; err "400"; err "10"
run evaluate gcn.npz
exits 2; err "--truth"
run evaluate missing.npz --truth $graph
exits 3

case_ "a model that is no better than the largest class is warned of"
run --json train synth:nodes=300,classes=5,seed=1 --epochs 0
exits 0; err "no better than always saying the largest class"
grep -q 'largest class' ../stdout || complain "not among the warnings"
run train synth:nodes=300,classes=5,seed=1
exits 0; no_err
mkdir -p tied
printf 'node_id,label,feat\n' >tied/nodes.csv
printf 'src,dst\n' >tied/edges.csv
i=0
while [ $i -lt 60 ]; do
    label=a; [ $((i % 3)) -eq 0 ] && label=b
    printf '%s,%s,1\n' n$i $label >>tied/nodes.csv
    printf 'n%s,n%s\n' $i $(((i + 1) % 60)) >>tied/edges.csv
    i=$((i + 1))
done
run train tied --noise 0.1
exits 0; err "no better than always saying the largest class: try --noise 0"
run train tied
exits 0; err "largest class: try another"

case_ "a feature that a later export lacks is warned of, and a class that nobody trains for"
mkdir lack
printf 'id,label,train_mask,val_mask,age,pay,x,y,z\n' >lack/nodes.csv
printf 'src,dst\n' >lack/edges.csv
i=0
while [ $i -lt 40 ]; do
    label=c$((i % 2)); [ $i -eq 39 ] && label=rare
    printf 'n%s,%s,%s,0,%s,%s,1.5,0.5,%s\n' $i $label $((i < 30)) $((20 + i % 2)) $((i % 7)) $((i % 3)) \
        >>lack/nodes.csv
    printf 'n%s,n%s\n' $i $(((i + 2) % 40)) >>lack/edges.csv
    i=$((i + 1))
done
run train lack --split public --epochs 5 -o lack.model
exits 0; err "no training node is of class 'rare'"
sed 's/age,pay,x,y,z/old,salary,u,v,z/' lack/nodes.csv >lack/other; mv lack/other lack/nodes.csv
run --json -q predict lack --model-file lack.model -o lack.npz
exits 0; err "lack has no 'age', 'pay', 'x' and 1 more, which the model was trained on: read as the mean"
grep -q "lack has no 'age'" ../stdout || complain "not among the warnings"
sed -n '1p;5,12p' lack/nodes.csv >lack/other; mv lack/other lack/nodes.csv
printf 'n4,n6\n' >lack/edges.csv
run recover --model-file lack.model --current lack --method label-propagation -o lack2.npz
exits 0; err "note: of 30 labelled nodes of the model 22 are not in lack"
run recover --model-file lack.model --current lack -o lack2.npz
exits 0; err "too few labelled nodes to rehearse attacks with"
run alert --model-file lack.model --current lack
exits 3; err "label-propagation"

finish
