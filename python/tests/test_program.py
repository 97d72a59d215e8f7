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
    assert found.p_value == said["p_value"] and found.score == pytest.approx(said["score"], rel=1e-14)  # as printed
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


def test_a_script_answers_in_the_experiments(tmp_path):
    """reproduce --predictor: its records name the script and count its calls."""
    script = tmp_path / "answer.py"
    script.write_text(
        "import sys, numpy as np\n"
        "z = np.load(sys.argv[1])\n"
        "degree = np.diff(z['adj_indptr'])\n"
        "p = np.full((len(degree), 3), 0.1, dtype=np.float32)\n"
        "p[np.arange(len(degree)), np.minimum(degree // 5, 2)] = 0.8\n"
        "np.savez(sys.argv[2], probabilities=p)\n"
    )
    command = f"{sys.executable} {script}"
    small = "synth:nodes=200,classes=3,features=30,degree=6,seed=3"
    more = ("--methods", "none,graphss", "--settings", "seen", "--models", "gcn", "--seeds", 1, "-o", tmp_path / "out")
    said = run("reproduce", "defence", "--datasets", small, "--predictor", command, *more)
    assert said["failed"] == 0 and said["run"] >= 2
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    assert all(r["predictor"] == command and r["mode"] == "honest" for r in records)
    calls = {r["method"]: r["metrics"]["predictor_calls"] for r in records}
    assert 2 < calls["none"] <= calls["graphss"] <= 60
    assert run("reproduce", "defence", "--datasets", small, "--predictor", command, *more)["run"] == 0
    for wrong in (("--datasets", "cora,citeseer"), ("--datasets", small, "--mode", "paper")):
        done = subprocess.run(
            [PROGRAM, "reproduce", "defence", *wrong, "--predictor", command, "-o", tmp_path / "no"], capture_output=True
        )
        assert done.returncode == 2, done.stderr
