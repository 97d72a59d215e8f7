# readers.sh - the first hour with one's own files: formats, gaps, text, swapped arguments.
data=$(cd "$(dirname "$1")/seeds/data" && pwd)
. "$(dirname "$0")/harness.sh"

mkdir people later
awk 'BEGIN { srand(1); print "node_id,label,age,city"
    for (i = 0; i < 240; i++) { bot = i % 2
        print "n" i "," (i % 3 ? (bot ? "bot" : "human") : "") "," \
            (bot ? 2 + rand() : 30 + 9 * rand()) "," (bot ? "Rome" : i % 4 ? "Ulm" : "Bonn") } }' \
    >people/nodes.csv
awk 'BEGIN { srand(2); print "src,dst,type"
    for (i = 0; i < 700; i++) { u = int(240 * rand()); v = 2 * int(120 * rand()) + u % 2
        print "n" u ",n" v "," (i % 2 ? "friend" : "pays") } }' >people/edges.csv

case_ "text of few values is features, types of edges are not, and both are said"
run --json info people
exits 0; json features 4
err "text becomes 3 columns of 0 and 1, one for each value: 'city' (3 values)"
err "'type' (2 values) of edges is not used: all edges count alike"
run train people -o people.model -q
exits 0

case_ "a later snapshot finds the columns of its text by name, whatever values it lacks"
sed 's/Ulm/Bonn/' people/nodes.csv | sort -t, -k1,1r >later/sorted
(grep node_id later/sorted; grep -v node_id later/sorted) >later/nodes.csv; rm later/sorted
cp people/edges.csv later/
run predict later --model-file people.model -o later.npz
exits 0; ! grep -q "lacks" ../stderr || complain "a value that no node has is said to lack"

case_ "empty cells are an error, or what --missing says"
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 20 == 0 { $3 = "" } { print }' people/nodes.csv \
    >later/nodes.csv
run predict later --model-file people.model -o no.npz
exits 3; err "later/nodes.csv:20:6: found '', want a finite number in column 'age'"
err "--missing mean or zero"; err "12 cells in all"; absent no.npz
run predict later --model-file people.model --missing mean -o mean.npz
exits 0; err "12 empty cells are taken as the mean in the data the model was trained on (people)"
run --missing zero info later
exits 0; err "12 empty cells are taken as 0: 'age' (12)"
run info later --missing gone
exits 2; err "want one of error, mean, zero"

case_ "packed tables, an edge list on standard input, and PyG's arrays are read"
mkdir packed
for f in nodes edges; do gzip -c people/$f.csv >packed/$f.csv.gz; done
run --json info packed
exits 0; json nodes 240; json features 4
cut -d, -f1,2 people/edges.csv | gzip >edges.csv.gz
run --json info edges.csv.gz
exits 0; json format edges
piped() { command="graphss $* <"; code=0; "$graphss" "$@" >../stdout 2>../stderr || code=$?; }
gunzip -c edges.csv.gz | { piped --json info -; echo $code >../code; }
code=$(cat ../code)
exits 0; json format edges; json name "standard input"
piped --json info - <"$data/people.graphml"
exits 0; json format graphml; json nodes 4
piped alert --model-file people.model --current - --previous - <people/edges.csv
exits 2; err "standard input (-) can be read once only"
run --json info "$data/pyg.npz"
exits 0; json format pyg; json nodes 4; json features 2; json classes 2
err "array 'edge_attr' is not used"
run train "$data/pyg.npz" --split public --epochs 5 -o pyg.model -q
exits 0
run --json info "$data/people.graphml"
exits 0; json format graphml; json features 4; json classes 2

case_ "a node of a class that the model does not know is warned of, and all is labelled"
awk -F, 'BEGIN { OFS = "," } $1 == "n7" { $2 = "alien" } { print }' people/nodes.csv \
    >later/nodes.csv
for way in "predict later -o alien.npz" "alert --current later --previous people" \
    "recover --current later --previous people --method keep-last -o alien.npz"; do
    # shellcheck disable=SC2086 # words
    run $way --model-file people.model
    [ "$code" -le 1 ] || complain "code $code"
    err "1 node has a class that the model does not know ('alien')"
done

case_ "the verdict is a page that can be sent on, with reasons and limits"
run alert --model-file people.model --current later --previous people --report verdict.html
[ "$code" -le 1 ] || complain "code $code"
out "Page     verdict.html"; present verdict.html
for part in "What was not examined" "Suspicious nodes" "with other edges" "false-alarm-rate" \
    "<title>"; do
    grep -qF "$part" verdict.html || complain "the page lacks: $part"
done
! grep -q "src=\|http-equiv=\"refresh\"\|https\?://" verdict.html || complain "it needs other files"
run recover --model-file people.model --current later --previous people --method keep-last \
    -o page.npz --report labels.html
exits 0; present labels.html
grep -qF "has no opinion on that" labels.html || complain "the page lacks what the method cannot tell"
run alert --model-file people.model --current later --report verdict.txt
exits 2; err "want a name that ends in .html"
run alert --model-file people.model --current later --groups none.txt --report x.html
exits 2; err "--groups excludes"; absent x.html

case_ "what was meant is said: a table of nodes, an empty folder, a file to write, a swap"
run info people/nodes.csv
exits 3; err "this is a table of nodes, want a list of edges"
mkdir empty
run info empty
exits 3; err "neither nodes.csv nor edges.csv in this folder"; err "it is empty"
run convert people people.npz
exits 2; err "if it is the file to write, give it as -o people.npz"
run alert --model-file people --current people.model
exits 3; err "they are swapped, want --model-file people.model"
run train people -o people
exits 2; absent people/people

case_ "what a data folder has is not fetched"
mkdir stored
"$graphss" -q convert synth:nodes=50 -o stored/cora.npz >/dev/null
GRAPHSS_DATA=$PWD/stored
export GRAPHSS_DATA
run fetch cora
exits 0; out "cora: already there"; out "$PWD/stored/cora.npz"; out "nothing downloaded"
run --json fetch cora
exits 0; json path "$PWD/stored/cora.npz"; json fetched 0; json checked false
unset GRAPHSS_DATA

case_ "mode honest is called default, and known by its old name"
run --json train people --mode honest --epochs 3 -o old.model
exits 0; json options.mode default
run --json train people --mode default --epochs 3 -o new.model
exits 0; same old.model new.model

finish
