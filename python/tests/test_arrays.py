"""A fuzz of array arguments: whatever is given, an exception or an answer, never a crash."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import graphss as gs
from graphss import _core

DTYPES = ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "g", "F", "O", "U3", "S3", "M8[s]", ">f4", ">i8"]


def arrays(rng):
    """Arrays of every kind: dtypes, strides, shapes, orders, read only, 0-d, empty, huge."""
    for dtype in DTYPES:
        for shape in [(), (0,), (5,), (5, 5), (5, 3), (0, 0), (1, 1), (2, 7), (5, 5, 5), (2, 0)]:
            try:
                a = (rng.integers(0, 5, size=shape)).astype(dtype)
            except (TypeError, ValueError):
                continue
            yield a
            if a.ndim == 2 and a.size:
                yield a[::-1, ::-1]
                yield np.asfortranarray(a)
                yield a[::2]
                locked = a.copy()
                locked.flags.writeable = False
                yield locked
    yield np.broadcast_to(np.float32(1), (5, 5))
    yield np.broadcast_to(np.int64(1), (2, 5))
    yield np.broadcast_to(np.int8(1), (10**6, 10**6))
    yield np.broadcast_to(np.float32(1), (10**6, 10**6))
    yield np.lib.stride_tricks.as_strided(np.zeros(1), (5, 5), (0, 0))
    yield np.array([[np.nan, 1], [np.inf, 0]])
    yield np.array([[1e300, 0], [0, 1]])
    yield np.array([[-1, 2], [3, 4]])
    yield np.array([[2**62, 0], [0, 1]])
    yield np.ma.masked_array(np.eye(3), mask=np.eye(3))
    yield np.matrix("1 0; 0 1")


OTHERS = [
    None, 3, "text", b"bytes", [], [[1, 2], [3]], {}, {1: 2}, object(), (1, 2, 3), range(5), memoryview(b"abc"),
    [[0, 1], [1, 0]], [float("nan")], lambda: 0, sp.csr_matrix((3, 4)), sp.csr_matrix(np.eye(3) * np.nan),
    sp.coo_matrix(np.eye(5, dtype=complex)), sp.csr_matrix((5, 5), dtype=bool),
]  # fmt: skip


def attempts():
    rng = np.random.default_rng(0)
    yield from arrays(rng)
    yield from OTHERS


def quietly(f, *args, **kwargs):
    """Exceptions of Python are fine, MemoryError among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args, **kwargs)
        except (Exception,) as fault:
            assert not isinstance(fault, (SystemError, AssertionError)), (fault, args)
            return None


def test_graphs_and_features_of_anything():
    for a in attempts():
        quietly(gs.Graph, a)
        quietly(gs.Graph, (a, a), n_nodes=5)
        quietly(gs.Features, a)


def test_fit_and_predict_of_anything(world):
    clf = gs.NodeClassifier(epochs=1, n_jobs=1, hidden=2)
    for a in attempts():
        quietly(clf.fit, a, [0, 1, 0, 1, -1])
        quietly(clf.fit, np.eye(5), a)
        quietly(clf.fit, np.eye(5), [0, 1, 0, 1, -1], a)
        quietly(world.clf.predict, a)
        quietly(world.clf.predict, world.X, a)


def broken(rng):
    """Sparse matrices whose arrays were changed afterwards."""
    for kind in ("csr", "csc", "coo") * 40:
        m = sp.random(30, 30, density=0.2, format=kind, random_state=int(rng.integers(99)), dtype=np.float32)
        name = rng.choice(["row", "col", "data"] if kind == "coo" else ["indptr", "indices", "data"])
        a = getattr(m, name).copy()
        if rng.random() < 0.3:
            a = a[: rng.integers(a.size)]
        elif rng.random() < 0.2:
            a = a.astype(rng.choice(["f8", "i8", "u1", "?"]))
        elif name == "data":
            a[rng.integers(a.size)] = np.nan
        else:
            a[rng.integers(a.size)] = rng.choice([-1, -(2**31), 2**31 - 1, 30, 10**6])
        setattr(m, name, a)
        yield m


def test_broken_sparse_matrices(world):
    """scipy itself follows their indices out of its memory."""
    clf = gs.NodeClassifier(epochs=1, n_jobs=1, hidden=2)
    y = np.arange(30) % 2
    for m in broken(np.random.default_rng(0)):
        quietly(gs.Graph, m)
        quietly(gs.Features, m)
        quietly(clf.fit, np.eye(30), y, m)
        quietly(clf.fit, m, y)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        m = kind(np.eye(4, dtype=np.float32))
        m.indices[2] = 9
        with pytest.raises(ValueError, match="indices: 9, want 0 to 3"):
            gs.Graph(m)
        with pytest.raises(ValueError, match="indices: 9, want 0 to 3"):
            gs.Features(m)


def test_lists_of_anything(world):
    detector = gs.TamperDetector(world.clf, n_jobs=1)
    for a in OTHERS + [np.array([-1]), np.array([400]), np.array([1.5]), np.array([0, 0]), np.array([2**40])]:
        quietly(detector.inspect, world.X, world.graph, previous=a, group=[])
        quietly(gs.attack, world.clf, world.X, world.graph, y=a, victims=[1], budget=1, kind="links")
        quietly(gs.attack, world.clf, world.X, world.graph, victims=a, budget=1, kind="links", method="random")
        quietly(gs.recover, world.clf, world.X, world.graph, method="none", split=a)
        quietly(gs.NodeClassifier.from_state_dict, {"w": a})
        quietly(gs.apply_flips, world.X, world.graph, a)


def test_the_extension_by_itself():
    """Below the conversions: wrong types and shapes are refused by the extension as well."""
    graph, _ = _core.graph_from_pairs(3, np.array([0], np.int32), np.array([1], np.int32))
    features = _core.features_from_dense(np.eye(3, dtype=np.float32))
    functions = [getattr(_core, name) for name in dir(_core) if callable(getattr(_core, name)) and name[0].islower()]
    pool = [
        None, 0, -1, 2**70, 1.5, "x", b"", (), [], {}, graph, features, np.zeros(3, np.int32), np.zeros((3, 3), np.float32),
        np.zeros(3, np.int64), np.zeros((0, 0), np.float32), (None,) * 5, (np.zeros(2, np.int32),) * 5, print,
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    for function in functions:
        for n in range(14):
            for _ in range(12):
                quietly(function, *[pool[i] for i in rng.integers(0, len(pool), n)])
    with pytest.raises(TypeError):
        _core.Graph()
    with pytest.raises(ValueError):
        _core.graph_from_rows(np.array([0, 5, 1], np.int64), np.zeros(1, np.int32))
    with pytest.raises(ValueError):
        _core.graph_from_rows(np.array([0, -7, 1], np.int64), np.zeros(1, np.int32))
    with pytest.raises(gs.InvalidError):
        _core.graph_from_pairs(2, np.array([0], np.int32), np.array([9], np.int32))
    with pytest.raises(ValueError):
        _core.features_from_rows(3, np.array([0, 9], np.int64), np.zeros(1, np.int32), np.zeros(1, np.float32))
    with pytest.raises(gs.DataError):
        _core.features_from_rows(3, np.array([0, 5, 1], np.int64), np.zeros(1, np.int32), np.zeros(1, np.float32))
