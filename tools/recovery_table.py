#!/usr/bin/env python3
"""Victims' and others' accuracy of `graphss recover` on folders that `graphss snapshots` wrote.

    tools/recovery_table.py --graphss build/graphss [--previous] [--methods a,b] DIR ...

Prints a line per folder and method: accuracy in % on victims, on the other test nodes, expected
calibration error on all test nodes, AUC of `perturbed` (victims against others), seconds.
Accuracy is computed here from the truth in current.npz, which `recover` does not look at.
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np


def auc(score, hit):
    order = np.argsort(score, kind="stable")
    rank = np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    for value in np.unique(score):            # equal scores share their mean rank
        same = score == value
        if same.sum() > 1:
            rank[same] = rank[same].mean()
    n = hit.sum()
    return (rank[hit].sum() - n * (n + 1) / 2) / (n * (len(hit) - n)) if 0 < n < len(hit) else np.nan


def calibration_error(posterior, truth, bins=15):
    sure, right = posterior.max(1), posterior.argmax(1) == truth
    bin_of = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(abs(right[bin_of == b].mean() - sure[bin_of == b].mean()) * (bin_of == b).mean()
               for b in range(bins) if (bin_of == b).any())


def run(program, folder, method, previous, seed):
    current = np.load(f"{folder}/current.npz", allow_pickle=True)
    groups, split = np.load(f"{folder}/groups.npz"), np.load(f"{folder}/split.npz")
    truth, test = current["labels"], split["test"]
    victims = groups["victims"] if len(groups["victims"]) else groups["churned"]
    others = np.setdiff1d(test, victims)
    with tempfile.TemporaryDirectory() as place:
        out = f"{place}/out.npz"
        command = [program, "recover", "--model-file", f"{folder}/model", "--current", f"{folder}/current.npz",
                   "--split", f"{folder}/split.npz", "--method", method, "-o", out, "--json", "--seed", str(seed)]
        if previous:
            command += ["--previous", f"{folder}/previous.npz"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip() or done.stdout.strip()
        said, made = json.loads(done.stdout), np.load(out)
    label, posterior = made["labels"], made["posterior"]
    share = lambda nodes: 100 * np.mean(label[nodes] == truth[nodes])
    return dict(folder=os.path.basename(folder.rstrip("/")), method=method, history=previous, victims=share(victims), others=share(others),
                ece=calibration_error(posterior[test], truth[test]),
                auc=auc(made["perturbed"][test], np.isin(test, victims)), seconds=said["seconds"],
                kind=said.get("kind"), share=said.get("share")), None


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folders", nargs="+")
    parse.add_argument("--graphss", default="build/graphss")
    parse.add_argument("--methods", default="none,keep-last,retrain,mlp,label-propagation,graphss")
    parse.add_argument("--previous", action="store_true", help="give the previous snapshot")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--json", help="append rows as JSON lines here")
    args = parse.parse_args()
    print(f"{'folder':22} {'method':18} {'victims':>8} {'others':>8} {'ece':>6} {'auc':>6} {'s':>7}")
    for folder in args.folders:
        for method in args.methods.split(","):
            row, error = run(args.graphss, folder, method, args.previous or method == "keep-last", args.seed)
            if error:
                print(f"{os.path.basename(folder):22} {method:18} {error}")
                continue
            extra = f"  {row['kind']} {100 * row['share']:.1f} %" if row["kind"] else ""
            print(f"{row['folder']:22} {method:18} {row['victims']:8.1f} {row['others']:8.1f} {row['ece']:6.3f} "
                  f"{row['auc']:6.3f} {row['seconds']:7.2f}{extra}", flush=True)
            if args.json:
                with open(args.json, "a") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
