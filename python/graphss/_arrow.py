"""Tables of Arrow, polars, DuckDB by the Arrow C stream interface, without any of them.

An object with ``__arrow_c_stream__`` hands over a capsule with four functions; columns of whole
numbers, floats, text and dictionaries of these are read, and copied.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]


class _Stream(ctypes.Structure):
    pass


_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_NUMBERS = {
    "c": np.int8, "C": np.uint8, "s": np.int16, "S": np.uint16, "i": np.int32, "I": np.uint32,
    "l": np.int64, "L": np.uint64, "f": np.float32, "g": np.float64,
}  # fmt: skip


def _memory(address: int, count: int, dtype: Any) -> np.ndarray:
    size = count * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype).copy()


def _column(schema: _Schema, array: _Array, name: str) -> np.ndarray:
    if array.null_count > 0:
        raise ValueError(f"column {name}: {array.null_count} missing values")
    first, n = array.offset, array.length
    kind = schema.format.decode()
    if schema.dictionary:
        codes = _memory(array.buffers[1], first + n, _NUMBERS[kind])[first:]
        return _column(schema.dictionary[0], array.dictionary[0], name)[codes]
    if kind in _NUMBERS:
        return _memory(array.buffers[1], first + n, _NUMBERS[kind])[first:]
    if kind in ("u", "U"):
        ends = _memory(array.buffers[1], first + n + 1, np.int32 if kind == "u" else np.int64)[first:]
        text = ctypes.string_at(array.buffers[2], int(ends[-1])) if n else b""
        return np.array([text[a:b].decode() for a, b in zip(ends[:-1], ends[1:])], dtype=object)
    raise TypeError(f"column {name}: Arrow type {kind!r} is not read: want numbers or text")


def columns(table: Any) -> dict[str, np.ndarray]:
    """The columns of a table by name."""
    capsule = table.__arrow_c_stream__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    if stream[0].get_schema(stream, ctypes.byref(schema)):
        raise ValueError("the Arrow stream has no schema")
    if schema.format != b"+s":
        raise TypeError("the Arrow stream is no table")
    names = [schema.children[i][0].name.decode() for i in range(schema.n_children)]
    parts: list[list[np.ndarray]] = [[] for _ in names]
    try:
        while True:
            batch = _Array()
            if stream[0].get_next(stream, ctypes.byref(batch)):
                raise ValueError("the Arrow stream failed")
            if not batch.release:
                break
            try:
                for i, name in enumerate(names):
                    whole = _column(schema.children[i][0], batch.children[i][0], name)
                    parts[i].append(whole[batch.offset : batch.offset + batch.length])
            finally:
                batch.release(ctypes.byref(batch))
    finally:
        schema.release(ctypes.byref(schema))
    return {n: np.concatenate(p) if p else np.empty(0) for n, p in zip(names, parts)}
