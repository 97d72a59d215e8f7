#!/usr/bin/env python3
"""Makes the small .npz files under tests/data and tests/fuzz/corpus/npz.

They are kept in archives; this is for when a new one is wanted: tools/seeds unpack, this,
tools/seeds pack. Needs numpy and
scipy. The same numpy gives the same bytes: time stamps are fixed."""
import io
import pathlib
import struct
import zipfile

import numpy as np
import scipy.sparse as sp

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SEEDS = ROOT / "tests" / "fuzz" / "corpus" / "npz"
ARRAYS = ROOT / "tests" / "fuzz" / "corpus" / "arrays"
# As in tests/fuzz/fuzz_arrays.c.
NAMES = ("adj_data adj_indices adj_indptr adj_shape attr_data attr_indices attr_indptr "
         "attr_shape labels attr_matrix format indices indptr shape data row col train val test "
         "train_mask train_labels val_labels class_names node_names attr_names posterior "
         "probabilities perturbed").split()
DTYPES = "<i8 <i4 |i1 |u1 |b1 <f4 <f8 <f2 >i2 >f4 |S3 <u8 |S0".split()


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def save(path, arrays, stored=(), versions=None):
    """arrays: name -> array, or bytes of a whole member."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as z:
        for name, value in arrays.items():
            info = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            if not isinstance(value, bytes):
                value = npy(value, (versions or {}).get(name, (1, 0)))
            z.writestr(info, value)


def save_arrays(path, arrays):
    """A seed of fuzz_arrays: name, dtype, rows, columns, values, for each array."""
    path.parent.mkdir(parents=True, exist_ok=True)
    out = b""
    for name, array in arrays.items():
        array = np.atleast_1d(array)
        shape = array.shape + (0,) * (2 - array.ndim)
        out += bytes([NAMES.index(name), DTYPES.index(array.dtype.str), *shape]) + array.tobytes()
    path.write_bytes(out)


# Five nodes: the ring 0-1-2-3-0 with the pair 0-1 in both directions and the others in one,
# a loop at 4. Features 5 x 4. Labels 0 1 2 0 and unknown.
FROM = np.array([0, 1, 1, 2, 3, 4])
TO = np.array([1, 0, 2, 3, 0, 4])
ADJ = sp.csr_matrix((np.ones(6), (FROM, TO)), shape=(5, 5))
ATTR = np.zeros((5, 4))
ATTR[0, 1], ATTR[1, 3], ATTR[2, 0], ATTR[4, 2], ATTR[4, 3] = 1, 2, 1, 1, 5
LABELS = np.array([0, 1, 2, 0, -1])


def rows(prefix, m, dtype, index):
    return {prefix + "_data": m.data.astype(dtype), prefix + "_indices": m.indices.astype(index),
            prefix + "_indptr": m.indptr.astype(index),
            prefix + "_shape": np.array(m.shape, dtype=index)}


def plain():
    return {**rows("adj", ADJ, "<f4", "<i4"), **rows("attr", sp.csr_matrix(ATTR), "<f4", "<i4"),
            "labels": LABELS}


def main():
    # The same dataset in every dtype; test_read_npz.c wants one hash for all of these.
    save(DATA / "plain.npz", plain())
    save(DATA / "stored.npz", plain(), stored=plain())
    save(DATA / "small_types.npz",
         {**rows("adj", ADJ, "f2", "i1"), **rows("attr", sp.csr_matrix(ATTR), "u1", "u1"),
          "labels": LABELS.astype("i2")})
    save(DATA / "big_endian.npz",
         {**rows("adj", ADJ, ">f8", ">i8"), **rows("attr", sp.csr_matrix(ATTR), ">f2", ">u2"),
          "labels": LABELS.astype(">i4")}, stored=("labels",))
    save(DATA / "unsigned.npz",
         {**rows("adj", ADJ, "?", "<u8"), **rows("attr", sp.csr_matrix(ATTR), "<u4", ">u4"),
          "labels": LABELS.astype("<f8")},
         versions={"adj_indices": (2, 0), "labels": (3, 0)})
    save(DATA / "fortran.npz",
         {**rows("adj", ADJ, "<f4", "<i4"),
          "attr_matrix": np.asfortranarray(ATTR.astype(">f4")), "labels": LABELS})
    save(DATA / "dotted.npz",
         {k.replace("adj_", "adj_matrix.").replace("attr_", "attr_matrix."): v
          for k, v in plain().items()})
    objects = np.empty(2, dtype=object)
    objects[:] = ["a", {"b": 1}]
    save(DATA / "objects.npz",
         {**plain(), "attr_names": objects, "node_names": objects, "metadata": objects,
          "record": np.zeros(2, dtype=[("x", "<f4"), ("y", "<i4")]),
          "cube": np.zeros((2, 2, 2))})
    # Strings: U and S, both byte orders, beyond the basic plane, Latin-1 bytes.
    save(DATA / "names.npz",
         {**plain(), "node_names": np.array(["a", "", "caf\u00e9", "\U0001f600x", "e"], dtype=">U6"),
          "class_names": np.array([b"cat", b"na\xefve", "zo\u00eb".encode()], dtype="S5"),
          "attr_names": np.array([10, 20, 30, 40]),
          "train": np.array([3, 0]), "val_labels": np.array([2]), "val": np.array([1]),
          "test": np.array([2]), "train_labels": np.array([1, 0])})
    # scipy's own writer, and its formats.
    for kind in ("csr", "csc", "coo", "bsr"):
        out = io.BytesIO()
        sp.save_npz(out, ADJ.asformat(kind), compressed=False)
        with np.load(io.BytesIO(out.getvalue())) as z:
            save(DATA / f"scipy_{kind}.npz", {k: z[k] for k in z.files})
    csr = {"indices": ADJ.indices, "indptr": ADJ.indptr, "shape": np.array(ADJ.shape),
           "data": ADJ.data, "format": np.array("csr")}
    save(DATA / "scipy_text_format.npz", csr)
    save(DATA / "unlabelled.npz", {k: v for k, v in plain().items() if k.startswith("adj")})
    save(DATA / "masks.npz", {"train_mask": np.array([1, 0, 0, 1, 0], dtype=bool),
                              "val_mask": np.array([0, 1, 0, 0, 0], dtype="u1"),
                              "test_mask": np.array([0, 0, 1, 0, 0], dtype="<i8")})

    # The layout of PyG's Data, with masks; and with text in place of classes.
    edge_index = np.array([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    masks = {name + "_mask": np.isin(np.arange(4), nodes)
             for name, nodes in (("train", [0, 1]), ("val", [2]), ("test", [3]))}
    save(DATA / "pyg.npz",
         {"edge_index": edge_index, "y": np.array([0, 1, 1, 0]), **masks,
          "x": np.array([[1, 0.5], [0, 2], [3, 1], [1, 1]], "<f4"),
          "edge_attr": np.ones((5, 2))})
    save(DATA / "pyg_text.npz",
         {"edge_index": edge_index, "y": np.array(["bot", "", "human", "bot"]),
          "node_names": np.array(["a", "b", "c", "d"])})

    # Seeds: the above, small, and starting points towards other corners.
    for path in sorted(DATA.glob("*.npz")):
        if path.stat().st_size < 4000:
            (SEEDS / path.name).parent.mkdir(parents=True, exist_ok=True)
            (SEEDS / path.name).write_bytes(path.read_bytes())
    save(SEEDS / "predictions.npz",
         {"labels": np.array([0, 1, -1]), "probabilities": np.full((3, 2), 0.5, "<f4"),
          "posterior": np.full((3, 2), 0.5), "perturbed": np.zeros(3),
          "node_names": np.array(["x", "y", "z"])}, stored=("labels", "probabilities"))
    # Strings without bytes: many of them cost nothing in a file.
    text = b"{'descr': '|S0', 'fortran_order': False, 'shape': (99999,), }"
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
    save(SEEDS / "empty_strings.npz", {**plain(), "class_names": header})

    save_arrays(ARRAYS / "sparse", {**plain(), "class_names": np.array([b"a", b"bc", b"d"], "S3")})
    save_arrays(ARRAYS / "small",
                {**rows("adj", ADJ, "<f2", "i1"), "attr_matrix": ATTR.astype(">f4"),
                 "labels": LABELS.astype("i1"), "train": np.array([0], "i1"),
                 "val": np.array([1], "i1"), "test": np.array([2, 3], "i1"),
                 "node_names": np.arange(5, dtype="i1")})
    save_arrays(ARRAYS / "coo",
                {"format": np.array([b"coo"], "S3"), "shape": np.array([5, 5], "i1"),
                 "row": FROM.astype("i1"), "col": TO.astype("i1")})
    save_arrays(ARRAYS / "predictions",
                {"labels": np.array([0, 1], "i1"), "probabilities": np.full((2, 2), 0.5, "<f4"),
                 "perturbed": np.zeros(2), "train_mask": np.array([1, 0], "?")})


if __name__ == "__main__":
    main()
