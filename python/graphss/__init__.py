"""GraphSS: node classifiers, and what to do when their graph was tampered with.

    import graphss as gs

    data = gs.read("cora")
    clf = gs.NodeClassifier("gcn").fit(data.X, y, graph=data.graph)   # y: -1 = no label
    det = gs.TamperDetector(clf).fit(data.X, graph=data.graph)        # on a clean snapshot
    found = det.inspect(X2, graph=graph2)                             # found.alert, found.p_value
    fixed = gs.recover(clf, X2, graph2, previous=(data.X, data.graph))

A classifier of yours: ``clf = gs.wrap(lambda graph, X: my_model(...), data.X, data.graph)``.
"""

from __future__ import annotations

from . import _core, live, plotting
from ._core import (
    Cancelled,
    DataError,
    FileError,
    GraphssError,
    GraphssWarning,
    InvalidError,
    MemoryLimitError,
    NotFoundError,
    ShapeError,
)
from .attacks import Attack, attack
from .classifier import EXPECTED_FAILURES, NodeClassifier, Predictor, wrap, wrap_answers
from .detector import Alert, Reason, TamperDetector
from .graph import Dataset, Features, Flip, Graph, read
from .recovery import Recovery, apply_flips, recover

__version__ = _core.version()


def models() -> dict[str, str]:
    """The classifiers, by name, with a line about each."""
    return dict(_core.names("train"))


def methods() -> dict[str, str]:
    """The methods of :func:`recover`."""
    return dict(_core.names("recover"))


def attacks() -> dict[str, str]:
    """The methods of :func:`attack`."""
    return dict(_core.names("attack"))


def options(which: str, name: str = "") -> dict[str, dict]:
    """The options of "train", "alert", "recover", "attack" or "live": type, range, default, help.

    name: of a model or a method, whose preset is shown.
    """
    return {row["name"].replace("-", "_"): row for row in _core.options(which, name)}


__all__ = [
    "Alert", "Attack", "Cancelled", "DataError", "Dataset", "EXPECTED_FAILURES", "Features",
    "FileError", "Flip", "Graph", "GraphssError", "GraphssWarning", "InvalidError", "MemoryLimitError",
    "NodeClassifier", "NotFoundError", "Predictor", "Reason", "Recovery", "ShapeError", "TamperDetector",
    "apply_flips", "attack", "attacks", "live", "methods", "models", "options", "plotting", "read", "recover", "wrap",
    "wrap_answers",
]  # fmt: skip
