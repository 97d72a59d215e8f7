#!/usr/bin/env python3
"""Victims' and others' accuracy of `graphss recover` on folders that `graphss snapshots` wrote.

    experiments/recovery_table.py --graphss build/graphss [--previous] [--methods a,b] DIR ...

Prints a line per folder and method: accuracy in % on victims, on the other test nodes, expected
calibration error on all test nodes, AUC of `perturbed` (victims against others), seconds.
Accuracy is computed here from the truth in current.npz, which `recover` does not look at.
Needs nothing but Python.
"""
import argparse, array, ast, json, os, subprocess, sys, tempfile, zipfile


def read_npz(path, wanted):
    """Arrays of an .npz as flat lists, with the shape behind each."""
    found = {}
    with zipfile.ZipFile(path) as file:
        for name in wanted:
            if name + ".npy" not in file.namelist():
                continue
            raw = file.read(name + ".npy")
            size = int.from_bytes(raw[8:10], "little") if raw[6] == 1 else int.from_bytes(raw[8:12], "little")
            start = 10 if raw[6] == 1 else 12
            head = ast.literal_eval(raw[start:start + size].decode())
            kind = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "|b1": "b", "|u1": "B"}[head["descr"]]
            data = array.array(kind)
            data.frombytes(raw[start + size:])
            found[name] = (list(data), head["shape"])
    return found


def auc(score, hit):
    order = sorted(range(len(score)), key=score.__getitem__)
    rank, at = [0.0] * len(score), 0
    while at < len(order):                     # equal scores share their mean rank
        end = at
        while end < len(order) and score[order[end]] == score[order[at]]:
            end += 1
        for i in order[at:end]:
            rank[i] = (at + end + 1) / 2
        at = end
    n = sum(hit)
    if n in (0, len(hit)):
        return float("nan")
    return (sum(r for r, h in zip(rank, hit) if h) - n * (n + 1) / 2) / (n * (len(hit) - n))


def calibration_error(posterior, truth, bins=15):
    sure, right, count = [0.0] * bins, [0] * bins, [0] * bins
    for row, y in zip(posterior, truth):
        most = max(row)
        b = min(int(most * bins), bins - 1)
        sure[b] += most
        right[b] += row.index(most) == y
        count[b] += 1
    return sum(abs(s - r) for s, r in zip(sure, right)) / max(sum(count), 1)


def run(program, folder, method, previous, seed, more):
    truth = read_npz(f"{folder}/current.npz", ["labels"])["labels"][0]
    groups = read_npz(f"{folder}/groups.npz", ["victims", "churned"])
    test = read_npz(f"{folder}/split.npz", ["test"])["test"][0]
    victims = set(groups["victims"][0] or groups["churned"][0])
    others = [i for i in test if i not in victims]
    with tempfile.TemporaryDirectory() as place:
        out = f"{place}/out.npz"
        command = [program, "recover", "--model-file", f"{folder}/model", "--current", f"{folder}/current.npz",
                   "--split", f"{folder}/split.npz", "--method", method, "-o", out, "--json", "--seed", str(seed)]
        if previous:
            command += ["--previous", f"{folder}/previous.npz"]
        done = subprocess.run(command + more, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip() or done.stdout.strip()
        said, made = json.loads(done.stdout), read_npz(out, ["labels", "posterior", "perturbed"])
    label, perturbed = made["labels"][0], made["perturbed"][0]
    flat, (_, k) = made["posterior"]
    share = lambda nodes: 100 * sum(label[i] == truth[i] for i in nodes) / max(len(nodes), 1)
    return dict(folder=os.path.basename(folder.rstrip("/")), method=method, history=previous,
                victims=share(victims), others=share(others),
                ece=calibration_error([flat[i * k:(i + 1) * k] for i in test], [truth[i] for i in test]),
                auc=auc([perturbed[i] for i in test], [i in victims for i in test]), seconds=said["seconds"],
                kind=said.get("kind"), share=said.get("share")), None


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folders", nargs="+")
    parse.add_argument("--graphss", default="build/graphss")
    parse.add_argument("--methods", default="none,keep-last,retrain,mlp,label-propagation,graphss")
    parse.add_argument("--previous", action="store_true", help="give the previous snapshot")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--threads", type=int, help="of the program")
    parse.add_argument("--json", help="append rows as JSON lines here")
    args = parse.parse_args()
    more = ["--threads", str(args.threads)] if args.threads else []
    print(f"{'folder':22} {'method':18} {'victims':>8} {'others':>8} {'ece':>6} {'auc':>6} {'s':>7}")
    for folder in args.folders:
        for method in args.methods.split(","):
            row, error = run(args.graphss, folder, method, args.previous or method == "keep-last", args.seed, more)
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
