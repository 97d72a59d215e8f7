#!/usr/bin/env python3
"""`recover` in the field: attackers whose code is not ours, who know what the model predicts.

    GRAPHSS_ATTACKERS=DIR experiments/field.py --graphss build/graphss --datasets cora,citeseer --seeds 11,12 --kinds choose

DIR holds `common.py` and `recipes.py` (a World and an Attacker; never simulated by the defence). A cell is a dataset, a kind of attack
and a setting: new (no past), seen (a clean past with the same nodes), growing (a clean past that lacks some links). Printed for each,
in % of the victims: undefended, keep-last where there is a past, rivals where asked for, ours, the floor max(undefended, keep-last)
that ours is to hold, how much of the damage is undone, mean largest posterior minus accuracy, how many answers of 0.9 and more are
right, the deviation over the seeds of `recover`, and the others undefended and recovered. Attacked snapshots and rivals' figures are
kept in --cache; models are made again for each build of the program, with the same classifier. Needs numpy and scipy."""
import argparse
import hashlib
import json
import os
import subprocess
import sys

import numpy as np

CHOOSE = ("loud+loud2", "swap+swap11", "none+rand2", "donor+none", "top100+none", "swap+none", "donor+rand2", "nettack")
CHECK = ("top100+rand2", "donor+donor", "loud+none", "none+swap11", "none+loud2", "swap+rand2", "none+donor", "loud+rand2", "prbcd")
RIVALS = ("label-propagation", "gnnguard", "jaccard", "advtrain")


class Field:
    """A world of the attackers', its attacked snapshots and what each method makes of them."""

    def __init__(self, own, recipes, name, seed, setting):
        self.own, self.recipes, self.setting = own, recipes, setting
        self.world = recipes.World(name, seed, "growing" if setting == "growing" else "new")
        self.large = name in ("amazon_photo", "coauthor_cs")
        self.past = {"new": None, "seen": self.world.past, "growing": self.world.dir + "/previous.npz"}[setting]
        self.model = f"{self.world.dir}/model-{own.build}"
        if not os.path.exists(self.model):
            place = f"{own.cache}/retrained-{os.getpid()}"
            recipes.run("--seed", seed, "snapshots", name, "--setting", "growing" if setting == "growing" else "new", "--links", 0,
                        "--features", 0, "--force", "-o", place)
            os.rename(place + "/model", self.model)

    def attacked(self, kind):
        w, path = self.world, f"{self.world.dir}/{kind}.npz"
        if kind == "clean":
            return w.past
        if os.path.exists(path):
            return path
        links, words = (5, 50) if self.large else (2, 20)
        if kind in ("nettack", "prbcd"):
            names = w.dir + "/victims.txt"
            with open(names, "w") as file:
                file.writelines(f"{w.clean.names[v]}\n" for v in w.victims)
            flips = w.dir + "/flips.tsv"
            self.recipes.run("--seed", w.seed, "attack", w.past, "--model-file", w.model, "--split", w.dir + "/split.npz", "--method", kind,
                             "--links", links if kind == "nettack" else 5, "--features", words if kind == "nettack" else 0,
                             "--knows", "predictions", "--victim-file", names, "-o", flips)
            self.recipes.run("apply", w.past, "--flips", flips, "-o", path)
            return path
        told, joined = kind.split("+")
        attacker = self.recipes.Attacker(w, 5 if told == "none" else links, words, w.seed)
        return attacker.attack(told, joined).save(path)

    def recover(self, path, method, past=None, seed=1):
        w, out = self.world, f"{self.own.cache}/out-{os.getpid()}.npz"
        self.recipes.run("--seed", seed, "recover", "--model-file", self.model if method == "graphss" else w.model, "--split",
                         w.dir + "/split.npz", "--current", path, "--method", method, "-o", out, *(["--previous", past] if past else []))
        with np.load(out) as z:
            return {k: z[k] for k in ("labels", "posterior", "perturbed") if k in z.files}

    def right(self, found, nodes):
        return 100 * float((found["labels"][nodes] == self.world.y[nodes]).mean())

    def rival(self, kind, path, method):
        """Victims and others right, kept; keep-last has the past."""
        file = f"{self.world.dir}/{kind}.{self.setting if method == 'keep-last' else 'now'}.{method}.json"
        if not os.path.exists(file):
            found = self.recover(path, method, self.past if method == "keep-last" else None)
            with open(file, "w") as out:
                json.dump([self.right(found, self.world.victims), self.right(found, self.world.rest)], out)
        with open(file) as text:
            return json.load(text)

    def cell(self, kind):
        path, w = self.attacked(kind), self.world
        row = {"data": w.name, "seed": w.seed, "setting": self.setting, "kind": kind}
        row["none"], row["none_others"] = self.rival(kind, path, "none")
        row["clean"] = self.rival("clean", w.past, "none")[0]
        if self.past:
            row["keep-last"], row["keep_others"] = self.rival(kind, path, "keep-last")
        for method in self.own.rivals:
            row[method] = self.rival(kind, path, method)[0]
        found = [self.recover(path, "graphss", self.past, s) for s in range(1, self.own.repeat + 1)]
        ours = [self.right(f, w.victims) for f in found]
        row["ours"], row["spread"] = float(np.mean(ours)), float(np.std(ours))
        row["others"] = self.right(found[0], w.rest)
        row["floor"] = max(row["none"], row.get("keep-last", 0))
        sure = found[0]["posterior"].max(1)
        hit = found[0]["labels"] == w.y
        row["too_sure"] = float(sure[w.victims].mean()) - row["ours"] / 100
        firm = w.test[sure[w.test] >= 0.9]
        row["right_at_90"] = 100 * float(hit[firm].mean()) if len(firm) else None
        row["found"] = 100 * float((found[0]["perturbed"][w.victims] > 0.5).mean())
        row["false"] = 100 * float((found[0]["perturbed"][w.rest] > 0.5).mean())
        return row


def undone(rows):
    """Share of the damage that is undone, of all cells together."""
    damage = sum(r["clean"] - r["none"] for r in rows)
    return 100 * sum(r["ours"] - r["none"] for r in rows) / damage if damage > 0 else float("nan")


def table(rows, own):
    columns = ["clean", "none", "keep-last", *own.rivals, "ours", "too_sure", "right_at_90", "spread", "found", "false", "none_others", "others"]
    columns = [c for c in columns if any(r.get(c) is not None for r in rows)]
    lines = ["| cell | " + " | ".join(columns) + " | to the floor |", "|---|" + "---:|" * (len(columns) + 1)]

    def line(name, part):
        text = []
        for c in columns:
            values = [r[c] for r in part if r.get(c) is not None]
            text.append(f"{np.mean(values):.2f}" if values and c == "too_sure" else f"{np.mean(values):.1f}" if values else "")
        gap = np.mean([r["ours"] - r["floor"] for r in part])
        return f"| {name} | " + " | ".join(text) + f" | {gap:+.1f} |"

    groups = sorted({(r["data"], r["setting"]) for r in rows}, key=lambda g: (g[1], g[0]))
    for data, setting in groups:
        part = [r for r in rows if (r["data"], r["setting"]) == (data, setting)]
        for kind in dict.fromkeys(r["kind"] for r in part):
            lines.append(line(f"{data} {setting} {kind}", [r for r in part if r["kind"] == kind]))
        lines.append(line(f"**{data} {setting} mean**, {undone(part):.0f} % undone", part))
    gaps = [r["ours"] - r["floor"] for r in rows]
    worst = rows[int(np.argmin(gaps))]
    lines.append("")
    lines.append(f"Floor held within a point in {100 * np.mean(np.array(gaps) >= -1):.0f} % of {len(rows)} cells; worst {min(gaps):+.1f}: "
                 f"{worst['data']} {worst['seed']} {worst['setting']} {worst['kind']}.")
    if own.rivals:
        best = [max(r[m] for m in own.rivals) for r in rows]
        lines.append(f"Above the best of {', '.join(own.rivals)} in {100 * np.mean([r['ours'] > b for r, b in zip(rows, best)]):.0f} % "
                     f"of the cells; in the mean {np.mean([r['ours'] for r in rows]):.1f} against {np.mean(best):.1f}.")
    return "\n".join(lines)


def lines_of(row, own):
    """The cell as records that `graphss report` reads (docs/records.md), a line for each method."""
    shares = {"victims_before": row["clean"], "victims_attacked": row["none"], "others_attacked": row["none_others"]}
    methods = {"graphss": (row["ours"], row["others"]), "none": (row["none"], row["none_others"])}
    if "keep-last" in row:
        methods["keep-last"] = (row["keep-last"], row["keep_others"])
    methods.update({m: (row[m], None) for m in own.rivals})
    for method, (victims, others) in methods.items():
        metrics = {**shares, "victims": victims, "others": others}
        metrics = {name: value / 100 for name, value in metrics.items() if value is not None}
        if method == "graphss":
            metrics["victims_seed_sd"] = row["spread"] / 100
        yield {"format": 1, "what": "attackers", "mode": "honest", "setting": row["setting"], "dataset": row["data"], "model": "gcn",
               "method": method, "train": "none" if method == "label-propagation" else "evasion", "seed": row["seed"], "set": 1,
               "parameter": "attacker", "value": row["kind"], "who": "rehearsed" if row["kind"] == "nettack" else
               "unrehearsed" if row["kind"] == "prbcd" else "foreign", "metrics": metrics,
               "repeat": {"recipe": "field", "commit": own.commit, "options": {}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", required=True)
    parser.add_argument("--attackers", default=os.environ.get("GRAPHSS_ATTACKERS"), help="folder of their code (GRAPHSS_ATTACKERS)")
    parser.add_argument("--cache", default="build/field", help="where snapshots and rivals' figures are kept")
    parser.add_argument("--datasets", default="cora,citeseer")
    parser.add_argument("--seeds", default="11")
    parser.add_argument("--kinds", default="choose", help="choose, check, all, clean, or kinds by name")
    parser.add_argument("--settings", default="new")
    parser.add_argument("--rivals", default="", help="methods to compare with; all: " + ", ".join(RIVALS))
    parser.add_argument("--repeat", type=int, default=1, help="seeds of recover")
    parser.add_argument("--records", help="append the cells to this file, as records that `graphss report` reads")
    parser.add_argument("--json", help="write a line for each cell here")
    own = parser.parse_args()
    if not own.attackers:
        parser.error("--attackers or GRAPHSS_ATTACKERS is wanted: a folder with common.py and recipes.py")
    own.graphss, own.cache = os.path.abspath(own.graphss), os.path.abspath(own.cache)
    own.rivals = list(RIVALS) if own.rivals == "all" else [m for m in own.rivals.split(",") if m]
    own.build = hashlib.sha256(open(own.graphss, "rb").read()).hexdigest()[:12]
    os.makedirs(own.cache, exist_ok=True)
    os.environ.update(GRAPHSS=own.graphss, ATTACKERS_TMP=own.cache)
    sys.path.insert(0, own.attackers)
    import recipes
    named = {"choose": CHOOSE, "check": CHECK, "all": CHOOSE + CHECK}
    kinds = [kind for word in own.kinds.split(",") for kind in named.get(word, (word,))]
    rows = []
    for name in own.datasets.split(","):
        for seed in own.seeds.split(","):
            for setting in own.settings.split(","):
                field = Field(own, recipes, name, int(seed), setting)
                for kind in kinds:
                    rows.append(field.cell(kind))
                    print(f"{name} {seed} {setting} {kind}: {rows[-1]['none']:.1f} -> {rows[-1]['ours']:.1f}", file=sys.stderr, flush=True)
    if own.records:
        own.commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        with open(own.records, "a") as out:
            out.writelines(json.dumps(line) + "\n" for row in rows for line in lines_of(row, own))
    if own.json:
        with open(own.json, "w") as out:
            out.writelines(json.dumps(r) + "\n" for r in rows)
    print(table(rows, own))


if __name__ == "__main__":
    main()
