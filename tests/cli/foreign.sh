# foreign.sh - import and export of weights, and programs in the place of a model.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=300,classes=3,features=40,degree=6
run convert $graph -o graph.npz -q
run split $graph -o split.npz -q

case_ "weights go to another library's names and come back"
for model in gcn sage-mean gat; do
    run train graph.npz --model $model --epochs 10 -o $model.model -q
    exits 0
    run --json export $model.model --layout pyg -o $model.safetensors
    exits 0; json model $model; json layout pyg
    run --json import $model.safetensors --layout pyg --type $model --row-normalise \
        -o back.model
    exits 0; json model $model; json agreement null; json features 40; json classes 3
    err "without --probe"
    run predict graph.npz --model-file $model.model -o a.csv -q
    run predict graph.npz --model-file back.model -o b.csv -q
    cut -d, -f1,2 <a.csv >a; cut -d, -f1,2 <b.csv >b
    same a b
done

case_ "what does not fit is refused by name"
run import gcn.safetensors --layout dgl --type gat -o x.model
exits 3; err "convs.0.lin.weight: no part of a gat in the layout dgl"; absent x.model
run import gcn.safetensors --layout pyg --type sage -o x.model
exits 2; err "want sage-mean"
run import gcn.safetensors --layout pyg --type gnc -o x.model
exits 2; err "did you mean gcn"
run import gcn.safetensors --type gcn -o x.model
exits 2; err "want --layout"
run import gcn.safetensors --layout pyg --type gcn
exits 2; err "want -o MODEL"
run import gcn.safetensors --layout pyg --type gcn --split split.npz -o x.model
exits 2; err "wants --probe"
run import split.npz --layout pyg --type gcn -o x.model
exits 3; err "not a safetensors file"
run import gcn.safetensors --layout pyg --type gcn --probe graph.npz -o x.model
exits 3; err "probabilities"; absent x.model
run export gcn.model --layout pyg
exits 2; err "want -o"

case_ "a program answers in place of a model"
cat >program.sh <<END
"$graphss" predict "\$1" --model-file sage-mean.model -o "\$2"
END
run --json train graph.npz --split split.npz --predictor "sh program.sh" -o program.model
exits 0; "$json_value" predictor_calls <../stdout >/dev/null || complain "no calls"
"$json_value" agreement <../stdout >/dev/null || complain "no agreement"
run predict graph.npz --model-file program.model -o x.npz
exits 2; err "--predictor COMMAND"
run attack graph.npz --model-file program.model --predictor "sh program.sh" --links 2 \
    --features 0 --victims 0.2 -o flips -q
exits 0
run apply graph.npz --flips flips -o hit.npz -q
run --json recover --model-file program.model --predictor "sh program.sh" --current hit.npz \
    --method none -o out.npz
exits 0; "$json_value" predictor_calls <../stdout >/dev/null || complain "no calls"
run --json recover --model-file sage-mean.model --current hit.npz --method none -o own.npz
run evaluate out.npz --truth graph.npz
grep Accuracy ../stdout >a; run evaluate own.npz --truth graph.npz; grep Accuracy ../stdout >b
same a b
run recover --model-file program.model --predictor false --current hit.npz --method none \
    -o out2.npz
exits 3; err "the predictor failed"; err "ended with code 1"; absent out2.npz
run recover --model-file program.model --predictor true --current hit.npz --method none \
    -o out2.npz
exits 3; err "probabilities.npz"
run attack graph.npz --model-file program.model --predictor "sh program.sh" --poisoning
exits 2; err "--poisoning"

case_ "probabilities alone are enough for a verdict and for labels"
run predict graph.npz --model-file sage-mean.model -o before.npz -q
run predict hit.npz --model-file sage-mean.model -o now.npz -q
both="--current hit.npz --answers now.npz --previous graph.npz --previous-answers before.npz"
run --json alert $both --split split.npz
"$json_value" p_value <../stdout >/dev/null || complain "no p-value"
"$json_value" agreement <../stdout >/dev/null || complain "no agreement"
run --json alert --current graph.npz --answers before.npz --previous graph.npz \
    --previous-answers before.npz
exits 0; json alert false; json p_value 1
run recover $both --method none -o told.npz -q
exits 0
run evaluate told.npz --truth graph.npz; grep Accuracy ../stdout >a
run evaluate now.npz --truth graph.npz; grep Accuracy ../stdout >b
same a b
run --json recover $both --split split.npz --report told.html --flips told.flips -o told.npz
exits 0; json method graphss; present told.html; present told.flips

case_ "half of the answers, or answers of something else, are refused"
run alert --current hit.npz
exits 2; err "--model-file MODEL, or --answers FILE.npz"
run alert --current hit.npz --answers now.npz --previous graph.npz
exits 2; err "--previous-answers"
run alert $both --model-file sage-mean.model
exits 2; err "in place of --model-file"
run recover $both --predictor true -o x.npz
exits 2; err "in place of --predictor"
run recover --current hit.npz --answers split.npz --previous graph.npz \
    --previous-answers before.npz -o x.npz
exits 3; err "split.npz"; absent x.npz
run predict synth:nodes=100,classes=3,features=40 --model-file sage-mean.model -o other.npz -q
run recover --current hit.npz --answers other.npz --previous graph.npz \
    --previous-answers before.npz -o x.npz
exits 3; err "probabilities of 100 nodes"; absent x.npz
run recover $both -o now.npz
exits 2
