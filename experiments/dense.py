#!/usr/bin/env python3
"""Dense features: snapshots with embeddings in place of words, attacked by code of its own.

    experiments/dense.py --graphss build/graphss --data DATA_FOLDER SEED ...     # seeds 21 to 24

Cora and Citeseer with their words brought to 64 dimensions (singular vectors, turned at random, rows of length one),
and generated graphs of 2,500 nodes: classes that are clouds of points, the same points
with columns in units of their own (`units`), and 20 columns of counts. A fifth of the nodes to train, a fifth to
validate, a tenth of the labels wrong. A fifth of the others are hit: `links` joins 5 nodes of another class, `features`
takes over those of such a node, `both` joins 3 and goes 0.7 of the way; `churn` joins 3 nodes of the own class and adds
noise, `clean` is the snapshot the model was trained on. Printed: accuracy of victims and of other nodes, undefended and
recovered, the share of nodes thought hit and the kind; the p-value of alert. With --previous the clean snapshot is the
past. Needs numpy; five seconds a snapshot."""
import argparse
import json
import os
import subprocess
import tempfile

import numpy as np

SORTS = {"clean": None, "churn": None, "links": (5, 0.0), "features": (0, 1.0), "both": (3, 0.7)}


def generated(name, rng):
    n, k, d = 2500, 6, 64
    label = rng.integers(0, k, n)
    if name in ("points", "units"):
        x = 0.45 * rng.normal(size=(k, d))[label] + rng.normal(size=(n, d))
        if name == "units":
            x = (x + 3 * rng.normal(size=d)) * 10 ** rng.uniform(-3, 3, d)
    else:
        rate = 1.5 * rng.gamma(0.6, 1, (k, 20)) + 0.1
        x = rng.poisson(0.5 * rate[label] + 0.5 * rate.mean(0))
    same = [np.flatnonzero(label == c) for c in range(k)]
    links = set()
    while len(links) < 3 * n:
        a = int(rng.integers(n))
        b = int(rng.choice(same[label[a]]) if rng.random() < 0.8 else rng.integers(n))
        if a != b:
            links.add((min(a, b), max(a, b)))
    return label, x.astype(np.float32), links


def embedded(path, rng, d=64):
    z = np.load(path)
    label = z["labels"].astype(int)
    n = len(label)
    words = np.zeros(tuple(z["attr_shape"]), np.float32)
    words[np.repeat(np.arange(n), np.diff(z["attr_indptr"])), z["attr_indices"]] = 1
    words *= np.log(n / np.maximum(words.sum(0), 1)) / np.maximum(words.sum(1, keepdims=True), 1) ** 0.5
    _, vectors = np.linalg.eigh(words.T @ words)
    x = words @ vectors[:, -d:]
    x = (x / np.sqrt((x**2).mean(0))) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    x /= np.linalg.norm(x, axis=1, keepdims=True) + 1e-9
    start = np.repeat(np.arange(n), np.diff(z["adj_indptr"]))
    links = {(min(a, b), max(a, b)) for a, b in zip(start.tolist(), z["adj_indices"].tolist()) if a != b}
    return label, x.astype(np.float32), links


def write(path, label, x, links):
    e = np.array(sorted(links))
    row, column = np.concatenate([e[:, 0], e[:, 1]]), np.concatenate([e[:, 1], e[:, 0]])
    order = np.lexsort((column, row))
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(label)))])
    np.savez(path, adj_indptr=offset, adj_indices=column[order], adj_shape=[len(label)] * 2, attr_matrix=x, labels=label)


def changed(sort, label, x, links, test, victims, rng, own_units):
    x, links, k = x.copy(), set(links), label.max() + 1
    if sort == "churn":
        for v in rng.choice(test, len(victims), replace=False).tolist():
            for u in rng.choice(np.flatnonzero(label == label[v]), 3, replace=False).tolist():
                if u != v:
                    links.add((min(u, v), max(u, v)))
            x[v] += 0.3 * (x.std(0) if own_units else x.std()) * rng.normal(size=x.shape[1])
    elif SORTS[sort]:
        joins, way = SORTS[sort]
        for v in victims.tolist():
            wanted = rng.choice([c for c in range(k) if c != label[v]])
            there = np.flatnonzero(label == wanted)
            for u in rng.choice(there, joins, replace=False).tolist():
                links.add((min(u, v), max(u, v)))
            x[v] += way * (x[rng.choice(there)] - x[v])
    return x, links


def run(graphss, *arguments):
    command = [graphss, *arguments, "--threads", "1", "--seed", "1", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", required=True)
    parser.add_argument("--data", default=os.environ.get("GRAPHSS_DATA", "."))
    parser.add_argument("--datasets", default="cora,citeseer,points,units,counts")
    parser.add_argument("--previous", action="store_true")
    parser.add_argument("--train", default="", help="options of train, such as '--dropout 0.8'")
    parser.add_argument("seed", nargs="+", type=int)
    own = parser.parse_args()
    print(f"{'snapshot':24} {'victims':>14}  {'others':>14}  {'hit':>6}  {'kind':18}  alert")
    for name in own.datasets.split(","):
        for seed in own.seed:
            rng = np.random.default_rng(seed)
            label, x, links = (embedded(f"{own.data}/{name}.npz", rng) if name in ("cora", "citeseer")
                               else generated(name, rng))
            n, k = len(label), label.max() + 1
            order = rng.permutation(n)
            train, val, test = np.split(order, [n // 5, 2 * (n // 5)])
            wrong = lambda s: np.where(rng.random(len(s)) < 0.1, (label[s] + rng.integers(1, k, len(s))) % k, label[s])
            victims = rng.choice(test, len(test) // 5, replace=False)
            others = np.setdiff1d(test, victims)
            with tempfile.TemporaryDirectory() as place:
                split = f"{place}/split.npz"
                np.savez(split, train=train, val=val, test=test, train_labels=wrong(train), val_labels=wrong(val))
                for sort in SORTS:
                    write(f"{place}/{sort}.npz", label, *changed(sort, label, x, links, test, victims, rng, name == "units"))
                model = f"{place}/model"
                run(own.graphss, "train", f"{place}/clean.npz", "--split", split, "-o", model, *own.train.split())
                for sort in SORTS:
                    now = ["--model-file", model, "--current", f"{place}/{sort}.npz", "--split", split]
                    now += ["--previous", f"{place}/clean.npz"] if own.previous else []
                    found = {}
                    for method in ("none", "graphss"):
                        told = run(own.graphss, "recover", *now, "--method", method, "-o", f"{place}/out.npz")
                        right = np.load(f"{place}/out.npz")["labels"] == label
                        found[method] = (100 * right[victims].mean(), 100 * right[others].mean())
                    alert = run(own.graphss, "alert", *now)
                    (a, b), (c, d) = found["none"], found["graphss"]
                    print(f"{name + ' ' + sort + ' ' + str(seed):24} {a:5.1f} -> {c:5.1f}  {b:5.1f} -> {d:5.1f}  "
                          f"{100 * told['share']:4.1f} %  {told['kind']:18}  p {alert['p_value']:.4f}", flush=True)


if __name__ == "__main__":
    main()
