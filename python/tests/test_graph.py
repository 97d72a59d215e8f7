"""Graphs and features from everything people have."""

import ctypes
import pickle
import types
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import graphss as gs

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


class Igraph:
    """A stand-in for igraph.Graph."""

    vs = type("V", (), {"attributes": lambda self: []})()

    def get_edgelist(self):
        return [*PAIRS, *((b, a) for a, b in PAIRS)]

    def vcount(self):
        return 4


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
        Igraph,
        nx_graph,
        frame,
    ],
)
def test_a_graph_comes_from_anything(make):
    given = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networkx lists each edge once
        assert gs.Graph(given) == expected()


def test_arrow_streams_are_read_without_arrow():
    """A hand-made producer of the Arrow C stream interface: one batch, two int64 columns."""
    from graphss import _arrow as arrow

    columns = [np.r_[SOURCE, TARGET].astype(np.int64), np.r_[TARGET, SOURCE].astype(np.int64)]
    keep = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(arrow._Schema))
    def free_schema(s):
        s[0].release = type(s[0].release)()

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(arrow._Array))
    def free_array(a):
        a[0].release = type(a[0].release)()

    def schema_of(out):
        names = [b"source", b"target"]
        children = (ctypes.POINTER(arrow._Schema) * 2)()
        for i, name in enumerate(names):
            child = arrow._Schema(format=b"l", name=name)
            keep.append(child)
            children[i] = ctypes.pointer(child)
        keep.append(children)
        out[0].format, out[0].n_children = b"+s", 2
        out[0].children = ctypes.cast(children, ctypes.POINTER(ctypes.POINTER(arrow._Schema)))
        out[0].release = free_schema
        return 0

    sent = []

    def next_of(out):
        if sent:
            out[0].release = type(out[0].release)()
            return 0
        sent.append(1)
        children = (ctypes.POINTER(arrow._Array) * 2)()
        for i, column in enumerate(columns):
            buffers = (ctypes.c_void_p * 2)(None, column.ctypes.data)
            child = arrow._Array(length=len(column), n_buffers=2)
            child.buffers = ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p))
            keep.extend([buffers, child])
            children[i] = ctypes.pointer(child)
        keep.append(children)
        out[0].length, out[0].n_children = len(columns[0]), 2
        out[0].children = ctypes.cast(children, ctypes.POINTER(ctypes.POINTER(arrow._Array)))
        out[0].release = free_array
        return 0

    stream = arrow._Stream()
    types_ = dict(arrow._Stream._fields_)
    stream.get_schema = types_["get_schema"](lambda s, out: schema_of(out))
    stream.get_next = types_["get_next"](lambda s, out: next_of(out))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Table:
        def __arrow_c_stream__(self, requested_schema=None):
            return new(ctypes.addressof(stream), b"arrow_array_stream", None)

    assert gs.Graph(Table()) == expected()


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
