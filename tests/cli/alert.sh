# alert.sh - exit codes and fields of alert.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=600,classes=3,features=60,degree=6
run snapshots $graph --setting seen --victims 0.5 -o hit -q
run snapshots $graph --setting seen --benign --victims 0.1 -o calm -q

case_ "an attack raises an alert: exit code 1"
run --json alert --model-file hit/model --current hit/current.npz --previous hit/previous.npz
exits 1; no_err; json alert true
for field in p_value score threshold flagged_nodes kind share nodes seconds; do
    "$json_value" $field <../stdout >/dev/null || complain "no field $field"
done
run alert --model-file hit/model --current hit/current.npz --previous hit/previous.npz
exits 1; out "ALERT"

case_ "benign churn does not"
run --json alert --model-file calm/model --current calm/current.npz \
    --previous calm/previous.npz --false-alarm-rate 0.001
exits 0; no_err; json alert false

case_ "wrong usage and wrong groups are refused"
run alert --current hit/current.npz
exits 2; err "want --model-file"
run alert --model-file hit/model
exits 2; err "want --current"
run alert --model-file hit/model --current hit/current.npz --false-alarm-rate 2
exits 2; err "false-alarm-rate"
printf 'nobody\n' >group.txt
run alert --model-file hit/model --current hit/current.npz --group group.txt
exits 3; err "nobody"
finish
