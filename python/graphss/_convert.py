"""What people have (scipy, numpy, torch, PyG, DGL, networkx, igraph, pandas, Arrow) as arrays.

Everything is recognised by its attributes; none of these packages is imported unless an object
of it is given.
"""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np


def array_of(x: Any, what: str = "array") -> np.ndarray:
    """Any array as numpy's: torch tensors (on any device), pandas, lists."""
    if hasattr(x, "detach") and hasattr(x, "cpu"):  # torch
        x = x.detach().cpu()
        if getattr(x, "is_sparse", False):
            x = x.to_dense()
        return x.numpy()
    if hasattr(x, "to_numpy"):  # pandas
        return x.to_numpy()
    try:
        return np.asarray(x)
    except Exception as fault:  # objects with an __array__ of their own
        raise TypeError(f"{what}: cannot be read as an array: {fault}") from fault


def is_sparse(x: Any) -> bool:
    """A matrix of scipy.sparse, or of its kind."""
    return hasattr(x, "tocsr") and hasattr(x, "shape")


def _indices(a: Any, largest: int, what: str) -> np.ndarray:
    a = np.asarray(a)
    if a.ndim != 1 or a.dtype.kind not in "iu":
        raise ValueError(f"{what}: found {a.dtype} of shape {a.shape}, want a list of whole numbers")
    if a.size and (a.min() < 0 or a.max() >= largest):
        raise ValueError(f"{what}: {a[(a < 0) | (a >= largest)][0]}, want 0 to {largest - 1}")
    return a


def rows_of(x: Any, what: str) -> Any:
    """A sparse matrix as CSR. Its arrays are looked at first: scipy follows wrong ones out of memory."""
    kind = getattr(x, "format", None)
    if len(x.shape) != 2:
        raise ValueError(f"{what}: shape {tuple(x.shape)}, want a matrix")
    if kind in ("csr", "csc"):
        outer, inner = x.shape if kind == "csr" else x.shape[::-1]
        begin = np.asarray(x.indptr)
        n = min(np.size(x.indices), np.size(x.data))
        if begin.ndim != 1 or begin.dtype.kind not in "iu" or begin.size != outer + 1:
            raise ValueError(f"{what}.indptr: found {begin.dtype} of shape {begin.shape}, want {outer + 1} whole numbers")
        if begin[0] != 0 or begin[-1] > n or np.any(begin[1:] < begin[:-1]):
            raise ValueError(f"{what}.indptr: want it to rise from 0 to at most {n}")
        _indices(x.indices, inner, f"{what}.indices")
    elif kind == "coo":
        ends = [_indices(a, n, f"{what}.{name}") for a, n, name in zip((x.row, x.col), x.shape, ("row", "col"))]
        if not ends[0].size == ends[1].size == np.size(x.data):
            raise ValueError(f"{what}: {ends[0].size} rows, {ends[1].size} columns, {np.size(x.data)} values, want as many")
    if kind in ("csr", "csc", "coo") and np.ndim(x.data) != 1:
        raise ValueError(f"{what}.data: {np.ndim(x.data)} dimensions, want 1")
    return x.tocsr()


def unsparse(x: Any) -> Any:
    """A sparse torch tensor as a scipy matrix; anything else as it is."""
    if not (hasattr(x, "detach") and getattr(x, "layout", None) is not None and "sparse" in str(x.layout)):
        return x
    from scipy.sparse import coo_matrix, csr_matrix

    x = x.detach().cpu()
    if "csr" in str(x.layout):
        parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
        return csr_matrix(parts, shape=tuple(x.shape))
    x = x.coalesce()
    row, col = x.indices().numpy()
    return coo_matrix((x.values().numpy(), (row, col)), shape=tuple(x.shape))


def whole_numbers(x: Any, what: str) -> np.ndarray:
    """A list of whole numbers as int64; what is not whole is refused."""
    a = array_of(x, what)
    if a.dtype == bool or a.dtype.kind in "iu":
        return np.ascontiguousarray(a, dtype=np.int64)
    if a.dtype.kind == "f":
        if a.size and not np.all(np.isfinite(a)):
            raise ValueError(f"{what}: NaN or infinity among whole numbers")
        if np.any(a != np.floor(a)):
            raise ValueError(f"{what}: fractions among whole numbers")
        return np.ascontiguousarray(a, dtype=np.int64)
    if a.size == 0:
        return np.zeros(a.shape, dtype=np.int64)
    raise TypeError(f"{what}: found {a.dtype}, want whole numbers")


def node_list(x: Any, n: int, what: str) -> np.ndarray:
    """Nodes as int32: numbers, or a mask of n booleans."""
    a = array_of(x, what)
    if a.dtype == bool:
        if a.shape != (n,):
            raise ValueError(f"{what}: a mask of shape {a.shape}, want ({n},)")
        a = np.flatnonzero(a)
    a = whole_numbers(a, what)
    if a.ndim != 1:
        raise ValueError(f"{what}: {a.ndim} dimensions, want 1")
    if a.size and (a.min() < 0 or a.max() >= n):
        wrong = a[(a < 0) | (a >= n)][0]
        raise ValueError(f"{what}: node {wrong}, want 0 to {n - 1}")
    return np.ascontiguousarray(a, dtype=np.int32)


# ---- edges ----


class Edges:
    """Pairs of nodes, how many nodes, what they are called, and what was dropped here."""

    def __init__(self, n, source, target, names=None, zeros=0, weighted=0):
        self.n, self.source, self.target = n, source, target
        self.names, self.zeros, self.weighted = names, zeros, weighted


def _ends(source: Any, target: Any, n: int | None, what: str) -> Edges:
    source, target = whole_numbers(source, what), whole_numbers(target, what)
    if source.ndim != 1 or source.shape != target.shape:
        raise ValueError(f"{what}: {source.shape} and {target.shape} ends, want two lists of one length")
    largest = int(max(source.max(), target.max())) if source.size else -1
    least = int(min(source.min(), target.min())) if source.size else 0
    if least < 0:
        raise ValueError(f"{what}: node {least}, want 0 or more")
    if n is None:
        n = largest + 1
    if largest >= n:
        raise ValueError(f"{what}: node {largest}, but there are {n} nodes")
    if n > np.iinfo(np.int32).max:
        raise ValueError(f"{what}: {n} nodes, want at most 2147483647")
    return Edges(n, source.astype(np.int32), target.astype(np.int32))


def _named_ends(pairs: Iterable[tuple[Any, Any]], nodes: list) -> Edges:
    place = {node: i for i, node in enumerate(nodes)}
    ends = [(place[a], place[b]) for a, b in pairs]
    both = np.array(ends, dtype=np.int32).reshape(-1, 2)
    out = Edges(len(nodes), np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1]))
    if nodes != list(range(len(nodes))):
        out.names = [str(node) for node in nodes]
    return out


def from_sparse(adj: Any, what: str = "adj") -> Edges:
    """A square scipy matrix; stored zeros are no links, weights are dropped."""
    if len(adj.shape) != 2 or adj.shape[0] != adj.shape[1]:
        raise ValueError(f"{what}: shape {tuple(adj.shape)}, want a square matrix")
    csr = rows_of(adj, what)
    n = int(csr.indptr[-1])  # there may be room for more
    row, col, value = np.repeat(np.arange(adj.shape[0]), np.diff(csr.indptr)), csr.indices[:n], np.asarray(csr.data)[:n]
    if value.dtype.kind not in "biuf":
        raise TypeError(f"{what}: entries of type {value.dtype}, want numbers")
    if value.dtype.kind == "f" and not np.all(np.isfinite(value)):
        raise ValueError(f"{what}: NaN or infinity among its entries")
    kept = value != 0
    out = _ends(row[kept], col[kept], adj.shape[0], what)
    out.zeros = int(value.size - np.count_nonzero(kept))
    out.weighted = int(np.count_nonzero(value[kept] != 1))
    return out


_LARGEST_DENSE = 2**33  # entries: of more, only views of a few numbers can be there


def from_dense(adj: np.ndarray, what: str = "adj") -> Edges:
    """A square array of zeros and ones."""
    if adj.size > _LARGEST_DENSE:
        raise ValueError(f"{what}: {adj.size} entries, want a sparse matrix or a list of edges")
    if adj.ndim != 2 or adj.shape[0] != adj.shape[1]:
        raise ValueError(f"{what}: shape {adj.shape}, want a square matrix, or 2 x edges")
    if adj.dtype.kind not in "biuf":
        raise TypeError(f"{what}: entries of type {adj.dtype}, want numbers")
    if adj.dtype.kind == "f" and not np.all(np.isfinite(adj)):
        raise ValueError(f"{what}: NaN or infinity among its entries")
    source, target = np.nonzero(adj)
    out = _ends(source, target, adj.shape[0], what)
    out.weighted = int(np.count_nonzero(adj[source, target] != 1))
    return out


def from_edge_index(index: Any, n: int | None, what: str = "edge_index") -> Edges:
    """2 x edges, as PyG has it; or edges x 2."""
    a = whole_numbers(index, what)
    if a.ndim != 2 or 2 not in a.shape:
        raise ValueError(f"{what}: shape {a.shape}, want 2 x edges")
    if a.shape[0] != 2:
        a = a.T
    return _ends(np.ascontiguousarray(a[0]), np.ascontiguousarray(a[1]), n, what)


def from_networkx(graph: Any) -> Edges:
    """A networkx graph; its nodes in their order, named unless they are 0, 1, 2 ..."""
    return _named_ends(((a, b) for a, b, *_ in graph.edges()), list(graph.nodes()))


def from_igraph(graph: Any) -> Edges:
    """An igraph graph; vertex attribute ``name`` names nodes."""
    pairs = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    out = _ends(pairs[:, 0], pairs[:, 1], graph.vcount(), "graph")
    if "name" in graph.vs.attributes():
        out.names = [str(name) for name in graph.vs["name"]]
    return out


def from_dgl(graph: Any) -> Edges:
    """A homogeneous DGL graph."""
    if len(getattr(graph, "etypes", [0])) != 1:
        raise ValueError("graph: a DGL graph with several kinds of edges, want one")
    source, target = graph.edges()
    return _ends(array_of(source), array_of(target), int(graph.num_nodes()), "graph")


def from_pyg(data: Any) -> Edges:
    """PyG's Data: edge_index and num_nodes."""
    if getattr(data, "edge_index", None) is None:
        raise ValueError("data: edge_index is missing")
    n = getattr(data, "num_nodes", None)
    out = from_edge_index(data.edge_index, None if n is None else int(n))
    weight = getattr(data, "edge_weight", None)
    if weight is not None:
        out.weighted = int(np.count_nonzero(array_of(weight) != 1))
    return out


def from_columns(source: Any, target: Any, names: Any = None) -> Edges:
    """Two columns of node names or numbers (a data frame, an Arrow table)."""
    a, b = array_of(source, "source"), array_of(target, "target")
    if names is None and a.dtype.kind in "iu" and b.dtype.kind in "iu":
        return _ends(a, b, None, "edges")
    seen = dict.fromkeys(array_of(names).tolist()) if names is not None else {}
    if names is None:
        seen.update(dict.fromkeys(a.tolist()))
        seen.update(dict.fromkeys(b.tolist()))
    nodes = list(seen)
    unknown = [x for x in (*a.tolist(), *b.tolist()) if x not in seen]
    if unknown:
        raise ValueError(f"edges: node {unknown[0]!r} is not among the names")
    return _named_ends(zip(a.tolist(), b.tolist()), nodes)


def columns_of(table: Any) -> tuple[Any, Any]:
    """The first two columns, or those called source and target, of a data frame."""
    called = [str(c) for c in table.columns]
    for a, b in (("source", "target"), ("src", "dst"), ("src_id", "dst_id"), ("u", "v")):
        if a in called and b in called:
            return table[a], table[b]
    if len(called) < 2:
        raise ValueError("edges: one column, want two: source and target")
    return table.iloc[:, 0], table.iloc[:, 1]


def edges_of(x: Any, n: int | None = None) -> Edges:
    """Edges of anything that is known."""
    x = unsparse(x)
    if is_sparse(x):
        return from_sparse(x)
    if hasattr(x, "edge_index"):
        return from_pyg(x)
    if hasattr(x, "get_edgelist") and hasattr(x, "vcount"):
        return from_igraph(x)
    if hasattr(x, "num_nodes") and hasattr(x, "edges") and hasattr(x, "ndata"):
        return from_dgl(x)
    if hasattr(x, "adjacency") and hasattr(x, "edges") and hasattr(x, "nodes"):
        return from_networkx(x)
    if hasattr(x, "iloc") and hasattr(x, "columns"):
        return from_columns(*columns_of(x))
    if hasattr(x, "__arrow_c_stream__") and not hasattr(x, "detach"):
        from ._arrow import columns

        table = columns(x)
        names = list(table)
        pair = next(
            (p for p in (("source", "target"), ("src", "dst"), ("src_id", "dst_id")) if set(p) <= set(names)),
            tuple(names[:2]),
        )
        if len(pair) < 2:
            raise ValueError("edges: one column, want two: source and target")
        return from_columns(table[pair[0]], table[pair[1]])
    if isinstance(x, tuple) and len(x) == 2:
        return _ends(x[0], x[1], n, "edges")
    a = array_of(x, "adj")
    if a.ndim == 2 and a.shape[0] == 2 and a.shape[1] != 2 and a.dtype.kind in "iu":
        return from_edge_index(a, n)
    if a.ndim == 2 and a.shape[0] == a.shape[1]:
        return from_dense(a)
    if a.ndim == 2 and 2 in a.shape and a.dtype.kind in "iu":
        return from_edge_index(a, n)
    raise TypeError(
        f"adj: {type(x).__name__} of shape {a.shape} is no graph: want a square matrix, "
        "2 x edges, or a graph of PyG, DGL, networkx, igraph or pandas"
    )


# ---- features ----


def features_parts(X: Any) -> tuple:
    """("dense", float32 array) or ("sparse", n_cols, indptr, indices, data)."""
    X = unsparse(X)
    if is_sparse(X):
        csr = rows_of(X, "X")
        if csr.data.dtype.kind not in "biuf":
            raise TypeError(f"X: entries of type {csr.data.dtype}, want numbers")
        return (
            "sparse",
            int(csr.shape[1]),
            np.ascontiguousarray(csr.indptr, dtype=np.int64),
            np.ascontiguousarray(csr.indices[: csr.indptr[-1]], dtype=np.int32),
            _floats(csr.data[: csr.indptr[-1]]),
        )
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "to_numpy") and not hasattr(X, "detach"):
        from ._arrow import columns

        X = np.column_stack([np.asarray(c) for c in columns(X).values()])
    a = array_of(X, "X")
    if a.dtype.kind == "O":
        try:
            a = a.astype(np.float64)
        except (TypeError, ValueError) as fault:
            raise type(fault)(f"X: objects that are no numbers: {fault}") from fault
    if a.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if a.dtype.kind not in "biuf":
        raise TypeError(f"X: entries of type {a.dtype}, want numbers")
    if a.ndim != 2:
        raise ValueError(
            f"X: {a.ndim} dimensions, want nodes x features. Reshape your data: X.reshape(-1, 1) "
            "if it has a single feature"
        )
    return "dense", np.ascontiguousarray(_floats(a))


def _floats(a: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(a, dtype=np.float32)
    if out.size and not np.all(np.isfinite(out)):
        given = np.asarray(a)
        if given.dtype.kind == "f" and np.isnan(given).any():
            raise ValueError("X: Input contains NaN")
        raise ValueError("X: Input contains infinity or a value too large for float32")
    return out
