"""A graph that changes, in Python: the same as a snapshot of the same graph."""

import datetime
import inspect
import pickle
import threading

import numpy as np
import pytest

import graphss as gs


@pytest.fixture
def watch(world):
    return gs.live.Watch(pickle.loads(pickle.dumps(world.clf)), world.X, world.graph)


def test_no_option_of_the_engine_is_missing():
    own = set(inspect.signature(gs.live.Watch.__init__).parameters)
    assert set(gs.options("live")) and set(gs.options("live")) <= own


def test_labels_are_those_of_the_graph_as_it_is(world, watch):
    assert watch.status["suspicion"] and watch.status["n_nodes"] == 400
    did = watch.apply({"op": "+link", "u": a, "v": a + 200, "t": 60 * a} for a in range(20))
    assert did["applied"] == 20 and not did["refused"] and watch.verify() == 0
    watch.set_features(7, {3: 1.0, 5: 1.0})
    watch.remove_link(0, 200)
    watch.add_link(0, "stranger")
    now = watch.snapshot()
    assert now.graph.n_nodes == 401 and "stranger" in now.graph.names
    prob = watch.classifier.predict_proba(now.features, now.graph)
    for name in ("7", "0", "stranger", "399"):
        found = watch.node(name)
        assert np.allclose(found["probabilities"], prob[now.graph.names.index(name)], atol=1e-6)
        assert found["predicted"] == watch.classifier.classes_[found["probabilities"].argmax()]
    assert watch.node(7)["features_changed"] > 0 and watch.node("stranger")["kind"] == "new"
    assert watch.status["changed_nodes"] > 20 and len(watch.suspects(5)) == 5
    assert watch.snapshot(trusted=True).graph.n_nodes == 400
    watch.trust()
    assert watch.status["changed_nodes"] == 0 and "0 changed" in repr(watch)


def test_what_cannot_be_applied_is_told(watch):
    did = watch.apply([{"op": "set", "u": "nobody", "features": {1: 1}}, {"op": "+link", "u": 1, "v": 2}])
    assert did["applied"] == 1 and [r[0] for r in did["refused"]] == [0]
    for wrong in ("{", {"op": "jump", "u": 1}, {"op": "+link", "u": 1}, {"op": "+link", "u": 1, "v": 2, "w": 3}):
        with pytest.raises(gs.DataError):
            watch.apply(wrong)
    with pytest.raises(TypeError):
        watch.apply([3])
    with pytest.raises(KeyError):
        watch.node("nobody")
    with pytest.raises(ValueError, match="1/week"):
        gs.live.Watch(watch.classifier, watch.snapshot(), false_alarms="often")
    with pytest.raises(ValueError, match="dismissed"):
        watch.settle(1, "forgotten")
    with pytest.raises(gs.InvalidError):
        watch.settle(99, "dismissed")
    with pytest.raises(gs.DataError):
        gs.live.Watch.load(watch.classifier, b"no state")


def test_an_attack_by_events_raises_an_alert(world):
    """Honest change first, from which the test learns what is usual; then the attack."""
    watch = gs.live.Watch(pickle.loads(pickle.dumps(world.clf)), world.X, world.graph, false_alarms="1/day", warm_up=20)
    rng = np.random.default_rng(5)
    start = datetime.datetime(2026, 11, 18, tzinfo=datetime.timezone.utc)
    same, x = [np.flatnonzero(world.truth == c) for c in range(3)], world.X.to_dense()
    honest = []
    for i, u in enumerate(np.setdiff1d(np.arange(400), world.hit.victims)[:250].tolist()):
        t = start + datetime.timedelta(minutes=10 * i)
        like = rng.choice(same[world.truth[u]], 3)
        honest += [{"op": "+link", "u": u, "v": int(v), "t": t} for v in like if v != u]
        word = int(rng.choice(np.flatnonzero(x[like[0]])))
        honest.append({"op": "set", "u": u, "features": {word: float(x[like[0], word])}, "t": t})
    watch.watch("first", range(100))
    watch.apply(honest)
    before = len(watch.alerts)
    later = start + datetime.timedelta(days=3)
    hit = [{"op": "+link", "u": f.node, "v": f.target, "t": later} for f in world.hit.flips if f.kind == "link" and f.new]
    hit += [
        {"op": "set", "u": f.node, "features": {f.target: f.new}, "t": later} for f in world.hit.flips if f.kind == "feature"
    ]
    watch.apply(hit)
    did = watch.advance(later + datetime.timedelta(hours=1))
    assert did["checks"] >= 1 and len(watch.alerts) > before
    alert = watch.alerts[-1]
    assert alert["state"] == "open" and alert["suspects"] and alert["settled"] is None
    names = [s[0] for s in alert["suspects"][:20]]
    assert len({int(n) for n in names} & set(world.hit.victims.tolist())) > 10
    with pytest.raises(gs.InvalidError):
        watch.trust()
    for a in watch.alerts:
        watch.settle(a["id"], "confirmed")
    assert watch.status["open_alerts"] == 0


def test_state_goes_on_with_the_same_bits(watch):
    watch.apply({"op": "+link", "u": a, "v": a + 100} for a in range(30))
    state = watch.save()
    other = gs.live.Watch.load(watch.classifier, state)
    again = pickle.loads(pickle.dumps(watch))
    for one in (watch, other, again):
        one.apply({"op": "+link", "u": a, "v": a + 150} for a in range(30))
    assert watch.save() == other.save() == again.save()


def test_two_threads_take_turns(watch):
    def work(first):
        for a in range(first, first + 30):
            watch.add_link(a, a + 200)
            watch.node(a)
            watch.status, watch.alerts

    workers = [threading.Thread(target=work, args=(k,)) for k in (0, 50, 100)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert watch.status["applied"] == 90 and watch.verify() == 0
