"""Of ``pygod.utils``, what scripts use."""

from __future__ import annotations

import os
from typing import Any

from .metric import eval_average_precision, eval_f1, eval_precision_at_k, eval_recall_at_k, eval_roc_auc


def load_data(name: str, cache_dir: str | None = None) -> Any:
    """A dataset of PyGOD's repository, CACHE_DIR/NAME.pt (~/.pygod/data); nothing is downloaded."""
    path = os.path.join(cache_dir or os.path.join(os.path.expanduser("~"), ".pygod", "data"), f"{name}.pt")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file, and nothing is downloaded here")
    import torch

    return torch.load(path)


def to_edge_score(score: Any, edge_index: Any) -> Any:
    """The score of an edge: the mean of its two ends'."""
    return (score[edge_index[0]] + score[edge_index[1]]) / 2


def to_graph_score(score: Any) -> Any:
    """The score of a graph: the mean of its nodes'."""
    return score.mean()


__all__ = [
    "eval_average_precision", "eval_f1", "eval_precision_at_k", "eval_recall_at_k", "eval_roc_auc", "load_data",
    "to_edge_score", "to_graph_score",
]  # fmt: skip
