# numpy.sh GRAPHSS - numpy and scipy read what the program writes, without pickles, and the
# model is a sound safetensors file; the people of the README get the labels it says. Skips (77) where python3 has no numpy and scipy.
set -eu
graphss=$1
python=
for candidate in python3 /usr/bin/python3; do
    if $candidate -c 'import numpy, scipy.sparse' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no python3 with numpy and scipy"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$graphss" -q convert synth:nodes=200,degree=4,classes=3,features=50 -o graph.npz
"$graphss" -q split graph.npz -o split.npz
"$graphss" -q train graph.npz --split split.npz --epochs 20 -o a.model >/dev/null
"$graphss" -q predict graph.npz --model-file a.model -o labels.npz
mkdir people
cat >people/nodes.csv <<'END'
node_id,label,age,posts
anna,human,31,12
karl,human,45,3
bot7,bot,0,900
lena,,28,15
bot8,,0,840
END
cat >people/edges.csv <<'END'
src_id,dst_id
anna,karl
karl,lena
lena,anna
bot7,bot8
END
"$graphss" -q train people/ --train 1 --val 0 --noise 0 --dropout 0 -o people.model >/dev/null
"$graphss" -q predict people/ --model-file people.model -o people.npz
"$python" - <<'END'
import json, struct
import numpy as np, scipy.sparse as sp

z = np.load("graph.npz")
A, X = (sp.csr_matrix((z[k + "_data"], z[k + "_indices"], z[k + "_indptr"]), z[k + "_shape"])
        for k in ("adj", "attr"))
A.check_format()
assert A.shape == (200, 200) and (A != A.T).nnz == 0 and A.diagonal().sum() == 0
assert X.shape == (200, 50) and set(np.unique(z["labels"])) == {0, 1, 2}

s = np.load("split.npz")
assert sorted(np.concatenate([s["train"], s["val"], s["test"]])) == list(range(200))
assert s["train"].dtype == np.int64 and len(s["train_labels"]) == len(s["train"])

p = np.load("labels.npz")
assert p["probabilities"].shape == (200, 3) and p["probabilities"].dtype == np.float32
assert np.allclose(p["probabilities"].sum(1), 1, atol=1e-5)
assert (p["probabilities"].argmax(1) == p["labels"]).all()

q = np.load("people.npz")
assert list(q["node_names"]) == ["anna", "karl", "bot7", "lena", "bot8"]
assert list(q["labels"]) == [0, 0, 1, 0, 1], q["labels"]

raw = open("a.model", "rb").read()
(n,) = struct.unpack("<Q", raw[:8])
header = json.loads(raw[8:8 + n])
size = {"F32": 4, "F64": 8, "I32": 4}
assert header.pop("__metadata__")
for name, t in header.items():
    assert t["data_offsets"][1] - t["data_offsets"][0] == size[t["dtype"]] * np.prod(t["shape"], dtype=int), name
assert max(t["data_offsets"][1] for t in header.values()) == len(raw) - 8 - n
END
echo "numpy reads it"
