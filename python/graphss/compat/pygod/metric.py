"""As ``pygod.metric``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._convert import array_of


def eval_roc_auc(label: Any, score: Any) -> float:
    """The chance that an outlier has a higher score than another node."""
    y, s = array_of(label).astype(bool), array_of(score)
    rank = np.empty(s.size)
    values, inverse, count = np.unique(s, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[inverse]
    up, down = y.sum(), (~y).sum()
    return float((rank[y].sum() - up * (up + 1) / 2) / (up * down))


def eval_average_precision(label: Any, score: Any) -> float:
    """The mean over the outliers of the precision among those with as high a score or a higher one."""
    y, s = array_of(label).astype(bool), array_of(score)
    order = np.argsort(-s, kind="stable")
    hit, last = y[order], np.searchsorted(-s[order], -s[order], side="right") - 1
    return float(np.mean((np.cumsum(hit) / np.arange(1, hit.size + 1))[last][hit]))


def eval_recall_at_k(label: Any, score: Any, k: int | None = None) -> float:
    """Share of the outliers among the k highest scores; k: by default as many as there are."""
    y, s = array_of(label).astype(bool), array_of(score)
    k = int(y.sum()) if k is None else int(k)
    return float(y[np.argsort(-s, kind="stable")[:k]].sum() / y.sum())


def eval_precision_at_k(label: Any, score: Any, k: int | None = None) -> float:
    """Share of outliers among the k highest scores."""
    y, s = array_of(label).astype(bool), array_of(score)
    k = int(y.sum()) if k is None else int(k)
    return float(y[np.argsort(-s, kind="stable")[:k]].mean())


def eval_f1(label: Any, pred: Any) -> float:
    """The harmonic mean of precision and recall of predicted labels."""
    y, found = array_of(label).astype(bool), array_of(pred).astype(bool)
    return float(2 * (y & found).sum() / max(1, y.sum() + found.sum()))


__all__ = ["eval_average_precision", "eval_f1", "eval_precision_at_k", "eval_recall_at_k", "eval_roc_auc"]
