"""A graph that changes by events, watched: ``graphss.live.Watch``.

The engine of ``graphss watch`` (docs/live.md), in your own process.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any, Iterable, Mapping

import numpy as np

from . import _core
from ._base import checked_seed, option_dict, threads
from .classifier import Classifier
from .graph import Features, Graph, Snapshot, snapshot

_STATES = {"acknowledged": 1, "dismissed": 2, "confirmed": 3}


def _line(event: Any) -> str:
    """An event as a line of JSON: a mapping with the members of docs/live.md, or such a line."""
    if isinstance(event, (str, bytes)):
        return event.decode() if isinstance(event, bytes) else event
    if not isinstance(event, Mapping):
        raise TypeError(f"event: found {type(event).__name__}, want a mapping or a line of JSON")
    out = dict(event)
    if isinstance(out.get("t"), datetime.datetime):
        out["t"] = out["t"].timestamp()
    for end in ("u", "v"):
        if end in out:
            out[end] = str(out[end])
    if isinstance(out.get("features"), Mapping):
        out["features"] = {str(k): float(v) for k, v in out["features"].items()}
    return json.dumps(out, default=lambda x: x.item() if hasattr(x, "item") else str(x))


class Watch:
    """Keeps labels and suspicion of a changing graph up to date, and raises alerts.

    After each batch the probabilities are those of a whole pass over the graph as it is, bit for
    bit; the cost is that of the neighbourhoods of what changed.

    Parameters
    ----------
    classifier : a fitted classifier; it is taught what tampering looks like if it was not yet.
    X, graph : a trusted snapshot. Nodes are known by their names, else by their numbers as text;
        columns of features by their numbers.
    false_alarms : most false alarms expected over time, "1/week", "2/day", "0.5/hour".
    expire : a link that came by an event ends so many seconds after its last "+link"; 0: never.
    trust_after : the trusted snapshot moves forward after so many seconds without an open alert;
        0: only by :meth:`trust`.
    check_every, warm_up, add_nodes : see ``graphss.options("live")``; None: its default.
    """

    def __init__(
        self,
        classifier: Classifier,
        X: Any,
        graph: Any = None,
        *,
        false_alarms: str = "1/week",
        check_every: float | None = None,
        expire: float = 0,
        trust_after: float = 0,
        warm_up: int | None = None,
        add_nodes: bool | None = None,
        seed: int = 1,
        n_jobs: int | None = None,
    ):
        self.classifier, self.n_jobs = classifier, n_jobs
        now = snapshot(X, graph)
        options = option_dict(dict(check_every=check_every, warm_up=warm_up, add_nodes=add_nodes))
        model = classifier._fitted()
        times = (str(false_alarms), float(expire), float(trust_after), checked_seed(seed))
        make = (model, now.graph._core, now.features._core, options, *times, threads(n_jobs))
        self._live = _core.live_new(*make)
        if not self.status["suspicion"]:
            _core.learn(model, now.graph._core, now.features._core, checked_seed(seed), threads(n_jobs), None)
            self._live = _core.live_new(*make)

    # ---- changes ----

    def apply(self, events: Any) -> dict[str, Any]:
        """Applies events in their order; one, or an iterable: mappings such as ``{"op": "+link",
        "u": "anna", "v": "bot7"}``, or lines of JSON.

        Returns what the batch did. An event that cannot be applied is in ``refused`` with its
        place and cause, and the others are applied; one that is no event is a ``DataError``, and
        nothing is.
        """
        one = isinstance(events, (str, bytes, Mapping))
        lines = [_line(e) for e in ([events] if one else events)]
        return self._told(_core.live_apply(self._live, lines, threads(self.n_jobs)))

    def advance(self, t: float | datetime.datetime) -> dict[str, Any]:
        """Lets time pass without an event (seconds since 1970): links end, tests become due."""
        seconds = t.timestamp() if isinstance(t, datetime.datetime) else float(t)
        return self._told(_core.live_advance(self._live, seconds, threads(self.n_jobs)))

    def _told(self, did: dict[str, Any]) -> dict[str, Any]:
        first, n = did.pop("first_alert"), did.pop("n_alerts")
        did["alerts"] = self.alerts[first : first + n]
        return did

    def add_link(self, u: Any, v: Any, **more: Any) -> dict[str, Any]:
        """Applies one "+link"; more: t, source, seq."""
        return self.apply({"op": "+link", "u": u, "v": v, **more})

    def remove_link(self, u: Any, v: Any, **more: Any) -> dict[str, Any]:
        """Applies one "-link"."""
        return self.apply({"op": "-link", "u": u, "v": v, **more})

    def set_features(self, u: Any, features: Mapping[Any, float], **more: Any) -> dict[str, Any]:
        """Applies one "set": values by name or number of the column, 0 takes one away."""
        return self.apply({"op": "set", "u": u, "features": features, **more})

    # ---- reading ----

    @property
    def status(self) -> dict[str, Any]:
        """Counts, the promise on false alarms and what is left of it, memory."""
        found = _core.live_status(self._live)
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in found.items()}

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """All alerts so far: id, group, state, t, p_value, suspects (name, p-value, score)."""
        found = _core.live_alerts(self._live)
        return [{**a, "settled": None if math.isnan(a["settled"]) else a["settled"]} for a in found]

    def node(self, name: Any) -> dict[str, Any]:
        """What is known of a node: classes now, in the trusted snapshot and with tampering allowed
        for, how it changed, suspicion and p-value."""
        at = _core.live_find(self._live, str(name))
        if at < 0:
            raise KeyError(name)
        found = _core.live_node(self._live, at, threads(self.n_jobs))
        classes = self.classifier.classes_
        for key in ("label", "predicted", "trusted", "recovered"):
            found[key] = classes[found[key]] if found[key] >= 0 else None
        found["probabilities"] = np.array(found["probabilities"], dtype=np.float32)
        return found

    def suspects(self, n: int = 10) -> list[str]:
        """Names of the most suspicious changed nodes, the worst first."""
        return _core.live_suspects(self._live, int(n), threads(self.n_jobs))

    def snapshot(self, *, trusted: bool = False) -> Snapshot:
        """The graph and features as they are, or as they were trusted; a copy."""
        graph, features, names = _core.live_snapshot(self._live, trusted)
        return Snapshot(Graph(graph, names=names or None), Features(features))

    def verify(self) -> int:
        """Computes everything again from the graph alone; how many rows differ in any bit."""
        return _core.live_verify(self._live, threads(self.n_jobs))

    # ---- groups, alerts, state ----

    def watch(self, group: str, nodes: Iterable[Any]) -> None:
        """Tests a group of nodes by itself as well; later calls replace its members."""
        _core.live_watch(self._live, str(group), [str(node) for node in nodes])

    def settle(self, alert: int, state: str) -> None:
        """Settles an alert by its id: "acknowledged", "dismissed" (a false alarm) or "confirmed"."""
        if state not in _STATES:
            raise ValueError(f"state: found {state!r}, want one of {', '.join(_STATES)}")
        _core.live_settle(self._live, int(alert), _STATES[state])

    def trust(self) -> None:
        """The graph as it is becomes the trusted snapshot; alerts must be settled before."""
        _core.live_trust(self._live)

    def save(self) -> bytes:
        """All of it but the classifier, for :meth:`load`."""
        return _core.live_save(self._live)

    @classmethod
    def load(cls, classifier: Classifier, state: bytes, *, n_jobs: int | None = None) -> "Watch":
        """Goes on from saved bytes, with the same classifier; later results have the same bits."""
        out = cls.__new__(cls)
        out.classifier, out.n_jobs = classifier, n_jobs
        out._live = _core.live_load(classifier._fitted(), bytes(state))
        return out

    def __getstate__(self) -> dict[str, Any]:
        return {"classifier": self.classifier, "n_jobs": self.n_jobs, "state": self.save()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.classifier, self.n_jobs = kept["classifier"], kept["n_jobs"]
        self._live = _core.live_load(self.classifier._fitted(), kept["state"])

    def __repr__(self) -> str:
        s = self.status
        return (
            f"Watch({s['n_nodes']} nodes, {s['n_edges']} edges, {s['changed_nodes']} changed, "
            f"{s['open_alerts']} of {s['n_alerts']} alerts open)"
        )


__all__ = ["Watch"]
