"""Leaks, Ctrl-C, the GIL."""

import gc
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import graphss as gs
from graphss import _core


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_calls_leak_nothing(world):
    small = gs.read("synth:nodes=60,classes=2,features=12,seed=1")

    def once():
        clf = gs.NodeClassifier(epochs=2, hidden=4, n_jobs=1).fit(small.X, small.y, graph=small.graph)
        clf.predict(small.X, graph=small.graph)
        gs.recover(clf, small.X, small.graph, method="none", n_jobs=1)
        gs.Graph(small.graph.edge_index(), n_nodes=60, names=[str(i) for i in range(60)])
        try:
            gs.NodeClassifier("nobody").fit(small.X, small.y)
        except gs.InvalidError:
            pass
        me = []
        me.append(gs.wrap(lambda g, X: (me, clf.predict_proba(X, g))[1], small.X, small.graph, epochs=1, n_jobs=1))

    for _ in range(40):
        once()
    gc.collect()
    before = memory()
    for _ in range(int(os.environ.get("GRAPHSS_LEAK_ROUNDS", "150"))):
        once()
    gc.collect()
    assert memory() - before < 4 << 20, (memory() - before)


def test_all_the_extension_needs_is_linked():
    """A symbol of expat came from Debian's interpreter, and other ones could not import it."""
    if not shutil.which("ldd"):
        pytest.skip("no ldd")
    done = subprocess.run(["ldd", "-r", _core.__file__], capture_output=True, text=True)
    missing = re.findall(r"undefined symbol: (\S+)", done.stdout + done.stderr)
    assert missing and all(re.match("_?Py|__asan", name) for name in missing), missing


def test_the_gil_is_released(world):
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.005)

    worker = threading.Thread(target=count)
    worker.start()
    start = time.monotonic()
    gs.NodeClassifier("gat", epochs=60).fit(world.X, world.y, graph=world.graph)
    took = time.monotonic() - start
    stop.set()
    worker.join()
    assert len(ticks) > took / 0.005 / 20


@pytest.fixture
def ctrl_c():
    """Python's own handler, which a shell that starts this in the background has switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
def test_ctrl_c_stops_within_a_second(world, ctrl_c):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gs.NodeClassifier(epochs=100_000).fit(world.X, world.y, graph=world.graph)
    assert time.monotonic() - start < 3
    timer.join()


def slow(world, pause):
    """A callable that takes its time."""

    def answer(graph, X):
        time.sleep(pause)
        return world.clf.predict_proba(X, graph)

    return gs.wrap(answer, world.X, world.graph, y=world.y, n_jobs=1)


@pytest.mark.parametrize("what", ["fit", "inspect", "recover", "predict"])
def test_ctrl_c_stops_every_call(world, ctrl_c, what):
    clf = slow(world, 0.3)
    now = (world.hit.X, world.hit.graph)
    work = {
        "fit": lambda: gs.TamperDetector(clf).fit(world.X, graph=world.graph),
        "inspect": lambda: gs.TamperDetector(clf).inspect(*now, previous=(world.X, world.graph)),
        "recover": lambda: gs.recover(clf, *now, previous=(world.X, world.graph)),
        "predict": lambda: [clf.predict(*now) for _ in range(100)],
    }[what]
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.monotonic() - start < 3  # a second, and what a busy machine adds
    timer.join()


def test_a_bar_shows_progress(world, capfd):
    now = (world.hit.X, world.hit.graph)
    gs.NodeClassifier(epochs=30, progress=True).fit(world.X, world.y, graph=world.graph)
    assert "train" in capfd.readouterr().err
    gs.TamperDetector(world.clf, progress=True).inspect(*now, previous=None)
    assert capfd.readouterr().err
    gs.recover(world.clf, *now, previous=(world.X, world.graph), progress=True)
    assert capfd.readouterr().err
    gs.attack(world.clf, world.X, world.graph, victims=0.3, links=2, progress=True)
    assert "attack" in capfd.readouterr().err
    gs.NodeClassifier(epochs=30).fit(world.X, world.y, graph=world.graph)
    assert capfd.readouterr().err == ""


def test_what_a_callable_keeps_stays_valid(world):
    kept = []

    def answer(graph, X):
        kept.append((graph, X))
        return world.clf.predict_proba(X, graph)

    clf = gs.wrap(answer, world.X, world.graph, y=world.y)
    gs.recover(clf, world.hit.X, world.hit.graph, previous=(world.X, world.graph))
    del clf
    gc.collect()
    for graph, X in kept:
        assert graph.edge_index().max(initial=0) < 400 and np.isfinite(X.sum())


def test_memory_that_was_given_back_is_refused(world):
    raw = bytearray(np.eye(5, dtype=np.float32).tobytes())
    view = memoryview(raw).cast("f", (5, 5))
    assert gs.Features(view).shape == (5, 5)
    view.release()
    with pytest.raises((TypeError, ValueError)):
        gs.Features(view)
    with pytest.raises((TypeError, ValueError)):
        _core.features_from_dense(view)
    raw.clear()  # nobody holds it any more


def test_a_view_of_memory_that_is_gone_cannot_be_had(world):
    weights = world.clf.weights_
    copy = {k: v.copy() for k, v in weights.items()}
    import pickle

    other = pickle.loads(pickle.dumps(world.clf))
    views = other.weights_
    del other
    gc.collect()
    assert all((views[k] == copy[k]).all() for k in copy)
    assert not next(iter(views.values())).flags.writeable
