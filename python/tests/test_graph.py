"""Graphs and features from everything people have."""

import ctypes
import pickle
import types
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import graphss as gs
from graphss import _arrow as arrow

PAIRS = [(0, 1), (1, 2), (2, 3), (0, 3)]
SOURCE, TARGET = np.array(PAIRS).T


def symmetric():
    a = np.zeros((4, 4), dtype=np.int8)
    a[SOURCE, TARGET] = a[TARGET, SOURCE] = 1
    return a


def expected():
    return gs.Graph((np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]), n_nodes=4, warn=False)


def pyg():
    torch = pytest.importorskip("torch")
    both = torch.tensor(np.stack([np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]]))
    return types.SimpleNamespace(edge_index=both, num_nodes=4, x=torch.eye(4))


class Dgl:
    """A stand-in with the attributes of a homogeneous DGLGraph; DGL itself is not in Debian."""

    etypes = ["_E"]

    def __init__(self):
        self.ndata = {"feat": np.eye(4, dtype=np.float32)}

    def edges(self):
        return np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]

    def num_nodes(self):
        return 4


def igraph():
    return pytest.importorskip("igraph").Graph(n=4, edges=PAIRS)


def nx_graph():
    networkx = pytest.importorskip("networkx")
    g = networkx.Graph()
    g.add_nodes_from(range(4))
    g.add_edges_from(PAIRS)
    return g


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"source": np.r_[SOURCE, TARGET], "target": np.r_[TARGET, SOURCE]})


@pytest.mark.parametrize(
    "make",
    [
        symmetric,
        lambda: sp.csr_matrix(symmetric()),
        lambda: sp.coo_matrix(symmetric()),
        lambda: np.asfortranarray(symmetric().astype(float)),
        lambda: np.stack([np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]]),
        pyg,
        Dgl,
        igraph,
        nx_graph,
        frame,
    ],
)
def test_a_graph_comes_from_anything(make):
    given = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx lists each edge once
        assert gs.Graph(given) == expected()


class Arrow:
    """A hand-made producer of the Arrow C stream interface: columns (format, length, buffers) by
    name, dictionaries as a fourth part. ``parts`` batches, ``fails`` at a batch, ``released``."""

    def __init__(self, columns, parts=1, fails=None):
        self.columns, self.parts, self.fails, self.sent, self.released = columns, parts, fails, 0, 0
        self.keep = []

    def _list(self, items, kind):
        pointers = (ctypes.POINTER(kind) * len(items))(*map(ctypes.pointer, items))
        self.keep += [items, pointers]
        return ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(kind)))

    def _schema(self, name, column):
        out = arrow._Schema(format=column[0].encode(), name=name.encode())
        if len(column) > 3:
            out.dictionary = ctypes.pointer(self._schema("", column[3]))
        self.keep.append(out)
        return out

    def _array(self, column):
        raw = [b if b is None or isinstance(b, np.ndarray) else np.frombuffer(b, np.uint8) for b in column[2]]
        buffers = (ctypes.c_void_p * len(raw))(*(None if b is None else b.ctypes.data for b in raw))
        out = arrow._Array(length=column[1], n_buffers=len(raw), null_count=-1)
        out.buffers = ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p))
        if len(column) > 3:
            out.dictionary = ctypes.pointer(self._array(column[3]))
        self.keep += [raw, buffers, out]
        return out

    def __arrow_c_stream__(self, requested_schema=None):
        fields = {n: dict(c._fields_) for n, c in (("s", arrow._Schema), ("a", arrow._Array), ("t", arrow._Stream))}

        def release(p):
            self.released += 1
            p[0].release = type(p[0].release)()

        free_schema, free_array = fields["s"]["release"](release), fields["a"]["release"](release)

        def get_schema(_, out):
            out[0].format, out[0].n_children = b"+s", len(self.columns)
            out[0].children = self._list([self._schema(n, c) for n, c in self.columns.items()], arrow._Schema)
            out[0].release = free_schema
            return 0

        def get_next(_, out):
            self.sent += 1
            if self.sent == self.fails:
                return 5
            if self.sent <= self.parts:
                out[0].length, out[0].n_children = next(iter(self.columns.values()))[1], len(self.columns)
                out[0].children = self._list([self._array(c) for c in self.columns.values()], arrow._Array)
                out[0].release = free_array
            return 0

        stream = arrow._Stream()
        stream.get_schema, stream.get_next = fields["t"]["get_schema"](get_schema), fields["t"]["get_next"](get_next)
        why = ctypes.create_string_buffer(b"the disk is gone")
        tell = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: ctypes.addressof(why))
        stream.get_last_error = ctypes.cast(tell, fields["t"]["get_last_error"])
        self.keep += [stream, free_schema, free_array, why, tell]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(stream), b"arrow_array_stream", None)


def numbers_column(a, dtype=np.int64, kind="l"):
    return (kind, len(a), [None, np.ascontiguousarray(a, dtype)])


def text_column(words, kind="u"):
    ends = np.cumsum([0, *(len(w.encode()) for w in words)]).astype(np.int32 if kind == "u" else np.int64)
    return (kind, len(words), [None, ends, "".join(words).encode() or b" "])


def view_column(words):
    rows, heap = b"", b""
    for w in (word.encode() for word in words):
        here = w.ljust(12, b"\0") if len(w) <= 12 else w[:4] + np.array([0, len(heap)], np.int32).tobytes()
        rows += np.int32(len(w)).tobytes() + here
        heap += w if len(w) > 12 else b""
    return ("vu", len(words), [None, rows, heap or b" "])


def test_arrow_streams_are_read_without_arrow():
    both = np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]
    table = Arrow({"source": numbers_column(both[0]), "target": numbers_column(both[1], np.uint16, "S")})
    assert gs.Graph(table) == expected() and table.released == 2  # a batch and the schema
    halves = Arrow({"weight": numbers_column([1, 1, 1, 1], np.float64, "g"), "dst": numbers_column(TARGET), "src": numbers_column(SOURCE)}, parts=2)
    assert gs.Graph(halves, warn=False) == expected()
    words = ["a", "b", "a name of more than twelve bytes", "ö"]
    texts = [[words[i] for i in ends] for ends in both]
    named = gs.Graph((both[0], both[1]), n_nodes=4, names=words)
    for make in (text_column, lambda w: text_column(w, "U"), view_column):
        assert gs.Graph(Arrow({"u": make(texts[0]), "v": make(texts[1])})) == named
    coded = [("c", 8, [None, ends.astype(np.int8)], text_column(words)) for ends in both]
    assert gs.Graph(Arrow({"u": coded[0], "v": coded[1]})) == named
    X = Arrow({"x": numbers_column([1, 2, 3, 4], np.float32, "f"), "flag": ("b", 4, [None, b"\x05"])})
    assert (gs.Features(X).to_dense() == [[1, 1], [2, 0], [3, 1], [4, 0]]).all()


def test_arrow_streams_that_cannot_be_read():
    good = numbers_column(SOURCE)
    missing = ("l", 4, [b"\x0b", SOURCE.astype(np.int64)])  # the third is missing, and nobody counted
    with pytest.raises(ValueError, match="column v: 1 missing"):
        gs.Graph(Arrow({"u": good, "v": missing}))
    with pytest.raises(TypeError, match="column v: Arrow type 'tdD'"):
        gs.Graph(Arrow({"u": good, "v": ("tdD", 4, [None, SOURCE.astype(np.int32)])}))
    with pytest.raises(ValueError, match="beyond its dictionary"):
        gs.Graph(Arrow({"u": good, "v": ("c", 4, [None, np.full(4, 9, np.int8)], text_column(["a"]))}))
    with pytest.raises(ValueError, match="lacks a buffer"):
        gs.Graph(Arrow({"u": good, "v": ("l", 4, [None, None])}))
    with pytest.raises(ValueError, match="want two"):
        gs.Graph(Arrow({"u": good}))
    broken = Arrow({"u": good, "v": good}, parts=3, fails=2)
    with pytest.raises(ValueError, match="the disk is gone"):
        gs.Graph(broken)
    assert broken.released == 2  # what came before the fault, and the schema


def test_sparse_matrices_with_room_for_more():
    m = sp.csr_matrix(symmetric().astype(np.float32))
    m.indices, m.data = np.r_[m.indices, 3, 3].astype(np.int32), np.r_[m.data, 5, 5].astype(np.float32)
    assert gs.Graph(m) == expected() and (gs.Features(m).to_dense() == symmetric()).all()


def test_what_is_cleaned_is_a_warning_with_numbers():
    a = sp.csr_matrix(np.array([[2.0, 1, 0], [0, 0, 5], [0, 1, 0]]))
    with pytest.warns(gs.GraphssWarning, match="1 in one direction only.*1 from a node to itself.*2 with another weight"):
        g = gs.Graph(a)
    assert g.n_edges == 2 and g.cleaned["loops"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gs.Graph(a, warn=False)
        gs.Graph(symmetric())


def test_views_pickles_and_pictures():
    g = gs.Graph(symmetric(), names=["a", "b", "c", "ö"])
    assert not g.indices.flags.writeable and g.indices.base is not None
    with pytest.raises(ValueError):
        g.indices[0] = 9
    assert pickle.loads(pickle.dumps(g)) == g
    assert g.node("ö") == 3 and "4 nodes" in repr(g) and "<table>" in g._repr_html_()
    assert (g.adjacency().toarray() == symmetric()).all()
    x = gs.Features(np.arange(8.0).reshape(4, 2))
    assert (pickle.loads(pickle.dumps(x)).to_dense() == x.to_dense()).all()
    view = g.indices
    del g
    assert view.sum() == expected().indices.sum()  # the view keeps the graph


def test_names_of_frames_and_networkx_are_kept():
    networkx = pytest.importorskip("networkx")
    pandas = pytest.importorskip("pandas")
    g = gs.Graph(networkx.Graph([("x", "y"), ("y", "z")]), warn=False)
    assert g.names == ["x", "y", "z"] and sorted(g.to_networkx().edges) == [("x", "y"), ("y", "z")]
    both = pytest.importorskip("igraph").Graph(n=3, edges=[(0, 1), (1, 2)], vertex_attrs={"name": ["x", "y", "z"]})
    assert gs.Graph(both, warn=False) == g
    edges = pandas.DataFrame({"u": ["x", "y"], "v": ["y", "z"]})
    assert gs.Graph.from_pandas(edges, warn=False) == g
    assert gs.Graph.from_pandas(edges, nodes=["x", "y", "z", "alone"], warn=False).n_nodes == 4


def test_files_are_read(tmp_path):
    data = gs.read("synth:nodes=50,classes=2,features=5")
    assert data.graph.n_nodes == 50 and data.X.shape == (50, 5) and data.n_classes == 2
    with pytest.raises(gs.NotFoundError, match="nowhere"):
        gs.read(tmp_path / "nowhere.npz")
    with pytest.raises(FileNotFoundError):
        gs.read("nowhere.npz")


def test_features_keep_their_kind():
    dense = np.random.default_rng(0).normal(size=(5, 3))
    assert np.allclose(gs.Features(dense).to_array(), dense)
    bag = sp.random(30, 40, density=0.05, random_state=1, format="csr", dtype=np.float32)
    back = gs.Features(bag).to_array()
    assert sp.issparse(back) and abs(back - bag).max() == 0
    torch = pytest.importorskip("torch")
    assert np.allclose(gs.Features(torch.tensor(dense, requires_grad=True)).to_array(), dense)
