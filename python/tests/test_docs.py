"""The reference page is what the docstrings say; the example scripts run; figures are drawn."""

import inspect
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import graphss as gs

ROOT = os.environ.get("GRAPHSS_SOURCE")


@pytest.mark.skipif(not ROOT, reason="GRAPHSS_SOURCE names no tree")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="signatures print differently")
def test_the_reference_is_up_to_date():
    script = pathlib.Path(ROOT) / "python" / "make_api.py"
    built = str(pathlib.Path(gs.__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-B", str(script), "--check"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": built},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not ROOT, reason="GRAPHSS_SOURCE names no tree")
def test_the_table_of_torch_models_is_that_of_its_rows():
    script = pathlib.Path(ROOT) / "experiments" / "torch_table.py"
    done = subprocess.run([sys.executable, "-B", str(script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_name_has_a_docstring():
    for name in gs.__all__:
        thing = getattr(gs, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and inspect.isfunction(value):
                assert inspect.getdoc(value), f"{name}.{member}"


# ---- examples ----

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"


def run(name):
    env = dict(os.environ, MPLBACKEND="Agg")
    done = subprocess.run([sys.executable, "-B", str(EXAMPLES / name)], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_guard_a_torch_gcn():
    pytest.importorskip("torch")
    said = run("guard_torch_gcn.py")
    assert "ALERT" in said and "recovered" in said


def test_watch_a_graph():
    assert "day 5: Alert(ALERT" in run("watch_a_graph.py")


def test_compare_defences():
    assert "label-propagation" in run("compare_defences.py")


# ---- figures ----


def test_figures_are_drawn(world):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = gs.TamperDetector(world.clf).inspect(world.hit.X, world.hit.graph, previous=None)
    assert found.plot().get_ylabel() == "p-value"
    truth = np.zeros(400)
    truth[world.hit.victims] = 1
    assert "AUC" in gs.plotting.roc(found.node_score, truth).get_legend().get_texts()[0].get_text()
    gs.plotting.p_values_over_time([0.5, 0.01], 0.05)
    gs.recover(world.clf, world.hit.X, world.hit.graph, method="none").plot(world.truth)
