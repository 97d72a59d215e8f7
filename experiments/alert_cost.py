#!/usr/bin/env python3
"""What `graphss alert` costs beside `graphss predict`, on folders that `graphss snapshots` wrote.

    experiments/alert_cost.py --graphss build/graphss --json cost.jsonl DIR ...

Processor time of the whole command in seconds, one thread, the least of --rounds: reading the files, and for
alert without history and with it, a verdict on the whole snapshot with name, share and nodes.
"""
import argparse, json, os, resource, subprocess, sys, tempfile


def seconds(command, rounds):
    best = float("inf")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode > 1:
            sys.exit(done.stderr)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folders", nargs="+")
    parse.add_argument("--graphss", default="build/graphss")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--json", help="append rows as JSON lines here")
    args = parse.parse_args()
    for folder in args.folders:
        model, current = ["--model-file", f"{folder}/model", "--threads", "1", "-q"], f"{folder}/current.npz"
        alert = [args.graphss, "alert", "--current", current, "--split", f"{folder}/split.npz"] + model
        with tempfile.TemporaryDirectory() as place:
            row = dict(folder=os.path.basename(folder.rstrip("/")),
                       predict=seconds([args.graphss, "predict", current, "-o", f"{place}/labels.npz"] + model, args.rounds),
                       now=seconds(alert, args.rounds), past=seconds(alert + ["--previous", f"{folder}/previous.npz"], args.rounds))
        print(f"{row['folder']:28} predict {row['predict']:.2f}  alert, no history {row['now']:.2f}  history {row['past']:.2f}", flush=True)
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
