"""Node classifiers: ours, imported ones, and callables of yours."""

from __future__ import annotations

import json
import os
import pickle
import struct
import tempfile
from typing import Any, Callable, Mapping

import numpy as np

from . import _convert, _core
from ._base import Params, checked_seed, option_dict, option_names, progress_of, threads
from .graph import Dataset, Features, Graph, Snapshot, snapshot


class Classifier:
    """What can label the nodes of a snapshot: has ``classes_`` and a model of the library."""

    _estimator_type = "classifier"
    _model: Any = None
    n_jobs: int | None = None
    classes_: np.ndarray
    n_features_in_: int

    @property
    def calls_(self) -> int:
        """Full passes of a wrapped classifier so far; 0 for one of ours."""
        return _core.info(self._fitted())["calls"]

    def _fitted(self) -> Any:
        if getattr(self, "_model", None) is None:
            raise _not_fitted(self)
        return self._model

    def _ask(self, X: Any, graph: Any) -> np.ndarray:
        model = self._fitted()
        now = snapshot(X, graph)
        want = self.n_features_in_
        if now.features.shape[1] != want:
            raise _core.ShapeError(
                f"X has {now.features.shape[1]} features, but {type(self).__name__} is expecting {want} features as input"
            )
        raw = _core.predict(model, now.graph._core, now.features._core, threads(self.n_jobs))
        return np.frombuffer(raw, dtype=np.float32).reshape(-1, len(self.classes_))

    def predict_proba(self, X: Any, graph: Any = None) -> np.ndarray:
        """Class probabilities of every node, float32 [nodes x classes]."""
        return self._ask(X, graph)

    def predict_log_proba(self, X: Any, graph: Any = None) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self._ask(X, graph))

    def predict(self, X: Any, graph: Any = None) -> np.ndarray:
        """The likeliest class of every node."""
        self._fitted()
        return self.classes_[self._ask(X, graph).argmax(axis=1)]

    def score(self, X: Any, y: Any, graph: Any = None) -> float:
        """Share of nodes with a known label (not -1) that get it."""
        y, found = _convert.array_of(y, "y"), self.predict(X, graph)
        if y.shape != found.shape:
            raise ValueError(f"y: labels of shape {y.shape}, X has {found.size} rows")
        known = _known(y)
        if not known.any():
            raise ValueError("y: no node has a label")
        return float(np.mean(found[known] == y[known]))

    # ---- files ----

    def save(self, path: Any) -> None:
        """Writes the model (safetensors): the program and the C library read it too.

        Classes are kept as their numbers; their names are in ``classes_`` and in a pickle.
        """
        _core.save(self._fitted(), path)

    def to_state_dict(self, layout: str = "pyg") -> dict[str, np.ndarray]:
        """The weights by the names of PyTorch Geometric ("pyg"), DGL or DeepRobust."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights")
            _core.export_file(self._fitted(), path, layout)
            return read_safetensors(path)

    @property
    def weights_(self) -> dict[str, np.ndarray]:
        """The weight matrices by name, as views."""
        return {name: np.asarray(w) for name, w in _core.weights(self._fitted())}

    @property
    def options_(self) -> dict[str, str]:
        """All options the model was trained with, as text."""
        return _core.info(self._fitted())["options"]

    def _state(self) -> bytes | None:
        if getattr(self, "_model", None) is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            _core.save(self._model, path)
            with open(path, "rb") as file:
                return file.read()

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_model"] = self._state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        raw = state.pop("_model", None)
        self.__dict__.update(state)
        self._model = _from_bytes(raw) if raw is not None else None


def _from_bytes(raw: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with open(path, "wb") as file:
            file.write(raw)
        return _core.load(path)


def _not_fitted(who: Any) -> Exception:
    text = f"This {type(who).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments first."
    try:
        from sklearn.exceptions import NotFittedError

        return NotFittedError(text)
    except ImportError:
        return _core.InvalidError(text)


def _known(y: np.ndarray) -> np.ndarray:
    """Which labels are given: not -1, not None, not NaN."""
    if y.dtype.kind in "iu":
        return y != -1
    if y.dtype.kind == "f":
        return ~np.isnan(y) & (y != -1)
    if y.dtype.kind == "O":
        return np.array([v is not None and v == v and not (isinstance(v, (int, np.integer)) and v == -1) for v in y], bool)
    return np.ones(y.shape, bool)


class Labels:
    """y as class numbers (int32, -1: unknown), and the classes."""

    def __init__(self, y: Any, n: int, classes: Any = None):
        y = _convert.array_of(y, "y")
        if y.ndim == 2 and y.shape[1] == 1:
            _warn_column()
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        if y.shape[0] != n:
            raise ValueError(f"y: {y.shape[0]} labels, X has {n} rows: inconsistent numbers of samples")
        if y.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if y.dtype.kind == "f" and (np.isinf(y).any() or np.any(y[~np.isnan(y)] % 1)):
            raise ValueError("Unknown label type: continuous, or infinity in y")
        known = _known(y)
        try:
            self.classes = np.unique(y[known]) if classes is None else np.asarray(classes)
        except TypeError as fault:
            raise ValueError(f"y: labels of different types: {fault}") from fault
        self.number = np.full(n, -1, dtype=np.int32)
        if known.any():
            order = np.argsort(self.classes, kind="stable")
            at = order[np.minimum(np.searchsorted(self.classes, y[known], sorter=order), len(order) - 1)]
            if np.any(self.classes[at] != y[known]):
                raise ValueError("y: a label that is none of the classes")
            self.number[known] = at
        self.known = known


def _warn_column() -> None:
    import warnings

    try:
        from sklearn.exceptions import DataConversionWarning as kind
    except ImportError:
        kind = UserWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected", kind, stacklevel=4)


_PARTS = ("train", "train_labels", "val", "val_labels", "test")


def split_of(labels: Labels, split: Any, share: float, seed: int) -> tuple:
    """(train, its labels, val, its labels, test) of a mapping, masks, or drawn."""
    n = labels.number.size
    if split is None:
        return _draw(labels, share, seed)

    def get(key: str) -> Any:
        return split.get(key) if isinstance(split, Mapping) else getattr(split, key, None)

    def part(name: str) -> np.ndarray:
        for key in (name, f"{name}_mask", f"idx_{name}"):
            found = get(key)
            if found is not None:
                return _convert.node_list(found, n, f"split[{key!r}]")
        return np.zeros(0, dtype=np.int32)

    train, val, test = part("train"), part("val"), part("test")
    parts = []
    for name, nodes in (("train", train), ("val", val)):
        own = get(f"{name}_labels")
        label = labels.number[nodes] if own is None else Labels(own, nodes.size, labels.classes).number
        if np.any(label < 0):
            raise ValueError(f"split[{name!r}]: node {nodes[label < 0][0]} has no label in y")
        parts += [nodes, np.ascontiguousarray(label, dtype=np.int32)]
    if not train.size:
        raise ValueError("split: no training node, want split['train']")
    return (*parts, test)


def _draw(labels: Labels, share: float, seed: int) -> tuple:
    """Validation nodes from the labelled ones, of each class the same share."""
    rng = np.random.default_rng(seed)
    val = []
    for k in range(len(labels.classes)):
        mine = np.flatnonzero(labels.number == k)
        take = min(int(round(share * mine.size)), mine.size - 1)
        if take > 0:
            val.append(rng.choice(mine, size=take, replace=False))
    held = np.sort(np.concatenate(val)) if val else np.zeros(0, dtype=np.int64)
    train = np.setdiff1d(np.flatnonzero(labels.known), held)
    test = np.flatnonzero(~labels.known)
    lists = [np.ascontiguousarray(a, dtype=np.int32) for a in (train, held, test)]
    return lists[0], labels.number[lists[0]], lists[1], labels.number[lists[1]], lists[2]


class NodeClassifier(Params, Classifier):
    """A node classifier of the library, with scikit-learn's manners.

    Parameters
    ----------
    model : "gcn", "sgc", "sage", "sage-mean", "gat" or "mlp" (graphss.models() lists them).
    seed : everything random follows from it; the same for any number of threads.
    validation_fraction : share of the labelled nodes that chooses the best epoch, where ``fit``
        is given no split.
    n_jobs : threads; None: all cores.
    poisoned : True where the data may have been attacked before: ``fit`` leaves out links and
        training labels that it does not trust, and says so in ``distrusted_``.
    progress : True for a bar, or a function (stage, done, total, note).
    mode, layers, hidden, ... : options of the library, None for its preset, which depends on the
        model and on the features (``graphss train --help``).

    Attributes
    ----------
    classes_, n_features_in_, training_ (epochs, accuracies, loss), n_iter_, split_; with
    ``poisoned``, distrusted_: ``links``, pairs of nodes, ``labels``, training nodes, and ``share``,
    the estimated fraction of the links that is foreign.
    """

    training_: dict[str, Any]
    split_: dict[str, np.ndarray]
    n_iter_: int
    probe_difference_: float

    def __init__(
        self,
        model: str = "gcn",
        *,
        seed: int = 1,
        validation_fraction: float = 0.2,
        poisoned: bool = False,
        n_jobs: int | None = None,
        progress: bool | Callable | None = None,
        mode: str | None = None,
        layers: int | None = None,
        hidden: int | None = None,
        hops: int | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        learning_rate: float | None = None,
        epochs: int | None = None,
        patience: int | None = None,
        self_loops: bool | None = None,
        row_normalise: bool | None = None,
        unit_scale: bool | None = None,
        standardise: bool | None = None,
        bias: bool | None = None,
        heads: int | None = None,
        output_heads: int | None = None,
        activation: str | None = None,
    ):
        self.model = model
        self.seed = seed
        self.validation_fraction = validation_fraction
        self.poisoned = poisoned
        self.n_jobs = n_jobs
        self.progress = progress
        self.mode = mode
        self.layers = layers
        self.hidden = hidden
        self.hops = hops
        self.dropout = dropout
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.patience = patience
        self.self_loops = self_loops
        self.row_normalise = row_normalise
        self.unit_scale = unit_scale
        self.standardise = standardise
        self.bias = bias
        self.heads = heads
        self.output_heads = output_heads
        self.activation = activation

    def _options(self) -> dict[str, str]:
        names = [name for name in option_names("train") if name not in ("model", "mode")]
        return option_dict({name: getattr(self, name) for name in names})

    def _train(self, now: Snapshot, labels: Labels, split: tuple, start: Any, epochs: int):
        if len(labels.classes) < 2:
            raise ValueError(
                f"y: {len(labels.classes)} class: the number of classes has to be greater than one"
            )
        self._model, log = _core.train(
            now.graph._core,
            now.features._core,
            len(labels.classes),
            split,
            self.model,
            self.mode == "paper",
            self._options(),
            checked_seed(self.seed),
            threads(self.n_jobs),
            progress_of(self.progress),
            start,
            epochs,
        )
        self.training_ = {k: np.array(v) if k in ("loss", "val_accuracies") else v for k, v in log.items()}
        self.n_iter_ = int(log["epochs"])
        self.classes_ = labels.classes
        self.n_features_in_ = now.features.shape[1]
        self.split_ = dict(zip(_PARTS, split))
        return self

    def fit(self, X: Any, y: Any = None, graph: Any = None, *, split: Any = None) -> "NodeClassifier":
        """Trains on the nodes with a label; -1 (or None, NaN) in ``y`` is: unknown.

        graph None: no links. split: a mapping or object with ``train``, ``val`` and perhaps
        ``test``, as numbers or masks (``train_mask``, ``idx_train``); PyG's ``Data`` has them.
        """
        if self.mode not in (None, "default", "paper"):
            raise ValueError(f"mode: found {self.mode!r}, want 'default' or 'paper'")
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(f"validation_fraction: found {self.validation_fraction}, want 0 to 1")
        now = snapshot(X, graph)
        for axis, what in enumerate(("sample(s)", "feature(s)")):
            if now.features.shape[axis] == 0:
                shape = now.features.shape
                raise ValueError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required.")
        if y is None and hasattr(X, "y"):
            y = X.y
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if split is None and hasattr(X, "train_mask"):
            split = X
        if split is None and isinstance(X, Dataset) and X.split:
            split = X.split
        labels = Labels(y, now.graph.n_nodes)
        if not labels.known.any():
            raise ValueError("y: no node has a label: all are -1")
        parts = split_of(labels, split, self.validation_fraction, checked_seed(self.seed))
        if self.poisoned:
            now, parts = self._distrust(now, labels, parts)
        return self._train(now, labels, parts, None, 0)

    def _distrust(self, now: Snapshot, labels: Labels, split: tuple) -> tuple:
        """The snapshot and the split without what is not trusted."""
        found = _core.distrust(
            now.graph._core,
            now.features._core,
            len(labels.classes),
            split,
            self.model,
            self.mode == "paper",
            self._options(),
            checked_seed(self.seed),
            threads(self.n_jobs),
            progress_of(self.progress),
        )
        cuts = [(a, "link", a, b, 1.0, 0.0) for a, b in found["links"]]
        made = _core.apply(now.graph._core, now.features._core, cuts, False)[0]
        train = np.array(found["train"], dtype="i4")
        left_out = np.setdiff1d(np.asarray(split[0]), train)
        self.distrusted_ = {"links": found["links"], "labels": left_out, "share": found["share"]}
        trusted = Snapshot(Graph(made, names=now.graph.names), now.features)
        return trusted, (train, np.array(found["train_labels"], dtype="i4"), *split[2:])

    def partial_fit(
        self, X: Any, y: Any, graph: Any = None, *, classes: Any = None, split: Any = None, epochs: int = 50
    ) -> "NodeClassifier":
        """Trains further from the weights it has, for so many epochs; the first time as ``fit``."""
        now = snapshot(X, graph)
        start = getattr(self, "_model", None)
        known = classes if start is None else self.classes_
        labels = Labels(y, now.graph.n_nodes, None if known is None else np.sort(np.asarray(known)))
        parts = split_of(labels, split, self.validation_fraction, checked_seed(self.seed))
        return self._train(now, labels, parts, start, epochs)

    # ---- from elsewhere ----

    @classmethod
    def load(cls, path: Any, classes: Any = None) -> "NodeClassifier":
        """A model that was saved, by Python or by the program."""
        return cls._from_model(_core.load(path), classes)

    @classmethod
    def _from_model(cls, model: Any, classes: Any = None) -> "NodeClassifier":
        about = _core.info(model)
        out = cls(model=about["options"]["model"], seed=about["seed"])
        out._model = model
        out.classes_ = np.arange(about["n_classes"]) if classes is None else np.asarray(classes)
        if len(out.classes_) != about["n_classes"]:
            raise ValueError(f"classes: {len(out.classes_)}, the model has {about['n_classes']}")
        out.n_features_in_ = about["n_features"]
        return out

    @classmethod
    def from_state_dict(
        cls,
        weights: Any,
        *,
        layout: str = "pyg",
        model: str = "gcn",
        probe: tuple | None = None,
        split: Any = None,
        y: Any = None,
        classes: Any = None,
        **options: Any,
    ) -> "NodeClassifier":
        """Weights trained in PyTorch Geometric, DGL or DeepRobust.

        weights : a state_dict (tensors or arrays by name), or the path of a safetensors file.
        probe : (X, graph, probabilities of the origin). A model that differs by more than 1e-4
            is refused: self-loops, hops, feature scaling and transposes are not in a state_dict.
        split, y : what it was trained with, in numbers of the probe; ``TamperDetector`` and
            ``recover`` compare with these nodes.
        options : self_loops, hops, row_normalise, activation.
        """
        given = option_dict(options)
        if isinstance(weights, (str, bytes, os.PathLike)):
            made = _core.import_file(weights, layout, model, given)
        else:
            tensors = [
                (str(name), np.ascontiguousarray(_convert.array_of(w, str(name)), dtype=np.float32))
                for name, w in weights.items()
            ]
            made = _core.from_tensors(tensors, layout, model, given)
        out = cls._from_model(made, classes)
        if probe is None:
            import warnings

            warnings.warn(
                "without a probe nobody knows whether the model answers as its origin does",
                _core.GraphssWarning,
                stacklevel=2,
            )
            return out
        X, graph, prob = probe
        now = snapshot(X, graph)
        parts = None
        if y is not None:
            labels = Labels(y, now.graph.n_nodes, out.classes_)
            parts = split_of(labels, split, out.validation_fraction, 1)
            out.split_ = dict(zip(_PARTS, parts))
        prob = np.ascontiguousarray(_convert.array_of(prob, "probe"), dtype=np.float32)
        out.probe_difference_ = _core.settle(made, now.graph._core, now.features._core, prob, parts)
        return out

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"poor_score": True, "_xfail_checks": EXPECTED_FAILURES}

    def __sklearn_tags__(self) -> Any:  # from 1.6 on
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=True),
            input_tags=InputTags(sparse=True),
        )


# Checks of scikit-learn 1.2 that a node classifier cannot pass, and why.
EXPECTED_FAILURES = {
    "check_classifiers_classes": "its labels are 1 and -1, and -1 means: the label is unknown",
}


def read_safetensors(path: Any) -> dict[str, np.ndarray]:
    """The float32 arrays of a safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    return {
        name: np.frombuffer(data[slice(*x["data_offsets"])], dtype="<f4").reshape(x["shape"]).copy()
        for name, x in header.items()
        if name != "__metadata__"
    }


# ---- classifiers that are not ours ----


def _probabilities(answer: Any, output: str) -> np.ndarray:
    p = np.asarray(_convert.array_of(answer, "probabilities"), dtype=np.float64)
    if p.ndim != 2:
        raise ValueError(f"the predictor gave an array of shape {p.shape}, want nodes x classes")
    if output == "log_softmax":
        p = np.exp(p)
    elif output == "logits":
        p = np.exp(p - p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(p, dtype=np.float32)


class _Caller:
    """The library's call as a call of the user's function."""

    def __init__(self, function: Callable, some: Callable | None, output: str, hops: int):
        self.function, self.some, self.output, self.hops = function, some, output, hops

    def __call__(self, graph: Any, features: Any, nodes: bytes | None) -> np.ndarray:
        now, X = Graph(graph), Features(features).to_array()
        if nodes is not None and self.some is not None:
            return _probabilities(self.some(now, X, np.frombuffer(nodes, dtype=np.int32)), self.output)
        return _probabilities(self.function(now, X), self.output)


class Predictor(Classifier):
    """A classifier of yours in the place of one of ours; made by :func:`wrap`.

    ``agreement_`` is the share of nodes where the classifier of ours that was fitted to it says
    the same; ``calls_`` counts how often it was asked.
    """

    def __init__(self, model: Any, caller: Any, classes: np.ndarray, n_jobs: int | None, split: tuple | None = None):
        self._model, self._caller, self.n_jobs = model, caller, n_jobs
        self.classes_ = classes
        if split is not None:
            self.split_ = dict(zip(_PARTS, split))
        self.n_features_in_ = _core.info(model)["n_features"]

    @property
    def agreement_(self) -> float:
        """Share of held-out nodes where the fitted classifier says the same."""
        return _core.info(self._model)["agreement"]

    def __getstate__(self) -> dict[str, Any]:
        if self._caller is None:
            raise pickle.PicklingError("answers alone cannot be pickled: keep the arrays, and wrap them again")
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        _core.set_predictor(self._model, self._caller, self._caller.some is not None, self._caller.hops)

    def __repr__(self) -> str:
        return f"Predictor({len(self.classes_)} classes, agreement {self.agreement_:.3f}, {self.calls_} calls)"


def wrap(
    function: Callable,
    X: Any,
    graph: Any = None,
    *,
    y: Any = None,
    split: Any = None,
    classes: Any = None,
    output: str = "probabilities",
    some: Callable | None = None,
    hops: int = 0,
    surrogate: str = "gcn",
    seed: int = 1,
    n_jobs: int | None = None,
    progress: bool | Callable | None = None,
    **options: Any,
) -> Predictor:
    """Any callable as a classifier for ``TamperDetector``, ``recover`` and ``attack``.

    Parameters
    ----------
    function : called as ``function(graph, X)``, with a :class:`Graph` and an array (scipy CSR
        where features are sparse); returns nodes x classes, numpy or torch. It may be called
        from another thread, one call at a time.
    X, graph : a snapshot that is known to be clean.
    y, split : the labels it was trained with (-1: unknown); without them its own answers count.
    classes : what the columns of its answers mean; default 0, 1, 2 ...
    output : "probabilities", "log_softmax" (DeepRobust's) or "logits".
    some : the same for some nodes, ``some(graph, X, nodes)``; hops: how far an answer looks.
    surrogate : the model that is fitted to the answers where weights are needed.
    options : of that model.

    It is asked twice about X; where the answers differ (``model.eval()`` was forgotten) it is
    refused. An agreement below 90 % is warned of.
    """
    if output not in ("probabilities", "log_softmax", "logits"):
        raise ValueError(f"output: found {output!r}, want 'probabilities', 'log_softmax' or 'logits'")
    if not callable(function):
        raise TypeError(f"function: found {type(function).__name__}, want a callable")
    now = snapshot(X, graph)
    caller = _Caller(function, some, output, int(hops))
    if classes is None:
        classes = np.arange(_probabilities(function(now.graph, now.features.to_array()), output).shape[1])
    classes = np.asarray(classes)
    parts = None
    if y is not None:
        parts = split_of(Labels(y, now.graph.n_nodes, classes), split, 0.2, checked_seed(seed))
    model = _core.from_predictor(
        caller,
        some is not None,
        int(hops),
        now.graph._core,
        now.features._core,
        len(classes),
        parts,
        surrogate,
        option_dict(options),
        checked_seed(seed),
        threads(n_jobs),
        progress_of(progress),
    )
    return Predictor(model, caller, classes, n_jobs, parts)


def wrap_answers(
    *known: tuple,
    y: Any = None,
    split: Any = None,
    classes: Any = None,
    surrogate: str = "gcn",
    seed: int = 1,
    n_jobs: int | None = None,
    progress: bool | Callable | None = None,
    **options: Any,
) -> Predictor:
    """For who has probabilities only: ``wrap_answers((X, graph, prob), (X2, graph2, prob2))``.

    The first snapshot is clean. On these snapshots the answers are given back; on others (the
    simulated attacks the detector learns from) they are those of the nearest one, moved as far
    as a model of ours, fitted to the clean answers, moves its own. Alerts and recoveries then
    know of an attack only what shows in the two answers, so expect less power than with a
    callable.
    """
    if not known:
        raise ValueError("want (X, graph, probabilities) of at least one snapshot")
    parts, n_classes = [], 0
    for X, graph, prob in known:
        now = snapshot(X, graph)
        p = _probabilities(prob, "probabilities")
        n_classes = p.shape[1]
        parts.append((now.graph._core, now.features._core, p))
    classes = np.arange(n_classes) if classes is None else np.asarray(classes)
    split_parts = None
    if y is not None:
        n = parts[0][0].n_nodes
        split_parts = split_of(Labels(y, n, classes), split, 0.2, checked_seed(seed))
    model = _core.from_answers(
        tuple(parts),
        n_classes,
        split_parts,
        surrogate,
        option_dict(options),
        checked_seed(seed),
        threads(n_jobs),
        progress_of(progress),
    )
    return Predictor(model, None, classes, n_jobs, split_parts)
