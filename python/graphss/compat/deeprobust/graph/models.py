"""As ``deeprobust.graph.defense``, ``defense_pyg``, ``targeted_attack`` and ``global_attack``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...._convert import array_of
from ....attacks import attack as _attack
from ....classifier import NodeClassifier, wrap
from ....graph import Features, Graph
from ....recovery import recover as _recover


def _tensor(x: np.ndarray) -> Any:
    """A torch tensor where torch is in use, as DeepRobust's scripts expect."""
    torch = sys.modules.get("torch")
    return x if torch is None else torch.from_numpy(np.ascontiguousarray(x))


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    there = ", ".join(n for n, x in globals().items() if isinstance(x, type) and n[0].isupper() and issubclass(x, (_Model, _Attack)))
    raise ImportError(f"{name} of DeepRobust has no counterpart in GraphSS, which has {there}")


_PARTS = ("train", "val", "test")


def _graph(adj: Any) -> Graph:
    return adj if isinstance(adj, Graph) else Graph(adj, warn=False)


class _Model:
    """What the models share."""

    _type = "gcn"

    def __init__(
        self,
        nfeat: int | None = None,
        nhid: int = 16,
        nclass: int | None = None,
        dropout: float = 0.5,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
        with_relu: bool = True,
        with_bias: bool = True,
        device: Any = None,
        **more: Any,
    ):
        self.nfeat, self.hidden_sizes, self.nclass = nfeat, [nhid], nclass
        self.device = device
        self._type = type(self)._type
        self._options: dict[str, Any] = dict(hidden=nhid, dropout=dropout, learning_rate=lr, weight_decay=weight_decay, bias=with_bias)
        if more.get("with_bn"):
            raise ValueError("with_bn: GraphSS has no batch norm")
        self._options["layers"] = more.get("nlayers", more.get("num_layers"))
        if not with_relu:  # linear: two hops, one matrix
            self._type = "sgc"
            self._options.update(hidden=None, layers=None, hops=2)
        self.classifier: Any = None
        self.output: Any = None

    def to(self, device: Any) -> "_Model":
        """Kept for scripts: the library computes on the processor."""
        return self

    def parameters(self) -> list:
        """Kept for scripts that make an optimiser: one number that nobody reads."""
        torch = sys.modules.get("torch")
        return [] if torch is None else [torch.nn.Parameter(torch.zeros(1))]

    def initialize(self) -> None:
        """The next ``fit`` begins with new weights, whatever its ``initialize``."""
        self.classifier = None

    def eval(self) -> "_Model":
        """Kept for scripts: dropout is only on while training."""
        return self

    def train(self, mode: bool = True) -> "_Model":
        """Kept for scripts."""
        return self

    def fit(
        self,
        features: Any,
        adj: Any = None,
        labels: Any = None,
        idx_train: Any = None,
        idx_val: Any = None,
        train_iters: int = 200,
        initialize: bool = True,
        verbose: bool = False,
        normalize: bool = True,
        patience: int = 500,
        **kwargs: Any,
    ) -> "_Model":
        """Trains on ``labels[idx_train]``; ``idx_val`` chooses the epoch. Or ``fit(Dpr2Pyg(data))``,
        or ``fit(data)`` with PyG's ``Data`` and its masks, as in ``defense_pyg``.

        initialize False: goes on from the weights it has.
        """
        if hasattr(features, "dpr_data"):
            data, adj = features.dpr_data, features.adj
            features, labels = data.features, data.labels
            idx_train, idx_val, self._idx_test = data.idx_train, data.idx_val, data.idx_test
        elif hasattr(features, "edge_index"):
            data = features
            idx_train, idx_val, self._idx_test = (np.flatnonzero(array_of(getattr(data, f"{part}_mask"))) for part in _PARTS)
            features, adj, labels = data.x, data, data.y
        split = {"train": idx_train, "val": idx_val if idx_val is not None else np.zeros(0, np.int64)}
        self._features, self._adj = Features(features), _graph(adj)
        y = array_of(labels, "labels")
        added = self._adj.n_nodes - y.size  # nodes of an attacker, which have no label
        self._labels = np.r_[y, np.full(added, -1, y.dtype)] if added > 0 else y
        self._split = {k: array_of(v) for k, v in split.items()}
        if initialize or self.classifier is None:
            self.classifier = NodeClassifier(
                self._type,
                epochs=train_iters,
                patience=min(patience, train_iters),
                seed=kwargs.pop("seed", 1),
                **self._options,
            ).fit(self._features, self._labels, self._adj, split=split)
        else:
            self.classifier.partial_fit(self._features, self._labels, self._adj, split=split, epochs=train_iters)
        self.output = _Model.predict(self)
        return self

    def fit_with_val(self, *args: Any, **kwargs: Any) -> "_Model":
        """As ``fit``."""
        return self.fit(*args, **kwargs)

    def predict(self, features: Any = None, adj: Any = None, edge_weight: Any = None) -> Any:
        """Log-probabilities [nodes x classes]; without arguments of what it was fitted to. Of
        edges with weights, those of weight zero are none."""
        x = self._features if features is None else Features(features)
        if edge_weight is not None:
            adj = array_of(adj, "edge_index")[:, array_of(edge_weight, "edge_weight") != 0]
        flat = adj is not None and not hasattr(adj, "tocsr") and np.shape(adj)[:1] == (2,) and x.shape[0] != 2
        g = self._adj if adj is None else Graph(adj, n_nodes=x.shape[0], warn=False) if flat else _graph(adj)
        return _tensor(np.log(np.maximum(self.classifier.predict_proba(x, g), 1e-30)))

    def test(self, *where: Any) -> float:
        """``test(idx_test)``, ``test(features, labels, idx_test)``, or ``test()`` for the test nodes
        of the data: the accuracy, printed and returned."""
        idx_test = where[-1] if where else None
        idx = array_of(self._idx_test if idx_test is None else idx_test, "idx_test")
        right = array_of(self.output)[idx].argmax(1) == np.searchsorted(self.classifier.classes_, self._labels[idx])
        accuracy = float(np.mean(right))
        print(f"Test set results: accuracy= {accuracy:.4f}")
        return accuracy


class GCN(_Model):
    """Graph convolutional network."""


class SGC(_Model):
    """Simplified graph convolution."""

    _type = "sgc"

    def __init__(self, nfeat: int | None = None, nclass: int | None = None, K: int = 2, **more: Any):
        super().__init__(nfeat, nclass=nclass, **{k: v for k, v in more.items() if k != "nhid"})
        self._options = dict(self._options, hops=K, hidden=None)


class GAT(_Model):
    """Graph attention network; nhid is the width of one head."""

    _type = "gat"

    def __init__(
        self, nfeat: int | None = None, nhid: int = 8, nclass: int | None = None, heads: int = 8, output_heads: int = 1, **more: Any
    ):
        super().__init__(nfeat, nhid, nclass, **more)
        self._options = dict(self._options, hidden=nhid * heads, heads=heads, output_heads=output_heads)


class SAGE(_Model):
    """GraphSAGE with the mean of neighbours beside the node itself."""

    _type = "sage-mean"


class _Defence(_Model):
    """A defence that is trained on the attacked graph."""

    _method = "jaccard"

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """As a model's ``fit``; ``threshold`` and ``k`` are the method's."""
        names = {"threshold": "threshold", "k": "rank"}
        own = {name: kwargs.pop(k) for k, name in names.items() if k in kwargs}
        super().fit(*args, **kwargs)
        found = _recover(
            self.classifier, self._features, self._adj, method=self._method, train="retrain", least=2.0, **own
        )
        self.output = _tensor(np.log(np.maximum(found.posterior, 1e-30)))
        return self

    def predict(self, features: Any = None, adj: Any = None, edge_weight: Any = None) -> Any:
        """Log-probabilities on the graph it was fitted to."""
        if features is None and adj is None and self.output is not None:
            return self.output
        return super().predict(features, adj, edge_weight)


class GCNJaccard(_Defence):
    """Links between nodes that are not alike are cut first."""


class GCNSVD(_Defence):
    """A graph of low rank."""

    _method = "svd"


class RGCN(_Defence):
    """Gaussian convolutions."""

    _method = "rgcn"


class ProGNN(_Defence):
    """A graph that is learnt with the network; made of a model, ``ProGNN(GCN(...), args)``."""

    _method = "prognn"

    def __init__(self, model: Any = None, args: Any = None, device: Any = None, **more: Any):
        given = isinstance(model, _Model)
        super().__init__(None if given else model, device=device, **more)
        if given:
            self._type, self._options = model._type, dict(model._options)
        self._iters = getattr(args, "epochs", None)

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """As a model's ``fit``; the epochs are those of ``args``."""
        if self._iters is not None:
            kwargs.setdefault("train_iters", int(self._iters))
        return super().fit(*args, **kwargs)


# ---- attacks ----


class _Attack:
    def __init__(
        self,
        model: Any = None,
        nnodes: int | None = None,
        attack_structure: bool = True,
        attack_features: bool = False,
        device: Any = None,
    ):
        self.surrogate, self.nnodes = model, nnodes
        self.attack_structure, self.attack_features = attack_structure, attack_features
        self.device = device
        self.modified_adj: Any = None
        self.modified_features: Any = None
        self.structure_perturbations: list = []
        self.feature_perturbations: list = []

    def to(self, device: Any) -> "_Attack":
        """Kept for scripts."""
        return self

    def _keep(self, made: Any, n_features: bool) -> None:
        self.modified_adj = made.graph.adjacency()
        self.modified_features = made.X.to_array() if n_features else self.modified_features
        self.structure_perturbations = [(f[2], f[3]) for f in made.flips if f[1] == "link"]
        self.feature_perturbations = [(f[2], f[3]) for f in made.flips if f[1] == "feature"]

    def save_adj(self, root: str = "./", name: str = "mod_adj") -> None:
        """Writes ``modified_adj`` as a scipy .npz."""
        import os

        from scipy.sparse import save_npz

        save_npz(os.path.join(root, name), self.modified_adj)

    def save_features(self, root: str = "./", name: str = "mod_features") -> None:
        """Writes ``modified_features`` as a scipy .npz."""
        import os

        from scipy.sparse import csr_matrix, save_npz

        save_npz(os.path.join(root, name), csr_matrix(self.modified_features))


class Nettack(_Attack):
    """Misleads one node, by a fitted surrogate (``SGC`` or ``GCN`` of this module)."""

    def attack(
        self,
        features: Any,
        adj: Any,
        labels: Any,
        target_node: int,
        n_perturbations: int,
        direct: bool = True,
        n_influencers: int = 0,
        verbose: bool = False,
        **kwargs: Any,
    ) -> None:
        """Changes up to ``n_perturbations`` links and, if ``attack_features``, features."""
        kind = "both" if self.attack_structure and self.attack_features else "links" if self.attack_structure else "features"
        made = _attack(
            self.surrogate.classifier,
            Features(features),
            _graph(adj),
            y=labels,
            victims=[int(target_node)],
            method="nettack",
            kind=kind,
            budget=int(n_perturbations),
            influencers=0 if direct else max(1, n_influencers),
        )
        self._keep(made, True)


class SGAttack(Nettack):
    """Links alone, by a linear surrogate: in GraphSS that is Nettack without features."""

    def __init__(self, model: Any = None, nnodes: int | None = None, **more: Any):
        super().__init__(model, nnodes, **{**more, "attack_features": False})


class FGA(_Attack):
    """Links of one node by gradients of the model itself; in GraphSS that is PRBCD."""

    def attack(
        self, ori_features: Any, ori_adj: Any, labels: Any, idx_train: Any, target_node: int, n_perturbations: int, verbose: bool = False,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        """Changes up to ``n_perturbations`` links of the target."""
        made = _attack(
            self.surrogate.classifier,
            Features(ori_features),
            _graph(ori_adj),
            y=labels,
            victims=[int(target_node)],
            method="prbcd",
            kind="links",
            budget=int(n_perturbations),
        )
        self._keep(made, False)
        self.modified_features = ori_features


class PRBCD(_Attack):
    """Links all over a PyG ``Data``, by gradients of a model of ``defense_pyg``.

    GraphSS gives each victim links of its own: a share of the test nodes gets one each, or all of
    them as many as the budget is worth. For a GAT or SAGE they are those of a GCN that is fitted to
    its answers.
    """

    def __init__(self, data: Any, model: Any = None, device: Any = None, **more: Any):
        super().__init__(model, device=device)
        self.data = data

    def pretrain_model(self, model: Any = None) -> Any:
        """Fits ``model``, or a GCN, to the data, and attacks it from now on."""
        self.surrogate = GCN(nhid=256, dropout=0) if model is None else model
        self.surrogate.fit(self.data, train_iters=1000, patience=200)
        return self.surrogate

    def attack(self, edge_index: Any = None, edge_weight: Any = None, ptb_rate: float = 0.1, seed: int = 1) -> tuple:
        """The attacked ``(edge_index, edge_weight)``; a share ``ptb_rate`` of the links is changed."""
        model = self.surrogate if self.surrogate is not None else self.pretrain_model()
        x = Features(self.data.x)
        g = Graph(self.data.edge_index if edge_index is None else edge_index, n_nodes=x.shape[0], warn=False)
        test, left = np.flatnonzero(array_of(self.data.test_mask)), int(ptb_rate * g.n_edges)
        victims = np.random.default_rng(seed).permutation(test)[:left]
        if victims.size:
            budget = left // victims.size
            own = model.classifier
            known = own if model._type in ("gcn", "sgc") else wrap(lambda graph, X: own.predict_proba(X, graph), x, g, seed=seed)
            made = _attack(known, x, g, victims=np.sort(victims), method="prbcd", kind="links", budget=budget, seed=seed)
            self._keep(made, False)
            g = made.graph
        return _tensor(g.edge_index()), _tensor(np.ones(g.indices.size, dtype=np.float32))


class RND(_Attack):
    """Links one node to random nodes of other classes."""

    def attack(
        self, ori_features: Any, ori_adj: Any, labels: Any, idx_train: Any, target_node: int, n_perturbations: int, seed: int = 1, **kwargs: Any
    ) -> None:
        """Adds ``n_perturbations`` links; knows all labels."""
        g, y, v = _graph(ori_adj), array_of(labels, "labels"), int(target_node)
        free = np.flatnonzero(y != y[v])
        free = np.setdiff1d(free, g.indices[g.indptr[v] : g.indptr[v + 1]])
        new = np.random.default_rng(seed).permutation(free)[: int(n_perturbations)]
        a, b = g.edge_index()
        ends = (np.r_[a, np.full(new.size, v)], np.r_[b, new])
        self.modified_adj = Graph(ends, n_nodes=g.n_nodes, warn=False).adjacency()
        self.modified_features = ori_features
        self.structure_perturbations = [(v, int(u)) for u in new]

    def add_nodes(
        self, features: Any, ori_adj: Any, labels: Any, idx_train: Any, target_node: int, n_added: int = 1, n_perturbations: int = 10, seed: int = 1, **kwargs: Any
    ) -> None:
        """Adds nodes with features of other classes, and links them and others of these to the
        target: ``n_perturbations`` links in all."""
        from scipy.sparse import csr_matrix, vstack

        g, y, v, n = _graph(ori_adj), array_of(labels, "labels"), int(target_node), len(array_of(labels))
        rng = np.random.default_rng(seed)
        x = csr_matrix(Features(features).to_array())
        self.modified_features = vstack([x, x[rng.choice(np.flatnonzero(y != y[v]), size=n_added)]]).tocsr()
        a, b = g.edge_index()
        new = np.arange(n, n + min(n_added, n_perturbations))
        wide = Graph((np.r_[a, np.full(new.size, v)], np.r_[b, new]), n_nodes=n + n_added, warn=False)
        self.attack(self.modified_features, wide, np.r_[y, np.full(n_added, y[v])], idx_train, v, n_perturbations - new.size, seed)
        self.structure_perturbations += [(v, int(u)) for u in new]


class _Global(_Attack):
    _method = "random"

    def _run(self, adj: Any, labels: Any, n: int, seed: int) -> None:
        g = _graph(adj)
        rng = np.random.default_rng(seed)
        left = n
        y = None if labels is None else array_of(labels, "labels")
        have = {(min(a, b), max(a, b)) for a, b in zip(*g.edge_index().tolist())}
        while left > 0:
            a, b = (int(v) for v in rng.integers(0, g.n_nodes, 2))
            pair = (min(a, b), max(a, b))
            if a == b or not self._wants(pair, have, y):
                continue
            have.symmetric_difference_update([pair])
            self.structure_perturbations.append(pair)
            left -= 1
        ends = np.array(sorted(have), dtype=np.int64).reshape(-1, 2)
        self.modified_adj = Graph((ends[:, 0], ends[:, 1]), n_nodes=g.n_nodes, warn=False).adjacency()

    def _wants(self, pair: tuple, have: set, y: Any) -> bool:
        raise NotImplementedError


class Random(_Global):
    """Adds, removes or flips links at random."""

    def attack(self, ori_adj: Any, n_perturbations: int, type: str = "add", seed: int = 1, **kwargs: Any) -> None:
        """type: "add", "remove" or "flip"."""
        if type not in ("add", "remove", "flip"):
            raise ValueError(f"type: found {type!r}, want 'add', 'remove' or 'flip'")
        self._type = type
        self._run(ori_adj, None, n_perturbations, seed)

    def _wants(self, pair: tuple, have: set, y: Any) -> bool:
        return self._type == "flip" or (pair in have) == (self._type == "remove")


class DICE(_Global):
    """Removes links within classes, adds links between them."""

    def attack(self, ori_adj: Any, labels: Any, n_perturbations: int, seed: int = 1, **kwargs: Any) -> None:
        """Knows all labels."""
        self._run(ori_adj, labels, n_perturbations, seed)

    def _wants(self, pair: tuple, have: set, y: Any) -> bool:
        return (pair in have) == (y[pair[0]] == y[pair[1]])
