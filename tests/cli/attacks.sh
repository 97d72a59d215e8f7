# attacks.sh - attack, apply, snapshots.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=400,classes=3,features=60,degree=6
run train $graph --epochs 40 -o gcn.model

# Is $1 (a comparison of awk) true of numbers in the last JSON document? $2 ... name them.
holds() {
    test=$1
    shift
    for field; do
        value=$("$json_value" "$field" <../stdout) || complain "no field $field"
        test=$(printf '%s' "$test" | sed "s/$field/$value/")
    done
    awk "BEGIN { exit !($test) }" || complain "not true: $test"
}

case_ "attack reports what the contract promises"
run --json attack $graph --model-file gcn.model -o a.flips
exits 0; no_err; present a.flips
json victims 32; json links_flipped 64; json threat evasion; json method nettack
for field in features_flipped accuracy_before accuracy_after seconds others_accuracy_before \
    others_accuracy_after victim_rule feature_domain budget surrogate options.links \
    changes_wanted dataset.hash; do
    "$json_value" $field <../stdout >/dev/null || complain "no field $field"
done
holds "accuracy_after < accuracy_before - 0.2" accuracy_after accuracy_before

case_ "attack tells people the rule, the domain and that the model is not retrained"
run attack $graph --model-file gcn.model
exits 0; out "evasion: the model is not retrained"; out "32 nodes"; out "0 <-> 1"
out "other test nodes"; out "2 links then 20 features"

case_ "poisoning trains again and says so"
run --json attack $graph --model-file gcn.model --poisoning -o p.flips
exits 0; json threat poisoning
grep -q "^# mode: poisoning" p.flips || complain "the file does not say poisoning"
run attack $graph --model-file gcn.model --poisoning --evasion
exits 2; err "--evasion"
run attack $graph --model-file gcn.model --poisoning --independent
exits 2; err "--independent"

case_ "nettack beats dice and random at the same budget"
run --json attack $graph --model-file gcn.model --links 3
nettack=$("$json_value" accuracy_after <../stdout)
for method in dice random; do
    run --json attack $graph --model-file gcn.model --links 3 --method $method
    exits 0; json links_flipped 96; json features_flipped 0
    holds "accuracy_after >= $nettack" accuracy_after
done
run --json attack $graph --model-file gcn.model --method prbcd --links 3
exits 0; json links_flipped 96
holds "accuracy_after < accuracy_before - 0.2" accuracy_after accuracy_before

case_ "every method of the list runs and keeps the contract"
run --json attack --list
exits 0; json methods.0.name nettack; json methods.0.needs_surrogate true
for method in $(run attack --list; sed -n 's/^\([a-z0-9-]*\) .*/\1/p' ../stdout); do
    run --json attack $graph --model-file gcn.model --method "$method" -o each.flips
    exits 0; no_err; json method "$method"; json victims 32; present each.flips
    run apply $graph --flips each.flips -o each.npz
    exits 0
done

case_ "an adaptive attacker is aimed at a defence, and tells so"
run --json attack $graph --model-file gcn.model --method adaptive --against label-propagation \
    --queries 12 --links 2 --features 10 -o aimed.flips
exits 0; json against label-propagation; json queries 12; json knows predictions
json against_past false
before=$("$json_value" aimed_at.accuracy_before <../stdout)
after=$("$json_value" aimed_at.accuracy_after <../stdout)
awk "BEGIN { exit !($after < $before - 0.1) }" || complain "the defence is not misled"
run --json attack $graph --model-file gcn.model --method adaptive --against recover --queries 2 \
    --previous $graph --links 50% --features 25%
exits 0; json against recover; json against_past true; json options.links 50%
run --json attack $graph --model-file gcn.model --method adaptive --against alert --queries 2
exits 0; json against alert; json aimed_at.victims 32
run attack $graph --model-file gcn.model --method adaptive --against magic
exits 2; err "magic"
run attack $graph --model-file gcn.model --against recover
exits 2; err "--against"
run attack $graph --model-file gcn.model --previous $graph
exits 2; err "--previous"
run attack $graph --model-file gcn.model --links 0%
exits 2; err "0%"

case_ "copies and benign change by the same command"
run --json attack $graph --model-file gcn.model --method copy --links 4 --features 20 -o c.flips
exits 0; json method copy; json changes_wanted 768
holds "accuracy_after < accuracy_before" accuracy_after accuracy_before
grep -q "^# method: copy" c.flips || complain "the file does not say copy"
run --json attack $graph --model-file gcn.model --method benign --links 4
exits 0; json method benign
holds "accuracy_after >= accuracy_before" accuracy_after accuracy_before
run attack $graph --model-file gcn.model --method copy --links 4 --influencers 1
exits 2; err "--influencers"

case_ "one budget for either kind, each victim on its own graph"
run --json attack $graph --model-file gcn.model --kind both --budget 4 --independent
exits 0; json changes_wanted 128; json others_accuracy_after null
run attack $graph --model-file gcn.model --budget 4
exits 2; err "--kind"
run attack $graph --model-file gcn.model --kind links --links 4
exits 2; err "--budget"
run attack $graph --model-file gcn.model --cumulative --independent
exits 2; err "--cumulative"

case_ "the same seed gives the same changes, whatever the threads"
run attack $graph --model-file gcn.model --threads 1 -o one.flips
run attack $graph --model-file gcn.model --threads 2 -o two.flips
exits 0; same one.flips two.flips; same one.flips a.flips
run attack $graph --model-file gcn.model --seed 2 -o other.flips
! cmp -s one.flips other.flips || complain "another seed gave the same changes"

case_ "victims by file, and those that do not exist"
printf '7\n3\n' >victims.txt
run --json attack $graph --model-file gcn.model --victim-file victims.txt -o v.flips
exits 0; json victims 2
grep -v '^#' v.flips | head -n 1 | grep -q '^7	' || complain "the order of the file was lost"
printf '7\n400\n' >victims.txt
run attack $graph --model-file gcn.model --victim-file victims.txt -o no.flips
exits 3; err "400"; absent no.flips
printf '7\n7\n' >victims.txt
run attack $graph --model-file gcn.model --victim-file victims.txt -o no.flips
exits 3; err "victims.txt:2: listed twice"; absent no.flips
: >empty.txt
run attack $graph --model-file gcn.model --victim-file empty.txt -o no.flips
exits 3; err "empty.txt: no node in it"; absent no.flips
run attack $graph --model-file gcn.model --victim-file victims.txt --victims 0.5
exits 2; err "--victims"

case_ "budgets larger than possible are spent as far as they go"
printf '7\n' >victims.txt
run --json attack $graph --model-file gcn.model --victim-file victims.txt --kind features \
    --budget 100000 --method random
exits 0; json features_flipped 60; json changes_wanted 100000

case_ "what does not fit is refused"
run attack synth:nodes=400,classes=3,features=61 --model-file gcn.model -o no.flips
exits 3; err "61"; absent no.flips
run attack synth:nodes=100,classes=3,features=60 --model-file gcn.model -o no.flips
exits 3; err "--split"; absent no.flips
run attack $graph --model-file gcn.model --method magic
exits 2; err "magic"
run attack $graph --model-file gcn.model --surrogate missing.npz
exits 3; err "missing.npz"
run attack $graph --model-file gcn.model --method random --surrogate train
exits 2; err "--surrogate has no meaning for random"
run attack $graph --model-file gcn.model --method random --delta-cutoff 3
exits 2; err "--delta-cutoff has no meaning for random, only for nettack"
run snapshots $graph --method copy --feature-domain real -o unused
exits 2; err "--feature-domain has no meaning for copy, only for nettack, random, dice"; absent unused
run attack $graph
exits 2; err "--model-file"
cp gcn.model keep.model
run attack $graph --model-file gcn.model -o gcn.model
exits 2; same gcn.model keep.model

case_ "apply, then apply --undo, gives the same bytes"
run convert $graph -o clean.npz
run --json apply clean.npz --flips a.flips -o attacked.npz
exits 0; json path attacked.npz; json links_flipped 64
! cmp -s clean.npz attacked.npz || complain "nothing changed"
run apply attacked.npz --flips a.flips --undo -o back.npz
exits 0; same clean.npz back.npz
run --json predict attacked.npz --model-file gcn.model -o attacked_labels.npz
exits 0; json same_dataset false

case_ "apply makes the changes of one victim and counts them"
victim=$(grep -v '^#' a.flips | head -n 1 | cut -f 1)
run --json apply clean.npz --flips a.flips --victim $victim -o one.npz
exits 0; json links_flipped 2; json features_flipped 20
for other in 0 1 2 3 4 5 6 7 8 9; do
    grep -q "^$other	" a.flips || break
done
run apply clean.npz --flips a.flips --victim $other -o no.npz
exits 3; err "no change for node '$other'"; absent no.npz

case_ "flips that do not fit are refused, and nothing is written"
run apply attacked.npz --flips a.flips -o no.npz
exits 3; err "hash"; absent no.npz
run apply attacked.npz --flips a.flips --force -o no.npz
exits 3; err "a.flips"; absent no.npz
run apply clean.npz --flips a.flips --undo -o no.npz
exits 3; absent no.npz
printf '0\tlink\t0\t9999\t0\t1\n' >bad.flips
run apply clean.npz --flips bad.flips -o no.npz
exits 3; err "bad.flips:1"; absent no.npz
run apply clean.npz --flips missing.flips -o no.npz
exits 3; err "missing.flips"
run apply clean.npz --flips a.flips -o clean.npz
exits 2

case_ "snapshots of each setting"
for setting in seen new growing; do
    run --json snapshots $graph --setting $setting -o $setting
    exits 0; json setting $setting; json victims 32; json links_flipped 64
    for file in previous.npz current.npz split.npz previous_split.npz flips.tsv groups.npz \
        model; do
        present $setting/$file
    done
    run apply $setting/current.npz --flips $setting/flips.tsv --undo -o undone.npz
    exits 0
    run --json info undone.npz
    hash=$("$json_value" hash <../stdout 2>/dev/null || "$json_value" dataset.hash <../stdout)
    run --json info clean.npz
    clean=$("$json_value" hash <../stdout 2>/dev/null || "$json_value" dataset.hash <../stdout)
    [ "$hash" = "$clean" ] || complain "$setting: taking the changes back: $hash, want $clean"
    run train $setting/previous.npz --split $setting/previous_split.npz --epochs 5 -q
    exits 0
    run train $setting/current.npz --split $setting/split.npz --epochs 5 -q
    exits 0
done
run --json info new/previous.npz
json nodes 368
run --json info new/current.npz
json nodes 400

case_ "a folder that holds files is refused"
run snapshots $graph -o seen
exits 2; err "--force"
run snapshots $graph -o seen --force
exits 0

case_ "groups, some attacked, the others changing benignly"
run --json snapshots $graph --groups 8 --attacked-groups 3 --background -o grouped
exits 0; json victims 12; json churned 20; present grouped/group8.txt; absent grouped/group9.txt
[ "$(wc -l <grouped/group1.txt)" = 20 ] || complain "group1.txt is not 20 lines"
run snapshots $graph --groups 2 --attacked-groups 3 -o no
exits 2; absent no

case_ "change that is no attack"
run --json snapshots $graph --benign -o calm
exits 0; json benign true; json victims 0; json churned 32
grep -q "^# method: benign" calm/flips.tsv || complain "flips.tsv does not say benign"

case_ "victims are test nodes of the model's split, found by name"
mkdir first turned
awk 'BEGIN { srand(5); print "id,label,f,g,h"; for (i = 0; i < 90; i++) { k = i % 3
    print "u" i "," substr("abc", k + 1, 1) "," (k == 0) + (rand() < 0.2) "," (k == 1) + (rand() < 0.2) "," (k == 2) } }' >first/nodes.csv
awk 'BEGIN { srand(6); print "source,target"; for (i = 0; i < 270; i++) { a = int(rand() * 90); print "u" a ",u" int(rand() * 30) * 3 + a % 3 } }' >first/edges.csv
{ head -1 first/nodes.csv; tail -n +8 first/nodes.csv; sed -n 2,7p first/nodes.csv; } >turned/nodes.csv
cp first/edges.csv turned/edges.csv
run train first --epochs 20 -o turned.model -q
exits 0
for place in first turned; do
    run attack $place --model-file turned.model --victims 0.3 -o $place.flips -q
    exits 0
    grep -v '^#' $place.flips | cut -f1 | sort -u >$place.victims
done
present first.victims; same first.victims turned.victims

case_ "what the attacker knows is said, and changes what is attacked"
know=synth:nodes=300,classes=3,features=60,degree=4,homophily=0.6
run train $know --epochs 20 -o know.model -q
for knows in truth predictions nothing; do
    run --json attack $know --model-file know.model --victims 0.2 --knows $knows -o $knows.flips -q
    exits 0; json knows $knows
done
run --json attack $know --model-file know.model --victims 0.2 -o default.flips -q
exits 0; json knows predictions
same default.flips predictions.flips
! cmp -s truth.flips predictions.flips || complain "predictions are no other than the truth"
! cmp -s nothing.flips predictions.flips || complain "nothing is no other than predictions"
run attack $know --model-file know.model --victims 0.2
exits 0; out "Knows    the model's predictions, and the labels that were given out"
run predict $know --model-file know.model -o believed.npz -q
run --json attack $know --model-file know.model --victims 0.2 --labels believed.npz --knows truth -q
exits 0; json knows labels
run attack $know --model-file know.model --knows all
exits 2; err "want one of truth, predictions, nothing"
run --json snapshots $know -o known -q
exits 0; json knows predictions
run --json snapshots $know --knows nothing -o unknown -q
exits 0; json knows nothing
run --json snapshots $know --mode paper -o paper -q
exits 0; json knows published

case_ "the time is that of the whole command, with its parts"
run --json attack $know --model-file know.model --victims 0.1 --independent -q
exits 0
for part in attack_seconds surrogate_seconds read_seconds measure_seconds; do
    "$json_value" $part <../stdout >part || complain "no field $part"
    "$json_value" seconds <../stdout >whole
    awk "BEGIN { exit !($(cat part) <= $(cat whole)) }" || complain "$part is more than seconds"
done

finish
