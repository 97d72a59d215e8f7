#!/usr/bin/env python3
"""Attackers unlike those that `recover` simulates, made by code of its own: does it ever do harm?

    experiments/odd_attackers.py --graphss build/graphss SEED ...     # build/results/recovery/README.md has the seeds

Trains on a snapshot (`graphss snapshots --setting seen`), then something is done to a fifth of the test nodes:

    praise     20 words (50 on Photo) that speak loudest for the class the classifier gives them, by log-odds in training labels
    praise+    and two links (five) to nodes of that class
    trigger    the same 15 words (45) of one class, at all of them
    cut        all links to their own class are cut
    alone      all links are cut
    hubs       five links to the hubs of one other class
    mimic      four links to nodes of one other class each, and 20 words (50) of its nodes
    rewire     every link goes to a random node of another class instead
    drop       half of the words go, those that say most for their class
    spread     two links (five) to some of the 50 nodes that speak loudest for the class their words would name next, and 20 (50) of the
               100 (250) words that do: what Nettack does, without the few partners that its search finds for all
    dress      links to a node of another class and to a neighbour of it (five), and 20 (50) of its words beside their own
    swap       two links (five) to their own class go, and 10 words (25) that say most for it; as many come, as spread has them

Printed: accuracy of the victims and of the others, undefended and recovered, without and with the past. Needs numpy; half a
minute a seed of Cora or Citeseer, minutes for Photo."""
import argparse
import tempfile

import numpy as np
from dense import run
from honest_change import prepare, put_rows, rows_of

KINDS = ("praise", "praise+", "trigger", "cut", "alone", "hubs", "mimic", "rewire", "drop", "spread", "dress", "swap")


def log_odds(features, split, label, n_words):
    """[classes x words] by training labels, words that are held by fewer than five nodes saying nothing."""
    count = np.full((label.max() + 1, n_words), 0.5)
    for v, y in zip(split["train"].tolist(), split["train_labels"].tolist()):
        count[y, list(features[v])] += 1
    share = np.log(count / count.sum(1, keepdims=True)) - np.log(count.sum(0) / count.sum())
    share[:, count.sum(0) < 5] = -9
    return share


class World:
    def __init__(self, data, split, said, large, rng):
        self.data, self.label, self.said, self.large, self.rng = data, data["labels"], said, large, rng
        self.links, self.features = rows_of(data, "adj"), rows_of(data, "attr")
        self.odds = log_odds(self.features, split, self.label, int(data["attr_shape"][1]))
        self.on = float(np.median(data["attr_data"]))
        self.degree = np.array([len(r) for r in self.links])
        self.speaks = np.array([self.odds[:, list(r)].sum(1) for r in self.features])

    def join(self, v, u):
        if v != u:
            self.links[v][u] = self.links[u][v] = 1.0

    def cut(self, v, u):
        self.links[v].pop(u, None)
        self.links[u].pop(v, None)

    def loudest(self, v, scores, most):
        absent = [j for j in np.argsort(-scores)[:most + len(self.features[v])].tolist() if j not in self.features[v]]
        for word in absent[:most]:
            self.features[v][word] = self.on

    def other(self, v):
        return int(self.rng.choice(np.flatnonzero(self.label != self.label[v])))

    def attack(self, kind, victims):
        rng, words, links = self.rng, 50 if self.large else 20, 5 if self.large else 2
        chosen = int(rng.integers(self.label.max() + 1))
        for v in victims.tolist():
            own = [u for u in self.links[v]]
            if kind.startswith("praise"):
                there = self.odds[self.said[v]] - np.delete(self.odds, self.said[v], 0).max(0)
                self.loudest(v, there, words)
                for u in rng.choice(np.flatnonzero(self.said == self.said[v]), links if kind == "praise+" else 0).tolist():
                    self.join(v, u)
            elif kind == "trigger":
                for word in np.argsort(-self.odds[chosen])[:45 if self.large else 15].tolist():
                    self.features[v].setdefault(word, self.on)
            elif kind in ("cut", "alone"):
                for u in own:
                    if kind == "alone" or self.label[u] == self.label[v]:
                        self.cut(v, u)
            elif kind == "hubs":
                to = chosen if self.label[v] != chosen else (chosen + 1) % (self.label.max() + 1)
                hubs = np.flatnonzero(self.label == to)
                for u in rng.choice(hubs[np.argsort(-self.degree[hubs])][:40], 5, replace=False).tolist():
                    self.join(v, u)
            elif kind == "mimic":
                there = np.flatnonzero(self.label == self.label[self.other(v)])
                for u in rng.choice(there, 4, replace=False).tolist():
                    self.join(v, u)
                for u in rng.choice(there, words).tolist():
                    if self.features[u]:
                        self.features[v].setdefault(int(rng.choice(list(self.features[u]))), self.on)
            elif kind == "rewire":
                for u in own:
                    self.cut(v, u)
                    self.join(v, self.other(v))
            elif kind in ("spread", "swap"):
                gone, lost = links, words
                if kind == "swap":
                    mates = [u for u in own if self.label[u] == self.label[v] and self.degree[u] > 1][:links]
                    held = sorted(self.features[v], key=lambda w: -self.odds[self.label[v], w])[:words // 2]
                    for u in mates:
                        self.cut(v, u)
                    for word in held:
                        del self.features[v][word]
                    gone, lost = max(1, len(mates)), len(held)
                told = self.speaks[v].copy()
                told[self.label[v]] = -np.inf
                to, far = int(told.argmax()), np.sqrt(self.degree + 1)
                loud = np.argsort(-(self.speaks[:, to] - self.speaks[:, self.label[v]]) / far)[:50]
                for u in rng.choice(loud, gone, replace=False).tolist():
                    self.join(v, u)
                for word in rng.choice(np.argsort(self.odds[self.label[v]] - self.odds[to])[:5 * words], lost, replace=False).tolist():
                    self.features[v].setdefault(word, self.on)
            elif kind == "dress":
                model = self.other(v)
                near = [u for u in self.data["adj_indices"][self.data["adj_indptr"][model]:self.data["adj_indptr"][model + 1]].tolist()]
                for u in [model] + near[:links - 1]:
                    self.join(v, u)
                worn = self.data["attr_indices"][self.data["attr_indptr"][model]:self.data["attr_indptr"][model + 1]]
                for word in rng.permutation(worn)[:words].tolist():
                    self.features[v].setdefault(word, self.on)
            elif kind == "drop":
                held = sorted(self.features[v], key=lambda w: -self.odds[self.label[v], w])
                for word in held[:len(held) // 2]:
                    del self.features[v][word]
        put_rows(self.data, "adj", self.links)
        put_rows(self.data, "attr", self.features)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", required=True)
    parser.add_argument("--datasets", default="cora,citeseer")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("seed", nargs="+", type=int)
    own = parser.parse_args()
    print(f"{'snapshot':24} {'no past: victims':>17} {'others':>15}  {'past: victims':>15} {'others':>15}")
    for name in own.datasets.split(","):
        for seed in own.seed:
            with tempfile.TemporaryDirectory() as place:
                made = f"{place}/made"
                prepare(own.graphss, name, seed, made)
                split = dict(np.load(f"{made}/split.npz"))
                model = ["--model-file", f"{made}/model", "--split", f"{made}/split.npz"]
                run(own.graphss, "recover", *model, "--current", f"{made}/previous.npz", "--method", "none", "-o", f"{place}/out.npz")
                said = np.load(f"{place}/out.npz")["labels"]
                for kind in own.kinds.split(","):
                    rng = np.random.default_rng(seed)
                    victims = rng.choice(split["test"], len(split["test"]) // 5, replace=False)
                    rest = np.setdiff1d(split["test"], victims)
                    data = dict(np.load(f"{made}/previous.npz"))
                    truth = data["labels"]
                    World(data, split, said, name in ("amazon_photo", "coauthor_cs"), rng).attack(kind, victims)
                    np.savez(f"{place}/now.npz", **data)
                    line = f"{name + ' ' + kind + ' ' + str(seed):24}"
                    for past in ([], ["--previous", f"{made}/previous.npz"]):
                        found = []
                        for method in ("none", "graphss"):
                            run(own.graphss, "recover", *model, "--current", f"{place}/now.npz", *past, "--method", method,
                                "-o", f"{place}/out.npz")
                            right = np.load(f"{place}/out.npz")["labels"] == truth
                            found += [100 * right[victims].mean(), 100 * right[rest].mean()]
                        line += f"   {found[0]:5.1f} -> {found[2]:5.1f} {found[1]:5.1f} -> {found[3]:5.1f}"
                    print(line, flush=True)


if __name__ == "__main__":
    main()
