"""Graphs, features and datasets."""

from __future__ import annotations

import html
import warnings
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _convert, _core

_CLEANED = {
    "directed": "in one direction only, taken in both",
    "duplicates": "given twice, taken once",
    "loops": "from a node to itself, dropped",
    "zeros": "of weight zero, dropped",
    "weighted": "with another weight than 1, which was dropped",
}


class Graph:
    """An undirected graph without loops and weights.

    Parameters
    ----------
    adj : scipy sparse matrix, square array, (2, E) edge index, (sources, targets), PyG ``Data``,
        DGL graph, networkx graph, igraph graph, pandas frame of two columns, anything with
        ``__arrow_c_stream__``; None: no links.
    n_nodes : how many nodes, where ``adj`` does not say.
    names : names of nodes, by which they are found again in other snapshots.
    warn : whether to warn of what was cleaned; it is in ``cleaned`` anyway.

    The library's arrays ``indptr`` and ``indices`` are views, not copies.
    """

    _core: Any
    cleaned: dict[str, int]
    names: list[str] | None

    def __init__(
        self,
        adj: Any = None,
        *,
        n_nodes: int | None = None,
        names: Sequence[str] | None = None,
        warn: bool = True,
    ):
        if isinstance(adj, Graph):
            self._core, self.cleaned = adj._core, dict(adj.cleaned)
            self.names = adj.names
            return
        if isinstance(adj, _core.Graph):
            self._core, self.cleaned, self.names = adj, {}, None
        else:
            if adj is None:
                none = np.zeros(0, dtype=np.int32)
                edges = _convert.Edges(int(n_nodes or 0), none, none)
            else:
                edges = _convert.edges_of(adj, n_nodes)
            if n_nodes is not None and edges.n != n_nodes:
                if edges.n > n_nodes or edges.names is not None:
                    raise ValueError(f"{edges.n} nodes in the graph, but n_nodes={n_nodes}")
                edges.n = n_nodes
            self._core, self.cleaned = _core.graph_from_pairs(edges.n, edges.source, edges.target)
            self.cleaned["zeros"] += edges.zeros
            self.cleaned["weighted"] += edges.weighted
            self.names = None
            names = edges.names if names is None else names
            if warn:
                self._warn()
        if names is not None:
            self.names = [str(name) for name in names]
            self._core.set_names(self.names)

    def _warn(self) -> None:
        said = [f"{self.cleaned[k]} {text}" for k, text in _CLEANED.items() if self.cleaned.get(k)]
        if said:
            warnings.warn("edges " + "; ".join(said), _core.GraphssWarning, stacklevel=4)

    # ---- what it holds ----

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._core.n_nodes

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return self._core.n_edges

    @property
    def indptr(self) -> np.ndarray:
        """Where the neighbours of each node begin (int64, a read-only view)."""
        return np.asarray(self._core.arrays()[0])

    @property
    def indices(self) -> np.ndarray:
        """The neighbours of all nodes, ascending for each (int32, a read-only view)."""
        return np.asarray(self._core.arrays()[1])

    @property
    def degree(self) -> np.ndarray:
        """Number of neighbours of each node."""
        return np.diff(self.indptr)

    def edge_index(self) -> np.ndarray:
        """2 x (2 edges), int64, both directions, as PyG has it."""
        source = np.repeat(np.arange(self.n_nodes, dtype=np.int64), self.degree)
        return np.stack([source, self.indices.astype(np.int64)])

    def adjacency(self):
        """The adjacency matrix (scipy.sparse.csr_matrix of float32)."""
        from scipy.sparse import csr_matrix

        shape = (self.n_nodes, self.n_nodes)
        ones = np.ones(self.indices.size, dtype=np.float32)
        return csr_matrix((ones, self.indices.copy(), self.indptr.copy()), shape=shape)

    def to_networkx(self):
        """An undirected networkx graph, nodes by name where they have names."""
        import networkx

        out = networkx.Graph()
        name = self.names or range(self.n_nodes)
        out.add_nodes_from(name)
        a, b = self.edge_index()
        out.add_edges_from((name[i], name[j]) for i, j in zip(a.tolist(), b.tolist()) if i < j)
        return out

    def node(self, name: Any) -> int:
        """The number of a node, by its name."""
        if self.names is None:
            return int(name)
        return self.names.index(str(name))

    # ---- from others ----

    @classmethod
    def from_pyg(cls, data: Any, **more: Any) -> "Graph":
        """The graph of a PyG ``Data``."""
        return cls(data, **more)

    @classmethod
    def from_dgl(cls, graph: Any, **more: Any) -> "Graph":
        """A homogeneous DGL graph."""
        return cls(graph, **more)

    @classmethod
    def from_networkx(cls, graph: Any, **more: Any) -> "Graph":
        """A networkx graph."""
        return cls(graph, **more)

    @classmethod
    def from_pandas(cls, edges: Any, nodes: Any = None, **more: Any) -> "Graph":
        """A frame of edges with columns source and target (or the first two); nodes: all names."""
        source, target = _convert.columns_of(edges)
        found = _convert.from_columns(source, target, nodes)
        ends = (found.source, found.target)
        return cls(ends, n_nodes=found.n, names=found.names, **more)

    @classmethod
    def from_arrow(cls, table: Any, **more: Any) -> "Graph":
        """Edges of anything with ``__arrow_c_stream__`` (Arrow, polars, DuckDB)."""
        return cls(table, **more)

    # ---- Python's protocols ----

    def __repr__(self) -> str:
        return f"Graph({self.n_nodes} nodes, {self.n_edges} edges{', named' if self.names else ''})"

    def _repr_html_(self) -> str:
        rows = {"nodes": self.n_nodes, "edges": self.n_edges, **{k: v for k, v in self.cleaned.items() if v}}
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{v}</td></tr>" for k, v in rows.items())
        return f"<table><caption>graphss.Graph</caption>{cells}</table>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Graph)
            and self.names == other.names
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return _restore_graph, (self.indptr.copy(), self.indices.copy(), self.names, self.cleaned)


def _restore_graph(indptr, indices, names, cleaned) -> Graph:
    core, _ = _core.graph_from_rows(indptr, indices)
    out = Graph(core, names=names)
    out.cleaned = cleaned
    return out


class Features:
    """Node features as the library holds them: dense, or sparse in rows.

    Made once from ``X`` and given in its place, it saves the conversion in every call.
    """

    _core: Any

    def __init__(self, X: Any):
        if isinstance(X, Features):
            self._core = X._core
            return
        if isinstance(X, _core.Features):
            self._core = X
            return
        parts = _convert.features_parts(X)
        if parts[0] == "dense":
            self._core = _core.features_from_dense(parts[1])
        else:
            self._core = _core.features_from_rows(*parts[1:])

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self._core.shape

    def to_array(self):
        """A numpy array where they are dense, else a scipy CSR matrix; a copy."""
        offset, column, value = self._core.arrays()
        if offset is None:
            return np.array(value)
        from scipy.sparse import csr_matrix

        return csr_matrix((np.array(value), np.array(column), np.array(offset)), shape=self.shape)

    def to_dense(self) -> np.ndarray:
        """A numpy array, always."""
        x = self.to_array()
        return x if isinstance(x, np.ndarray) else x.toarray()

    def __repr__(self) -> str:
        return f"Features({self.shape[0]} nodes, {self.shape[1]} columns, {self._core.kind})"

    def __reduce__(self):
        return Features, (self.to_array(),)


class Flip(NamedTuple):
    """A change: kind "link" between node and target, or "feature" target of node, from old to new.

    ``pandas.DataFrame(flips)`` has a column for each field.
    """

    victim: int
    kind: str
    node: int
    target: int
    old: float
    new: float


class Snapshot(NamedTuple):
    """A graph and its features, in the library's terms."""

    graph: Graph
    features: Features


def snapshot(X: Any, graph: Any = None) -> Snapshot:
    """X and a graph, of whatever kind, checked against each other.

    Of a :class:`Dataset`, an :class:`Attack`, a PyG ``Data`` or a DGL graph given as ``X`` both are
    taken.
    """
    if isinstance(X, Snapshot):
        return X
    if graph is None and isinstance(getattr(X, "graph", None), Graph) and hasattr(X, "X"):
        X, graph = X.X, X.graph
    if isinstance(X, tuple) and len(X) == 2 and graph is None:
        X, graph = X
    if graph is None and hasattr(X, "edge_index") and hasattr(X, "x"):
        X, graph = X.x, X
    elif graph is None and hasattr(X, "ndata") and hasattr(X, "edges"):
        X, graph = X.ndata["feat"], X
    features = X if isinstance(X, Features) else Features(X)
    n = features.shape[0]
    if graph is None:
        return Snapshot(Graph(n_nodes=n), features)
    if not isinstance(graph, Graph):
        known = hasattr(graph, "edge_index") or _convert.is_sparse(graph) or hasattr(graph, "shape")
        graph = Graph(graph, n_nodes=None if known and _square(graph) else n)
    if graph.n_nodes != n:
        raise _core.ShapeError(f"X has {n} rows, the graph {graph.n_nodes} nodes")
    return Snapshot(graph, features)


def _square(graph: Any) -> bool:
    shape = getattr(graph, "shape", None)
    return shape is not None and len(shape) == 2 and shape[0] == shape[1] and shape[0] != 2


class Dataset(NamedTuple):
    """What a file holds; see :func:`read`."""

    graph: Graph
    X: Features
    y: np.ndarray
    split: dict[str, np.ndarray]
    class_names: list[str]
    column_names: list[str]
    name: str
    hash: str

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return max(len(self.class_names), int(self.y.max(initial=-1)) + 1)

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name}: {self.graph.n_nodes} nodes, {self.graph.n_edges} edges, "
            f"{self.X.shape[1]} features, {self.n_classes} classes{', with a split' if self.split else ''})"
        )


def read(where: Any, *, warn: bool = True) -> Dataset:
    """Reads a dataset: a name ("cora"), an .npz, a Planetoid prefix, a folder with nodes.csv and
    edges.csv, an edge list, or "synth:nodes=1000,...".

    y is -1 where a label is unknown.
    """
    found = _core.read(where)
    graph = Graph(found["graph"], names=found["node_names"] or None)
    graph.cleaned = found["cleaned"]
    if warn:
        graph._warn()
    names = ("train", "train_labels", "val", "val_labels", "test")
    split = {k: np.array(v) for k, v in zip(names, found["split"])}
    y = np.array(found["label"])
    if y.size != graph.n_nodes:
        y = np.full(graph.n_nodes, -1, dtype=np.int32)
    return Dataset(
        graph,
        Features(found["features"]),
        y,
        split if split["train"].size else {},
        found["class_names"],
        found["column_names"],
        found["name"],
        found["hash"],
    )
