"""Leaks, Ctrl-C, the GIL."""

import gc
import os
import resource
import signal
import threading
import time

import numpy as np
import pytest

import graphss as gs


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


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals")
def test_ctrl_c_stops_within_a_second(world):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gs.NodeClassifier(epochs=10_000_000).fit(world.X, world.y, graph=world.graph)
    assert time.monotonic() - start < 3
    timer.join()


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
