#!/usr/bin/env python3
"""The tables of docs/alert.md from the rows of build/results/alert.

    experiments/alert_figures.py [--into docs/alert.md] build/results/alert

Prints them, or puts them between the two marks of the page. Needs nothing but Python.
"""
import argparse, json, re, sys

NAMES = dict(cora="Cora", citeseer="Citeseer", amazon_photo="Photo", pubmed="Pubmed", coauthor_cs="Coauthor CS")
KINDS = dict(links="links", features="features", dice="dice", prbcd="prbcd", linksMixed="links, mixed churn", featuresMixed="features, mixed churn",
             diceMixed="dice, mixed churn", prbcdMixed="prbcd, mixed churn", random="random", copiedA="copied, A", copiedB="copied, B",
             copiedC="copied, C", copiedD="copied, D")
SETTINGS = dict(gcn="", sgc=", SGC", sage=", SAGE", growing=", growing", linkChurn=", churn of links", wordChurn=", churn of words", still=", nothing changed")
# part of the rows, with history, key, least value
GOALS = [("20", True, "auc_benign", 0.99, "groups, 20 % hit, history"), ("05", True, "auc_benign", 0.95, "groups, 5 % hit, history"),
         ("20", False, "auc_benign", 0.90, "groups, 20 % hit, no history"), ("05", False, "auc_benign", 0.90, "groups, 5 % hit, no history"),
         ("20", True, "node_auc", 0.95, "nodes, 20 % hit, history"), ("05", True, "node_auc", 0.95, "nodes, 5 % hit, history"),
         ("20", False, "node_auc", 0.85, "nodes, 20 % hit, no history"), ("05", False, "node_auc", 0.85, "nodes, 5 % hit, no history")]
MARKS = "<!-- figures: experiments/alert_figures.py -->", "<!-- end of figures -->"


def read(path):
    """Rows with dataset, setting, share and seed told by the folder's name."""
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    for r in rows:
        r["data"], r["setting"], r["part"], r["seed"] = re.fullmatch(r"(.*)_([a-zA-Z]+)(05|20)?_(\d+)", r["folder"]).groups()
    return rows


def pick(rows, **wanted):
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


def mean(rows, key):
    return sum(r[key] for r in rows) / len(rows)


def name(data, setting):
    return NAMES[data] + SETTINGS[setting]


def cells(rows):
    """(data, setting) in the order of the tables."""
    return [(d, s) for d in NAMES for s in SETTINGS if pick(rows, data=d, setting=s)]


def seeds(rows):
    found = sorted({int(r["seed"]) for r in rows})
    return f"{found[0]} to {found[-1]}" if len(found) > 1 else str(found[0])


def least(rows, key):
    text = f"{mean(rows, key):.3f}"
    return text if len(rows) == 1 else f"{text} ({min(r[key] for r in rows):.3f})"


def most(rows, key):
    text = f"{100 * mean(rows, key):.1f}"
    return text if len(rows) == 1 else f"{text} ({100 * max(r[key] for r in rows):.0f})"


def table(head, lines):
    return ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(l) + " |" for l in lines] + [""]


def attacked(hit, part):
    head = ["", "seeds", "history: groups", "nodes", "alerts", "no history: groups", "nodes", "alerts"]
    rows, lines = pick(hit, part=part), []
    for d, s in cells(rows):
        line = []
        for history in (True, False):
            own = pick(rows, data=d, setting=s, history=history)
            line += [least(own, "auc_benign"), least(own, "node_auc"), f"{100 * mean(own, 'power'):.0f} %"]
        lines.append([name(d, s), seeds(pick(rows, data=d, setting=s))] + line)
    return table(head, lines)


def rates(parts):
    """Alerts of groups without a victim: mean, largest of a snapshot. parts: (title, rows)"""
    head = ["", "snapshots", "history: benign groups", "clean groups", "no history: benign groups", "clean groups"]
    line = lambda title, own: [title, str(len(own) // 2)] + [most(pick(own, history=h), k) for h in (True, False) for k in ("false_benign", "false_clean")]
    return table(head, [line(title, own) for title, own in parts])


def whole(hit, calm):
    head = ["snapshots", "history: alerts", "named rightly", "share found", "no history: alerts", "named rightly", "share found"]
    lines = []
    for title, rows, true in (("5 % hit", pick(hit, part="05"), "2.5"), ("20 % hit", pick(hit, part="20"), "10"), ("no attack", calm, "0")):
        line = []
        for h in (True, False):
            own = pick(rows, history=h)
            named = sum(r["kind"] == "links and features" for r in own)
            share = sorted(100 * r["share"] for r in own)
            line += [f"{sum(r['alert'] for r in own)} of {len(own)}", f"{named}" if true != "0" else "-", f"{share[0]:.1f} to {share[-1]:.1f} %"]
        lines.append([f"{title}, so {true} % of the nodes" if true != "0" else title] + line)
    return table(head, lines)


def other_kinds(kinds):
    head, lines = [""], []
    found = [d for d in NAMES if pick(kinds, data=d)]
    for d in found:
        head += [f"{NAMES[d]}, history", "no history"]
    for s in KINDS:
        line = []
        for d in found:
            for h in (True, False):
                own = pick(kinds, data=d, setting=s, history=h)
                line.append(f"{mean(own, 'auc_benign'):.2f} / {mean(own, 'node_auc'):.2f} / {100 * mean(own, 'power'):.0f} / {100 * mean(own, 'false_benign'):.0f}" if own else "-")
        lines.append([KINDS[s]] + line)
    return table(head, lines)


def names(kinds):
    """What whole snapshots are said to be, how often."""
    lines = []
    for s in KINDS:
        line = [KINDS[s]]
        for h in (True, False):
            found = [r["kind"] if r["alert"] else "no alert" for r in pick(kinds, setting=s, history=h)]
            line.append(", ".join(f"{n} {found.count(n)}" for n in sorted(set(found), key=lambda n: (-found.count(n), n))) or "-")
        lines.append(line)
    return table(["", "history", "no history"], lines)


def goals(hit, calm, kinds):
    head, lines = ["wanted", "", "met", "not met by"], []
    for part, history, key, limit, title in GOALS:
        rows = pick(hit, part=part, history=history)
        below = [f"{name(r['data'], r['setting'])} {r['seed']}: {r[key]:.3f}" for r in sorted(rows, key=lambda r: r[key]) if r[key] < limit]
        lines.append([f"AUC of {title}", f">= {limit:.2f}", f"{len(rows) - len(below)} of {len(rows)}", "; ".join(below) or "none"])
    calm = [dict(r, false_all=(r["false_benign"] + r["false_clean"]) / 2) for r in calm]
    for history in (True, False):
        for key, sort in (("false_all", "all"), ("false_benign", "benign"), ("false_clean", "clean")):
            own = [pick(calm, data=d, setting=s, history=history) for d, s in cells(calm)]
            out = [f"{name(o[0]['data'], o[0]['setting'])}: {100 * mean(o, key):.1f} %" for o in own if not 0.03 <= mean(o, key) <= 0.07]
            lines.append([f"false alarms, {sort} groups, {'history' if history else 'no history'}", "3 to 7 %", f"{len(own) - len(out)} of {len(own)}", "; ".join(out) or "none"])
    for history in (True, False):
        for key, what, limit in (("auc_benign", "groups", 0.99 if history else 0.90), ("node_auc", "nodes", 0.95 if history else 0.85)):
            own = [pick(kinds, data=d, setting=s, history=history) for d in NAMES for s in KINDS if pick(kinds, data=d, setting=s)]
            out = [f"{NAMES[o[0]['data']]} {KINDS[o[0]['setting']]}: {mean(o, key):.3f}" for o in own if mean(o, key) < limit]
            lines.append([f"other kinds, AUC of {what}, {'history' if history else 'no history'}", f">= {limit:.2f}", f"{len(own) - len(out)} of {len(own)}", "; ".join(out) or "none"])
    return table(head, lines)


def cost(path):
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    times = lambda r, key: f"{r[key]:.2f} ({r[key] / r['predict']:.1f})"
    return table(["", "`predict`", "`alert`, no history", "history"],
                 [[NAMES[re.fullmatch(r"(.*)_cost_\d+", r["folder"])[1]], f"{r['predict']:.2f}", times(r, "now"), times(r, "past")] for r in rows])


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folder")
    parse.add_argument("--into", help="the page to put them into")
    args = parse.parse_args()
    hit, calm, kinds = (read(f"{args.folder}/{n}.jsonl") for n in ("hit", "false_alarms", "kinds"))
    text = ["### 5 % of a group hit"] + attacked(hit, "05") + ["### 20 % of a group hit"] + attacked(hit, "20")
    text += ["### False alarms, no attack, in %"] + rates([(name(d, s), pick(calm, data=d, setting=s)) for d, s in cells(calm)] + [("all", calm)])
    text += ["### Alerts of spared groups where others were attacked, all classifiers and settings, in %"] + rates(
        [(f"{NAMES[d]}, {title}", pick(hit, data=d, part=part)) for part, title in (("05", "5 % hit"), ("20", "20 % hit")) for d in NAMES])
    text += ["### Whole snapshots"] + whole(hit, calm)
    text += ["### Other kinds of attack, 20 % hit: groups / nodes / alerts of attacked / of benign groups in %"] + other_kinds(kinds)
    text += ["### What whole snapshots of these are said to be, all seeds and both datasets"] + names(kinds)
    text += ["### Where it falls short"] + goals(hit, calm, kinds)
    text += ["### Cost: processor time of the whole command in seconds (in units of `predict`), one thread"] + cost(f"{args.folder}/cost.jsonl")
    text = "\n".join(text).replace("\n\n\n", "\n\n").rstrip() + "\n"
    if not args.into:
        print(text, end="")
        return 0
    with open(args.into) as file:
        page = file.read()
    before, rest = page.split(MARKS[0])
    with open(args.into, "w") as file:
        file.write(f"{before}{MARKS[0]}\n\n{text}\n{MARKS[1]}{rest.split(MARKS[1])[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
