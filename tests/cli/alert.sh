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

case_ "benign churn does not, though all changed nodes are among those judged"
run --json alert --model-file calm/model --current calm/current.npz \
    --previous calm/previous.npz --false-alarm-rate 0.001
exits 0; no_err; json alert false; json kind none

case_ "an alert does not name an attack on 0.0 % of the nodes"
seq 300 419 >some.txt # of all nodes the p-value is 1
run alert --model-file calm/model --current calm/current.npz --group some.txt \
    --false-alarm-rate 0.999
exits 1; out "the number of attacked nodes cannot be estimated"

case_ "every node goes into a file"
run alert --model-file hit/model --current hit/current.npz -o nodes.tsv -q
exits 1
[ "$(wc -l <nodes.tsv)" = 601 ] || complain "not a line for each node"
head -1 nodes.tsv | grep -q "score.*p_value.*perturbed" || complain "no header"

case_ "what an earlier run left behind is not in the way"
command="graphss alert -o again.tsv"
# shellcheck disable=SC2016 # the number of the process that becomes the program
sh -c 'echo left >again.tsv.$$.part; echo left >again.tsv.$$-0.part; exec "$0" "$@"' \
    "$graphss" alert --model-file hit/model --current hit/current.npz -o again.tsv -q \
    >../stdout 2>../stderr
code=$?
exits 1; no_err; same nodes.tsv again.tsv
[ "$(cat again.tsv.*.part | sort -u)" = left ] || complain "a file of another was touched"

case_ "many groups are judged at once"
seq 0 9 | tr '\n' ' ' >many.txt; echo >>many.txt; seq 10 59 | tr '\n' ' ' >>many.txt
run --json alert --model-file calm/model --current calm/current.npz --groups many.txt \
    --split calm/split.npz --false-alarm-rate 0.001
exits 0; no_err; json alert false
"$json_value" groups.1.p_value <../stdout >/dev/null || complain "no second verdict"

case_ "verdicts of many groups go into a file, without a past training nodes are not judged"
run alert --model-file calm/model --current calm/current.npz --groups many.txt \
    --split calm/split.npz --false-alarm-rate 0.001 -o groups.tsv
exits 0
[ "$(head -n 1 groups.tsv | tr '\t' ' ')" = "group score p_value alert threshold nodes" ] ||
    complain "$(head -n 1 groups.tsv)"
[ "$(sed 1d groups.tsv | cut -f 1,4,6 | tr '\t\n' ' ,')" = "1 no 5,2 no 35," ] ||
    complain "$(cat groups.tsv)"
for word in classes labels communities; do
    run --json alert --model-file calm/model --current calm/current.npz --groups $word \
        --previous calm/current.npz --family-wise
    exits 0; json alert false; json groups.0.p_value 1.0
    "$json_value" groups.1.group <../stdout >/dev/null || complain "$word: no second group"
done
case_ "trusted nodes are no suspects"
seq 0 399 >trusted.txt
run --json alert --model-file hit/model --current hit/current.npz --previous hit/previous.npz \
    --trusted trusted.txt -o trusted.tsv
[ "$(sed 1d trusted.tsv | head -n 400 | cut -f 3 | sort -u)" = 1 ] || complain "a trusted node has p < 1"
run alert --model-file hit/model --current hit/current.npz --trusted trusted.txt -o trusted.txt
exits 2; err "will not be overwritten"
case_ "groups have the names of their file"
printf 'first: 0 1 2\nthe\tsecond: 3\n"the second:" 3 4\n' >named.txt
run alert --model-file calm/model --current calm/current.npz --groups named.txt
exits 3; err "named.txt:2: no node is called 'the'"
sed -i 2d named.txt
run alert --model-file calm/model --current calm/current.npz --groups named.txt \
    --previous calm/current.npz -o named.tsv
exits 0; out "the second  no alert  p = 1: no node changed"
[ "$(sed 1d named.tsv | cut -f 1 | tr '\n' ',')" = "first,the second," ] || complain "$(cat named.tsv)"
cp many.txt kept.txt
run alert --model-file calm/model --current calm/current.npz --groups many.txt -o many.txt
exits 2; err "will not be overwritten"; same many.txt kept.txt

case_ "the victims of a list of changes are a group"
run --json alert --model-file hit/model --current hit/current.npz --group hit/flips.tsv
exits 1
cut -f 1 hit/flips.tsv | grep -v '#' | sort -u >hit.txt
json nodes "$(wc -l <hit.txt | tr -d ' ')"

case_ "that a few clean nodes show little is said, unless there is a past"
run snapshots synth:nodes=300,classes=3,features=60,degree=6 --setting seen -o few -q
run alert --model-file few/model --current few/current.npz
[ "$code" -le 1 ] || complain "code $code"
err "clean nodes to compare with and no past small attacks cannot be detected: --previous"
run -q alert --model-file few/model --current few/current.npz
no_err
run alert --model-file few/model --current few/current.npz --previous few/previous.npz
no_err

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
run alert --model-file hit/model --current hit/current.npz --groups group.txt
exits 3; err "group.txt:1: no node is called 'nobody'"
run alert --model-file hit/model --current hit/current.npz --groups group.txt --group group.txt
exits 2; err "excludes"
run alert --model-file hit/model --current hit/current.npz --groups many.txt --show 3
exits 2; no_out; err "--groups excludes --group, --show and --report"
run alert --model-file hit/model --current hit/current.npz --fdr
exits 2; no_out; err "is for --groups"
run alert --model-file hit/model --current hit/current.npz --groups absent.txt
exits 3; err "absent.txt"

case_ "what it reads is not overwritten, and a file appears whole or not at all"
cp hit/current.npz now.npz
run alert --model-file hit/model --current now.npz -o now.npz
exits 2; err "will not be overwritten"; same now.npz hit/current.npz
run alert --model-file hit/model --current now.npz -o hit/model
exits 2; err "will not be overwritten"
run alert --model-file hit/model --current now.npz -o hit
exits 2; err "is a folder"
run alert --model-file hit/model --current now.npz -o absent/nodes.tsv
exits 4; err "absent"

case_ "groups that cannot be judged are named by file and line"
printf '\n  \n' >blank.txt
run alert --model-file hit/model --current hit/current.npz --groups blank.txt
exits 3; err "blank.txt: no group is listed"
printf '1 2\n3 4 3\n' >twice.txt
run alert --model-file hit/model --current hit/current.npz --groups twice.txt
exits 3; err "twice.txt:2: listed twice: '3'"

case_ "a group is compared with as many nodes, be it alone or one of many"
run snapshots $graph --setting seen --benign --victims 0.4 -o churned -q
exits 0
seq 0 19 >alone.txt; seq 0 19 | tr '\n' ' ' >line.txt
for way in "--group alone.txt" "--groups line.txt"; do
    run --json alert --model-file churned/model --current churned/current.npz --previous churned/previous.npz $way
    [ "$code" -le 1 ] || complain "code $code"
    field=calibration_nodes; [ "$way" = "--group alone.txt" ] || field=groups.0.calibration_nodes
    "$json_value" $field <../stdout >>compared.txt || complain "no $field"
done
[ "$(sort -u compared.txt | wc -l)" = 1 ] || complain "$(tr '\n' ' ' <compared.txt)"

case_ "what changed since the past is told"
run alert --model-file churned/model --current churned/previous.npz --previous churned/previous.npz
[ "$code" -le 1 ] || complain "code $code"
out "Changed  nothing since the previous snapshot"
run --json alert --model-file churned/model --current churned/current.npz --previous churned/previous.npz
[ "$("$json_value" changes.links_changed <../stdout)" -gt 0 ] || complain "links_changed"
[ "$("$json_value" changes.features_changed <../stdout)" -gt 0 ] || complain "features_changed"
json changes.nodes_new 0
run --json alert --model-file churned/model --current churned/current.npz
grep -q '"changes"' ../stdout && complain "changes without a past"

case_ "a rate that no p-value can reach is refused, with the draws it takes"
run alert --model-file hit/model --current hit/current.npz --false-alarm-rate 0.0001
exits 2; no_out; err "want --draws 9999 or more"
run alert --model-file hit/model --current hit/current.npz --false-alarm-rate 0.0001 --draws 9999
[ "$code" -le 1 ] || complain "code $code"

case_ "no attack has no share, and a small p-value is not called 0"
run alert --model-file calm/model --current calm/current.npz --previous calm/previous.npz \
    --false-alarm-rate 0.001
exits 0; out "Attack   none named;"
! grep -q "about" ../stdout || complain "a share of no attack"
run alert --model-file hit/model --current hit/current.npz --previous hit/previous.npz \
    --draws 50000 --show 0
exits 1; out "p < 0.00005 at"; out "% of the nodes;"

case_ "--quiet leaves the verdict alone"
run -q alert --model-file hit/model --current hit/current.npz --previous hit/previous.npz
exits 1; out "ALERT"
! grep -q "Dataset\|Cleaned" ../stdout || complain "--quiet describes the data"

case_ "nodes that go by number and are all others than before: one warning"
for way in "alert" "alert --groups many.txt" "recover -o strangers.npz"; do
    # shellcheck disable=SC2086 # words
    run $way --model-file hit/model --current hit/current.npz --previous $graph,seed=9
    [ "$code" -le 1 ] || complain "code $code"
    err "600 of 600 nodes have other links and other features than in the previous snapshot"
    [ "$(grep -c "other links" ../stderr)" = 1 ] || complain "said more than once"
done

# Two classes of documents on a ring; ids have what separates fields.
ring() {
    mkdir -p "$1"
    awk -v first="$2" 'BEGIN { print "node_id,label,w0,w1"
        for (i = 0; i < 120; i++) printf "\"%s%d\",%s,%d,%d\n", first, i, (i < 60 ? "a" : "b"),
            (i < 60 || i % 7 == 0), (i > 59 || i % 5 == 0) }' >"$1/nodes.csv"
    awk -v first="$2" 'BEGIN { print "src,dst"
        for (i = 0; i < 120; i++) for (j = 1; j < 3; j++)
            printf "\"%s%d\",\"%s%d\"\n", first, i, first, (i + j) % 120 }' >"$1/edges.csv"
}

case_ "names are escaped in the table of nodes as in a list of changes"
ring odd "#	\\\\x"
run train odd -o odd.model -q
exits 0
run alert --model-file odd.model --current odd -o odd.tsv -q
[ "$code" -le 1 ] || complain "code $code"
[ "$(sed -n 2p odd.tsv | cut -f 1)" = '\#\t\\x0' ] || complain "$(sed -n 2p odd.tsv)"
awk -F '\t' 'NF != 4 { exit 1 }' odd.tsv || complain "a line without four fields"

case_ "nodes with names against nodes without: a warning, whatever --quiet; a refusal where counts differ"
ring named n; ring plain ""; ring short ""
sed -i '/^"119"/d' short/nodes.csv; sed -i '/"119"/d' short/edges.csv
run train named -o named.model -q
exits 0; no_err
run -q alert --model-file named.model --current plain
[ "$code" -le 1 ] || complain "code $code"
err "warning: named.model has node names and plain has none: nodes are matched by position"
run --json alert --model-file named.model --current named --previous plain
[ "$code" -le 1 ] || complain "code $code"
err "warning: named has node names and plain has none"
case $("$json_value" warnings.0 <../stdout) in
    *"named has node names"*) ;;
    *) complain "no warning in the JSON" ;;
esac
run alert --model-file named.model --current named --previous short
exits 3; no_out; err "named has node names and short has none, and the node counts differ (120 and 119), so nodes cannot be matched"
run --json alert --model-file named.model --current named --previous named
[ "$code" -le 1 ] || complain "code $code"
no_err
! "$json_value" warnings.0 <../stdout >/dev/null 2>&1 || complain "a warning about nothing"
"$json_value" warnings <../stdout >/dev/null || complain "no list of warnings"

case_ "ids with blanks go into groups by quotes, ids that look like comments are warned of"
ring blanks "# n "
run train blanks -o blanks.model -q
exits 0
seq 0 29 | sed 's/.*/"# n &"/' | tr '\n' ' ' >quoted.txt
run --json alert --model-file blanks.model --current blanks --groups quoted.txt
[ "$code" -le 1 ] || complain "code $code"
err "small attacks cannot be detected"; json groups.0.nodes 18
run -q --json alert --model-file blanks.model --current blanks --groups quoted.txt
no_err
{ seq 0 28 | sed 's/.*/\\# n &/'; echo "# n 29"; } >listed.txt
run -q --json alert --model-file blanks.model --current blanks --group listed.txt
[ "$code" -le 1 ] || complain "code $code"
json nodes 18; err "listed.txt:30: '# n 29' is a comment, though a node is called so"
finish
