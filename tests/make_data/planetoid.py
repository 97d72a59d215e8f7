"""Writes tests/data/planetoid/ind.tiny.*: eight nodes in the eight Planetoid files.

Each file is pickled another way, so that the test meets protocols 2 (as Python 2 wrote it),
3 and 4. Run from the top of the source tree: python3 tests/make_data/planetoid.py
"""
import collections
import pathlib
import pickle
import struct

import numpy as np
import scipy.sparse as sp

FOLDER = pathlib.Path("tests/data/planetoid")
FEATURES = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]])
LABELS = np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]])


def python2_array(array):
    """The array as Python 2 pickled it: str where Python 3 has bytes."""
    data = array.tobytes()
    shape = b"".join(b"K" + bytes([side]) for side in array.shape)
    shape += {1: b"\x85", 2: b"\x86"}[array.ndim]
    kind = array.dtype.str[1:].encode()
    return (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02"
            b"K\x00\x85U\x01b\x87Rq\x03(K\x01" + shape + b"cnumpy\ndtype\nq\x04U\x02" + kind
            + b"K\x00K\x01\x87Rq\x05(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
            b"\x89T" + struct.pack("<i", len(data)) + data + b"tb.")


def write(ending, content):
    (FOLDER / f"ind.tiny.{ending}").write_bytes(content)


allx = sp.csr_matrix(FEATURES.astype("f4"))
tx = sp.csr_matrix(np.array([[0, 0, 1, 1], [1, 1, 1, 0]], dtype="f8"))
graph = collections.defaultdict(list, {0: [1, 2], 1: [0], 2: [0, 2, 3, 3], 3: [2, 7],
                                       4: [5], 5: [4], 6: [0], 7: [3]})
FOLDER.mkdir(parents=True, exist_ok=True)
write("x", pickle.dumps(allx[:2], 3))
write("y", python2_array(LABELS[:2].astype("i4")))
write("tx", pickle.dumps(tx, 4))
write("ty", pickle.dumps(np.asfortranarray(np.array([[0, 1], [1, 0]], dtype=">i8")), 4))
write("allx", pickle.dumps(allx, 4))
write("ally", pickle.dumps(LABELS.astype("f4"), 3))
write("graph", pickle.dumps(graph, 2))
write("test.index", b"7\n5\n")
