"""The example scripts run, and say what they should."""

import os
import pathlib
import subprocess
import sys

import pytest

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
