#!/usr/bin/env python3
"""Methods of `graphss recover` on a clean graph with few and wrong training labels.

    tools/label_noise.py GRAPHSS DATASET [--kinds uniform,pair] [--seeds 1-5]
                         [--methods retrain,nrgnn] [--part test] [-- OPTIONS OF recover...]

The setting of Dai et al. (KDD 2021): 5 % of the nodes train, 10 % validate, a fifth of the
training labels is wrong, validation labels are right. Prints Markdown: accuracy in per cent,
mean and standard deviation over seeds, and CPU seconds of one fit. `--part val` is what options
may be chosen by."""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import zipfile


def call(program, *arguments):
    done = subprocess.run([program, "--json", "--threads", "1", *arguments],
                          stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit("graphss %s: %s" % (" ".join(arguments), done.stdout.decode()))
    return json.loads(done.stdout)


def without_noise_on_validation(source, target):
    """A split file that lacks labels is completed from the dataset: with true ones."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if not name.startswith("val_labels"):
                new.writestr(name, old.read(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphss")
    parser.add_argument("dataset")
    parser.add_argument("--kinds", default="uniform,pair")
    parser.add_argument("--seeds", default="1-5")
    parser.add_argument("--methods", default="retrain,nrgnn")
    parser.add_argument("--mode", default="paper", choices=["paper", "honest"])
    parser.add_argument("--train", default="0.05")
    parser.add_argument("--noise", default="0.2")
    parser.add_argument("--part", default="test", choices=["test", "val"])
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    given = parser.parse_args(own)
    kinds, methods = given.kinds.split(","), given.methods.split(",")
    first, last = (given.seeds + "-" + given.seeds).split("-")[:2]
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        model, out, drawn, split = (os.path.join(scratch, name) for name in
                                    ("a.model", "a.npz", "drawn.npz", "split.npz"))
        for kind in kinds:
            for seed in range(int(first), int(last) + 1):
                call(given.graphss, "split", given.dataset, "--train", given.train, "--val",
                     "0.1", "--noise", given.noise, "--noise-kind", kind, "--seed", str(seed),
                     "-o", drawn)
                without_noise_on_validation(drawn, split)
                train = "--model gcn --epochs 200".split()
                if given.mode == "paper":
                    train += ("--layers 2 --hidden 16 --dropout 0.5 --weight-decay 5e-4 "
                              "--learning-rate 0.01 --no-row-normalise "
                              "--no-unit-scale").split()
                call(given.graphss, "train", given.dataset, "--split", split, "--seed",
                     str(seed), "-o", model, *train)
                for method in methods:
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    call(given.graphss, "recover", "--model-file", model, "--current",
                         given.dataset, "--split", split, "--method", method, "--mode",
                         given.mode, "--seed", str(seed), "-o", out,
                         *(options if method == methods[-1] else []))
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    seconds = (after.ru_utime + after.ru_stime - before.ru_utime -
                               before.ru_stime)
                    found = call(given.graphss, "evaluate", out, "--truth", given.dataset,
                                 "--split", split, "--part", given.part)
                    results.setdefault((method, kind), []).append(
                        (100 * found["accuracy"], seconds))
                    print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print("| noise | " + " | ".join(methods) + " |")
    print("|---" * (len(methods) + 1) + "|")
    for kind in kinds:
        row = []
        for method in methods:
            accuracy = [a for a, _ in results[method, kind]]
            text = "%.1f" % statistics.mean(accuracy)
            if len(accuracy) > 1:
                text += " +- %.1f" % statistics.stdev(accuracy)
            text += ", %.1f s" % statistics.mean(s for _, s in results[method, kind])
            row.append(text)
        print("| %s | %s |" % (kind, " | ".join(row)))


if __name__ == "__main__":
    main()
