# run.sh - alert and recover end to end, against stored values.
#
#     sh tests/golden/run.sh GRAPHSS           compares; code 1 where something differs
#     sh tests/golden/run.sh GRAPHSS --renew   stores what this program finds
#
# Each case is a snapshot: clean or attacked, with or without a past. For each node stored.tsv
# holds the label, its posterior probability and the probability of a perturbation from `recover`,
# and the p-value from `alert`. The row of node "*" holds, in the same order, the verdict of
# `alert`, its p-value, the number of labels that `recover` changed, and the number of flagged
# nodes. The row of "group N" holds the verdict and the p-value of a group of nodes. A row without
# the name of a case belongs to that of the row above.
#
# Cases that begin with "cora" need cora.npz in a folder of GRAPHSS_DATA and are skipped without it.
# Floating point differs from one instruction set to the next, so values are compared with the
# tolerances in compare.awk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
graphss=$1
renew=${2:-}
cora=
case "${GRAPHSS_DATA:-}" in
'') ;;
*) ! "$graphss" -q info cora >/dev/null 2>&1 || cora=yes ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export LC_ALL=C.UTF-8

alert() { # exit code 1 is an alert, no failure
    "$graphss" -q --json alert "$@" >alert.json || [ $? = 1 ]
}

# golden NAME EVERY ARGUMENT... - the rows of one case; of its nodes every EVERY-th is stored.
golden() {
    name=$1
    every=$2
    shift 2
    alert "$@" -o alert.tsv
    "$graphss" -q recover "$@" -o recover.csv >/dev/null
    awk -F '[\t,]' -v name="$name" -v every="$every" '
        FNR == 1 {
            delete at
            for (i = 1; i <= NF; i++)
                at[$i] = i
            next
        }
        FILENAME == "alert.tsv" { p[$at["node"]] = $at["p_value"]; next }
        {
            node = $at["node"]
            changed += $at["label"] != $at["classifier_label"]
            if ((FNR - 2) % every == 0)
                rows = rows sprintf("%s\t%s\t%s\t%.4f\t%.4f\t%.4f\n", name, node, $at["label"],
                    $at["probability"], $at["perturbed"], p[node])
        }
        END { print changed + 0; printf "%s", rows }' alert.tsv recover.csv >rows
    printf '%s\t*\t%s\t%.4f\t%s\t%s\n' "$name" "$(value alert)" "$(value p_value)" \
        "$(head -n 1 rows)" "$(value flagged)" >>found.tsv
    tail -n +2 rows >>found.tsv
}

# The first value of that field in alert.json; of a list the number of objects in it.
value() {
    awk -v field="\"$1\":" '
        { text = text $0 }
        END {
            text = substr(text, index(text, field) + length(field))
            sub(/^ */, "", text)
            if (text ~ /^\[/) {
                sub(/\].*/, "", text)
                print gsub(/{/, "", text)
            } else {
                sub(/[,}].*/, "", text)
                print text
            }
        }' alert.json
}

# groups NAME FOLDER - a verdict for each group of nodes of a snapshot.
groups() {
    for file in "$2"/group[1-8].txt; do
        tr '\n' ' ' <"$file"
        echo
    done >groups.txt
    alert --model-file "$2/model" --current "$2/current.npz" --previous "$2/previous.npz" \
        --groups groups.txt -o groups.tsv
    awk -F '\t' -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s\tgroup %d\t%s\t%.4f\n", name, NR - 1, $at["alert"], $at["p_value"] }
    ' groups.tsv >>found.tsv
}

# snapshots NAME DATASET OPTION... - a folder with a past, a present and a model.
snapshots() {
    to=$1
    shift
    "$graphss" -q snapshots "$@" -o "$to" >/dev/null
}

both() { # both NAME EVERY FOLDER - without and with a past
    golden "$1" "$2" --model-file "$3/model" --current "$3/current.npz"
    golden "$1+past" "$2" --model-file "$3/model" --current "$3/current.npz" \
        --previous "$3/previous.npz"
}

# People with six measured values, a label of three and links mostly inside a class. Written
# here because generated graphs have words, not measured values. The generator is Park and
# Miller's, which awk computes exactly.
people() { # people FOLDER
    mkdir "$1"
    awk -v nodes="$1/nodes.csv" -v edges="$1/edges.csv" '
        function uniform() { state = state * 16807 % 2147483647; return state / 2147483647 }
        function normal(  i, sum) {
            for (i = 0; i < 12; i++)
                sum += uniform()
            return sum - 6
        }
        BEGIN {
            state = 20220817
            print "node_id,label,a,b,c,d,e,f" >nodes
            print "src,dst" >edges
            for (i = 0; i < 500; i++) {
                class = i % 3
                row = "n" i "," "c" class
                for (j = 0; j < 6; j++)
                    row = row sprintf(",%.3f", normal() + (j % 3 == class ? 1 : 0))
                print row >nodes
            }
            for (e = 0; e < 1500; e++) {
                i = int(500 * uniform())
                j = int(500 * uniform())
                if (uniform() < 0.8)
                    j = int(j / 3) * 3 + i % 3
                if (i != j && j < 500)
                    print "n" i ",n" j >edges
            }
        }'
}

words=synth:nodes=600,classes=4,features=200,degree=6
snapshots attacked $words
snapshots benign $words --benign
snapshots groups synth:nodes=1200,classes=4,features=300,degree=6 --groups 8 \
    --attacked-groups 3 --background
people people
snapshots measured people --links 4 --features 4
both words-attacked 4 attacked
both words-clean 4 benign
both measured-attacked 4 measured
groups groups groups
if [ -n "$cora" ]; then
    snapshots cora cora
    snapshots cora-benign cora --benign
    both cora-attacked 20 cora
    golden cora-clean+past 20 --model-file cora-benign/model \
        --current cora-benign/current.npz --previous cora-benign/previous.npz
fi

if [ "$renew" = --renew ]; then
    if [ -z "$cora" ]; then
        echo "no cora.npz in GRAPHSS_DATA: its rows stay as they are"
        awk 'BEGIN { FS = OFS = "\t" } $1 == "" { $1 = last } { last = $1 } /^cora/' \
            "$here/stored.tsv" >>found.tsv
    fi
    {
        printf 'case\tnode\tlabel\tposterior\tperturbed\tp_value\n'
        awk 'BEGIN { FS = OFS = "\t" } { name = $1; if (name == last) $1 = ""; last = name } 1' \
            found.tsv
    } >"$here/stored.tsv"
    echo "stored $(wc -l <found.tsv) rows in tests/golden/stored.tsv"
    exit 0
fi
[ -n "$cora" ] || echo "skipped: the cases on Cora, for want of cora.npz in GRAPHSS_DATA"
awk -v cora="$cora" -f "$here/compare.awk" "$here/stored.tsv" found.tsv
