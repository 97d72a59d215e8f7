# kernels.sh - each set of kernels that the machine has gives the same bytes for any number of threads, and all sets the same labels.
# A set that is missing is replaced by the best one there is, so this runs everywhere. bench/agreement does the same for real datasets.
. "$(dirname "$0")/harness.sh"

data=synth:nodes=1500,features=90,degree=6
for set in generic avx2 avx512; do
    export GRAPHSS_KERNELS=$set
    case_ "$set: models of 1 and 3 threads have the same bytes, with dropout and without"
    for dropout in 0 0.5; do
        for threads in 1 3; do
            run train $data --epochs 6 --dropout $dropout --threads $threads -q -o "$set-$threads"
            exits 0
        done
        same "$set-1" "$set-3"
    done

    case_ "$set: the labels of one model are those of the other sets, and of any number of threads"
    [ -f one-model ] || cp "$set-1" one-model
    for threads in 1 2; do
        run predict $data --model-file one-model --threads $threads -q -o now.csv
        exits 0
        cut -d, -f 1,2 now.csv >labels
        [ -f first ] || cp labels first
        same first labels
    done
done
unset GRAPHSS_KERNELS

finish
