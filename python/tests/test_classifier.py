"""NodeClassifier: fit, predict, options, pickles, files, scikit-learn's manners."""

import pickle

import numpy as np
import pytest

import graphss as gs


@pytest.mark.parametrize("model", list(gs.models()))
def test_every_model_learns_and_answers(world, model):
    clf = gs.NodeClassifier(model, epochs=40).fit(world.X, world.y, graph=world.graph)
    prob = clf.predict_proba(world.X, graph=world.graph)
    assert prob.dtype == np.float32 and np.allclose(prob.sum(1), 1, atol=1e-5)
    assert clf.score(world.X, world.truth, graph=world.graph) > 0.5
    assert (clf.predict(world.X, graph=world.graph) == clf.classes_[prob.argmax(1)]).all()


def test_the_same_bits_for_any_threads_and_from_a_pickle(world, tmp_path):
    one = gs.NodeClassifier(epochs=10, n_jobs=1).fit(world.X, world.y, graph=world.graph)
    two = gs.NodeClassifier(epochs=10, n_jobs=2).fit(world.X, world.y, graph=world.graph)
    p = one.predict_proba(world.X, world.graph)
    assert (p == two.predict_proba(world.X, world.graph)).all()
    assert (p == pickle.loads(pickle.dumps(one)).predict_proba(world.X, world.graph)).all()
    one.save(tmp_path / "m.safetensors")
    back = gs.NodeClassifier.load(tmp_path / "m.safetensors", classes=one.classes_)
    assert (p == back.predict_proba(world.X, world.graph)).all()
    assert back.options_["epochs"] == "10"


def test_labels_of_any_kind(world):
    names = np.array(["red", "green", "blue"], dtype=object)
    y = np.array([None if v < 0 else names[v] for v in world.y], dtype=object)
    clf = gs.NodeClassifier(epochs=20).fit(world.X, y, world.graph)
    assert set(clf.predict(world.X, world.graph)) <= set(names) and list(clf.classes_) == sorted(names)
    shifted = np.where(world.y < 0, -1, world.y * 10 + 5)
    assert list(gs.NodeClassifier(epochs=2).fit(world.X, shifted, world.graph).classes_) == [5, 15, 25]


def test_splits_as_lists_masks_and_objects(world):
    train, val = np.flatnonzero(world.y >= 0)[:100], np.flatnonzero(world.y >= 0)[100:]
    mask = np.zeros(400, bool)
    mask[train] = True
    a = gs.NodeClassifier(epochs=5).fit(world.X, world.y, world.graph, split={"train": train, "val": val})
    b = gs.NodeClassifier(epochs=5).fit(world.X, world.y, world.graph, split={"train_mask": mask, "idx_val": val})
    assert (a.predict_proba(world.X, world.graph) == b.predict_proba(world.X, world.graph)).all()
    with pytest.raises(ValueError, match="no label"):
        gs.NodeClassifier().fit(world.X, world.y, world.graph, split={"train": np.flatnonzero(world.y < 0)[:3]})
    with pytest.raises(ValueError, match="node 400"):
        gs.NodeClassifier().fit(world.X, world.y, world.graph, split={"train": [400]})


def test_scores_want_a_label_for_each_row(world):
    assert world.clf.score(world.X, world.truth, world.graph) > 0.5
    for wrong in (world.truth[:5], world.truth[:, None], 3):
        with pytest.raises(ValueError, match="X has 400 rows"):
            world.clf.score(world.X, wrong, world.graph)


def test_partial_fit_goes_on(world):
    clf = gs.NodeClassifier(epochs=5)
    clf.partial_fit(world.X, world.y, world.graph)
    before = clf.predict_proba(world.X, world.graph)
    clf.partial_fit(world.X, world.y, world.graph, epochs=5)
    assert not np.array_equal(before, clf.predict_proba(world.X, world.graph))


def test_options_are_the_librarys_and_none_is_missing():
    """Fails when the library has an option that Python lacks."""
    own = set(gs.NodeClassifier().get_params())
    assert set(gs.options("train")) <= own
    assert set(gs.options("alert")) <= set(gs.TamperDetector(None).get_params(deep=False))
    with pytest.raises(gs.InvalidError, match="--dropout"):
        gs.NodeClassifier(dropout=2.0).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(gs.InvalidError, match="want one of gcn"):
        gs.NodeClassifier("gnc").fit(np.eye(4), [0, 1, 0, 1])


def test_every_option_has_a_type():
    """Fails when the library has a type of options that the extension does not know."""
    for which in ("train", "alert", "recover", "attack", "live"):
        for name, row in gs.options(which).items():
            assert row["type"] in ("bool", "int", "float", "choice", "str", "amount"), (which, name)
    assert gs.options("attack")["links"]["type"] == "amount"


def test_every_option_of_attacks_and_recovery_is_taken(world):
    """By its name, with its own default: what the library has, Python takes."""
    for name, row in gs.options("attack", "random").items():
        if name not in ("method", "victims", "seed", "mode"):
            hit = gs.attack(world.clf, world.X, world.graph, method="random", victims=[3], **{name: row["default"]})
            assert hit.victims.size == 1, name
    for name, row in gs.options("recover", "none").items():
        if name not in ("method", "mode"):
            assert gs.recover(world.clf, world.X, world.graph, method="none", **{name: row["default"]}).changed == 0, name


def test_every_option_reaches_the_library(world):
    for name, row in gs.options("train", "gat").items():
        if name in ("model", "mode"):
            continue
        value = {"bool": row["default"] != "yes", "int": 8, "float": 0.5}.get(row["type"], "relu")
        clf = gs.NodeClassifier("gat", epochs=1).set_params(**{name: value})
        clf.fit(world.X, world.y, world.graph)
        text = clf.options_[name.replace("_", "-")]
        want = ("yes" if value else "no") if isinstance(value, bool) else f"{value:g}" if value == 0.5 else str(value)
        assert text == want, name


def test_scikit_learns_manners(world):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.base import clone

    clf = gs.NodeClassifier(hidden=8, seed=4)
    assert clone(clf).get_params() == clf.get_params()
    assert repr(clf) == "NodeClassifier(seed=4, hidden=8)"
    with pytest.raises(ValueError, match="Invalid parameter"):
        clf.set_params(hiden=3)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        clf.predict(world.X, world.graph)


class NodeClassifier(gs.NodeClassifier):
    """Ours, without word of what will fail, so that scikit-learn runs all of its checks."""

    def _more_tags(self):
        return {**super()._more_tags(), "_xfail_checks": {}}


def test_estimator_checks():
    """check_estimator; what cannot hold is in EXPECTED_FAILURES with its reason, and nothing else."""
    pytest.importorskip("sklearn")
    from sklearn.utils.estimator_checks import check_estimator

    failed, run = {}, 0
    for estimator, check in check_estimator(NodeClassifier(epochs=30, hidden=16), generate_only=True):
        run += 1
        try:
            check(estimator)
        except Exception as fault:  # an assertion, or a check that was skipped
            if type(fault).__name__ not in ("SkipTest", "SkipTestWarning"):
                failed[getattr(check, "func", check).__name__] = fault
    assert run > 40 and set(failed) == set(gs.EXPECTED_FAILURES), failed
    check_estimator(gs.NodeClassifier(epochs=30, hidden=16))


def test_cross_validation_and_newer_tags(world, monkeypatch):
    sklearn = pytest.importorskip("sklearn")
    from types import SimpleNamespace

    from sklearn.model_selection import GridSearchCV

    dense, known = world.X.to_dense(), world.y >= 0
    found = GridSearchCV(gs.NodeClassifier(epochs=10), {"hidden": [4, 8]}, cv=2).fit(dense[known], world.y[known])
    assert found.best_params_["hidden"] in (4, 8) and found.best_score_ > 0.3
    for name in ("ClassifierTags", "InputTags", "Tags", "TargetTags"):  # as scikit-learn 1.6 has them
        monkeypatch.setattr(sklearn.utils, name, SimpleNamespace, raising=False)
    assert gs.NodeClassifier().__sklearn_tags__().estimator_type == "classifier"


def test_progress_and_stopping(world):
    seen = []

    def watch(stage, done, total, note):
        seen.append(stage)
        return len(seen) < 2

    with pytest.raises(gs.Cancelled):
        gs.NodeClassifier(epochs=100000, progress=watch).fit(world.X, world.y, world.graph)
    assert seen[0] == "train"

    def angry(stage, done, total, note):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gs.NodeClassifier(epochs=100000, progress=angry).fit(world.X, world.y, world.graph)


def test_no_graph_is_no_links(world):
    dense = world.X.to_dense()
    clf = gs.NodeClassifier(epochs=5).fit(dense, world.y)
    assert clf.predict(dense).shape == (400,)
    with pytest.raises(gs.ShapeError, match="rows"):
        clf.predict(dense[:-1], graph=world.graph)
    with pytest.raises(ValueError, match="expecting"):
        clf.predict(dense[:, 1:])
