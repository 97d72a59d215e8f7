"""PyGOD's face: ``from graphss.compat.pygod import GraphSS as DOMINANT``, or any detector's name.

``fit(data)`` takes ``x`` and ``edge_index`` of a PyG ``Data``; ``y``, which in PyGOD says which
nodes are outliers, is looked at by nobody. A classifier is trained on ``labels``, or without them
on groups of nodes by their smoothed features. Every detector's name of PyGOD leads to this one
detector; what it finds are nodes whose links or features look tampered with.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..._convert import array_of
from ...classifier import NodeClassifier
from ...detector import TamperDetector
from ...graph import Snapshot, snapshot


def _tensor(x: np.ndarray) -> Any:
    torch = sys.modules.get("torch")
    return x if torch is None else torch.from_numpy(np.ascontiguousarray(x))


def _groups(now: Snapshot, k: int, seed: int) -> np.ndarray:
    """Groups of nodes by the mean of their features over two steps: k means."""
    x = now.features.to_dense().astype(np.float64)
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    source, target = now.graph.edge_index()
    degree = (now.graph.degree + 1)[:, None]
    for _ in range(2):
        total = x.copy()
        np.add.at(total, source, x[target])
        x = total / degree
    rng = np.random.default_rng(seed)
    k = max(2, min(k, len(np.unique(x.round(9), axis=0)), len(x)))
    centre = x[rng.choice(len(x), size=k, replace=False)]
    for _ in range(25):
        label = np.argmin((centre**2).sum(1) - 2 * x @ centre.T, axis=1)
        for c in range(k):
            if np.any(label == c):
                centre[c] = x[label == c].mean(axis=0)
    return np.unique(label, return_inverse=True)[1]


class GraphSS:
    """A detector with PyGOD's manners.

    ``contamination`` is kept as a parameter but does not set a threshold: nodes are labelled 1
    where their p-value is at most ``false_alarm_rate``. ``labels`` are classes of nodes (not
    whether they are outliers), -1 where unknown. Other parameters of PyGOD's detectors
    (``hid_dim``, ``epoch``, ``lr`` ...) are kept for scripts that ask for them, and change nothing.
    """

    hid_dim: Any = 64

    def __init__(
        self,
        contamination: float = 0.1,
        *,
        false_alarm_rate: float = 0.05,
        model: str = "gcn",
        labels: Any = None,
        n_groups: int = 7,
        seed: int = 1,
        verbose: int = 0,
        gpu: int = -1,
        **more: Any,
    ):
        if not 0 < contamination <= 0.5:
            raise ValueError(f"contamination: found {contamination}, want above 0 and at most 0.5")
        self.contamination, self.false_alarm_rate = contamination, false_alarm_rate
        self.model, self.labels, self.n_groups, self.seed = model, labels, n_groups, seed
        self.verbose, self.gpu = verbose, gpu
        self.__dict__.update(more)

    def fit(self, data: Any, label: Any = None) -> "GraphSS":
        """Scores the nodes of ``data``. Neither label nor ``data.y`` is looked at."""
        now = snapshot(data)
        y = self.labels
        if y is None:
            y = _groups(now, self.n_groups, self.seed)
            y = np.where(np.random.default_rng(self.seed).random(len(y)) < 0.5, y, -1)
        self._seen = now
        self.classifier_ = NodeClassifier(self.model, seed=self.seed, validation_fraction=0.4)
        self.classifier_.fit(now, y)
        self.detector_ = TamperDetector(self.classifier_, false_alarm_rate=self.false_alarm_rate, seed=self.seed)
        self.detector_.fit(now)
        self._keep()
        return self

    def _keep(self) -> None:
        found = self.detector_
        self.decision_score_ = _tensor(found.decision_score_)
        self.p_value_ = _tensor(found.p_value_)
        self.threshold_ = found.threshold_
        self.label_ = _tensor((found.p_value_ <= self.false_alarm_rate).astype(np.int64))

    def decision_function(self, data: Any, label: Any = None) -> Any:
        """Scores of all nodes; higher is more outlying."""
        self._seen = snapshot(data)
        self.detector_.decision_function(self._seen, previous=None)
        self._keep()
        return self.decision_score_

    def predict(
        self,
        data: Any = None,
        label: Any = None,
        return_pred: bool = True,
        return_score: bool = False,
        return_prob: bool = False,
        prob_method: str = "linear",
        return_conf: bool = False,
        return_emb: bool = False,
    ) -> Any:
        """Labels, scores, and as ``prob`` 1 - p-value; one, or a tuple in this order.

        As ``emb``, the embedding of a node, the class probabilities stand that it was judged by.
        """
        if prob_method not in ("linear", "unify"):
            raise ValueError(f"prob_method: found {prob_method!r}, want 'linear' or 'unify'")
        if data is not None:
            self.decision_function(data)
        p = array_of(self.p_value_)
        out = []
        if return_pred:
            out.append(self.label_)
        if return_score:
            out.append(self.decision_score_)
        if return_prob:
            out.append(_tensor(1 - p))
        if return_conf:
            out.append(_tensor(np.abs(1 - 2 * p)))
        if return_emb:
            out.append(_tensor(self.classifier_.predict_proba(self._seen)))
        return out[0] if len(out) == 1 else tuple(out)

    def __repr__(self) -> str:
        return f"GraphSS(false_alarm_rate={self.false_alarm_rate}, model={self.model!r})"


_NAMES = (
    "AdONE", "ANOMALOUS", "AnomalyDAE", "CoLA", "CONAD", "CARD", "DMGD", "DOMINANT", "DONE", "GAAN", "GADNR",
    "GAE", "GUIDE", "OCGNN", "ONE", "Radar", "SCAN",
)  # fmt: skip
globals().update(dict.fromkeys(_NAMES, GraphSS))
__all__ = ["GraphSS", *_NAMES]
