#!/usr/bin/env python3
"""`graphss alert` on an archive with names: honest updates and tampered ones, with the earlier snapshot as past.

    experiments/alert_archive.py --graphss build/graphss PAST.npz NOW.npz [--tampered FILE.npz --victims FILE.txt]
        [--model FILE] [--cases honest,arrivals,...] [--seed 1]

PAST and NOW are snapshots of one archive, both honest. Trains a classifier on PAST (or reads --model), then prints a
JSON line for each case: p-value, alert, nodes listed and how many of these are guilty, and with --recover how many
victims are right, without a defence, by keep-last and by recover. All changes are made by this script, none by the rehearsal:
  honest     NOW as it is; its sections and communities as groups
  unchanged  PAST against itself, its sections as groups
  arrivals   300 nodes that PAST is made to lack, drawn from all; 300 of one section; communities of nodes until there are 300
  renamed    300 nodes that many others link to leave, and come back under another name
  tampered   --tampered as it is; 300, 40, 5 nodes and 200 with a label get 6 links and 8 words of another section
  wave       200 nodes that nobody knows arrive with 6 links to one section each, and words of another, of two, or of it
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np
import scipy.sparse as sp


class Archive:
    def __init__(self, path):
        z = np.load(path)
        part = lambda a: sp.csr_matrix((z[a + "_data"], z[a + "_indices"], z[a + "_indptr"]), shape=tuple(z[a + "_shape"]))
        self.a, self.x, self.y, self.names = part("adj"), part("attr"), z["labels"], z["node_names"]
        self.classes, self.words = z["class_names"], z["attr_names"]

    def copy(self):
        d = Archive.__new__(Archive)
        d.__dict__.update(self.__dict__)
        return d

    def save(self, path):
        a, x = self.a.tocsr(), self.x.tocsr()
        for m in (a, x):
            m.eliminate_zeros(), m.sort_indices()
        np.savez(path, adj_data=a.data.astype(np.float32), adj_indices=a.indices, adj_indptr=a.indptr, adj_shape=np.array(a.shape),
                 attr_data=x.data.astype(np.float32), attr_indices=x.indices, attr_indptr=x.indptr, attr_shape=np.array(x.shape),
                 labels=self.y, node_names=self.names, class_names=self.classes, attr_names=self.words)
        return path

    def keep(self, nodes):
        d = self.copy()
        d.a, d.x, d.y, d.names = self.a[nodes][:, nodes], self.x[nodes], self.y[nodes], self.names[nodes]
        return d

    def join(self, links, words):
        """links [(u, v)], words [(v, j)] are added"""
        d, n = self.copy(), len(self.y)
        if len(links):
            u, v = np.array(links).T
            d.a = ((self.a + sp.csr_matrix((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])), shape=(n, n))) > 0).astype(np.float32)
        if len(words):
            v, j = np.array(words).T
            d.x = ((self.x + sp.csr_matrix((np.ones(len(v)), (v, j)), shape=self.x.shape)) > 0).astype(np.float32)
        return d

    def grow(self, names, labels):
        d, m = self.copy(), len(names)
        d.a = sp.block_diag([self.a, sp.csr_matrix((m, m))]).tocsr()
        d.x = sp.vstack([self.x, sp.csr_matrix((m, self.x.shape[1]))]).tocsr()
        d.y, d.names = np.r_[self.y, labels], np.r_[self.names, names]
        return d

    def typical(self, c, m=40):
        """words that class c has more often than others"""
        inside = self.y == c
        share = np.asarray(self.x[inside].mean(0)).ravel()
        ratio = (share + 1e-3) / (np.asarray(self.x[~inside].mean(0)).ravel() + 1e-3)
        return np.argsort(-ratio * (share > 0.005))[:m]


class Study:
    def __init__(self, o):
        self.o, self.dir, self.rng = o, tempfile.mkdtemp(prefix="alert_archive_"), np.random.default_rng(o.seed)
        self.past, self.now = Archive(o.past), Archive(o.now)
        self.model = o.model or self.dir + "/model"
        split = self.model + ".split.npz"
        if not os.path.exists(self.model):
            self.call("split", o.past, "--noise", 0, "--seed", o.seed, "-o", split)
            self.call("train", o.past, "--split", split, "-o", self.model, "--seed", o.seed)
        z = np.load(split)
        self.labelled = self.past.names[np.r_[z["train"], z["val"]]]
        self.place = {n: i for i, n in enumerate(self.now.names.tolist())}

    def call(self, *args):
        p = subprocess.run([self.o.graphss, "-q", "--json", *map(str, args)], capture_output=True, text=True)
        if p.returncode > 1:
            sys.exit(f"graphss {' '.join(map(str, args))}: {p.stderr}")
        return json.loads(p.stdout) if p.stdout.strip() else {}

    def answers(self, path, method, past=None):
        out = self.dir + "/out.npz"
        self.call("recover", "--method", method, "--model-file", self.model, "--current", path, "-o", out,
                  *(["--previous", past] if past else []))
        return np.load(out)

    def case(self, name, now, guilty=(), past=None):
        path = now if isinstance(now, str) else now.save(self.dir + "/now.npz")
        then = self.o.past if past is None else past.save(self.dir + "/past.npz")
        names = np.load(path)["node_names"]
        found = self.call("alert", "--model-file", self.model, "--current", path, "--previous", then)
        row = dict(case=name, p=found["p_value"], alert=found["alert"], judged=found["nodes"], kind=found["kind"], share=found["share"],
                   contaminated=found["contaminated"], listed=len(found["flagged_nodes"]))
        if len(guilty):
            row["guilty_listed"] = int(np.isin(found["flagged_nodes"], guilty).sum())
            row["guilty"] = len(guilty)
            row["p_without_past"] = self.call("alert", "--model-file", self.model, "--current", path)["p_value"]
        if self.o.recover and len(guilty):
            at = np.flatnonzero(np.isin(names, guilty))
            truth = np.load(path)["labels"][at]
            for method in ("none", "keep-last", "graphss"):
                row[method] = round(100 * float((self.answers(path, method, then)["labels"][at] == truth).mean()), 1)
        print(json.dumps(row), flush=True)

    def groups(self, name, path):
        d = Archive(path)
        lists = [np.flatnonzero(d.y == c) for c in np.unique(d.y)]
        listed = self.dir + "/groups.txt"
        with open(listed, "w") as f:
            for g in lists:
                f.write(" ".join('"%s"' % n for n in d.names[g]) + "\n")
        found = self.call("alert", "--model-file", self.model, "--current", path, "--previous", self.o.past, "--groups", listed)["groups"]
        p = np.array([g["p_value"] for g in found])
        print(json.dumps(dict(case=name, groups=len(p), alerts=int((p <= 0.05).sum()), changed=int(sum(g["nodes"] > 0 for g in found)))), flush=True)

    # ---- honest ----

    def honest(self):
        self.case("updates", self.o.now)
        self.groups("sections of updates", self.o.now)

    def unchanged(self):
        self.groups("sections, unchanged", self.o.past)

    def arrivals(self):
        d, n, rng = Archive(self.o.past), len(Archive(self.o.past).y), self.rng
        section = int(np.argmax(np.bincount(d.y)))
        second = int(np.flatnonzero(d.classes == "libdevel")[0]) if "libdevel" in d.classes else (section + 1) % len(d.classes)
        together, rest = [], set(range(n))
        while len(together) < 300:
            start = int(rng.integers(n))
            near = [start] + [int(u) for u in d.a[start].indices if d.a[int(u)].nnz < 20]
            together += [v for v in near if v in rest][:30]
            rest -= set(near)
        for name, gone in (("of all", rng.choice(n, 300, replace=False)),
                           ("of the largest section", rng.choice(np.flatnonzero(d.y == section), 300, replace=False)),
                           ("of another section", rng.choice(np.flatnonzero(d.y == second), 300, replace=False)),
                           ("linked to each other", np.array(together[:300]))):
            self.case("arrivals " + name, d, past=d.keep(np.setdiff1d(np.arange(n), gone)))

    def renamed(self):
        d, rng = Archive(self.o.past), self.rng
        degree = np.diff(d.a.indptr)
        new = d.copy()
        moved = rng.choice(np.flatnonzero((degree > 3) & (degree < 200)), 300, replace=False)
        new.names = d.names.astype("U90")
        new.names[moved] = np.char.add(new.names[moved], "t64")
        self.case("renamed", new)

    # ---- hostile ----

    def push(self, victims, to, links=6, words=8):
        d, rng = self.now, self.rng
        pool, loud = np.flatnonzero(d.y == to), d.typical(to)
        return d.join([(v, u) for v in victims for u in rng.choice(pool, links, replace=False)],
                      [(v, j) for v in victims for j in rng.choice(loud, words, replace=False)])

    def classes(self, *names):
        found = [int(np.flatnonzero(self.now.classes == c)[0]) for c in names if c in self.now.classes]
        large = [int(c) for c in np.argsort(-np.bincount(self.now.y))]
        return (found + [c for c in large if c not in found])[:len(names)]

    def tampered(self):
        d, rng = self.now, self.rng
        if self.o.tampered:
            self.case("tampered, as given", self.o.tampered, open(self.o.victims).read().split())
        known = np.array([self.place[n] for n in self.past.names.tolist() if n in self.place])
        games, admin, math, python = self.classes("games", "admin", "math", "python")
        for a, b, m in ((math, python, 300), (python, games, 40), (games, math, 5)):
            victims = rng.choice(known[d.y[known] == a], m, replace=False)
            self.case(f"{m} of {d.classes[a]} to {d.classes[b]}", self.push(victims, b), d.names[victims])
        labelled = np.array([self.place[n] for n in self.labelled.tolist() if n in self.place])
        victims = rng.choice(labelled, 200, replace=False)
        self.case(f"200 labelled to {d.classes[admin]}", self.push(victims, admin), d.names[victims])

    def wave(self):
        d, rng = self.now, self.rng
        games, admin, python = self.classes("games", "admin", "python")
        n, m = len(d.y), 200
        for name in ("words of another section", "words of two sections", "words of the section", "copies of another section"):
            new = d.grow(np.array([f"invented-{i}" for i in range(m)]), np.full(m, games))
            links, words = [], []
            for i in range(m):
                v = n + i
                links += [(v, u) for u in rng.choice(np.flatnonzero(d.y == admin), 6, replace=False)]
                pick = lambda c: d.x[int(rng.choice(np.flatnonzero(d.y == c)))].indices
                if name == "words of another section":
                    own = pick(games)
                elif name == "words of two sections":
                    own = np.r_[pick(games), pick(admin)]
                elif name == "words of the section":
                    own = pick(admin)
                else:
                    w = int(rng.choice(np.flatnonzero(d.y == games)))
                    own = d.x[w].indices
                    links += [(v, int(u)) for u in d.a[w].indices[:6]]
                words += [(v, int(j)) for j in own]
            self.case("wave, " + name, new.join(links, words), new.names[n:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("past")
    parser.add_argument("now")
    parser.add_argument("--tampered")
    parser.add_argument("--victims")
    parser.add_argument("--model")
    parser.add_argument("--graphss", default="build/graphss")
    parser.add_argument("--cases", default="unchanged,honest,arrivals,renamed,tampered,wave")
    parser.add_argument("--recover", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    s = Study(o)
    for case in o.cases.split(","):
        getattr(s, case)()


if __name__ == "__main__":
    main()
