# shards.sh - a dataset cut into parts, and the parts as a dataset.
. "$(dirname "$0")/harness.sh"

case_ "shards are the dataset they were cut from"
run convert synth:nodes=300,features=80 -o whole.npz
exits 0
run --json shard whole.npz -o parts --parts 3
exits 0; json parts 3; json least_nodes 100; json dataset.nodes 300; present parts/part-0002.npz
run shard --merge parts -o again.npz
exits 0; out "300 nodes"; same whole.npz again.npz
run --json info parts
exits 0; json nodes 300

case_ "a partition of one's own is followed, and its faults have a line"
awk 'BEGIN { for (i = 0; i < 300; i++) print i % 2 }' >part.txt
run --json shard whole.npz -o own --parts 2 --partition part.txt
exits 0; json most_nodes 150
sed -i 's/^1$/7/' part.txt
run shard whole.npz -o bad --parts 2 --partition part.txt
exits 3; err "part.txt:2: found '7', want 0..1"; absent bad

case_ "what cannot be done is told"
run shard whole.npz -o parts --parts 2
exits 2; err "want an empty folder"
run shard whole.npz -o few --parts 400
exits 2; err "300 nodes for 400 parts"
run shard whole.npz -o few
exits 2; err "want --parts R"
run shard --merge parts -o few --parts 2
exits 2; err "--parts has no meaning"

case_ "a shard that is damaged, cut off, missing or of another dataset is named"
cp -r parts bad
printf x | dd of=bad/part-0001.npz bs=1 seek=11 conv=notrunc 2>/dev/null
run info bad
exits 3; err "bad/part-0001.npz: its SHA-256"
head -c 1000 parts/part-0001.npz >bad/part-0001.npz
run info bad
exits 3; err "bad/part-0001.npz"
run shard synth:nodes=300,features=80,seed=2 -o other --parts 3
exits 0
cp other/part-0001.npz bad/
run info bad
exits 3; err "a shard of another dataset"
rm bad/part-0001.npz
run info bad
exits 3; err "bad/part-0001.npz"
head -c 100 parts/shards.json >bad/shards.json
run info bad
exits 3; err "bad/shards.json:"

case_ "plan: memory falls with the ranks, one rank sends nothing"
run --json plan --nodes 1e6 --edges 9e6 --features 64 --ranks 1
exits 0; json rank_halo_bytes 0.0; json rank_ghosts 0.0; json rank_nodes 1000000.0
run plan --nodes 1e6 --edges 9e6 --ranks 4
exits 0; out "GB a rank"; out "at least"
run plan --nodes 3 --edges 2 --ranks 4
exits 2; err "4 ranks for 3 nodes"
run plan --ranks 4
exits 2; err "want --nodes N and --edges M"
finish
