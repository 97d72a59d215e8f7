"""Python and the program on the same call: the same bits. And programs as predictors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import graphss as gs

PROGRAM = os.environ.get("GRAPHSS_CLI")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="GRAPHSS_CLI names no program")
GRAPH = "synth:nodes=400,classes=3,features=60,degree=6,seed=3"


def run(*arguments):
    done = subprocess.run([PROGRAM, "--json", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_the_same_bits(tmp_path):
    model, out, current = tmp_path / "m", tmp_path / "out.npz", tmp_path / "current.npz"
    run("train", GRAPH, "--epochs", 30, "-o", model)
    run("attack", GRAPH, "--model-file", model, "--links", 3, "--features", 3, "-o", tmp_path / "flips")
    run("apply", GRAPH, "--flips", tmp_path / "flips", "-o", current)
    run("predict", current, "--model-file", model, "-o", out)
    clf = gs.NodeClassifier.load(model)
    now, before = gs.read(current), gs.read(GRAPH)
    assert np.array_equal(np.load(out)["probabilities"], clf.predict_proba(now.X, now.graph))
    said = run("alert", "--model-file", model, "--current", current, "--previous", GRAPH)
    found = gs.TamperDetector(clf).inspect(now.X, now.graph, previous=(before.X, before.graph))
    assert found.p_value == said["p_value"] and found.score == said["score"]
    run("recover", "--model-file", model, "--current", current, "--previous", GRAPH, "-o", out)
    fixed = gs.recover(clf, now.X, now.graph, previous=(before.X, before.graph))
    answer = np.load(out)
    assert np.array_equal(answer["posterior"], fixed.posterior) and np.array_equal(answer["labels"], fixed.label)


def test_a_script_answers_in_place_of_a_model(tmp_path):
    script = tmp_path / "answer.py"
    script.write_text(
        "import sys, numpy as np\n"
        "z = np.load(sys.argv[1])\n"
        "n = z['adj_shape'][0]\n"
        "p = np.full((n, 3), 0.2, dtype=np.float32); p[np.arange(n), np.arange(n) % 3] = 0.6\n"
        "np.savez(sys.argv[2], probabilities=p)\n"
    )
    command = f"{sys.executable} {script}"
    run("train", GRAPH, "--predictor", command, "-o", tmp_path / "m")
    said = run("recover", "--model-file", tmp_path / "m", "--predictor", command, "--current", GRAPH, "--method", "none",
               "-o", tmp_path / "out.npz")  # fmt: skip
    assert said["predictor_calls"] >= 1
    assert np.array_equal(np.load(tmp_path / "out.npz")["labels"], np.arange(400) % 3)
