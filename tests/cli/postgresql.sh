# postgresql.sh - tables of a server of our own: extract, watch, a kill in the middle, the server
# away and back.
. "$(dirname "$0")/harness.sh"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "$bin/initdb" ] && command -v psql >/dev/null || { echo "skipped: no PostgreSQL server"; exit 77; }
as=
if [ "$(id -u)" = 0 ]; then
    command -v runuser >/dev/null && id postgres >/dev/null 2>&1 ||
        { echo "skipped: no user postgres to run the server as"; exit 77; }
    as="runuser -u postgres --"
fi
server=$(mktemp -d /tmp/graphss-pg.XXXXXX)
[ -z "$as" ] || chown postgres "$server"
chmod 755 "$server"
user=${as:+postgres}
user=${user:-$(id -un)}
start() {
    (cd / && $as "$bin/pg_ctl" -D "$server/data" -w -s -l "$server/log" -o "-k $server -c \
listen_addresses= -c wal_level=logical -c fsync=off -c shared_buffers=16MB" start >/dev/null)
}
stop() { (cd / && $as "$bin/pg_ctl" -D "$server/data" -m "$1" -s stop >/dev/null); }
leave() { stop immediate 2>/dev/null; rm -rf "$server" "$folder"; }
trap leave EXIT
(cd / && $as "$bin/initdb" -D "$server/data" -A trust -U "$user" --no-sync -N >/dev/null) || exit 1
start || { cat "$server/log"; exit 1; }
sql() { psql -qAtX -h "$server" -U "$user" -d postgres -v ON_ERROR_STOP=1 -c "$1"; }

sql "create table account(id int primary key, kind text, age int, posts float8, paid bool);
     create table follows(who int references account, whom int references account,
                          primary key(who, whom));
     select setseed(0.5);
     insert into account select i, case when i % 2 = 0 then 'human' else 'bot' end,
         20 + (i % 2) * 30 + random() * 5, random(), random() < 0.5 from generate_series(1, 300) i;
     insert into follows select a, b from (select distinct 1 + (random() * 299)::int a,
         1 + (random() * 299)::int b from generate_series(1, 900)) x
         where a < b and a % 2 = b % 2;" >/dev/null
cat >map.json <<END
{"connection": "host=$server user=$user dbname=postgres",
 "nodes": [{"table": "public.account", "id": "id", "prefix": "a", "label": "kind",
            "features": ["age", "posts", "paid"]}],
 "links": [{"table": "public.follows", "u": "who", "v": "whom", "u_prefix": "a", "v_prefix": "a"}]}
END
links() { sql "select count(*) from follows"; }
# Is the graph of the store that of the tables? What watch wrote against a fresh extract.
same_as_tables() {
    run extract postgresql:map.json -o now
    exits 0
    run events graph.npz now
    exits 0
    no_out
}

case_ "tables become a dataset, at the point where the slot begins"
run watch none --model-file m --store s.db --events postgresql:map.json
run --json extract postgresql:map.json -o people --start
exits 0; json nodes 300; json links "$(links)"
[ "$(sql "select count(*) from pg_replication_slots")" = 1 ] || complain "no slot"
run extract postgresql:map.json -o people --start
exits 4; err "already exists"
run train people -o model -q
exits 0

case_ "changes before watch starts, and while it waits, arrive once"
sql "insert into account values (1000, 'bot', 50, 0.25, true);
     insert into follows values (1, 1000), (2, 1000);
     delete from follows where who = 3;
     update account set age = 99, paid = null where id = 4;
     update account set id = 1001 where id = 1000 and false;" >/dev/null
run --json watch people --model-file model --store live.db --events postgresql:map.json \
    --wait 0.2 --idle 1 -o graph.npz
exits 0; json nodes 301; json links "$(links)"; json refused 0
same_as_tables
run --json watch people --model-file model --store live.db --events postgresql:map.json \
    --wait 0.2 --idle 0.5
exits 0; json events 0

case_ "a kill in the middle, and the server away and back: nothing is lost, nothing twice"
"$graphss" watch people --model-file model --store live.db --events postgresql:map.json \
    --wait 0.05 -q >watch.out 2>watch.err &
watch=$!
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    sql "begin; delete from follows where ctid in (select ctid from follows order by random()
             limit 3);
         insert into account values ($((2000 + i)), 'human', $i, 1, false);
         insert into follows values ($((2000 + i)), $i), ($((2000 + i)), $((i + 100))); commit" \
        >/dev/null
    if [ $i = 15 ] || [ $i = 22 ]; then
        kill -9 $watch
        wait $watch 2>/dev/null
        "$graphss" watch people --model-file model --store live.db --events postgresql:map.json \
            --wait 0.05 -q >watch.out 2>watch.err &
        watch=$!
    elif [ $i = 30 ]; then
        stop fast
        start
    fi
done
kill -9 $watch
wait $watch 2>/dev/null
run --json watch people --model-file model --store live.db --events postgresql:map.json \
    --wait 0.2 --idle 1 -o graph.npz
exits 0; json nodes 341; json links "$(links)"; json refused 0
same_as_tables

case_ "the store may be in the server: killed, locked, away and back, as in a file"
store="postgresql://$user@/postgres?host=$server"
tests=$(dirname "$graphss")/tests/test_store
if [ -x "$tests" ]; then
    GRAPHSS_TEST_STORE=$store "$tests" >store.out 2>&1 || { complain "test_store"; cat store.out; }
    sql "drop schema graphss cascade" 2>/dev/null
fi
# Events of two nodes joined and parted, the i-th with number i.
lines() {
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i <= to; i++)
        printf "{\"op\":\"%slink\",\"u\":\"a1\",\"v\":\"a%d\",\"source\":\"s\",\"seq\":%d}\n",
            i % 3 ? "+" : "-", 3 + i % 50, i }'
}
lines 1 600 >some.jsonl
begin_server() {
    rm -f address # of the server before
    "$graphss" serve --graph people --model-file model --store "$store" --listen 127.0.0.1:0 -q \
        >address 2>serve.err &
    serve=$!
    for _ in $(seq 100); do
        [ ! -s address ] || break
        sleep 0.1
    done
    url=$(sed 's/.* //' address)
}
post() {
    lines "$1" "$2" | curl -s -o answer -w '%{http_code}' -H 'Content-Type: application/jsonl' \
        --data-binary @- "${url%/}/v1/events"
}
if command -v curl >/dev/null; then
    begin_server
    [ "$(post 1 200)" = 202 ] || complain "not taken: $(cat answer)"
    run watch people --model-file model --store "$store" --events some.jsonl
    exits 4; err "another process writes"
    kill -9 $serve
    wait $serve 2>/dev/null
    begin_server
    [ "$(post 101 300)" = 202 ] || complain "not taken again: $(cat answer)"
    stop immediate
    [ "$(post 301 400)" = 503 ] || complain "taken without a server: $(cat answer)"
    start
    for _ in $(seq 100); do
        taken=$(post 301 600)
        [ "$taken" != 202 ] || break
        sleep 0.2
    done
    [ "$taken" = 202 ] || complain "not taken after the server came back: $(cat answer)"
    kill $serve
    wait $serve 2>/dev/null
    run watch people --model-file model --store file.db --events some.jsonl -o file.npz
    run watch people --model-file model --store "$store" --events some.jsonl -o server.npz
    out "600 known already"
    run events file.npz server.npz
    exits 0; no_out
fi

case_ "what a table does not tell is said"
sql "create table loose(id int, a int, b int)" >/dev/null
sed 's/public.follows", "u": "who", "v": "whom"/public.loose", "u": "a", "v": "b"/' map.json >loose.json
run watch people --model-file model --store loose.db --events postgresql:loose.json
exits 3; err "ALTER PUBLICATION"
sql "alter publication graphss add table loose" >/dev/null
run watch people --model-file model --store loose.db --events postgresql:loose.json
exits 3; err "REPLICA IDENTITY FULL"
sed 's/"whom"/"who else"/' map.json >wrong.json
run extract postgresql:wrong.json -o wrong
exits 3; err "no column 'who else'"
sql "truncate follows"
run watch people --model-file model --store live.db --events postgresql:map.json --idle 0.5
exits 3; err "truncated"
sql "select pg_drop_replication_slot('graphss')" >/dev/null
run watch people --model-file model --store live.db --events postgresql:map.json --idle 0.5
exits 3; err "no slot"
finish
