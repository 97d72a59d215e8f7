"""Labels for a snapshot that may have been tampered with."""

from __future__ import annotations

import html
from typing import Any, Callable, Sequence

import numpy as np

from . import _convert, _core
from ._base import checked_seed, option_dict, option_names, progress_of, threads
from .classifier import Classifier, Labels, split_of
from .graph import Features, Flip, Graph, snapshot


class Recovery:
    """What :func:`recover` found.

    ``label`` of each node (None, or -1, where the method abstains), ``posterior`` [nodes x
    classes], ``perturbed`` (a chance for the method "graphss", a score for others), ``kind`` and
    ``share`` of the likeliest attack, ``flips``: changes that would take it back, ``calls``: full
    passes that a wrapped classifier was asked for.
    """

    def __init__(self, found: dict[str, Any], classes: np.ndarray, names: list[str] | None, calls: int = 0):
        number = np.asarray(found["label"])
        self.classes = classes
        self.label = classes[np.clip(number, 0, None)]
        self.abstained = number < 0
        if self.abstained.any():
            self.label = self.label.astype(object)
            self.label[self.abstained] = None
        self.posterior = np.asarray(found["posterior"])
        self.perturbed = np.asarray(found["perturbed"])
        self.method: str = found["method"]
        self.how: str = found["how"]
        self.kind: str | None = found["kind"]
        self.share: float = found["share"]
        self.changed: int = found["changed"]
        self.new_nodes: int = found["new_nodes"]
        self.seconds: float = found["seconds"]
        self.flips: list[Flip] = [Flip(*flip) for flip in found["flips"]]
        self.calls = calls
        self.names = names

    def to_frame(self):
        """A pandas frame: label, probability and perturbed of every node."""
        import pandas

        return pandas.DataFrame(
            {"label": self.label, "probability": self.posterior.max(axis=1), "perturbed": self.perturbed},
            index=pandas.Index(self.names or range(len(self.label)), name="node"),
        )

    def undo(self, X: Any, graph: Any = None) -> tuple[Graph, Features]:
        """The snapshot with ``flips`` applied: what looks tampered with is taken back."""
        return apply_flips(X, graph, self.flips)

    def plot(self, y: Any, ax: Any = None):
        """The confusion of the labels with ``y`` (matplotlib)."""
        from .plotting import confusion

        return confusion(y, self.label, self.classes, ax)

    def __repr__(self) -> str:
        return (
            f"Recovery({self.method}, {self.changed} of {len(self.label)} labels changed"
            + (f", attack: {self.kind}" if self.kind else "")
            + ")"
        )

    def _repr_html_(self) -> str:
        rows = {
            "method": self.method,
            "labels changed": self.changed,
            "likeliest attack": self.kind or "-",
            "share of nodes hit": f"{100 * self.share:.1f} %",
            "changes to take back": len(self.flips),
            "passes of the classifier": self.calls or "-",
            "seconds": f"{self.seconds:.2f}",
        }
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(str(v))}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"


def recover(
    classifier: Classifier,
    X: Any,
    graph: Any = None,
    *,
    previous: Any = None,
    method: str = "graphss",
    mode: str = "default",
    split: Any = None,
    trusted: Any = None,
    least: float = 0.5,
    seed: int = 1,
    n_jobs: int | None = None,
    progress: bool | Callable | None = None,
    **options: Any,
) -> Recovery:
    """Labels a snapshot that may have been tampered with.

    Parameters
    ----------
    classifier : a fitted :class:`NodeClassifier`, or what :func:`wrap` made of yours.
    X, graph : the snapshot.
    previous : an earlier, clean one, ``(X, graph)`` or a :class:`Dataset`.
    method : "graphss", or a rival: ``graphss.methods()`` lists them.
    split : labelled nodes of this snapshot (a mapping with train, train_labels, val, val_labels);
        default: those of the classifier, found by name or number.
    trusted : nodes that were surely not tampered with (numbers or a mask), for the method "graphss".
    least : the chance from which changes at a node are listed in ``flips``.
    options : of the method (``graphss recover --list``), spelled with underscores.
    """
    if mode not in ("default", "paper"):
        raise ValueError(f"mode: found {mode!r}, want 'default' or 'paper'")
    unknown = set(options) - set(option_names("recover"))
    if unknown:
        raise TypeError(f"recover() got an unexpected option {sorted(unknown)[0]!r}")
    now = snapshot(X, graph)
    past = None if previous is None else snapshot(previous)
    parts = None
    if split is not None:
        labels = Labels(np.full(now.graph.n_nodes, -1), now.graph.n_nodes, classifier.classes_)
        parts = split_of(labels, split, 0.2, 1)
    sure = None if trusted is None else _convert.node_list(trusted, now.graph.n_nodes, "trusted")
    asked = classifier.calls_
    found = _core.recover(
        classifier._fitted(),
        now.graph._core,
        now.features._core,
        past.graph._core if past else None,
        past.features._core if past else None,
        parts,
        sure,
        method,
        mode == "paper",
        option_dict(options),
        float(least),
        checked_seed(seed),
        threads(n_jobs),
        progress_of(progress),
    )
    return Recovery(found, classifier.classes_, now.graph.names, classifier.calls_ - asked)


def apply_flips(X: Any, graph: Any, flips: Sequence[tuple], *, undo: bool = False) -> tuple[Graph, Features]:
    """A snapshot with changes made, or taken back: :class:`Flip`, or tuples of its fields."""
    now = snapshot(X, graph)
    made, changed = _core.apply(now.graph._core, now.features._core, list(flips), bool(undo))
    return Graph(made, names=now.graph.names), Features(changed)
