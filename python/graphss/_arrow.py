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


def _memory(address: int | None, count: int, dtype: Any) -> np.ndarray:
    size = count * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype)
    if not address:
        raise ValueError("the Arrow stream lacks a buffer")
    held: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(held, dtype=dtype).copy()


def _bits(address: int, first: int, n: int) -> np.ndarray:
    packed = _memory(address, (first + n + 7) // 8, np.uint8)
    return np.unpackbits(packed, bitorder="little")[first : first + n].astype(bool)


def _views(array: _Array, first: int, n: int) -> np.ndarray:
    """Text as polars keeps it: 16 bytes a row, the text itself or where it is."""
    rows = _memory(array.buffers[1], 4 * (first + n), np.int32).reshape(-1, 4)[first:]
    out = np.empty(n, dtype=object)
    for i, (size, _, buffer, start) in enumerate(rows.tolist()):
        if size <= 12:
            out[i] = rows[i].tobytes()[4 : 4 + size].decode()
        else:
            out[i] = ctypes.string_at(array.buffers[2 + buffer] + start, size).decode()
    return out


def _column(schema: _Schema, array: _Array, name: str) -> np.ndarray:
    first, n = array.offset, array.length
    if array.null_count and array.n_buffers and array.buffers[0]:  # -1: not counted
        missing = int(n - _bits(array.buffers[0], first, n).sum())
        if missing:
            raise ValueError(f"column {name}: {missing} missing values")
    kind = schema.format.decode()
    if schema.dictionary:
        codes = _memory(array.buffers[1], first + n, _NUMBERS[kind])[first:]
        values = _column(schema.dictionary[0], array.dictionary[0], name)
        if n and (codes.min() < 0 or codes.max() >= len(values)):
            raise ValueError(f"column {name}: a code beyond its dictionary")
        return values[codes]
    if kind in _NUMBERS:
        return _memory(array.buffers[1], first + n, _NUMBERS[kind])[first:]
    if kind == "b":
        return _bits(array.buffers[1], first, n)
    if kind in ("u", "U"):
        ends = _memory(array.buffers[1], first + n + 1, np.int32 if kind == "u" else np.int64)[first:]
        text = ctypes.string_at(array.buffers[2], int(ends[-1])) if n and ends[-1] else b""
        return np.array([text[a:b].decode() for a, b in zip(ends[:-1], ends[1:])], dtype=object)
    if kind == "vu":
        return _views(array, first, n)
    raise TypeError(f"column {name}: Arrow type {kind!r} is not read: want numbers or text")


def columns(table: Any) -> dict[str, np.ndarray]:
    """The columns of a table by name."""
    capsule = table.__arrow_c_stream__()  # its end releases the stream
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))

    def check(code: int) -> None:
        if code:
            why = stream[0].get_last_error(stream) if stream[0].get_last_error else None
            raise ValueError(f"the Arrow stream failed: {why.decode() if why else f'code {code}'}")

    schema = _Schema()
    check(stream[0].get_schema(stream, ctypes.byref(schema)))
    try:
        if schema.format != b"+s":
            raise TypeError("the Arrow stream is no table")
        names = [(schema.children[i][0].name or b"").decode() for i in range(schema.n_children)]
        parts: list[list[np.ndarray]] = [[] for _ in names]
        while True:
            batch = _Array()
            check(stream[0].get_next(stream, ctypes.byref(batch)))
            if not batch.release:
                break
            try:
                for i, name in enumerate(names):
                    whole = _column(schema.children[i][0], batch.children[i][0], name)
                    parts[i].append(whole[batch.offset : batch.offset + batch.length])
            finally:
                batch.release(ctypes.byref(batch))
    finally:
        if schema.release:
            schema.release(ctypes.byref(schema))
    return {n: np.concatenate(p) if p else np.empty(0) for n, p in zip(names, parts)}
