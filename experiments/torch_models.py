#!/usr/bin/env python3
"""Classifiers in plain torch, given to GraphSS in three ways, beside the same model trained by us.

    experiments/torch_models.py FOLDER ... >rows.jsonl          # of foreign_folders.py, or of `graphss snapshots --setting seen`
    experiments/torch_models.py --clean 1,2,3 DATASET ... >rows.jsonl       # nothing is attacked: false alarms only, a split a seed
    experiments/torch_table.py rows.jsonl ...                   # the table

A GCN, a GAT and a GraphSAGE are trained on previous.npz with the labels of the split, as is usual: 64 hidden, dropout of one half, the
best epoch on validation nodes kept. Sparse features: dropout on them as well, 200 epochs at learning rates of 0.01 and of 0.003. Dense
ones, of some 250 words a node that are not divided by their number, want smaller steps: 100 epochs at 0.001. Each is judged as `own` (a NodeClassifier of that name, trained by us), `weights` (the torch
model's own, by from_state_dict), `callable` (wrap) and `answers` (wrap_answers). Measured: alarms at 5 % on random groups of 30 clean
nodes of previous.npz, without a past; AUC of the victims among the test nodes by the alert's score on current.npz, without and with the
past; victims right, undefended and recovered, without and with the past; full passes of the callable. PYTHONPATH names the package
(build-dev/python/python). Needs torch; a minute a folder of Cora, eight of Photo."""
import argparse
import collections
import json
import pathlib
import time
import warnings

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F

import graphss as gs

HIDDEN, GROUPS, GROUP = 64, 1000, 30


class Links:
    """What the models need of a graph, as tensors."""

    def __init__(self, graph):
        self.n = n = graph.n_nodes
        self.a, self.b = (torch.tensor(e) for e in graph.edge_index())
        i = torch.arange(n)
        self.la, self.lb = torch.cat([self.a, i]), torch.cat([self.b, i])  # with loops
        degree = torch.tensor(graph.degree).float()
        r = (degree + 1) ** -0.5
        self.gcn = torch.sparse_coo_tensor(torch.stack([self.la, self.lb]), r[self.la] * r[self.lb], (n, n)).coalesce()
        self.mean = torch.sparse_coo_tensor(torch.stack([self.a, self.b]), 1 / degree[self.a], (n, n)).coalesce()


def spread(n, to, value):
    """Sums of the rows of value by node."""
    return torch.zeros((n, *value.shape[1:])).index_add_(0, to, value)


def weights(*shape):
    return torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(*shape)))


class Net(torch.nn.Module):
    """Two layers; where x is sparse, so is the first product."""

    def forward(self, links, x):
        if x.is_sparse and self.training:
            x = torch.sparse_coo_tensor(x.indices(), F.dropout(x.values(), 0.5), x.shape).coalesce()
        mm = torch.sparse.mm if x.is_sparse else torch.mm
        h = F.dropout(torch.relu(self.layer(0, links, mm, x)), 0.5, self.training)
        return self.layer(1, links, torch.mm, h)


class GCN(Net):
    def __init__(self, d, k):
        super().__init__()
        self.w = torch.nn.ParameterList([weights(d, HIDDEN), weights(HIDDEN, k)])
        self.bias = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(n)) for n in (HIDDEN, k)])

    def layer(self, i, links, mm, x):
        return torch.sparse.mm(links.gcn, mm(x, self.w[i])) + self.bias[i]

    def pyg(self):
        """Weights by the names of PyTorch Geometric."""
        return {f"conv{i}.{n}": t for i in (0, 1) for n, t in self.parts(i).items()}

    def parts(self, i):
        return {"lin.weight": self.w[i].T, "bias": self.bias[i]}


class SAGE(GCN):
    """The mean of the neighbours, and the node itself, by a matrix each."""

    def __init__(self, d, k):
        super().__init__(d, k)
        self.root = torch.nn.ParameterList([weights(d, HIDDEN), weights(HIDDEN, k)])

    def layer(self, i, links, mm, x):
        return torch.sparse.mm(links.mean, mm(x, self.w[i])) + mm(x, self.root[i]) + self.bias[i]

    def parts(self, i):
        return {"lin_l.weight": self.w[i].T, "lin_l.bias": self.bias[i], "lin_r.weight": self.root[i].T}


class GAT(GCN):
    """Eight heads side by side, then one."""

    def __init__(self, d, k):
        super().__init__(d, k)
        self.shape = ((8, HIDDEN // 8), (1, k))
        self.src = torch.nn.ParameterList([weights(h, c) for h, c in self.shape])
        self.dst = torch.nn.ParameterList([weights(h, c) for h, c in self.shape])

    def layer(self, i, links, mm, x):
        g = mm(x, self.w[i]).view(-1, *self.shape[i])
        z = F.leaky_relu((g * self.dst[i]).sum(-1)[links.la] + (g * self.src[i]).sum(-1)[links.lb], 0.2)
        e = torch.exp(z - z.detach().max())
        e = e / spread(links.n, links.la, e)[links.la].clamp(min=1e-30)
        return spread(links.n, links.la, g[links.lb] * e[:, :, None]).flatten(1) + self.bias[i]

    def parts(self, i):
        return {**super().parts(i), "att_src": self.src[i][None], "att_dst": self.dst[i][None]}


KINDS = {"gcn": GCN, "gat": GAT, "sage-mean": SAGE}


NORMALISE = True  # divide rows by their sums, as examples for the citation graphs do, and those for Amazon's do not


def tensor(X):
    """Features as the models here want them: sparse where most are zero."""
    x = sp.csr_matrix(X, dtype=np.float32)
    if NORMALISE:
        x = sp.diags(1 / np.maximum(np.asarray(abs(x).sum(1)).ravel(), 1e-9)) @ x
    if x.nnz > 0.1 * x.shape[0] * x.shape[1]:
        return torch.tensor(x.toarray().astype(np.float32))
    x = x.tocoo()
    index = torch.tensor(np.stack([x.row, x.col]).astype(np.int64))
    return torch.sparse_coo_tensor(index, torch.tensor(x.data.astype(np.float32)), x.shape).coalesce()


def train(make, data, split, k, seed):
    links, x = Links(data.graph), tensor(data.X.to_array())
    node, label = (torch.tensor(split[n]).long() for n in ("train", "train_labels"))
    held, right = (torch.tensor(split[n]).long() for n in ("val", "val_labels"))
    best, kept = -1.0, None
    rates, epochs = ((0.01, 0.003), 200) if x.is_sparse else ((0.001,), 100)
    for rate in rates:
        torch.manual_seed(seed)
        net = make(x.shape[1], k)
        step = torch.optim.Adam(net.parameters(), lr=rate, weight_decay=5e-4)
        for epoch in range(epochs):
            net.train()
            step.zero_grad()
            F.cross_entropy(net(links, x)[node], label).backward()
            step.step()
            if epoch % 4 == 3:
                net.eval()
                with torch.no_grad():
                    now = (net(links, x)[held].argmax(1) == right).float().mean().item()
                if now >= best:
                    best, kept = now, {n: t.clone() for n, t in net.state_dict().items()}
    net.load_state_dict(kept)
    return net.eval()


def answer(net):
    def ask(graph, X):
        with torch.no_grad():
            return torch.softmax(net(Links(graph), tensor(X)), dim=1)

    return ask


def auc(score, bad, good):
    order = np.argsort(np.argsort(np.r_[score[bad], score[good]], kind="stable"))[: len(bad)] + 1
    return float((order.sum() - len(bad) * (len(bad) + 1) / 2) / (len(bad) * len(good)))


def false_alarms(clf, before, test, seed):
    """Of random groups, and the p-value of the whole snapshot."""
    detector = gs.TamperDetector(clf, seed=seed).fit(before.X, graph=before.graph)
    rng = np.random.default_rng(seed)
    groups = [np.sort(rng.choice(test, GROUP, replace=False)) for _ in range(GROUPS)]
    judged = detector.inspect_groups(before.X, before.graph, groups=groups, previous=None)
    alarms = float(np.mean([v["p_value"] <= 0.05 for v in judged]))
    return detector, {"alarms": alarms, "p_clean": detector.inspect(before.X, before.graph, previous=None).p_value}


def measure(clf, before, now, split, victims, seed):
    """One row of figures for a classifier."""
    rest = np.setdiff1d(split["test"], victims)
    right = lambda label: round(100 * float(np.mean(label[victims] == now.y[victims])), 2)
    row = {"clean": right(clf.predict(before.X, before.graph)), "attacked": right(clf.predict(now.X, now.graph))}
    detector, alarms = false_alarms(clf, before, split["test"], seed)
    row.update(alarms)
    for name, past in (("new", None), ("seen", (before.X, before.graph))):
        found = detector.inspect(now.X, now.graph, previous=past)
        row[f"auc_{name}"], row[f"p_{name}"] = round(auc(found.node_score, victims, rest), 4), found.p_value
        row[name] = right(gs.recover(clf, now.X, now.graph, previous=past, seed=seed).label)
    return row


def imported(net, kind, told, y, split):
    """The torch model itself as one of ours, its probabilities compared."""
    return gs.NodeClassifier.from_state_dict(
        net.pyg(), model=kind, probe=told, y=y, split=split, row_normalise=NORMALISE, activation="relu" if kind == "gat" else None
    )


def rows(folder, kinds, seed):
    global NORMALISE
    folder = pathlib.Path(folder)
    NORMALISE = not folder.name.startswith("amazon")
    before, now = (gs.read(folder / f"{n}.npz", warn=False) for n in ("previous", "current"))
    z = np.load(folder / "split.npz")
    split = {n: z[n] for n in z.files}
    victims = np.load(folder / "groups.npz")["victims"]
    y = np.full(before.graph.n_nodes, -1)
    y[split["train"]], y[split["val"]] = split["train_labels"], split["val_labels"]
    k = int(before.y.max()) + 1
    for kind in kinds:
        net = train(KINDS[kind], before, split, k, seed)
        ask = answer(net)
        told = [(d.X, d.graph, ask(d.graph, d.X.to_array())) for d in (before, now)]
        ways = {
            "own": lambda: gs.NodeClassifier(kind, seed=seed).fit(before.X, y, graph=before.graph, split=split),
            "weights": lambda: imported(net, kind, told[0], y, split),
            "callable": lambda: gs.wrap(ask, before.X, before.graph, y=y, split=split, seed=seed),
            "answers": lambda: gs.wrap_answers(*told, y=y, split=split, seed=seed),
        }
        for way, make in ways.items():
            began = time.monotonic()
            clf = make()
            row = measure(clf, before, now, split, victims, seed)
            row["calls"], row["agreement"] = getattr(clf, "calls_", 0), getattr(clf, "agreement_", 1.0)
            row["seconds"] = round(time.monotonic() - began, 1)
            print(json.dumps({"folder": folder.name, "model": kind, "as": way, **row}), flush=True)


def clean(name, kinds, seed):
    global NORMALISE
    NORMALISE = not name.startswith("amazon")
    data = gs.read(name, warn=False)
    order = np.random.default_rng(seed).permutation(data.graph.n_nodes)
    train_part, val, test = np.split(order, [int(0.4 * order.size), int(0.6 * order.size)])
    split = {"train": train_part, "train_labels": data.y[train_part], "val": val, "val_labels": data.y[val], "test": test}
    y = data.y.copy()
    y[test] = -1
    for kind in kinds:
        ask = answer(train(KINDS[kind], data, split, data.n_classes, seed))
        for way in ("callable", "answers"):
            more = {"y": y, "split": split, "seed": seed}
            told = (data.X, data.graph, ask(data.graph, data.X.to_array()))
            clf = gs.wrap(ask, data.X, data.graph, **more) if way == "callable" else gs.wrap_answers(told, **more)
            row = false_alarms(clf, data, test, seed)[1]
            print(json.dumps({"folder": f"{name}-{seed}", "model": kind, "as": way, "agreement": clf.agreement_, **row}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clean", metavar="SEEDS")
    parser.add_argument("--models", default="gcn,gat,sage-mean")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="+")
    a = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", gs.GraphssWarning)
    if a.clean:
        for f in a.files:
            for seed in a.clean.split(","):
                clean(f, a.models.split(","), int(seed))
    else:
        for f in a.files:
            rows(f, a.models.split(","), a.seed)
