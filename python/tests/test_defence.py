"""Alerts, recovery, attacks."""

import pickle
import threading

import numpy as np
import pytest

import graphss as gs


@pytest.fixture(scope="module")
def detector(world):
    return gs.TamperDetector(world.clf).fit(world.X, graph=world.graph)


def test_an_attack_is_noticed_and_a_clean_snapshot_is_not(world, detector):
    assert not detector.alert_ and detector.label_.sum() == 0
    found = detector.inspect(world.hit.X, graph=world.hit.graph)
    assert found and found.p_value <= 0.05 and found.flagged.size
    assert set(found.flagged[:5]) & set(world.hit.victims)
    assert found.changes["links_changed"] > 0
    assert len(found.reasons) == found.flagged.size and found.contaminated >= 0
    why = found.reasons[0]
    assert why.node == found.flagged[0] and why.links_added + why.links_removed + why.features_added > 0
    assert why.now in world.clf.classes_ and 0 < why.p_features < 1 and "features speak for" in found._repr_html_()
    assert "ALERT" in repr(found) and "<table>" in found._repr_html_()
    assert f"{found.changes['links_changed']} nodes with other links" in found._repr_html_()
    score = detector.decision_function(world.hit.X, graph=world.hit.graph)
    assert (score == found.node_score).all() and (detector.predict(world.hit.X, world.hit.graph) == detector.label_).all()
    assert detector.p_value_.shape == (400,) and np.isfinite(detector.threshold_)
    same = (found.perturbed == 0) & (found.node_p_value == 1)  # who did not change is least suspicious
    assert 0 < same.sum() < 400 and found.node_score[same].max() <= found.node_score.min()


def test_groups_are_judged_after_one_look(world, detector):
    clean = np.setdiff1d(np.arange(400), world.hit.victims)[:40]
    groups = [world.hit.victims, clean]
    verdicts = detector.inspect_groups(world.hit.X, world.hit.graph, groups=groups)
    assert verdicts[0]["alert"] and verdicts[0]["p_value"] <= verdicts[1]["p_value"]
    assert detector.inspect(world.hit.X, world.hit.graph, group=world.hit.victims).alert
    named = detector.inspect_groups(world.hit.X, world.hit.graph, groups={"hit": groups[0], "calm": clean}, correct="fdr")
    assert [v["name"] for v in named] == ["hit", "calm"] and named[0]["alert"]
    for rule in ("fdr", "family-wise"):
        many = detector.inspect_groups(world.hit.X, world.hit.graph, groups=groups, correct=rule)
        assert all(a["p_value"] >= b["p_value"] for a, b in zip(many, verdicts))
    with pytest.raises(ValueError, match="family-wise"):
        detector.inspect_groups(world.hit.X, world.hit.graph, groups=groups, correct="bonferroni")
    with pytest.raises(ValueError, match="node 400"):
        detector.inspect(world.hit.X, world.hit.graph, group=[400])


def test_labels_come_back(world):
    now = (world.hit.X, world.hit.graph)
    before = np.mean(world.clf.predict(now)[world.hit.victims] == world.truth[world.hit.victims])
    fixed = gs.recover(world.clf, *now, previous=(world.X, world.graph))
    after = np.mean(fixed.label[world.hit.victims] == world.truth[world.hit.victims])
    assert after > before + 0.1, (before, after)
    assert fixed.posterior.shape == (400, 3) and fixed.flips and "Recovery(graphss" in repr(fixed)
    graph, X = fixed.undo(*now)
    assert graph.n_nodes == 400 and X.shape == world.X.shape
    again = pickle.loads(pickle.dumps(fixed))
    assert (again.label == fixed.label).all()


def test_trusted_nodes_are_read_as_untouched(world):
    now = (world.hit.X, world.hit.graph)
    sure = np.zeros(400, bool)
    sure[world.hit.victims[::2]] = True
    before = gs.recover(world.clf, *now, previous=(world.X, world.graph))
    for trusted in (sure, np.flatnonzero(sure)):
        fixed = gs.recover(world.clf, *now, previous=(world.X, world.graph), trusted=trusted)
        assert before.perturbed[sure].sum() > 0 and not fixed.perturbed[sure].any() and fixed.perturbed.any()
        assert (fixed.label[sure] == world.clf.predict(now)[sure]).all()
    with pytest.raises(ValueError, match="trusted: node 400"):
        gs.recover(world.clf, *now, trusted=[400])
    with pytest.raises(ValueError, match="trusted nodes have no meaning for none"):
        gs.recover(world.clf, *now, method="none", trusted=[0])


def test_rivals_and_their_options(world):
    now = (world.hit.X, world.hit.graph)
    assert gs.recover(world.clf, *now, method="none").changed == 0
    assert gs.recover(world.clf, *now, method="label-propagation", alpha=0.5, steps=5).method == "label-propagation"
    assert gs.recover(world.clf, *now, method="none", abstain=0.999).abstained.any()
    with pytest.raises(ValueError, match="nobody"):
        gs.recover(world.clf, *now, method="nobody")
    with pytest.raises(TypeError, match="stepz"):
        gs.recover(world.clf, *now, method="none", stepz=1)


def test_a_poisoned_graph_is_trained_on_without_what_is_not_trusted(world):
    data = gs.read("synth:nodes=600,classes=3,topic=0.5,homophily=0.9,seed=1")
    y = np.where(np.arange(600) % 3, -1, data.y)
    clf = gs.NodeClassifier("gcn", epochs=60, poisoned=True).fit(data.X, y, graph=data.graph)
    found = clf.distrusted_
    assert len(found["links"]) < data.graph.n_edges / 4 and 0 <= found["share"] < 0.5
    assert not set(found["labels"]) & set(clf.split_["train"])
    assert clf.get_params()["poisoned"] is True
    back = gs.recover(clf, data.X, data.graph, method="poisoned")
    assert all(flip.kind == "link" and flip.old == 1 for flip in back.flips)
    with pytest.raises(gs.InvalidError, match="mlp"):
        gs.NodeClassifier("mlp", epochs=2, poisoned=True).fit(world.X, world.y, graph=world.graph)


def test_datasets_and_attacks_are_snapshots(world):
    data = gs.read("synth:nodes=120,classes=2,features=20,seed=1")
    assert repr(data).startswith("Dataset(synth") and "120 nodes" in repr(data)
    clf = gs.NodeClassifier(epochs=5).fit(data)
    assert (clf.predict(data) == clf.predict(data.X, data.graph)).all()
    fixed = gs.recover(world.clf, world.hit, previous=(world.X, world.graph), method="none")
    assert (fixed.label == world.clf.predict(world.hit)).all()
    flip = world.hit.flips[0]
    assert flip.kind in ("link", "feature") and flip == (flip.victim, flip.kind, *flip[2:])


def test_attacks_list_their_changes(world):
    assert world.hit.n_links > 0 and world.hit.n_features > 0
    graph, X = gs.apply_flips(world.hit.X, world.hit.graph, world.hit.flips, undo=True)
    assert graph == world.graph and (X.to_dense() == world.X.to_dense()).all()
    random = gs.attack(world.clf, world.X, world.graph, method="random", kind="links", budget=2, victims=[3, 5])
    assert {f[0] for f in random.flips} <= {3, 5}
    with pytest.raises(gs.InvalidError, match="nobody"):
        gs.attack(world.clf, world.X, world.graph, method="nobody")
    with pytest.raises(TypeError, match="budgett"):
        gs.attack(world.clf, world.X, world.graph, budgett=1)


def test_nodes_are_matched_by_name(world):
    names = [f"n{i}" for i in range(400)]
    named = gs.Graph(world.graph._core)
    named = pickle.loads(pickle.dumps(named))
    named = gs.Graph((named.edge_index()[0], named.edge_index()[1]), n_nodes=400, names=names, warn=False)
    clf = gs.NodeClassifier(epochs=20).fit(world.X, world.y, named)
    order = np.random.default_rng(2).permutation(400)
    place = np.argsort(order)
    a, b = named.edge_index()
    moved = gs.Graph((place[a], place[b]), n_nodes=400, names=[names[i] for i in order], warn=False)
    X = world.X.to_dense()[order]
    found = gs.TamperDetector(clf).inspect(X, moved, previous=(world.X, named))
    assert found.changes["links_changed"] == 0 and found.changes["features_changed"] == 0
    with pytest.raises(ValueError, match="3 names"):
        gs.Graph(world.graph._core, names=["a", "b", "c"])


def test_two_detectors_in_two_threads(world):
    want = gs.TamperDetector(world.clf).inspect(world.hit.X, world.hit.graph, previous=None).p_value
    got = []

    def work():
        clf = pickle.loads(pickle.dumps(world.clf))
        got.append(gs.TamperDetector(clf).inspect(world.hit.X, world.hit.graph, previous=None).p_value)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert got == [want, want]


def test_two_detectors_of_one_classifier_in_two_threads(world):
    """Teaching changes the model, so it waits for who looks at a snapshot, and the other way round."""
    clf = pickle.loads(pickle.dumps(world.clf))
    want = gs.TamperDetector(clf, n_jobs=1).fit(world.X, graph=world.graph).inspect(world.hit.X, world.hit.graph).p_value
    got = []

    def work():
        own = gs.TamperDetector(clf, n_jobs=1)
        for _ in range(2):
            own.fit(world.X, graph=world.graph)
            got.append(own.inspect(world.hit.X, world.hit.graph).p_value)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert got == [want] * 4


def test_frames_where_pandas_is_there(world, detector):
    pytest.importorskip("pandas")
    frame = detector.inspect(world.hit.X, world.hit.graph).to_frame()
    assert list(frame.columns) == ["score", "p_value", "perturbed", "flagged"] and frame.flagged.any()
    assert gs.recover(world.clf, world.hit.X, world.hit.graph, method="none").to_frame().shape == (400, 3)
