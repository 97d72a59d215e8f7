# mpi.sh - the program on several ranks, against itself on one machine. Skipped where MPI, or the
# engine on it, is not installed.
. "$(dirname "$0")/harness.sh"
if ! command -v mpiexec >/dev/null || [ ! -f "$(dirname "$graphss")/libgraphss_mpi.so" ]; then
    echo "skipped: no mpiexec, or libgraphss_mpi.so was not built (tools/deps check)"
    exit 77
fi
# Open MPI: as root, with more ranks than cores, ranks that wait leave the core to others.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none

# MPI itself leaks. The address sanitizer looks for leaks in the last case alone, past those
# with a frame of MPI's libraries; it must unwind in full to see these frames, which is slow.
leaks=detect_leaks=0
printf 'leak:%s\n' libmpi.so libopen-rte.so libopen-pal.so libpmix.so libevent >../mpi.leaks

ranks() { # ranks N ARGUMENT...: as run
    n=$1
    shift
    command="mpiexec -n $n graphss --engine mpi $*"
    code=0
    ASAN_OPTIONS=$leaks LSAN_OPTIONS=suppressions=$folder/mpi.leaks:print_suppressions=0 \
        mpiexec -n "$n" "$graphss" --engine mpi "$@" >../stdout 2>../stderr </dev/null || code=$?
}
once() { # the text is told by one rank alone
    [ "$(grep -cF -e "$1" ../stderr)" = 1 ] || complain "stderr has not once: $1"
}

run convert synth:nodes=400,features=120 -o data.npz
run train data.npz --epochs 40 --threads 1 -o one.model --json
exits 0
cp ../stdout one.json
accuracy=$("$json_value" test_accuracy <one.json)
best=$("$json_value" best_epoch <one.json)
run predict data.npz --model-file one.model -o one.tsv
exits 0
cut -f1,2 one.tsv >one.labels

for n in 2 4; do
    case_ "$n ranks train as one machine does"
    run shard data.npz -o shards$n --parts $n
    exits 0
    ranks $n train shards$n --epochs 40 --threads 1 -o ranks.model --json
    exits 0; json test_accuracy "$accuracy"; json best_epoch "$best"; json engine.ranks $n
    json dataset.edges "$("$json_value" dataset.edges <one.json)"; json train_nodes 160
done

case_ "four ranks predict as one machine does, two judge the labels"
ranks 4 predict shards4 --model-file ranks.model -o ranks.npz
exits 0; out "400 nodes"
ranks 2 evaluate ranks.npz --truth shards2 --json
exits 0; json accuracy "$accuracy"

case_ "a model of several ranks serves on one machine"
run predict data.npz --model-file ranks.model -o again.tsv
exits 0; no_err
cut -f1,2 again.tsv >again.labels
same one.labels again.labels
run alert --model-file one.model --current data.npz --json
verdict=$code
cp ../stdout alert.json
run alert --model-file ranks.model --current data.npz --json
exits "$verdict"; json alert "$("$json_value" alert <alert.json)"
json calibration_nodes "$("$json_value" calibration_nodes <alert.json)"

case_ "rank 0 attacks; two ranks alert as one machine does"
run attack data.npz --model-file one.model --links 5 --features 10 -o data.flips
exits 0
run apply data.npz --flips data.flips -o later.npz
exits 0
ranks 2 attack shards2 --model-file one.model --links 5 --features 10 -o ranks.flips
exits 0
same data.flips ranks.flips
for n in 2 4; do run shard later.npz -o later$n --parts $n; exits 0; done
run alert --model-file one.model --current later.npz --previous data.npz --json --threads 1
exits 1
cp ../stdout one.json
ranks 2 alert --model-file one.model --current later2 --previous shards2 --json --threads 1 \
    -o suspects.tsv
exits 1
for key in alert p_value threshold kind nodes calibration_nodes changes.links_changed \
    changes.features_changed flagged_nodes.0 flagged.0.reasons.0 flagged.0.evidence.links_added
do
    json $key "$("$json_value" $key <one.json)"
done
json engine.ranks 2; present suspects.tsv

case_ "and recover, with a past and without"
run recover --model-file one.model --current later.npz -o one.tsv
exits 0
cut -f1,2 one.tsv >one.labels
ranks 4 recover --model-file one.model --current later4 -o ranks.tsv
exits 0; out "Attack"
cut -f1,2 ranks.tsv >ranks.labels
same one.labels ranks.labels
run recover --model-file one.model --current later.npz --previous data.npz -o one.tsv
exits 0
cut -f1,2 one.tsv >one.labels
ranks 2 recover --model-file one.model --current later2 --previous shards2 -o ranks.tsv
exits 0
cut -f1,2 ranks.tsv >ranks.labels
same one.labels ranks.labels

case_ "what parts cannot do rank 0 does alone, as one machine does it"
whole() { # whole ARGUMENTS...
    ranks 2 "$@"
    cp ../stdout ranks.out
    [ "$(grep -c "note: .* is not for parts" ../stderr)" = 1 ] || complain "no note"
}
for option in "--method retrain" "--method keep-last" "--mode paper" "--flips FILE.flips" \
    "--report FILE.html"; do
    # shellcheck disable=SC2086 # an option and its value
    set -- $option
    run recover --model-file one.model --current later.npz --previous data.npz --threads 1 \
        "$1" "$(echo "$2" | sed s/FILE/one/)" -o one.tsv
    exits 0
    whole recover --model-file one.model --current later2 --previous shards2 --threads 1 \
        "$1" "$(echo "$2" | sed s/FILE/ranks/)" -o ranks.tsv
    exits 0; same one.tsv ranks.tsv
done
same one.flips ranks.flips; present ranks.html
run train data.npz --model gat --epochs 3 --threads 1 -o one.gat
exits 0
whole train shards2 --model gat --epochs 3 --threads 1 -o ranks.gat
exits 0; same one.gat ranks.gat
run predict data.npz --model-file one.gat -o one.tsv
whole predict shards2 --model-file one.gat -o ranks.tsv
exits 0; same one.tsv ranks.tsv
run alert --model-file one.model --current later.npz --previous data.npz --groups communities \
    --threads 1
cp ../stdout one.out
whole alert --model-file one.model --current later2 --previous shards2 --groups communities \
    --threads 1
exits 1; same one.out ranks.out

case_ "a rank is killed: all end, and what was kept goes on, on another number of ranks"
run train data.npz --epochs 200 --threads 1 --json
exits 0
accuracy=$("$json_value" test_accuracy <../stdout)
best=$("$json_value" best_epoch <../stdout)
(
    while [ ! -f kept ] && [ ! -f ended ]; do :; done
    kill -9 "$(cat pid1)" 2>/dev/null
) &
mpiexec -n 2 sh -c 'echo $$ >pid${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$0" "$@"' "$graphss" \
    --engine mpi train shards2 --epochs 200 --threads 1 -o killed.model --checkpoint kept \
    --checkpoint-every 0 >../stdout 2>../stderr </dev/null && complain "exit code 0"
: >ended
wait
absent killed.model; present kept
ranks 4 train shards4 --epochs 200 --threads 1 -o killed.model --checkpoint kept --json
exits 0; json test_accuracy "$accuracy"; json best_epoch "$best"; present killed.model; absent kept

case_ "and so does a recovery, whichever rank is killed in whichever stage"
run recover --model-file one.model --current later.npz --previous data.npz -o one.tsv
exits 0
cut -f1,2 one.tsv >one.labels
for bytes in 1 60000 400000 900000; do # that are kept of its work when the kill comes
    rm -rf kept ended pid*
    (
        until [ -f ended ] || [ "$(cat kept/rank-* 2>/dev/null | wc -c)" -ge $bytes ]; do :; done
        kill -9 "$(cat pid$((bytes / 60000 % 2)))" 2>/dev/null
    ) &
    mpiexec -n 2 sh -c 'echo $$ >pid${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$0" "$@"' \
        "$graphss" --engine mpi recover --model-file one.model --current later2 \
        --previous shards2 --threads 1 -o killed.tsv --checkpoint kept --checkpoint-every 0 \
        >../stdout 2>../stderr </dev/null && complain "exit code 0"
    : >ended
    wait
    absent killed.tsv; [ -d kept ] || complain "nothing was kept"
    ranks 4 recover --model-file one.model --current later4 --previous shards4 --threads 1 \
        -o killed.tsv --checkpoint kept
    exits 0; absent kept
    cut -f1,2 killed.tsv >killed.labels
    same one.labels killed.labels
    rm -f killed.tsv
done
run recover --model-file one.model --current later.npz -o out.npz --method none --checkpoint kept
exits 2; err "--checkpoint has no meaning for none"; absent kept

case_ "errors are told once, with the rank if it is one rank's own"
ranks 2 train shards2 --modle gcn
exits 2; once "--modle"
ranks 2 train data.npz
exits 3; once "want a folder of shards"
ranks 2 convert shards2 -o again.npz
exits 2; once "convert does not run with --engine"; absent again.npz
ranks 2 attack shards2 --model-file none.model -o no.flips
exits 3; once "none.model"; absent no.flips
ranks 2 recover --model-file one.model --current later2 -o out.npz --trusted nodes.txt
exits 3; once "nodes.txt"; absent out.npz
ranks 2 recover --model-file one.model --current later2 -o out.npz --method retrian
exits 2; once "found 'retrian'"; absent out.npz
cp -r shards2 bad
head -c 2000 shards2/part-0001.npz >bad/part-0001.npz
ranks 2 train bad -o no.model
exits 3; once "rank 1: "; once "bad/part-0001.npz"; absent no.model
ranks 2 train shards2 -o no/where.model
exits 4; once "cannot write in no"

case_ "tables are read in slices: the shards are those of one machine"
awk 'BEGIN { print "node_id,label,feat"; for (i = 0; i < 300; i++)
    printf "n%d,%s,w%d:1 w%d:2\n", i, i % 3 ? "red" : "blue", i % 40, i % 7 + 40 + i / 9 }' >nodes.csv
awk 'BEGIN { print "src_id,dst_id"; for (i = 0; i < 900; i++)
    printf "n%d,n%d\n", i % 300, i * i % 300 }' >edges.csv
mkdir tables
mv nodes.csv edges.csv tables
run convert tables -o whole.npz
exits 0
ranks 4 shard tables -o sliced4 --json
exits 0; json dataset.nodes 300; json engine.ranks 4; json parts 4
run shard --merge sliced4 -o merged.npz
exits 0; same whole.npz merged.npz
ranks 2 shard tables -o sliced2 --partition scotch
exits 2; once "nodes stay in their order"; absent sliced2
printf 'n3,n999\n' >>tables/edges.csv
ranks 2 shard tables -o sliced2
exits 3; once "rank 1: tables/edges.csv: found 'n999'"; absent sliced2

case_ "no rank leaks memory, where the program is built to tell"
leaks=detect_leaks=1:fast_unwind_on_malloc=0
ranks 2 train shards2 --epochs 1 --threads 1 -o ranks.model
exits 0
finish
