"""Simulated attacks, to see how far a classifier can be misled."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _convert, _core
from ._base import checked_seed, option_dict, option_names, progress_of, threads
from .classifier import Classifier, Labels
from .graph import Features, Flip, Graph, snapshot


class Attack:
    """What an attack made: ``graph`` and ``X`` after it, the list of changes ``flips``, and the
    nodes it was aimed at, ``victims``."""

    def __init__(self, graph: Graph, X: Features, flips: list[Flip], victims: np.ndarray, method: str):
        self.graph, self.X, self.flips, self.victims, self.method = graph, X, flips, victims, method

    @property
    def n_links(self) -> int:
        """Links that were added or removed."""
        return sum(f[1] == "link" for f in self.flips)

    @property
    def n_features(self) -> int:
        """Feature entries that were changed."""
        return len(self.flips) - self.n_links

    def __repr__(self) -> str:
        return f"Attack({self.method}, {self.victims.size} victims, {self.n_links} links, {self.n_features} features)"


def attack(
    classifier: Classifier,
    X: Any,
    graph: Any = None,
    *,
    y: Any = None,
    victims: Any = 0.2,
    method: str = "nettack",
    seed: int = 1,
    n_jobs: int | None = None,
    progress: bool | Callable | None = None,
    **options: Any,
) -> Attack:
    """Chooses changes of links and features that mislead a classifier, and makes them.

    Parameters
    ----------
    y : the labels the attacker believes (-1: unknown); default: what the classifier says.
    victims : nodes (numbers or a mask), or a share of the nodes it was not trained on.
    method : "nettack", "dice", "random", "prbcd" ...: ``graphss.attacks()`` lists them.
    options : of the attack (``graphss attack --help``): links, features, kind, budget ...
    """
    unknown = set(options) - set(option_names("attack"))
    if unknown:
        raise TypeError(f"attack() got an unexpected option {sorted(unknown)[0]!r}")
    now = snapshot(X, graph)
    n = now.graph.n_nodes
    told = classifier.predict(now) if y is None else y
    label = Labels(told, n, classifier.classes_).number
    if isinstance(victims, float):
        if not 0 < victims <= 1:
            raise ValueError(f"victims: found {victims}, want a share above 0 and up to 1, or nodes")
        split = getattr(classifier, "split_", None)
        free = np.setdiff1d(np.arange(n), np.concatenate([split["train"], split["val"]])) if split else np.arange(n)
        free = free[label[free] >= 0]
        rng = np.random.default_rng(checked_seed(seed))
        nodes = np.sort(rng.choice(free, size=max(1, int(round(victims * free.size))), replace=False))
    else:
        nodes = _convert.node_list(victims, n, "victims")
    nodes = np.ascontiguousarray(nodes, dtype=np.int32)
    made, changed, flips = _core.attack(
        classifier._fitted(),
        now.graph._core,
        now.features._core,
        label,
        None,
        nodes,
        option_dict({"method": method, **options}),
        checked_seed(seed),
        threads(n_jobs),
        progress_of(progress),
    )
    return Attack(Graph(made, names=now.graph.names), Features(changed), [Flip(*f) for f in flips], nodes, method)
