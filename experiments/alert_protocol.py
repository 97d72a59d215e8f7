#!/usr/bin/env python3
"""How `graphss alert` does outside its own rehearsal.

    experiments/alert_protocol.py --graphss build/graphss DATASET [--seeds 1,2] [--parts ...]

For each seed a classifier is trained (`graphss snapshots`), and the clean snapshot is changed by this script, not by
the rehearsal. Prints a JSON line each for
  rates       share of alerts at 5 %: random groups, real groups (predicted classes, true classes, communities) without
              a past; groups without change, with a past
  honest      p-values of snapshots that change honestly, ten kinds, by all nodes, by those without a label, by a fifth
  power       AUC of nodes and of groups, and p-value of the snapshot, with 5, 1, 0.1 % of the test nodes hit
  references  p-value and estimated contamination with 20 % of the validation nodes hit, too
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np
import scipy.sparse as sp

KINDS = ("attach", "closure", "homophily", "random", "loss", "rewire", "longer", "shorter", "other words", "both")


def read(path):
    z = np.load(path)
    part = lambda a: sp.csr_matrix((z[a + "_data"].astype(np.float32), z[a + "_indices"], z[a + "_indptr"]),
                                   shape=tuple(z[a + "_shape"]))
    names = z["node_names"] if "node_names" in z.files else np.arange(len(z["labels"])).astype(str)
    return [part("adj"), part("attr"), z["labels"], names]


def write(path, world):
    a, x, y, names = world
    a, x = a.tocsr(), x.tocsr()
    for m in (a, x):
        m.eliminate_zeros(), m.sort_indices()
    np.savez(path, adj_data=a.data, adj_indices=a.indices, adj_indptr=a.indptr, adj_shape=np.array(a.shape),
             attr_data=x.data, attr_indices=x.indices, attr_indptr=x.indptr, attr_shape=np.array(x.shape), labels=y,
             node_names=names)
    return path


class Study:
    def __init__(self, args, seed):
        self.args, self.seed, self.dir = args, seed, tempfile.mkdtemp(prefix="alert_protocol_")
        self.call("--seed", seed, "snapshots", args.dataset, "--setting", "seen", "--links", 0, "--features", 0, "--force",
                  "-o", self.dir)
        self.clean = read(self.dir + "/current.npz")
        self.past = write(self.dir + "/past.npz", self.clean)
        self.split = dict(np.load(self.dir + "/split.npz"))
        self.n, self.test = len(self.clean[2]), self.split["test"]
        labelled = np.r_[self.split["train"], self.split["val"]]
        self.free = np.setdiff1d(np.arange(self.n), labelled)
        out = self.dir + "/said.npz"
        self.call("recover", "--method", "none", "--model-file", self.dir + "/model", "--split", self.dir + "/split.npz",
                  "--current", self.past, "-o", out)
        self.said = np.load(out)["labels"]

    def call(self, *args):
        p = subprocess.run([self.args.graphss, "-q", "--json", *map(str, args)], capture_output=True, text=True)
        if p.returncode > 1:
            sys.exit(f"graphss {' '.join(map(str, args))}: {p.stderr}")
        return json.loads(p.stdout) if p.stdout.strip() else {}

    def alert(self, path, past=False, *more):
        return self.call("alert", "--model-file", self.dir + "/model", "--split", self.dir + "/split.npz", "--current", path,
                         *(["--previous", self.past] if past else []), *more)

    def judge(self, path, groups, past=False):
        """p-values and scores of groups of nodes"""
        listed = self.dir + "/groups.txt"
        with open(listed, "w") as f:
            for g in groups:
                f.write(" ".join('"%s"' % n for n in self.clean[3][g]) + "\n")
        found = self.alert(path, past, "--groups", listed)["groups"]
        return np.array([g["p_value"] for g in found]), np.array([g["score"] for g in found])

    def nodes(self, path, past=False):
        out = self.dir + "/nodes.tsv"
        self.alert(path, past, "-o", out)
        column = [line.split("\t")[1:] for line in open(out).read().splitlines()[1:]]
        score = np.array(column, float)
        return np.where(score[:, 1] < 1, score[:, 0], -1e9) if past else score[:, 0]

    # ---- change ----

    def honest(self, kind, nodes, rng):
        a, x, y, names = self.clean
        near = [set(a.indices[a.indptr[i]:a.indptr[i + 1]].tolist()) for i in range(self.n)]
        weight = np.array([len(s) + 1.0 for s in near])
        weight /= weight.sum()
        class_of = [np.flatnonzero(self.said == c) for c in range(self.said.max() + 1)]
        words, on = x.tolil(), float(np.median(x.data))
        def join(u, v):
            if u != v:
                near[u].add(int(v)), near[int(v)].add(u)
        def cut(u, v):
            near[u].discard(v), near[v].discard(u)
        def two_steps(v):
            return sorted({u for m in near[v] for u in near[m]} - near[v] - {v})
        for v in map(int, nodes):
            own = x[v].indices
            if kind in ("attach", "both"):
                for u in rng.choice(self.n, 2, p=weight):
                    join(v, u)
            if kind == "closure":
                for u in rng.permutation(two_steps(v))[:2]:
                    join(v, u)
            if kind == "homophily":
                for u in rng.choice(class_of[self.said[v]], 2):
                    join(v, u)
            if kind == "random":
                join(v, int(rng.integers(self.n)))
            if kind in ("loss", "rewire"):
                for u in sorted(near[v]):
                    if rng.random() < 0.2 and len(near[v]) > 1 and len(near[u]) > 1:
                        cut(v, u)
                        if kind == "rewire" and two_steps(v):
                            join(v, int(rng.choice(two_steps(v))))
            if kind in ("longer", "both"):
                pool = [j for u in near[v] for j in x[u].indices] or [0]
                for j in rng.choice(pool, max(1, len(own) // 3)):
                    words[v, int(j)] = on
            if kind in ("shorter", "other words"):
                for j in own[rng.random(len(own)) < 0.25] if len(own) > 4 else own[:0]:
                    words[v, j] = 0
                    if kind == "other words":
                        words[v, int(rng.integers(x.shape[1]))] = on
        rows = [i for i in range(self.n) for _ in near[i]]
        columns = [u for i in range(self.n) for u in sorted(near[i])]
        return [sp.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=a.shape), words.tocsr(), y, names]

    def hit(self, victims, rng, edges=3, words=15):
        """Each victim gets edges to one other class, and words of a node of it; some of its own words go."""
        a, x, y, names = self.clean
        links, text, on = a.tolil(), x.tolil(), float(np.median(x.data))
        for v in map(int, victims):
            to = rng.choice([c for c in np.unique(self.said) if c != self.said[v]])
            pool = np.flatnonzero(self.said == to)
            for u in rng.choice(pool, edges):
                links[v, int(u)] = links[int(u), v] = 1
            there = np.setdiff1d(np.concatenate([x[int(u)].indices for u in rng.choice(pool, 3)]), x[v].indices)
            for j in rng.permutation(there)[:words]:
                text[v, int(j)] = on
            for j in rng.permutation(x[v].indices)[:words // 3]:
                text[v, int(j)] = 0
        return [links.tocsr(), text.tocsr(), y, names]

    def communities(self, rng):
        """Nodes without a label by label propagation over the clean graph, of at least 15 nodes."""
        a, name = self.clean[0], rng.permutation(self.n)
        for _ in range(5):
            for v in rng.permutation(self.n):
                around = name[a.indices[a.indptr[v]:a.indptr[v + 1]]]
                if len(around):
                    values, count = np.unique(around, return_counts=True)
                    name[v] = rng.choice(values[count == count.max()])
        groups = [np.intersect1d(np.flatnonzero(name == c), self.free) for c in np.unique(name)]
        return [g for g in groups if len(g) >= 15]


def auc(score, positive):
    rank = np.empty(len(score))
    values, place, count = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    p = positive.sum()
    return float((rank[positive].sum() - p * (p + 1) / 2) / (p * (len(score) - p)))


def rates(s, rng):
    free, y = s.free, s.clean[2]
    pick = lambda groups: [g for g in groups if len(g) >= 15]
    sets = dict(random=[rng.choice(free, max(20, len(free) // 10), replace=False) for _ in range(100)],
                predicted=pick([free[s.said[free] == c] for c in np.unique(y)]),
                classes=pick([free[y[free] == c] for c in np.unique(y)]), communities=s.communities(rng))
    for kind, groups in sets.items():
        p = s.judge(s.past, groups)[0] if groups else np.array([])
        yield dict(part="rates", groups=kind, past=False, n=len(groups), alerts=int((p <= 0.05).sum()))
    fifth = rng.choice(free, len(free) // 5, replace=False)
    now = write(s.dir + "/now.npz", s.honest("attach", fifth, rng))
    for kind in ("random", "classes", "communities"):
        p = s.judge(now, sets[kind], past=True)[0]
        yield dict(part="rates", groups=kind + ", a fifth attaches", past=True, n=len(p), alerts=int((p <= 0.05).sum()))
    groups = sets["random"] + sets["classes"] + sets["communities"]
    p = s.judge(s.past, groups, past=True)[0]
    yield dict(part="rates", groups="unchanged", past=True, n=len(p), alerts=int((p <= 0.05).sum()))


def honest(s, rng):
    who = dict(all=np.arange(s.n), unlabelled=s.free, fifth=rng.choice(s.free, len(s.free) // 5, replace=False))
    for by, nodes in who.items():
        for kind in KINDS:
            now = write(s.dir + "/now.npz", s.honest(kind, nodes, rng))
            yield dict(part="honest", kind=kind, by=by, p_new=s.alert(now)["p_value"], p_seen=s.alert(now, True)["p_value"])


def power(s, rng):
    for share in (0.05, 0.01, 0.001):
        victims = rng.choice(s.test, max(1, round(share * len(s.test))), replace=False)
        positive = np.isin(s.test, victims)
        now = write(s.dir + "/now.npz", s.hit(victims, rng))
        row = dict(part="power", share=share, victims=len(victims))
        size = max(20, len(s.test) // 10)
        count = max(1, round(0.05 * size))
        others = np.setdiff1d(s.test, victims)
        for name, past in (("new", False), ("seen", True)):
            found = s.alert(now, past)
            listed = np.isin(s.clean[3], found["flagged_nodes"])
            row[name + "_p"], row[name + "_listed"] = found["p_value"], int(listed.sum())
            row[name + "_guilty"] = int(listed[victims].sum())
            row[name + "_nodes"] = round(auc(s.nodes(now, past)[s.test], positive), 3)
            if share == 0.05:
                hit = [np.r_[rng.choice(victims, count, replace=False), rng.choice(others, size - count, replace=False)]
                       for _ in range(40)]
                calm = [rng.choice(others, size, replace=False) for _ in range(40)]
                score = s.judge(now, hit + calm, past)[1]
                row[name + "_groups"] = round(auc(score, np.arange(80) < 40), 3)
        yield row


def references(s, rng):
    val = s.split["val"]
    for share in (0, 0.2, 0.5):
        victims = np.r_[rng.choice(s.test, len(s.test) // 5, replace=False),
                        rng.choice(val, round(share * len(val)), replace=False)]
        now = write(s.dir + "/now.npz", s.hit(victims, rng))
        new, seen = s.alert(now), s.alert(now, True)
        yield dict(part="references", validation_hit=share, new_p=new["p_value"], new_contaminated=new["contaminated"],
                   seen_p=seen["p_value"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--graphss", default="build/graphss")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--parts", default="rates,honest,power,references")
    args = parser.parse_args()
    parts = dict(rates=rates, honest=honest, power=power, references=references)
    for seed in map(int, args.seeds.split(",")):
        study = Study(args, seed)
        for name in args.parts.split(","):
            for row in parts[name](study, np.random.default_rng(seed)):
                print(json.dumps(dict(dataset=args.dataset, seed=seed, **row)), flush=True)


if __name__ == "__main__":
    main()
