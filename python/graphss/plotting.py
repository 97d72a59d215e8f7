"""Figures, where matplotlib is there."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def p_values(p: np.ndarray, rate: float, ax: Any = None) -> Any:
    """Sorted p-values of nodes, and the line that clean nodes follow."""
    ax = _axes(ax)
    share = (np.arange(p.size) + 1) / max(p.size, 1)
    ax.plot(share, np.sort(p), label="nodes")
    ax.plot([0, 1], [0, 1], "--", label="clean")
    ax.axhline(rate, linestyle=":", label="false-alarm rate")
    ax.set_xlabel("share of the nodes")
    ax.set_ylabel("p-value")
    ax.legend()
    return ax


def p_values_over_time(p: Sequence[float], rate: float, times: Sequence[Any] | None = None, ax: Any = None) -> Any:
    """p-values of snapshots in their order, on a logarithmic scale."""
    ax = _axes(ax)
    at = range(len(p)) if times is None else times
    ax.semilogy(at, p, "o-", label="snapshot")
    ax.axhline(rate, linestyle=":", label="false-alarm rate")
    ax.set_ylabel("p-value")
    ax.legend()
    return ax


def roc(score: np.ndarray, truth: np.ndarray, ax: Any = None) -> Any:
    """How well scores tell perturbed nodes (truth 1) from clean ones."""
    ax = _axes(ax)
    order = np.argsort(-np.asarray(score), kind="stable")
    hit = np.asarray(truth, dtype=bool)[order]
    if hit.all() or not hit.any():
        raise ValueError("truth: want perturbed and clean nodes")
    up, right = np.cumsum(hit) / hit.sum(), np.cumsum(~hit) / (~hit).sum()
    up, right = np.concatenate([[0], up]), np.concatenate([[0], right])
    area = float(np.sum(np.diff(right) * (up[1:] + up[:-1]) / 2))
    ax.plot(right, up, label=f"AUC {area:.3f}")
    ax.plot([0, 1], [0, 1], "--")
    ax.set_xlabel("false alarms")
    ax.set_ylabel("found")
    ax.legend()
    return ax


def confusion(y: Any, label: Any, classes: np.ndarray, ax: Any = None) -> Any:
    """Counts of true classes (rows) and labels (columns)."""
    ax = _axes(ax)
    y, label = np.asarray(y), np.asarray(label)
    count = np.array([[np.sum((y == a) & (label == b)) for b in classes] for a in classes])
    ax.imshow(count, cmap="Blues")
    for i in range(len(classes)):
        for j in range(len(classes)):
            ax.text(j, i, count[i, j], ha="center", va="center")
    ax.set_xticks(range(len(classes)), [str(c) for c in classes])
    ax.set_yticks(range(len(classes)), [str(c) for c in classes])
    ax.set_xlabel("label")
    ax.set_ylabel("truth")
    return ax
