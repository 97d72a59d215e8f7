# live.sh - events, watch, alerts, audit.
. "$(dirname "$0")/harness.sh"
graph=synth:nodes=600,classes=3,features=60,degree=6
run snapshots $graph --setting seen --victims 0.5 -o hit -q
run snapshots $graph --setting seen --benign --victims 0.5 --benign-nodes 300 -o calm -q
[ -f calm/current.npz ] || run snapshots $graph --setting seen --benign --victims 0.5 -o calm -q

case_ "two snapshots are a stream of events, numbered and with times"
run --json events calm/previous.npz calm/current.npz -o calm.jsonl --start 2026-11-18T00:00:00Z \
    --every 60 --shuffle --source calm
exits 0; no_err
head -1 calm.jsonl | grep -q '"source":"calm","seq":0' || complain "$(head -1 calm.jsonl)"
run events hit/previous.npz hit/current.npz -o hit.jsonl --start 2026-11-19T12:00:00Z --every 5 \
    --source hit --shuffle
exits 0; out "Events"
run events hit/previous.npz hit/current.npz --start yesterday
exits 2; err "want a time"

case_ "a stream is watched; a bad line is set aside; the state goes on"
printf 'nonsense\n' >>calm.jsonl
run --json watch hit/previous.npz --model-file hit/model --store live.db --events calm.jsonl \
    --warm-up 20 --trust-after 90d
exits 0; json alert false; json refused 1; json duplicates 0; json incremental true
run --json watch hit/previous.npz --model-file hit/model --store live.db --events calm.jsonl
exits 0; json events 0
cp calm.jsonl again.jsonl
run --json watch hit/previous.npz --model-file hit/model --store live.db --events again.jsonl
exits 0; json events 0; json refused 1

case_ "an attack raises an alert: exit code 1, and it is in the store"
run --json watch hit/previous.npz --model-file hit/model --store live.db --events hit.jsonl
exits 1; json alert true; json open_alerts 1
run --json alerts list --store live.db
exits 0; json open 1; json alerts.0.state open; json alerts.0.group all
run alerts show 1 --store live.db
exits 0; out "log odds"

case_ "a verdict is computed again with the same bits"
run --json audit replay 1 --store live.db --model-file hit/model
exits 0; json same true
run audit list --store live.db
exits 0; out "each fits the one before"
run audit refused --store live.db
exits 0; out "nonsense"

case_ "an alert is acknowledged and confirmed, once"
run --json alerts ack 1 --store live.db --who anna
exits 0; json alerts.0.state acknowledged
run alerts confirm 1 --store live.db --who anna --note ring
exits 0; out "confirmed"
run alerts dismiss 1 --store live.db
exits 3; err "is confirmed"
run alerts ack 7 --store live.db
exits 3; err "no alert 7"
: >none.jsonl
run --json watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl
exits 0; json alert false

case_ "the graph as it is has the labels that trained the model, and a note counts them"
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl -o now.npz
exits 0; err "those that trained the model or came"
run --json info now.npz
json nodes "$("$graphss" --json info hit/previous.npz 2>../stderr | "$json_value" nodes)"

case_ "another model is refused, and takes over where the one before is named"
run train hit/previous.npz --epochs 60 -o next.model -q
exits 0
run watch hit/previous.npz --model-file next.model --store live.db --events none.jsonl
exits 3; err "another model"
run --json watch hit/previous.npz --model-file next.model --store live.db --events none.jsonl \
    --previous-model hit/model
exits 0; json changed_nodes 0; json checks "$(
    "$graphss" --json watch hit/previous.npz --model-file next.model --store live.db \
        --events none.jsonl 2>../stderr | "$json_value" checks)"
run audit list --store live.db
exits 0; out "model"
run --json alerts list --store live.db
exits 0; json alerts.0.state confirmed

case_ "without a test it is not said that there is no sign of tampering"
run watch hit/previous.npz --model-file hit/model --store untested.db --events none.jsonl
exits 0; out "No test yet"

case_ "wrong use"
run alerts list
exits 2; err "want --store"
run alerts fold --store live.db
exits 2; err "want list, show"
run audit replay --store live.db
exits 2; err "want the number"
run alerts list --store nothing.db
exits 3
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --false-alarms often
exits 2; err "1/week"
