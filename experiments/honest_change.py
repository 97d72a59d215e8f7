#!/usr/bin/env python3
"""Honest change, made by code of its own: is it taken for an attack?

    experiments/honest_change.py --graphss build/graphss SEED ...     # seeds 501 to 506

Trains on a snapshot (`graphss snapshots --setting seen`), then a fifth of the nodes without a label get three links each
to nodes of their own class, nine times in ten, else of any, and in the second row of each pair 20 words of nodes of
their class as well. Nothing is taken from anybody, and labelled nodes change only where they are linked to. Printed:
accuracy of the nodes that changed and of the others, undefended and recovered, the share thought hit, and the p-value of
alert; --previous is the snapshot the model was trained on. Needs numpy; ten seconds a snapshot."""
import argparse
import subprocess
import tempfile

import numpy as np
from dense import run


def rows_of(data, name):
    start = data[name + "_indptr"]
    return [dict(zip(data[name + "_indices"][a:b].tolist(), data[name + "_data"][a:b].tolist())) for a, b in zip(start, start[1:])]


def put_rows(data, name, rows):
    data[name + "_indptr"] = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    data[name + "_indices"] = np.array([c for r in rows for c in sorted(r)], np.int32)
    data[name + "_data"] = np.array([r[c] for r in rows for c in sorted(r)], np.float32)


def prepare(graphss, name, seed, made):
    """A model and the snapshot it was trained on, to which nothing has been done."""
    subprocess.run([graphss, "snapshots", name, "--setting", "seen", "--seed", str(seed), "--links", "0",
                    "--features", "0", "--threads", "1", "-q", "-o", made], check=True, stdout=subprocess.DEVNULL)


def change(data, test, words, rng):
    """The nodes that changed; data is changed."""
    label, links = data["labels"], rows_of(data, "adj")
    features = rows_of(data, "attr")
    degree = np.array([len(r) for r in links]) + 0.5
    nodes = rng.choice(test, len(test) // 5, replace=False)
    for v in nodes.tolist():
        there = np.flatnonzero(label == (label[v] if rng.random() < 0.9 else rng.integers(label.max() + 1)))
        for u in rng.choice(there, 3, replace=False, p=degree[there] / degree[there].sum()).tolist():
            if u != v:
                links[v][u] = links[u][v] = 1.0
        own = np.flatnonzero(label == label[v])
        for _ in range(20 if words else 0):
            lends = features[rng.choice(own)]
            if lends:
                word = int(rng.choice(list(lends)))
                features[v].setdefault(word, lends[word])
    put_rows(data, "adj", links)
    put_rows(data, "attr", features)
    return nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", required=True)
    parser.add_argument("--datasets", default="cora,citeseer,amazon_photo")
    parser.add_argument("--no-previous", action="store_true", help="alert and recover know no past")
    parser.add_argument("seed", nargs="+", type=int)
    own = parser.parse_args()
    print(f"{'snapshot':32} {'changed':>14}  {'others':>14}  {'hit':>6}  {'kind':18}  alert")
    for name in own.datasets.split(","):
        for seed in own.seed:
            with tempfile.TemporaryDirectory() as place:
                made = f"{place}/made"
                prepare(own.graphss, name, seed, made)
                test = np.load(f"{made}/split.npz")["test"]
                for words in (False, True):
                    rng = np.random.default_rng(seed)
                    data = dict(np.load(f"{made}/previous.npz"))
                    nodes = change(data, test, words, rng)
                    rest = np.setdiff1d(test, nodes)
                    np.savez(f"{place}/now.npz", **data)
                    now = ["--model-file", f"{made}/model", "--current", f"{place}/now.npz", "--split", f"{made}/split.npz"]
                    now += [] if own.no_previous else ["--previous", f"{made}/previous.npz"]
                    found = {}
                    for method in ("none", "graphss"):
                        told = run(own.graphss, "recover", *now, "--method", method, "-o", f"{place}/out.npz")
                        right = np.load(f"{place}/out.npz")["labels"] == data["labels"]
                        found[method] = (100 * right[nodes].mean(), 100 * right[rest].mean())
                    alert = run(own.graphss, "alert", *now)
                    (a, b), (c, d) = found["none"], found["graphss"]
                    what = "links and words" if words else "links"
                    print(f"{name + ' ' + what + ' ' + str(seed):32} {a:5.1f} -> {c:5.1f}  {b:5.1f} -> {d:5.1f}  "
                          f"{100 * told['share']:4.1f} %  {told['kind']:18}  p {alert['p_value']:.4f}", flush=True)


if __name__ == "__main__":
    main()
