# compare.awk - stored.tsv against found.tsv, case by case, with tolerances for floating point.
# Prints one line for each case: the largest and mean differences, and whether they are tolerated.
#
# Within a case:
#   the verdict of alert is equal; its p-value differs by at most 0.02, or by 0.2 where both are
#   over 0.3: ranks in the middle of the clean nodes, where one tie broken otherwise moves p far
#   labels are equal but for 2 % of the nodes
#   posteriors, probabilities of a perturbation and p-values of nodes differ by 0.01 in the mean,
#   and by more than 0.1 for at most 3 % of the nodes
BEGIN {
    FS = OFS = "\t"
    P_SNAPSHOT = 0.02
    P_MIDDLE = 0.2
    MIDDLE = 0.3
    LABELS = 0.02
    MEAN = 0.01
    FAR = 0.1
    FAR_NODES = 0.03
    split("label posterior perturbed p_value", column, " ")
}

function distance(a, b) { return a > b ? a - b : b - a }

function wrong(name, text)
{
    print "not ok: " name ": " text
    failures++
}

FNR == 1 && NR == 1 { next }
NR == FNR && $1 == "" { $1 = last }
NR == FNR { last = $1 }
$1 ~ /^cora/ && cora == "" { next }
NR == FNR {
    stored[$1, $2] = $0
    expected[$1]++
    next
}
!($1 in found) { order[++cases] = $1 }
{
    found[$1]++
    if (!(($1, $2) in stored)) {
        wrong($1, "node " $2 " is not stored")
        next
    }
    split(stored[$1, $2], was, "\t")
}
$2 == "*" || $2 ~ /^group/ {
    if ($3 != was[3])
        wrong($1, $2 ": alert is " $3 ", stored " was[3])
    if (distance($4, was[4]) > ($4 > MIDDLE && was[4] > MIDDLE ? P_MIDDLE : P_SNAPSHOT))
        wrong($1, $2 ": p-value " $4 ", stored " was[4])
    summary[$1] = summary[$1] ($4 == was[4] ? "" : sprintf(" p %s->%s", was[4], $4))
    next
}
{
    nodes[$1]++
    labels[$1] += $3 != was[3]
    for (c = 4; c <= 6; c++) {
        d = distance($c, was[c])
        sum[$1, c] += d
        far[$1, c] += d > FAR
        if (d > largest[$1, c])
            largest[$1, c] = d
    }
}
END {
    for (i = 1; i <= cases; i++) {
        name = order[i]
        if (found[name] != expected[name])
            wrong(name, found[name] + 0 " rows, stored " expected[name] + 0)
        n = nodes[name]
        line = sprintf("%-24s", name)
        if (n) {
            if (labels[name] > LABELS * n)
                wrong(name, labels[name] " of " n " labels differ")
            line = line sprintf(" labels %d of %d", labels[name], n)
            for (c = 4; c <= 6; c++) {
                if (sum[name, c] > MEAN * n || far[name, c] > FAR_NODES * n)
                    wrong(name, sprintf("%s differs by %.4f in the mean, by more than %g for %d" \
                        " of %d nodes", column[c - 2], sum[name, c] / n, FAR, far[name, c], n))
                line = line sprintf(", %s %.4f (most %.4f)", column[c - 2], sum[name, c] / n,
                    largest[name, c])
            }
        }
        print line summary[name]
    }
    for (name in expected)
        if (!(name in found))
            wrong(name, "was not run")
    print cases " cases, " failures + 0 " failures"
    exit failures > 0
}
