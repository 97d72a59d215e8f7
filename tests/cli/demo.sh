# demo.sh - the whole story; its parts are tested apart, so one build runs it.
. "$(dirname "$0")/harness.sh"

case_ "the demo trains, is attacked, alerts and recovers"
run --json demo -o shown
exits 0
value() { "$json_value" "$1" <../stdout; }
above() { awk "BEGIN { exit !($(value "$1") > $(value "$2")) }" || complain "$1 not above $2"; }
above test_accuracy majority
above accuracy_before accuracy_after
above recovered.5.victims recovered.0.victims
[ "$(value recovered.5.method)" = graphss ] || complain "row 5 is not graphss"
[ "$(value alert)" = true ] || complain "no alert"

case_ "its report is kept up to date, and records of others are left alone"
present shown/report.html
cp shown/records.jsonl before.jsonl
printf '{"what":"defe' >>shown/records.jsonl
run -q demo -o shown
exits 0; same shown/records.jsonl before.jsonl
out "Next: $graphss fetch cora && $graphss train cora"; out "with other victims"
mkdir own
printf '{"what":"defence","dataset":"cora"}\n' >own/records.jsonl
cp own/records.jsonl before.jsonl
run demo -o own
exits 2; no_out; err "own/records.jsonl:1"; err "another folder"
same own/records.jsonl before.jsonl; absent own/report.html

finish
