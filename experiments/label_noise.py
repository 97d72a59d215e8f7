#!/usr/bin/env python3
"""Methods of `graphss recover` on a clean graph with few and wrong training labels.

    experiments/label_noise.py GRAPHSS DATASET [--kinds uniform,pair] [--seeds 1-5]
                         [--methods retrain,nrgnn] [--part test] [-- OPTIONS OF recover...]

The setting of Dai et al. (KDD 2021): 5 % of the nodes train, 10 % validate, a fifth of the
training labels is wrong, validation labels are right. Prints Markdown: accuracy in per cent,
mean and standard deviation over seeds, and CPU seconds of one fit. `--part val` is what options
may be chosen by."""
import argparse
import os
import statistics
import tempfile
import zipfile

from methods import (PAPER_GCN, call, mean_text, measure, own_and_other_arguments, print_head,
                     print_row)


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
    own, options = own_and_other_arguments()
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
                train = (PAPER_GCN if given.mode == "paper" else
                         "--model gcn --epochs 200".split())
                call(given.graphss, "train", given.dataset, "--split", split, "--seed",
                     str(seed), "-o", model, *train)
                for method in methods:
                    results.setdefault((method, kind), []).append(
                        measure(given.graphss, given.dataset, split, model, out, method,
                                given.mode, seed, options if method == methods[-1] else [],
                                given.part))
    print_head("noise", methods)
    for kind in kinds:
        print_row(kind, ["%s, %.1f s" % (mean_text([a for a, _ in results[method, kind]]),
                                         statistics.mean(s for _, s in results[method, kind]))
                         for method in methods])


if __name__ == "__main__":
    main()
