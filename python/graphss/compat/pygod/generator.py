"""As ``pygod.generator``: outliers put into a PyG ``Data``, for scripts that make their own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..._convert import array_of
from .detector import _tensor


def _changed(data: Any, **fields: Any) -> Any:
    out = copy.copy(data)
    for name, value in fields.items():
        setattr(out, name, value)
    return out


def _start(data: Any, sizes: dict[str, Any], seed: int | None) -> tuple[np.ndarray, np.random.Generator]:
    if not hasattr(data, "x") or not hasattr(data, "edge_index"):
        raise TypeError(f"data: found {type(data).__name__}, want x and edge_index, as PyG's Data has")
    for name, value in sizes.items():
        if not isinstance(value, (int, np.integer)):
            raise ValueError(f"{name}: found {value!r}, want a whole number")
    x, n = array_of(data.x, "x"), int(np.prod([v for name, v in sizes.items() if name != "k"]))
    if not 0 < n <= len(x):
        raise ValueError(f"{n} outliers, want 1 to {len(x)}")
    return x, np.random.default_rng(seed)


def gen_contextual_outlier(data: Any, n: int, k: int, seed: int | None = None) -> tuple:
    """n nodes get the features of that of k others which is farthest from them.

    Returns (data, y): a changed copy, and 1 for the nodes that were changed.
    """
    x, rng = _start(data, {"n": n, "k": k}, seed)
    if not 0 < k <= len(x):
        raise ValueError(f"k = {k} others, want 1 to {len(x)}")
    hit = rng.choice(len(x), size=n, replace=False)
    new, y = x.copy(), np.zeros(len(x), dtype=np.int64)
    for i in hit:
        other = rng.choice(len(x), size=k, replace=False)
        new[i] = x[other[np.argmax(((x[other] - x[i]) ** 2).sum(1))]]
    y[hit] = 1
    return _changed(data, x=_tensor(new)), _tensor(y)


def gen_structural_outlier(
    data: Any, m: int, n: int, p: float = 0, directed: bool = False, seed: int | None = None
) -> tuple:
    """n groups of m nodes, all linked to each other; a share p of these links is left out.

    The new links stand after those that were there.

    Returns (data, y): a changed copy, and 1 for the nodes of the groups.
    """
    x, rng = _start(data, {"m": m, "n": n}, seed)
    hit = rng.choice(len(x), size=m * n, replace=False)
    pairs = [
        (a, b)
        for group in hit.reshape(n, m)
        for a in group
        for b in group
        if a != b and (directed or a < b) and rng.random() >= p
    ]
    new = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    if not directed:
        new = np.concatenate([new, new[::-1]], axis=1)
    index = np.concatenate([array_of(data.edge_index, "edge_index"), new], axis=1)
    y = np.zeros(len(x), dtype=np.int64)
    y[hit] = 1
    return _changed(data, edge_index=_tensor(index)), _tensor(y)
