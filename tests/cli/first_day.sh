# first_day.sh - runs the commands of docs/first-day.md and then of docs/operations.md: each block
# marked `sh` in the order of the pages, in one folder. A block succeeds, or ends with the code that
# its mark names (sh exit=1).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/harness.sh"

mkdir bin
ln -s "$graphss" bin/graphss
PATH=$PWD/bin:$PATH
export PATH

blocks_of() { # PAGE: its blocks as files
    rm -f block??.sh block??.sh.code
    awk '
    /^```sh/ { n++; file = sprintf("block%02d.sh", n); code = $2; sub(/^exit=/, "", code)
               print code + 0 >(file ".code"); inside = 1; next }
    /^```/ { inside = 0 }
    inside { print >file }' "$1"
    [ -f block01.sh ] || { echo "no commands in $1"; exit 1; }
}

run_blocks() { # PAGE
    blocks_of "$root/docs/$1"
    for block in block??.sh; do
        case_ "$1: $(grep -v '^ ' "$block" | head -n 1)"
        command="sh $block"
        code=0
        sh -eu "$block" >../stdout 2>../stderr </dev/null || code=$?
        exits "$(cat "$block.code")"
    done
}

run_blocks first-day.md

case_ "the page says what the commands print"
[ "$(head -n 1 monday.csv)" = node,label,probability ] || complain "$(head -n 1 monday.csv)"
grep -q '"alert": *true' state/verdict.json || complain "$(head -c 300 state/verdict.json)"
present state/nodes.tsv
present state/labels.csv
present state/log

case_ "the script for cron prints nothing, and what went wrong is in its log"
command="check-graph shop.model nowhere state"
code=0
./check-graph shop.model nowhere state >../stdout 2>../stderr || code=$?
exits 3
no_out
no_err
grep -q nowhere state/log || complain "$(cat state/log)"

# The service's page has a folder people/ and its model.
cp -r shop/monday people
cp shop.model people.model
run_blocks operations.md

case_ "the attack of the page is an alert of the store, and benign change before it is none"
run alerts list --store try.db --json
grep -q '"t": *"2026-11-19T' ../stdout || complain 'the first alert is not of the day of the attack'

finish
