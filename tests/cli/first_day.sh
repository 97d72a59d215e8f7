# first_day.sh - runs the commands of docs/first-day.md: each block marked `sh` in the order of the
# page, in one folder. A block succeeds, or ends with the code that its mark names (sh exit=1).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/harness.sh"
page=$root/docs/first-day.md

mkdir bin
ln -s "$graphss" bin/graphss
PATH=$PWD/bin:$PATH
export PATH
awk '
    /^```sh/ { n++; file = sprintf("block%02d.sh", n); code = $2; sub(/^exit=/, "", code)
               print code + 0 >(file ".code"); inside = 1; next }
    /^```/ { inside = 0 }
    inside { print >file }' "$page"
[ -f block01.sh ] || { echo "no commands in $page"; exit 1; }

for block in block??.sh; do
    case_ "the page: $(grep -v '^ ' "$block" | head -n 1)"
    command="sh $block"
    code=0
    sh -eu "$block" >../stdout 2>../stderr </dev/null || code=$?
    exits "$(cat "$block.code")"
done

case_ "the page says what the commands print"
[ "$(head -n 1 monday.csv)" = node,label,probability ] || complain "$(head -n 1 monday.csv)"
grep -q '"alert": *true' state/verdict.json || complain "$(head -c 300 state/verdict.json)"
present state/nodes.tsv
present state/labels.csv

finish
