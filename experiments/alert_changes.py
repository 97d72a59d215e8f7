#!/usr/bin/env python3
"""Changes that alert was once wrong about: does it alert?

    experiments/alert_changes.py --graphss build/graphss [--datasets cora,citeseer] SEED ...

Each is made on a snapshot of `graphss snapshots --setting seen`, which is --previous but for `links arrive`. Honest:
`links arrive` at nodes without a label, a fifth of their true ones; `words go`, 30 % of those of a fifth of these nodes.
Hostile: `values`, a fifth of these nodes have the words that are commoner in another class 60 times; `anyone`, a
twentieth of all nodes, labelled or not, have four links to another class, and `anyone, words` 15 words of it as well.
Printed: the p-value of the snapshot, and how many of 100 random groups, a tenth of the nodes without a label, alert.
Needs numpy; ten seconds a snapshot."""
import argparse
import json
import subprocess
import tempfile

import numpy as np
from honest_change import put_rows, rows_of


def other_class(label, v, rng):
    return (label[v] + rng.integers(1, label.max() + 1)) % (label.max() + 1)


def links_arrive(past, now, test, rng):
    links, free = rows_of(past, "adj"), set(test.tolist())
    for v in free:
        for u in [u for u in links[v] if (u > v or u not in free) and rng.random() < 0.2]:
            del links[v][u]
            links[u].pop(v, None)
    put_rows(past, "adj", links)


def words_go(past, now, test, rng):
    words = rows_of(now, "attr")
    for v in rng.choice(test, len(test) // 5, replace=False).tolist():
        held = sorted(words[v])
        for word in rng.choice(held, int(0.3 * len(held)), replace=False).tolist():
            del words[v][word]
    put_rows(now, "attr", words)


def values(past, now, test, rng):
    words, label = rows_of(now, "attr"), now["labels"]
    common = np.zeros((label.max() + 1, int(now["attr_shape"][1])))
    for v, row in enumerate(words):
        common[label[v], list(row)] += 1
    common /= np.maximum(np.bincount(label[label >= 0], minlength=len(common)), 1)[:, None]
    for v in rng.choice(test, len(test) // 5, replace=False).tolist():
        target = other_class(label, v, rng)
        for word in words[v]:
            words[v][word] *= 60 if common[target, word] > common[label[v], word] else 1
    put_rows(now, "attr", words)


def anyone(past, now, test, rng, lent=0):
    links, words, label = rows_of(now, "adj"), rows_of(now, "attr"), now["labels"]
    for v in rng.choice(len(label), len(label) // 20, replace=False).tolist():
        there = np.flatnonzero(label == other_class(label, v, rng))
        for u in rng.choice(there, 4, replace=False).tolist():
            links[v][u] = links[u][v] = 1.0
        for lends in (words[u] for u in rng.choice(there, lent).tolist()):
            if lends:
                word = int(rng.choice(list(lends)))
                words[v].setdefault(word, lends[word])
    put_rows(now, "adj", links)
    put_rows(now, "attr", words)


CHANGES = {"links arrive": links_arrive, "words go": words_go, "values": values, "anyone": anyone,
           "anyone, words": lambda *given: anyone(*given, lent=15)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", required=True)
    parser.add_argument("--datasets", default="cora,citeseer,amazon_photo")
    parser.add_argument("seed", nargs="+", type=int)
    own = parser.parse_args()
    for name in own.datasets.split(","):
        for seed in own.seed:
            with tempfile.TemporaryDirectory() as place:
                subprocess.run([own.graphss, "snapshots", name, "--setting", "seen", "--seed", str(seed), "--links", "0",
                                "--features", "0", "--threads", "1", "-q", "-o", f"{place}/made"], check=True, stdout=subprocess.DEVNULL)
                test = np.load(f"{place}/made/split.npz")["test"]
                for what, change in CHANGES.items():
                    rng = np.random.default_rng(seed)
                    past, now = (dict(np.load(f"{place}/made/previous.npz")) for _ in range(2))
                    change(past, now, test, rng)
                    np.savez(f"{place}/past.npz", **past)
                    np.savez(f"{place}/now.npz", **now)
                    with open(f"{place}/groups", "w") as file:
                        for _ in range(100):
                            group = rng.choice(test, len(test) // 10, replace=False)
                            file.write(" ".join(str(now["node_names"][v] if "node_names" in now else v) for v in group) + "\n")
                    command = [own.graphss, "alert", "--json", "--threads", "1", "--model-file", f"{place}/made/model", "--split",
                               f"{place}/made/split.npz", "--current", f"{place}/now.npz", "--previous", f"{place}/past.npz"]
                    whole, many = (json.loads(subprocess.run(command + more, capture_output=True, text=True).stdout)
                                   for more in ([], ["--groups", f"{place}/groups"]))
                    print(f"{name + ' ' + what + ' ' + str(seed):36} p {whole['p_value']:.4f}  "
                          f"{sum(g['alert'] for g in many['groups']):3} of 100 groups", flush=True)


if __name__ == "__main__":
    main()
