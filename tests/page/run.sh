#!/bin/sh
# run.sh - the page of graphss serve in headless Chromium, where that and node are here.
#
#     tests/page/run.sh GRAPHSS
set -eu
graphss=$1
chromium=$(command -v chromium || command -v chromium-browser || :)
if [ -z "$chromium" ] || ! command -v node >/dev/null; then
    echo 'skipped: chromium or node is not here, so the page is not looked at'
    exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    [ -z "$server" ] || wait "$server" 2>/dev/null || :
    rm -rf "$folder" 2>/dev/null || { sleep 1; rm -rf "$folder"; } # Chromium may still write
}
trap finish EXIT
graph=synth:nodes=300,classes=3,features=60,degree=6
"$graphss" snapshots $graph --setting seen --victims 0.5 -o "$folder/hit" -q >/dev/null
"$graphss" snapshots $graph --setting seen --benign --victims 0.5 -o "$folder/calm" -q >/dev/null
"$graphss" events "$folder/calm/previous.npz" "$folder/calm/current.npz" --shuffle --every 60 \
    --start 2026-11-18T00:00:00Z --source calm -o "$folder/1.jsonl" -q >/dev/null
"$graphss" events "$folder/hit/previous.npz" "$folder/hit/current.npz" --shuffle --every 5 \
    --start 2026-11-19T12:00:00Z --source hit -o "$folder/2.jsonl" -q >/dev/null
cat "$folder/1.jsonl" "$folder/2.jsonl" >"$folder/all.jsonl"
# The alert is raised before the page is looked at.
"$graphss" watch "$folder/hit/previous.npz" --model-file "$folder/hit/model" \
    --store "$folder/live.db" --events "$folder/all.jsonl" --warm-up 20 --trust-after 90d \
    --batch 10 -q >"$folder/watched" && { cat "$folder/watched"; echo 'no alert'; exit 1; }
"$graphss" serve --model-file "$folder/hit/model" --store "$folder/live.db" \
    --listen 127.0.0.1:0 -q >"$folder/address" &
server=$!
for _ in $(seq 100); do
    [ ! -s "$folder/address" ] || break
    sleep 0.1
done
node "$here/page.js" "$chromium" "$(sed 's/.* //' "$folder/address")" 0 "$folder"
[ -z "${GRAPHSS_PICTURES-}" ] || cp "$folder"/page-*.png "$GRAPHSS_PICTURES"
