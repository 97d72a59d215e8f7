# alerts_out.sh - alerts leave: signed webhooks to a receiver that fails at first, the real
# Alertmanager, and metrics that the real Prometheus reads.
packaging=$(cd "$(dirname "$0")/../.." && pwd)/packaging
rules=$packaging/prometheus-rules.yml
. "$(dirname "$0")/harness.sh"
[ -x /usr/bin/python3 ] || { echo "skipped: no python3"; exit 77; }
graph=synth:nodes=600,classes=3,features=60,degree=6
run snapshots $graph --setting seen --victims 0.5 -o hit -q
run events hit/previous.npz hit/current.npz -o hit.jsonl --start 2026-11-19T12:00:00Z --every 5 \
    --source hit --shuffle
run snapshots $graph --setting seen --benign --victims 0.5 -o calm -q
run events calm/previous.npz calm/current.npz -o calm.jsonl --start 2026-11-18T00:00:00Z \
    --every 60 --shuffle --source calm
run watch hit/previous.npz --model-file hit/model --store live.db --events calm.jsonl \
    --warm-up 20 --trust-after 90d
echo topsecret >secret
cat >receiver.py <<'END'
import base64, hashlib, hmac, http.server, sys
seen = 0
class H(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global seen
        seen += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = ".".join([self.headers["webhook-id"], self.headers["webhook-timestamp"], ""])
        want = hmac.new(b"topsecret", signed.encode() + body, hashlib.sha256).digest()
        good = self.headers["webhook-signature"] == "v1," + base64.b64encode(want).decode()
        with open("received", "a") as f:
            print(self.headers["webhook-id"], "signed" if good else "FORGED", body.decode(), file=f)
        self.send_response(503 if seen == 1 else 204)
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), H)
with open("port", "w") as f: f.write(str(server.server_port))
server.serve_forever()
END
/usr/bin/python3 receiver.py &
receiver=$!
manager=
prometheus=
leave() {
    kill $receiver $manager $prometheus 2>/dev/null
    chmod -R u+w "$folder"
    rm -rf "$folder"
}
trap leave EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -s port ] && break; sleep 0.2; done
hook=http://127.0.0.1:$(cat port)/

case_ "a message that is not taken stays, is tried again, and is signed"
run watch hit/previous.npz --model-file hit/model --store live.db --events hit.jsonl \
    --webhook $hook --webhook-secret secret
exits 1; err "alerts wait: webhook answers 503"
: >none.jsonl
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --webhook $hook --webhook-secret secret
exits 1
[ "$(wc -l <received)" = 2 ] || complain "$(wc -l <received) messages, want 2"
[ "$(cut -d' ' -f1 received | sort -u | wc -l)" = 1 ] || complain "another id the second time"
grep -q FORGED received && complain "a signature is wrong"
grep -q '"state":"open"' received || complain "no state"

case_ "nothing is sent twice once it was taken; a change of state is a message"
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --webhook $hook --webhook-secret secret
[ "$(wc -l <received)" = 2 ] || complain "it was sent again"
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --webhook $hook --webhook-secret nofile
exits 3; err "want a secret"

case_ "serve sends what became of an alert, and says nothing twice"
cp live.db served.db
before=$(wc -l <received)
"$graphss" serve --model-file hit/model --store served.db --listen 127.0.0.1:0 --webhook $hook \
    --webhook-secret secret >served 2>&1 &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q Serving served && break; sleep 0.3; done
page=$(sed -n 's/^Serving *//p' served)
free_port() { /usr/bin/python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
if [ "$page" ]; then
    case_ "what the rules and the Grafana board name is what /metrics has"
    /usr/bin/python3 - "$page" "$rules" "$packaging/grafana-graphss.json" <<'END' || complain "see above"
import json, re, sys, urllib.request
there = set(re.findall(r"^# TYPE (\S+)", urllib.request.urlopen(sys.argv[1] + "metrics").read().decode(), re.M))
board = json.load(open(sys.argv[3]))
asked = [t["expr"] for p in board["panels"] for t in p["targets"]]
asked += [a["expr"] for a in board["annotations"]["list"]]
asked += re.findall(r"expr: (.*)", open(sys.argv[2]).read())
names = set(re.sub("_bucket$", "", n) for e in asked for n in re.findall(r"\b(?:graphss|process)_\w+", e))
assert len(names) > 20 and len(set(p["id"] for p in board["panels"])) == len(board["panels"])
sys.exit("no such metric: %s" % (names - there) if names - there else 0)
END
    case_ "Prometheus reads it, and its rule fires"
    if command -v prometheus >/dev/null; then
        port=$(free_port)
        cp "$rules" rules.yml
        cat >prometheus.yml <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs:
  - job_name: graphss
    static_configs: [{targets: ['$(echo "$page" | sed 's|http://||; s|/$||')']}]
END
        prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb \
            --web.listen-address=127.0.0.1:$port >prometheus.log 2>&1 &
        prometheus=$!
        firing='query=ALERTS{alertname="GraphTampered",alertstate="firing"}'
        /usr/bin/python3 - "http://127.0.0.1:$port/api/v1/query?$firing" <<'END' || complain "$(tail -n 3 prometheus.log)"
import json, sys, time, urllib.parse, urllib.request
url = sys.argv[1].split("query=")[0] + "query=" + urllib.parse.quote(sys.argv[1].split("query=")[1])
for _ in range(100):
    try:
        if json.load(urllib.request.urlopen(url))["data"]["result"]:
            sys.exit(0)
    except OSError:
        pass
    time.sleep(0.3)
sys.exit("no alert fires")
END
        kill $prometheus
        wait $prometheus 2>/dev/null
    else
        echo "skipped: no Prometheus"
    fi
    case_ "an alert is dismissed over HTTP: one message"
    /usr/bin/python3 -c 'import sys, urllib.request as u
u.urlopen(u.Request(sys.argv[1] + "v1/alerts/1/dismiss", b"{}", {"Content-Type": "application/json"}))' \
        "$page" || complain "it is not dismissed"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ "$(wc -l <received)" -gt "$before" ] && break; sleep 0.3; done
    kill $server
    wait $server
    [ "$(wc -l <received)" = $((before + 1)) ] || complain "$(wc -l <received) messages: $(cat served)"
    tail -n 1 received | grep -q ' signed .*"state":"dismissed"' || complain "$(tail -n 1 received)"
    run serve --model-file hit/model --store served.db --webhook $hook --webhook-secret nofile
    exits 3; err "want a secret"
else
    grep -q libmicrohttpd served || complain "it does not serve: $(cat served)"
    echo "skipped: serve, $(cat served)"
fi

case_ "rules for Prometheus are rules"
if command -v promtool >/dev/null; then
    promtool check rules "$rules" >checked 2>&1 || complain "$(cat checked)"
    grep -q '5 rules' checked || complain "$(cat checked)"
else
    echo "skipped: no promtool"
fi

case_ "Alertmanager has the alert, and forgets it once it is dismissed"
am=$(command -v prometheus-alertmanager || command -v alertmanager) || {
    echo "skipped: no Alertmanager"; finish; exit; }
port=$(free_port)
printf 'route: {receiver: none}\nreceivers: [{name: none}]\n' >am.yml
"$am" --config.file=am.yml --storage.path=am --web.listen-address=127.0.0.1:$port \
    --cluster.listen-address= >am.log 2>&1 &
manager=$!
ask() { /usr/bin/python3 -c "import json, sys, urllib.request as u
a = json.load(u.urlopen('http://127.0.0.1:$port/api/v2/alerts'))
print(len(a), *[(x['labels']['alertname'], x['labels']['alert'], x['annotations']['state']) for x in a])" 2>/dev/null; }
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ask >/dev/null && break; sleep 0.3; done
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --alertmanager http://127.0.0.1:$port
exits 1
[ "$(ask)" = "1 ('GraphssTampering', '1', 'open')" ] || complain "Alertmanager says: $(ask)"
run alerts dismiss 1 --store live.db
exits 0
run watch hit/previous.npz --model-file hit/model --store live.db --events none.jsonl \
    --alertmanager http://127.0.0.1:$port --webhook $hook --webhook-secret secret
exits 0
[ "$(ask)" = 0 ] || complain "Alertmanager says: $(ask)"
grep -q '"state":"dismissed"' received || complain "no message of the dismissal"
kill $manager
wait $manager 2>/dev/null
run alerts list --store live.db
finish
