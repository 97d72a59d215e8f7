# files.sh - datasets in and out: info, convert, split, fetch without a network.
. "$(dirname "$0")/harness.sh"

case_ "info describes a generated graph"
run --json info synth:nodes=300,classes=4,features=50
exits 0; json nodes 300; json classes 4; json features 50; json format synth; no_err
run info synth:nodes=300,classes=4,features=50
exits 0; out "300 nodes"; out "4 classes"; out "Hash"

case_ "info reads a folder of CSV and names what it cleaned"
mkdir csv
printf 'node_id,label,feat\nann,red,"1,0"\nbob,blue,"0,1"\ncy,red,"1,1"\n' >csv/nodes.csv
printf 'src_id,dst_id\nann,bob\nbob,ann\nann,bob\nbob,cy\ncy,cy\n' >csv/edges.csv
run --json info csv
exits 0; json nodes 3; json edges 2; json classes 2; json features 2
json cleaned.loops 1; json cleaned.duplicates 1; json class_sizes.0.nodes 2
run info csv
exits 0; out "1 loop dropped"; out "red"

case_ "a plain edge list has neither features nor labels"
printf 'a b\nb c\n' >list.txt
run info list.txt
exits 0; out "3 nodes, 2 edges, no features, 0 classes"
run --json train list.txt
exits 3; json error.code 3; err "has no labels"

case_ "convert keeps the dataset: the hash is the same"
run --json convert csv -o csv.npz
exits 0; json path csv.npz
hash=$("$json_value" dataset.hash <../stdout)
run --json info csv.npz
exits 0; json format npz; json hash "$hash"; json named_nodes true

case_ "convert writes the same bytes again"
run convert csv -o again.npz
exits 0; same csv.npz again.npz

case_ "convert refuses an extension it does not know"
run convert csv -o out.mat
exits 2; err "ends in .npz"; absent out.mat

case_ "convert wants an output"
run convert csv
exits 2; err "want -o FILE.npz"

case_ "an input is never overwritten"
cp csv.npz before.npz
run convert csv.npz -o csv.npz
exits 2; err "will not be overwritten"; same csv.npz before.npz
ln -s csv.npz link.npz
run convert link.npz -o csv.npz
exits 2; same csv.npz before.npz
run convert csv --data-dir . -o ./csv.npz
exits 2; same csv.npz before.npz
cp csv/nodes.csv nodes.before
run train csv -o csv/nodes.csv
exits 2; same csv/nodes.csv nodes.before

case_ "names are looked up in the data folders, in order"
mkdir first second
cp csv.npz first/mine.npz
run convert synth:nodes=50 -o second/mine.npz
run --json info mine --data-dir first --data-dir second
exits 0; json nodes 3
run --json --data-dir second info mine --data-dir first
exits 0; json nodes 50
GRAPHSS_DATA=nowhere:first
export GRAPHSS_DATA
run --json info mine
exits 0; json nodes 3
unset GRAPHSS_DATA
mkdir -p "$XDG_DATA_HOME/graphss"
cp second/mine.npz "$XDG_DATA_HOME/graphss/"
run --json info mine
exits 0; json nodes 50

case_ "a folder that is no dataset does not hide one of its name"
mkdir mine
run --json info mine
exits 0; json nodes 50
cp csv/nodes.csv csv/edges.csv mine/
run --json info mine
exits 0; json nodes 3
rm mine/nodes.csv
run --json info mine
exits 0; json nodes 50
run info mine/
exits 3; err "there is no nodes.csv in this folder, want both"; err "it holds edges.csv"
mkdir cora
run info cora
exits 3; err "the folder here has no nodes.csv"; err "'graphss fetch cora' downloads it"
run snapshots synth:nodes=200 -o citeseer
exits 0
cp second/mine.npz "$XDG_DATA_HOME/graphss/citeseer.npz"
run --json info citeseer
exits 0; json nodes 50
rm -r mine cora citeseer

case_ "feature columns that no node uses cost nothing, and the others keep their numbers"
mkdir wide later
printf 'node_id,label,feat\na,x,2000000000:1\nb,y,1:1\nc,x,2:1\nd,y,3:1\ne,x,4:1\nf,y,5:1\n' \
    >wide/nodes.csv
printf 'src_id,dst_id\na,b\nc,d\ne,f\n' >wide/edges.csv
run --json info wide
exits 0; json features 6; err "1999999995 of 2000000001 feature columns have no entry"
run train wide -o wide.model
exits 0
printf 'node_id,feat\na,1000000000:1 2000000000:1\nb,5:1\n' >later/nodes.csv
printf 'src_id,dst_id\na,b\n' >later/edges.csv
run --json predict later --model-file wide.model -o later.npz
exits 0; err "1 that the model does not know is left out"; err "has no '1', '2', '3'"
rm -r wide later

case_ "features too large or too small to compute with are refused when they are read"
mkdir odd
printf 'src_id,dst_id\na,b\n' >odd/edges.csv
printf 'node_id,label,size\na,x,1\nb,y,1e38\n' >odd/nodes.csv
run train odd -o odd.model
exits 3; err "feature 'size' of node 'b' is 1e+38"; err "want at most 1e+19"; absent odd.model
printf 'node_id,label,size\na,x,1e-40\nb,y,2e-40\n' >odd/nodes.csv
run train odd -o odd.model
exits 3; err "feature 'size' of node 'b', is 2e-40, want at least 1e-19"; absent odd.model
rm -r odd

case_ "a file that is not there is named"
run info missing.npz
exits 3; no_out; err "missing.npz"
run info cora
exits 3; err "cora"

case_ "broken and hostile files are refused"
printf 'hello' >text.npz
run --json info text.npz
exits 3; json error.code 3; err "text.npz"
: >empty.npz
run info empty.npz
exits 3; err "empty.npz"
size=$(wc -c <csv.npz)
for part in 30 100 $((size / 2)) $((size - 1)); do
    head -c "$part" csv.npz >cut.npz
    run info cut.npz
    exits 3; err "cut.npz"
    run convert cut.npz -o made.npz
    exits 3; absent made.npz
done
printf 'src_id,dst_id\nann,nobody\n' >csv/edges.csv
run info csv
exits 3; err "edges.csv:2"

case_ "names from a file cannot send escape sequences"
mkdir evil
printf 'node_id,label\na,\033[31mred\nb,x\n' >evil/nodes.csv
printf 'src_id,dst_id\na,b\n' >evil/edges.csv
run info evil
! grep -q "$(printf '\033')" ../stdout || complain "an escape sequence reached stdout"

case_ "split writes what it says, the same for the same seed"
run --json split synth:nodes=200 --train 0.5 --val 0.25 --noise 0.2 -o split.npz
exits 0; json path split.npz; json train 100; json val 50; json test 50
json labels_flipped 30
run split synth:nodes=200 --train 0.5 --val 0.25 --noise 0.2 -o split2.npz
exits 0; same split.npz split2.npz
run split synth:nodes=200 --train 0.5 --val 0.25 --noise 0.2 --seed 2 -o split3.npz
! cmp -s split.npz split3.npz || complain "another seed gave the same split"

case_ "shares above one are refused"
run split synth:nodes=200 --train 0.9 --val 0.9 -o wrong.npz
exits 2; absent wrong.npz

case_ "the public split of a dataset without one is refused"
run split synth:nodes=200 --split public -o wrong.npz
exits 3; err "without a split"; absent wrong.npz

case_ "fetch names what it knows"
run fetch --list
exits 0; out "cora"; out "coauthor_cs"; out "licence"
run fetch coar
exits 2; err "did you mean 'cora'?"; err "there are cora, citeseer"
run fetch
exits 2
run --json fetch cora --offline --data-dir stored
exits 5; json error.code 5

case_ "a column that was meant to hold numbers is not dropped in silence"
mkdir spoilt
printf 'id,label,age,posts,name\na,x,NA,"1,5",anna\nb,y,,2,bert\n' >spoilt/nodes.csv
printf 'a,b\n' >spoilt/edges.csv
run info spoilt
exits 0; err "column 'age' is not used: it has no entries"
err "column 'posts' is not used: its first entry is '1,5', not a number"
err "text of many values is no feature, so 'name' is not used"
printf 'id,a,b,c,d\nx,,p,q,r\ny,o,p,q,r\n' >spoilt/nodes.csv
printf 'x,y\n' >spoilt/edges.csv
run -q --json info spoilt
exits 0; no_err
grep -q "text becomes 3 columns of 0 and 1, one for each value: 'b' (1 value)" ../stdout ||
    complain "not among the warnings"
grep -q "text of many values is no feature, so 'a' is not used" ../stdout ||
    complain "text of many values is not told"
printf 'a,b\n' >spoilt/edges.csv
printf 'id,age\na,NA\nb,3\n' >spoilt/nodes.csv
run info spoilt
exits 3; err "nodes.csv:2:3: found 'NA', want a finite number, as in line 3 of column 'age': fill it in"
printf 'id,age\na,3\nb,\n' >spoilt/nodes.csv
run info spoilt
exits 3; err "nodes.csv:3:3: found '', want a finite number in column 'age'"

case_ "one number that drowns all others is named with node and column"
mkdir -p slip
printf 'node_id,label,w0,w1\na,x,1,0\nb,y,0,1e12\nc,x,1,0\nd,y,0,1\n' >slip/nodes.csv
printf 'src,dst\na,b\nb,c\nc,d\n' >slip/edges.csv
run info slip
exits 0; err "warning: slip: feature 'w1' of node 'b' is 1e+12, over a million times"
sed -i s/1e12/1e5/ slip/nodes.csv
run info slip
exits 0; no_err

case_ "what was told of data once is not told again by commands with a model"
mkdir told
awk 'BEGIN { print "id,label,age,name"; for (i = 0; i < 90; i++)
    print i "x," (i % 3 ? (i % 3 == 1 ? "bot" : "Bot") : "human") "," i ",n" i }' >told/nodes.csv
awk 'BEGIN { print "src,dst"; for (i = 0; i < 87; i++) print i "x," i + 3 "x" }' >told/edges.csv
run info told
exits 0; err "text of many values is no feature, so 'name' is not used"
err "labels 'bot' and 'Bot' differ only in case"
run train told --noise 0 -o told.model
exits 0; err "'name' is not used"; err "differ only in case"
run -q train told --noise 0 --epochs 20 -o told.model
! grep -q "is not used\|only in case" ../stderr || complain "told in spite of -q"
run convert told -o told.npz
exits 0; err "'name' is not used"
run predict told --model-file told.model -o told.csv
exits 0; no_err
run recover --model-file told.model --current told --previous told --method keep-last -o r.csv
exits 0; no_err
run -v predict told --model-file told.model -o told.csv
exits 0; err "'name' is not used"

case_ "what is packed, or in another encoding, is named"
mkdir packed
printf '\037\213\010\000' >packed/nodes.csv
printf 'a,b\n' >packed/edges.csv
run info packed
exits 3; err "packed/nodes.csv: byte 4: the gzip file is cut short"
printf '\377\376i\000d\000' >packed/nodes.csv
run info packed
exits 3; err "packed/nodes.csv is UTF-16, want UTF-8"
printf 'i\000d\000' >packed/nodes.csv
run info packed
exits 3; err "looks like UTF-16"
mv packed/nodes.csv packed/nodes.csv.gz
run info packed
exits 3; err "packed/nodes.csv.gz looks like UTF-16"

case_ "a first line of two words over numbers is a header"
printf 'follower,followee\n1,2\n2,0\n' >follow.csv
run --json -q info follow.csv
exits 0; json nodes 3
err "warning: follow.csv:1: 'follower' and 'followee' are taken for a header"
case $("$json_value" warnings.0 <../stdout) in
    "follow.csv:1: "*) ;;
    *) complain "no warning in the JSON" ;;
esac

case_ "a name that a spreadsheet would compute is guarded in tables, and can be read back"
mkdir sums
{
    echo 'id,label,a,b'
    i=0
    while [ $i -lt 120 ]; do
        echo "n$i,$([ $((i % 2)) = 0 ] && echo =one || echo two),$((i % 2)),$((1 - i % 2))"
        i=$((i + 1))
    done
    printf '"=cmd|'"' /C calc'"'!A0",two,1,0\n+1,two,1,0\n-1,two,1,0\n@x,two,1,0\n'
    printf "'quoted,two,1,0\n"
} >sums/nodes.csv
{
    echo src,dst
    i=2
    while [ $i -lt 120 ]; do echo "n$i,n$((i - 2))"; i=$((i + 1)); done
} >sums/edges.csv
run -q train sums --noise 0 --epochs 20 -o sums.model
exits 0
for kind in csv tsv; do
    run -q predict sums --model-file sums.model -o sums.$kind
    exits 0
    ! grep -q '^"\{0,1\}[=+@-]' sums.$kind || complain "a cell of sums.$kind is a formula"
    ! grep -q '[,	]"\{0,1\}=one' sums.$kind || complain "a label of sums.$kind is a formula"
done
grep -qF "\"'=cmd|' /C calc'!A0\"," sums.csv || complain "no quoted and guarded name"
grep -qF "\"''quoted\"," sums.csv || complain "a leading apostrophe is ambiguous"
grep -qF "'=cmd|' /C calc'!A0	" sums.tsv || complain "no guarded name in sums.tsv"
grep -qF "n0,\"'=one\"," sums.csv || complain "no guarded label"
"$graphss" -q alert --model-file sums.model --current sums -o nodes.tsv >../stdout 2>../stderr
! grep -q '^[=+@-]' nodes.tsv || complain "a cell of nodes.tsv is a formula"
grep -qF "'@x	" nodes.tsv || complain "no guarded name in nodes.tsv"
printf "'@x\n-1\n''quoted\n" >victims.txt # as they stand in a table, or in the data
run -q attack sums --model-file sums.model --victim-file victims.txt --links 1 --features 1 \
    -o sums.flips
exits 0
for victim in @x -1 "'quoted"; do
    grep -q "^$victim	" sums.flips || complain "no victim $victim in sums.flips"
done

case_ "a table of labels is no OUT.npz"
run evaluate sums.csv --truth sums
exits 3; err "sums.csv is a table, want the .npz of predict or recover"

case_ "names that would act on a terminal are shown escaped"
mkdir odd
# a colour, a bell, a direction override, its isolate, a C1 control
bad=$(printf 'b\033[31m\007\342\200\256\342\201\246\302\233')
printf 'id,label\na,%s\nb,x\nc,x\n' "$bad" >odd/nodes.csv
printf 'src,dst\na,b\n' >odd/edges.csv
printf '%s\n' "$bad" >odd.txt
run -q convert odd -o odd.npz
printf '%s\n' "$bad" >odd.txt
run evaluate odd.npz --truth odd.npz --nodes odd.txt
! LC_ALL=C grep -q "$(printf '[\033\007]\|\342\200\256')" ../stdout ../stderr ||
    complain "a character that acts on the terminal"
LC_ALL=C.UTF-8 "$graphss" info "$(printf 'no\033\342\200\256\302\233file.npz')" \
    >../stdout 2>../stderr
err 'no\x1b\u202e\u009bfile'
! LC_ALL=C grep -q "$(printf '\342\200\256')" ../stderr || complain "an override got through"
if command -v script >/dev/null; then
    command="graphss --json on a terminal"
    script -qec "'$graphss' --json info '$(printf 'no\342\200\256file.npz')'" /dev/null \
        >../stdout 2>../stderr </dev/null
    out '\u202e'
    ! LC_ALL=C grep -q "$(printf '\342\200\256')" ../stdout || complain "an override got through"
fi

finish
