#!/usr/bin/env python3
"""What Python adds to the library: processor seconds and peak memory of the same calls by the program and by the package.

    experiments/python_cost.py --graphss build/graphss [--nodes 1000000] [--repeat 3]

Each call is a process of its own that reads files and makes one call; user and system time and the largest resident size are the
operating system's, the least of the repetitions counts. Program and package are run in turn. Printed: Markdown, and whether the answers
have the same bits. PYTHONPATH names the package (build-dev/python/python); the program should be of the same build. Needs numpy; some
minutes for a million nodes."""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

CALLS = {
    "read": "data = gs.read(now)",
    "predict": "data = gs.read(now); clf = gs.NodeClassifier.load(model)\nclf.n_jobs = 2\nnp.save(out, clf.predict_proba(data.X, data.graph))",
    "recover": "data, past = gs.read(now), gs.read(before); clf = gs.NodeClassifier.load(model)\n"
    "np.save(out, gs.recover(clf, data, previous=past, least=2, n_jobs=2).posterior)",
}
HEAD = "import sys, warnings, numpy as np, graphss as gs\nwarnings.simplefilter('ignore')\nnow, before, model, out = sys.argv[1:]\n"


def spent(command):
    """(processor seconds, bytes) of a command."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(" ".join(command[:3]) + "\n" + text.decode()[-2000:])
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def least(command, repeat):
    rows = [spent(command) for _ in range(repeat)]
    return [min(column) for column in zip(*rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", default="build/graphss")
    parser.add_argument("--nodes", type=int, default=1000000)
    parser.add_argument("--repeat", type=int, default=3)
    a = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    at = lambda name: os.path.join(folder.name, name)
    base = [a.graphss, "-q", "--threads", "2"]
    spent([*base, "convert", f"synth:nodes={a.nodes},classes=5,features=32,degree=6", "-o", at("before.npz")])
    spent([*base, "split", at("before.npz"), "-o", at("split.npz")])
    spent([*base, "train", at("before.npz"), "--split", at("split.npz"), "--epochs", "3", "-o", at("model")])
    spent([*base, "attack", at("before.npz"), "--model-file", at("model"), "--method", "random", "--victims", "0.001", "-o", at("flips")])
    spent([*base, "apply", at("before.npz"), "--flips", at("flips"), "-o", at("now.npz")])
    program = {
        "read": ["info", at("now.npz")],
        "predict": ["predict", at("now.npz"), "--model-file", at("model"), "-o", at("c.npz")],
        "recover": ["recover", "--model-file", at("model"), "--current", at("now.npz"), "--previous", at("before.npz"), "-o", at("r.npz")],
    }
    files = [at("now.npz"), at("before.npz"), at("model")]
    alone = least([sys.executable, "-c", HEAD, *files, at("x")], a.repeat)
    print("| call | program, s | Python, s | ratio | program, MB | Python, MB | ratio |\n|---|---:|---:|---:|---:|---:|---:|")
    print(f"| import alone | | {alone[0]:.2f} | | | {alone[1] / 1e6:.0f} | |", flush=True)
    for call, arguments in program.items():
        c = least([*base, *arguments], a.repeat)
        p = least([sys.executable, "-c", HEAD + CALLS[call], *files, at(f"{call}.npy")], a.repeat)
        print(f"| {call} | {c[0]:.2f} | {p[0]:.2f} | {p[0] / c[0]:.3f} | {c[1] / 1e6:.0f} | {p[1] / 1e6:.0f} | {p[1] / c[1]:.3f} |", flush=True)
    same = np.array_equal(np.load(at("c.npz"))["probabilities"], np.load(at("predict.npy")))
    also = np.array_equal(np.load(at("r.npz"))["posterior"], np.load(at("recover.npy")))
    print(f"\nsame bits: predict {'yes' if same else 'no'}, recover {'yes' if also else 'no'}")


if __name__ == "__main__":
    main()
