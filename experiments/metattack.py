#!/usr/bin/env python3
"""Defences on the published poisoned Cora graphs, beside the published figures.

    experiments/metattack.py GRAPHSS FOLDER [--seeds N] [--shares 0,0.1] [--methods jaccard,svd]
                       [-- OPTIONS OF recover...]

FOLDER holds cora_clean.npz, cora_meta_0.05.npz ... cora_meta_0.25.npz and split.npz (Jin et
al., KDD 2020). Each method is trained on each graph with the training labels and measured on
the test nodes. Prints Markdown: mean and standard deviation over the seeds, in per cent, the
difference from the published mean, and CPU seconds of one fit."""
import argparse
import os
import statistics
import tempfile

from methods import (PAPER_GCN, call, mean_text, measure, own_and_other_arguments, print_head,
                     print_row)

SHARES = ["0", "0.05", "0.1", "0.15", "0.2", "0.25"]
PUBLISHED = {  # mean of ten runs
    "retrain": [83.50, 76.55, 70.39, 65.10, 59.56, 47.53],  # a plain GCN
    "rgcn": [83.09, 77.42, 72.22, 66.82, 59.27, 50.51],
    "jaccard": [82.05, 79.13, 75.16, 71.03, 65.71, 60.82],
    "svd": [80.63, 78.39, 71.47, 66.69, 58.94, 52.06],
    "prognn": [82.98, 82.27, 79.03, 76.40, 73.32, 69.72],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphss")
    parser.add_argument("folder")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shares", default=",".join(SHARES))
    parser.add_argument("--methods", default="retrain,rgcn,jaccard,svd,prognn")
    parser.add_argument("--mode", default="paper", choices=["paper", "honest"])
    own, options = own_and_other_arguments()
    given = parser.parse_args(own)
    shares, methods = given.shares.split(","), given.methods.split(",")
    split = os.path.join(given.folder, "split.npz")
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        model, out = os.path.join(scratch, "a.model"), os.path.join(scratch, "a.npz")
        for share in shares:
            graph = os.path.join(given.folder, "cora_clean.npz" if share == "0" else
                                 "cora_meta_%s.npz" % share)
            for seed in range(1, given.seeds + 1):
                train = PAPER_GCN if given.mode == "paper" else ["--model", "gcn"]
                call(given.graphss, "train", graph, "--split", split, "--seed", str(seed), "-o",
                     model, *train)
                for method in methods:
                    results.setdefault((method, share), []).append(
                        measure(given.graphss, graph, split, model, out, method, given.mode,
                                seed, options))
    print_head("share", methods)
    for share in shares:
        row = []
        for method in methods:
            accuracy = [a for a, _ in results[method, share]]
            text = mean_text(accuracy)
            if method in PUBLISHED and share in SHARES:
                wanted = PUBLISHED[method][SHARES.index(share)]
                text += " (%+.1f)" % (statistics.mean(accuracy) - wanted)
            row.append(text)
        print_row(share, row)
    row = ["%.2f s" % statistics.mean(s for (m, _), r in results.items() if m == method
                                      for _, s in r) for method in methods]
    print_row("CPU, one fit with reading", row)


if __name__ == "__main__":
    main()
