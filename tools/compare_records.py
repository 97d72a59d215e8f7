#!/usr/bin/env python3
"""Are cells that were run again what they were?

    graphss reproduce defence --datasets cora --seeds 1 -o again
    tools/compare_records.py results/honest again

For cells that are in both folders: how many have the same figures in all but time and memory, how far apart accuracy on
victims (or the area under the ROC) is where they have not, and the farthest. Exit code 1 where any figure differs.
"""
import argparse, json, os, sys

NAMES = "what mode setting dataset model method train seed set parameter value task".split()
TIMES = {"seconds", "cpu_seconds", "seconds_per_100", "prepare_seconds", "train_seconds", "attack_seconds", "peak_memory"}


def read(folder):
    cells = {}
    with open(os.path.join(folder, "records.jsonl")) as file:
        for line in file:
            record = json.loads(line)
            if "metrics" in record:
                cells[tuple(record.get(name) for name in NAMES)] = record
    return cells


def figures(record):
    return {name: value for name, value in record["metrics"].items() if name not in TIMES}


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folders", nargs=2, metavar="FOLDER")
    parse.add_argument("--most", type=int, default=10, help="so many of the farthest are listed (10)")
    args = parse.parse_args()
    one, two = (read(folder) for folder in args.folders)
    both = [name for name in two if name in one]
    machines = [sorted({r["repeat"].get("machine", {}).get("instructions", "?") for r in (cells[name] for name in both)}) for cells in (one, two)]
    differ = []
    for name in both:
        a, b = figures(one[name]), figures(two[name])
        if a != b:
            main_figure = "victims" if "victims" in a else "auc"
            differ.append((abs((a.get(main_figure) or 0) - (b.get(main_figure) or 0)), main_figure, a.get(main_figure), b.get(main_figure), name))
    differ.sort(key=lambda row: -row[0])
    print(f"{len(both)} cells in both ({', '.join(machines[0])}; {', '.join(machines[1])}): {len(both) - len(differ)} the same in every figure,"
          f" {sum(row[0] == 0 for row in differ)} in victims or AUC, {sum(0 < row[0] <= 0.01 for row in differ)} within 0.01, {sum(row[0] > 0.01 for row in differ)} farther")
    for gap, figure, a, b, name in differ[:args.most]:
        if gap > 0:
            print(f"  {figure} {a:.4f} {b:.4f}  {' '.join(str(part) for part in name if part is not None)}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
