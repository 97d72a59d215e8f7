#!/usr/bin/env python3
"""What each part of `recover` is worth against attackers of others' code.

    GRAPHSS_ATTACKERS=DIR experiments/ablation.py --scratch build/ablation --datasets cora,citeseer --seeds 11 --kinds choose

Builds the last commit in --scratch once for each part, with that part switched off by constants of `src/detect/tuning.h`, and runs
`experiments/field.py` with the options that remain. Printed: victims and others right in %, in the mean of the cells, and the worst
cell's distance from its floor; --csv writes the same for the archive of records (docs/records.md). A build takes a minute on two
idle cores, a cell two seconds."""
import argparse
import csv
import json
import os
import re
import subprocess
import sys

PARTS = {
    "all of it": {},
    "no propagated labels": {"TUNE_PROPAGATION_STEPS": "0"},
    "no coherence of features": {"TUNE_REFERENCE": "0"},
    "odds among tampered states as they are": {"TUNE_STATE_CONTRAST": "1.0"},
    "tampered states read alike": {"TUNE_STATE_CONTRAST": "0.0"},
    "no share of an attacker's": {"TUNE_FOREIGN_FEATURES": "0.0", "TUNE_FOREIGN_EDGES": "0.0"},
    "anomalies cut at 3": {"TUNE_FARTHEST": "3.0"},
    "features weigh as if independent": {"TUNE_FEATURE_WEIGHT": "1.0", "TUNE_EDGE_WEIGHT": "1.0"},
    "no Nettack in the rehearsal": {"TUNE_ROUNDS": "10", "TUNE_NETTACK_ROUNDS": "0"},
    "half of the rehearsal": {"TUNE_ROUNDS": "4", "TUNE_NETTACK_ROUNDS": "1"},
}


def build(scratch, constants):
    """The program with these constants."""
    path = scratch + "/src/detect/tuning.h"
    text = subprocess.run(["git", "show", "HEAD:src/detect/tuning.h"], capture_output=True, text=True, check=True).stdout
    for name, value in constants.items():
        text, found = re.subn(rf"(#define {name}) .*", rf"\g<1> {value}", text)
        if found != 1:
            sys.exit(f"src/detect/tuning.h: {name} is defined {found} times, want once")
    with open(path, "w") as out:
        out.write(text)
    subprocess.run(["cmake", "--build", scratch + "/build", "--target", "graphss"], check=True, stdout=subprocess.DEVNULL)
    return scratch + "/build/graphss"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", default="build/ablation", help="folder to build in")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of the parts, by name")
    parser.add_argument("--csv", help="write the table here as well")
    own, rest = parser.parse_known_args()
    here, scratch = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(own.scratch)
    os.makedirs(scratch, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", scratch], input=archive, check=True)
    subprocess.run(["cmake", "--preset", "release"], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
    head, lines_out = ["part", "cells", "victims", "others", "worst"], []
    print("| part | cells | victims | others | worst cell to its floor |\n|---|---:|---:|---:|---:|")
    for part in own.parts.split(","):
        lines = scratch + "/cells.jsonl"
        subprocess.run([sys.executable, here + "/field.py", "--graphss", build(scratch, PARTS[part]), "--json", lines, *rest], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = [json.loads(line) for line in open(lines)]
        mean = {key: sum(r[key] for r in rows) / len(rows) for key in ("ours", "others")}
        lines_out.append([part, len(rows), f"{mean['ours']:.1f}", f"{mean['others']:.1f}", f"{min(r['ours'] - r['floor'] for r in rows):+.1f}"])
        print("| " + " | ".join(map(str, lines_out[-1])) + " |", flush=True)
        if own.csv:
            with open(own.csv, "w", newline="") as out:
                csv.writer(out, lineterminator="\n").writerows([head, *lines_out])


if __name__ == "__main__":
    main()
