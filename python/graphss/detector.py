"""Was a snapshot tampered with?"""

from __future__ import annotations

import html
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np

from . import _convert, _core
from ._base import Params, checked_seed, option_dict, progress_of, threads
from .classifier import Classifier, Labels, _not_fitted, split_of
from .graph import Snapshot, snapshot


_CHANGES = {
    "links_changed": "nodes with other links",
    "features_changed": "nodes with other features",
    "nodes_new": "new nodes",
    "nodes_gone": "nodes gone",
}


class Reason(NamedTuple):
    """What speaks against a flagged node: how it changed since the previous snapshot, the class
    by the classifier now and before (None: no answer), those its features and its links speak
    for, and how clearly each does."""

    node: int
    links_added: int
    links_removed: int
    features_added: int
    features_removed: int
    now: Any
    before: Any
    features: Any
    links: Any
    p_now: float
    p_before: float
    p_features: float
    p_links: float

    def __str__(self) -> str:
        changes = [("links_added", "new links"), ("links_removed", "links gone")]
        changes += [("features_added", "new features"), ("features_removed", "features gone")]
        said = [f"{getattr(self, k)} {text}" for k, text in changes if getattr(self, k)]
        before = f", before: {self.before} ({100 * self.p_before:.0f} %)" if self.before is not None else ""
        said.append(f"classifier: {self.now} ({100 * self.p_now:.0f} %){before}")
        said.append(f"features speak for {self.features} ({100 * self.p_features:.0f} %)")
        return "; ".join([*said, f"links for {self.links} ({100 * self.p_links:.0f} %)"])


class Alert:
    """The verdict on a snapshot, or on a group of its nodes.

    ``alert`` is whether ``p_value`` is at most the false-alarm rate. Of each node there are
    ``node_score`` (higher: more suspicious), ``node_p_value`` (the share of clean nodes of its
    kind that look as suspicious) and ``perturbed`` (the chance that it was tampered with).
    ``flagged`` lists the nodes to look at, the likeliest first, and ``reasons`` has a
    :class:`Reason` for each; both are empty without an alert. ``contaminated`` is the estimated
    share of validation nodes that were tampered with, which are then not compared with, or with
    a previous snapshot of the nodes that did not change since.
    ``calls`` are the full passes that a wrapped classifier was asked for.
    """

    def __init__(
        self, found: dict[str, Any], names: list[str] | None, rate: float, calls: int = 0, classes: Any = None
    ):
        self.alert: bool = found["alert"]
        self.p_value: float = found["p_value"]
        self.score: float = found["score"]
        self.threshold: float = found["threshold"]
        self.kind: str = found["kind"]
        self.share: float = found["share"]
        self.n_nodes_judged: int = found["n_group"]
        self.n_calibration: int = found["n_calibration"]
        self.node_score = np.asarray(found["node_score"])
        self.node_p_value = np.asarray(found["node_p_value"])
        self.perturbed = np.asarray(found["perturbed"])
        self.flagged = np.asarray(found["flagged"])
        self.reasons = [_reason(*pair, classes) for pair in zip(self.flagged.tolist(), found["reasons"])]
        self.contaminated: float = found["contaminated"]
        self.changes: dict[str, int] = found["changes"]
        self.seconds: float = found["seconds"]
        self.false_alarm_rate = rate
        self.calls = calls
        self.names = names

    def to_frame(self):
        """A pandas frame of all nodes, the most suspicious first."""
        import pandas

        flagged = np.zeros(self.node_score.size, dtype=bool)
        flagged[self.flagged] = True
        frame = pandas.DataFrame(
            {
                "score": self.node_score,
                "p_value": self.node_p_value,
                "perturbed": self.perturbed,
                "flagged": flagged,
            },
            index=pandas.Index(self.names or range(self.node_score.size), name="node"),
        )
        return frame.sort_values(["perturbed", "score"], ascending=False, kind="stable")

    def plot(self, ax: Any = None):
        """The p-values of all nodes against what chance would give (matplotlib)."""
        from .plotting import p_values

        return p_values(self.node_p_value, self.false_alarm_rate, ax)

    def __bool__(self) -> bool:
        return self.alert

    def __repr__(self) -> str:
        word = f"ALERT, {self.kind}" if self.alert else "no alert"
        return (
            f"Alert({word}, p = {self.p_value:.4g} at a false-alarm rate of {self.false_alarm_rate:g}, "
            f"{self.flagged.size} of {self.node_score.size} nodes flagged)"
        )

    def _repr_html_(self) -> str:
        word = f"ALERT: {html.escape(self.kind)}" if self.alert else "no alert"
        head = (
            f"<p><b>{word}</b>, p = {self.p_value:.4g} at a false-alarm rate of {self.false_alarm_rate:g}; "
            f"{self.n_nodes_judged} nodes compared with {self.n_calibration} clean ones</p>"
        )
        said = [f"{self.changes[k]} {text}" for k, text in _CHANGES.items() if self.changes[k]]
        head += f"<p>since the previous snapshot: {', '.join(said)}</p>" if said else ""
        rows = []
        for i, why in zip(self.flagged[:20], self.reasons):
            name = html.escape(str(self.names[i] if self.names else i))
            rows.append(
                f"<tr><td>{name}</td><td>{100 * self.perturbed[i]:.1f} %</td><td>{self.node_p_value[i]:.4g}</td>"
                f"<td>{html.escape(str(why))}</td></tr>"
            )
        more = f"<p>... and {self.flagged.size - 20} more</p>" if self.flagged.size > 20 else ""
        table = "<table><tr><th>node</th><th>perturbed</th><th>p</th><th>reasons</th></tr>" + "".join(rows) + "</table>"
        return head + (table + more if rows else "")


def _reason(node: int, found: tuple, classes: Any) -> Reason:
    changes, numbers, chances = found[:4], found[4:8], found[8:]
    known = [None if c < 0 else c if classes is None else classes[c] for c in numbers]
    return Reason(node, *changes, *known, *chances)


_RULES = {None: 0, "family-wise": 1, "fdr": 2}


class TamperDetector(Params):
    """Tells whether the graph or the features under a node classifier were tampered with.

    Unlike an outlier detector with a ``contamination`` it does not presume that a share of nodes
    is bad: it states how often it is wrong on a clean snapshot (``false_alarm_rate``), and gives
    p-values.

    Parameters
    ----------
    classifier : a fitted :class:`NodeClassifier`, or what :func:`wrap` made of yours.
    false_alarm_rate : share of clean snapshots that raise an alert.
    draws : random exchanges behind a p-value.
    validation_only : compare with validation nodes alone.

    Attributes (PyGOD's names, of the snapshot last looked at)
    ----------
    decision_score_, label_ (1: flagged), p_value_, threshold_, alert_.
    """

    def __init__(
        self,
        classifier: Classifier,
        *,
        false_alarm_rate: float = 0.05,
        draws: int = 1999,
        validation_only: bool = False,
        seed: int = 1,
        n_jobs: int | None = None,
        progress: bool | Callable | None = None,
    ):
        self.classifier = classifier
        self.false_alarm_rate = false_alarm_rate
        self.draws = draws
        self.validation_only = validation_only
        self.seed = seed
        self.n_jobs = n_jobs
        self.progress = progress

    def _options(self) -> dict[str, str]:
        return option_dict(
            {
                "false_alarm_rate": float(self.false_alarm_rate),
                "draws": self.draws,
                "validation_only": self.validation_only,
            }
        )

    def fit(self, X: Any, y: Any = None, graph: Any = None) -> "TamperDetector":
        """Learns from a clean snapshot, by simulated attacks on it, what tampering looks like.

        The snapshot is kept: later ones are compared with it unless ``previous`` says otherwise.
        """
        now = snapshot(X, graph)
        _core.learn(
            self.classifier._fitted(),
            now.graph._core,
            now.features._core,
            checked_seed(self.seed),
            threads(self.n_jobs),
            progress_of(self.progress),
        )
        self.reference_ = now
        self.n_features_in_ = now.features.shape[1]
        self._remember(self.inspect(now, previous=None))
        return self

    def _remember(self, found: Alert) -> None:
        self.alert_ = found
        self.decision_score_ = found.node_score
        self.p_value_ = found.node_p_value
        self.label_ = _marks(found)
        below = found.node_score[found.node_p_value > self.false_alarm_rate]
        self.threshold_ = float(below.max()) if below.size else 0.0

    def _scene(self, X: Any, graph: Any, previous: Any, split: Any) -> tuple:
        now = snapshot(X, graph)
        if isinstance(previous, str) and previous == "reference":
            previous = getattr(self, "reference_", None)
        past = None if previous is None else snapshot(previous)
        parts = None
        if split is not None:
            labels = np.full(now.graph.n_nodes, -1)
            parts = split_of(Labels(labels, now.graph.n_nodes, self.classifier.classes_), split, 0.2, 1)
        return (
            self.classifier._fitted(),
            now.graph._core,
            now.features._core,
            past.graph._core if past else None,
            past.features._core if past else None,
            parts,
        ), now

    def inspect(
        self,
        X: Any,
        graph: Any = None,
        *,
        previous: Any = "reference",
        group: Any = None,
        split: Any = None,
    ) -> Alert:
        """The verdict on a snapshot.

        previous : an earlier, clean snapshot, ``(X, graph)``; default: that of ``fit``; None: none.
            Nodes are matched by name where graphs have names, else by number.
        group : judge these nodes (numbers or a mask); default: all without a label.
        """
        scene, now = self._scene(X, graph, previous, split)
        nodes = None if group is None else _convert.node_list(group, now.graph.n_nodes, "group")
        asked = self.classifier.calls_
        found = _core.alert(
            *scene,
            nodes,
            self._options(),
            checked_seed(self.seed),
            threads(self.n_jobs),
            progress_of(self.progress),
        )
        asked = self.classifier.calls_ - asked
        return Alert(found, now.graph.names, self.false_alarm_rate, asked, self.classifier.classes_)

    def inspect_groups(
        self,
        X: Any,
        graph: Any = None,
        *,
        groups: Sequence[Any] | Mapping[str, Any],
        previous: Any = "reference",
        split: Any = None,
        correct: str | None = None,
    ) -> list[dict[str, Any]]:
        """A verdict for each of many groups, after one look: alert, p_value, score, threshold.

        groups : lists of nodes or masks; by name (a mapping), the verdicts have the name as well.
        correct : the false-alarm rate is of each group (None), of any of them ("family-wise"), or
            the share of false ones among the alerts ("fdr"); p-values are raised accordingly.
        """
        if correct not in _RULES:
            raise ValueError(f"correct: found {correct!r}, want None, 'family-wise' or 'fdr'")
        given = list(groups.items() if isinstance(groups, Mapping) else enumerate(groups))
        scene, now = self._scene(X, graph, previous, split)
        nodes = [_convert.node_list(g, now.graph.n_nodes, f"groups[{i!r}]") for i, g in given]
        found = _core.judge(
            *scene,
            nodes,
            _RULES[correct],
            self._options(),
            checked_seed(self.seed),
            threads(self.n_jobs),
            progress_of(self.progress),
        )
        return [{"name": name, **v} for (name, _), v in zip(given, found)] if isinstance(groups, Mapping) else found

    def decision_function(self, X: Any, graph: Any = None, **more: Any) -> np.ndarray:
        """The suspicion of each node; higher is worse."""
        self._check()
        self._remember(self.inspect(X, graph, **more))
        return self.decision_score_

    def predict(self, X: Any, graph: Any = None, **more: Any) -> np.ndarray:
        """1 for nodes that are flagged, else 0; all 0 without an alert."""
        self._check()
        self._remember(self.inspect(X, graph, **more))
        return self.label_

    def _check(self) -> None:
        if not hasattr(self, "reference_"):
            raise _not_fitted(self)


def _marks(found: Alert) -> np.ndarray:
    out = np.zeros(found.node_score.size, dtype=np.int64)
    out[found.flagged] = 1
    return out
