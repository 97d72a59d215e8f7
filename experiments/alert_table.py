#!/usr/bin/env python3
"""How well `graphss alert` tells attacked groups, on folders that `graphss snapshots --background` wrote.

    experiments/alert_table.py --graphss build/graphss [--no-history] [--share 0.05] DIR ...

Draws groups of test nodes (as large as the folder's, or --size): attacked ones with a share of victims, benign
ones with the same share of churned nodes, clean ones with neither. Prints for each folder: AUC of attacked groups
against benign and against clean ones, share of benign and clean groups that raise an alert, AUC of nodes (victims
against all other test nodes; against churned ones), what the whole snapshot is said to be, seconds.
"""
import argparse, json, os, subprocess, sys, tempfile
import numpy as np
from recovery_table import auc


def group_auc(high, low):
    return auc(np.r_[high, low], np.r_[np.ones(len(high), bool), np.zeros(len(low), bool)])


def draw(rng, chosen, rest, size, hit):
    """A group without repetition; fewer chosen nodes where there are not enough."""
    hit = min(hit, len(chosen))
    return np.r_[rng.choice(chosen, hit, replace=False), rng.choice(rest, size - hit, replace=False)]


def run(args, folder):
    current = np.load(f"{folder}/current.npz", allow_pickle=True)
    groups, split = np.load(f"{folder}/groups.npz"), np.load(f"{folder}/split.npz")
    names, test = current["node_names"], split["test"]
    victims, churned = groups["victims"], groups["churned"]
    others = np.setdiff1d(test, np.r_[victims, churned])
    size = args.size or max(len(test) // 10, 20)
    hit = max(1, round(args.share * size))
    rng = np.random.default_rng(args.seed)
    kinds = dict(attacked=victims, benign=churned, clean=others[:0])
    command = [args.graphss, "alert", "--model-file", f"{folder}/model", "--current", f"{folder}/current.npz", "--split",
               f"{folder}/split.npz", "--json", "--threads", "1", "--seed", str(args.seed), "--draws", "999"]
    if not args.no_history:
        command += ["--previous", f"{folder}/previous.npz"]
    said, score, alerts = {}, {}, {}
    with tempfile.TemporaryDirectory() as place:
        with open(f"{place}/groups", "w") as file:
            for chosen in kinds.values():
                for _ in range(args.groups):
                    file.write(" ".join(names[draw(rng, chosen, others, size, hit)]) + "\n")
        many = subprocess.run(command + ["--groups", f"{place}/groups"], capture_output=True, text=True)
        whole = subprocess.run(command + ["-o", f"{place}/nodes.tsv"], capture_output=True, text=True)
        if many.returncode > 1 or whole.returncode > 1:
            sys.exit(f"{folder}: {many.stderr} {whole.stderr}")
        verdict, said = json.loads(many.stdout)["groups"], json.loads(whole.stdout)
        node_score = np.loadtxt(f"{place}/nodes.tsv", skiprows=1, usecols=args.column, comments=None, delimiter="\t")
    for i, kind in enumerate(kinds):
        rows = verdict[i * args.groups:(i + 1) * args.groups]
        score[kind] = np.array([r["score"] for r in rows])
        alerts[kind] = np.mean([r["alert"] for r in rows])
    both = np.r_[victims, churned]
    nan = float("nan")
    return dict(folder=os.path.basename(folder.rstrip("/")), history=not args.no_history, size=size, hit=hit, groups=args.groups,
                auc_benign=group_auc(score["attacked"], score["benign"]) if len(victims) else nan,
                auc_clean=group_auc(score["attacked"], score["clean"]) if len(victims) else nan,
                power=alerts["attacked"] if len(victims) else nan, false_benign=alerts["benign"] if len(churned) else nan, false_clean=alerts["clean"],
                node_auc=auc(node_score[test], np.isin(test, victims)),
                node_auc_churned=auc(node_score[both], np.isin(both, victims)) if len(victims) else nan,
                alert=said["alert"], p_value=said["p_value"], kind=said["kind"], share=said["share"], true_share=len(victims) / len(test),
                seconds=said["seconds"])


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folders", nargs="+")
    parse.add_argument("--graphss", default="build/graphss")
    parse.add_argument("--no-history", action="store_true", help="do not give the previous snapshot")
    parse.add_argument("--share", type=float, default=0.2, help="of a group that is hit, or churned (default 0.2)")
    parse.add_argument("--size", type=int, default=0, help="of a group (default: a tenth of the test nodes)")
    parse.add_argument("--groups", type=int, default=200, help="of each sort")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--column", type=int, default=1, help="of the nodes' table to rank by: 1 score, 3 chance")
    parse.add_argument("--json", help="append rows as JSON lines here")
    args = parse.parse_args()
    print(f"{'folder':24} {'hit':>8} {'benign':>7} {'clean':>6} {'power':>6} | {'f.benign':>8} {'f.clean':>7} | {'node':>6} {'churned':>7} | {'s':>6}  whole snapshot")
    rows = []
    for folder in args.folders:
        r = run(args, folder)
        rows.append(r)
        print(f"{r['folder']:24} {r['hit']:3}/{r['size']:<4} {r['auc_benign']:7.3f} {r['auc_clean']:6.3f} {r['power']:6.2f} | {r['false_benign']:8.3f} "
              f"{r['false_clean']:7.3f} | {r['node_auc']:6.3f} {r['node_auc_churned']:7.3f} | {r['seconds']:6.2f}  p {r['p_value']:.4f} {r['kind']}, "
              f"{100 * r['share']:.1f} % ({100 * r['true_share']:.1f})", flush=True)
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps(r) + "\n")
    if len(rows) > 1:
        mean = lambda key: np.mean([r[key] for r in rows if r[key] == r[key]] or [np.nan])
        print(f"{'mean':24} {'':8} {mean('auc_benign'):7.3f} {mean('auc_clean'):6.3f} {mean('power'):6.2f} | {mean('false_benign'):8.3f} {mean('false_clean'):7.3f} | "
              f"{mean('node_auc'):6.3f} {mean('node_auc_churned'):7.3f} |")


if __name__ == "__main__":
    sys.exit(main())
