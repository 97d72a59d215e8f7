#!/usr/bin/env python3
"""The table of docs/own_models.md from what torch_models.py printed: means over the folders of a dataset.

    experiments/torch_table.py rows.jsonl ...       # to standard output
    experiments/torch_table.py --keep rows.jsonl    # the rows become results/torch_models.jsonl.xz and the table of the page
    experiments/torch_table.py --check              # is the table of the page that of these rows? A test asks this"""
import collections
import json
import lzma
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS, PAGE = ROOT / "results" / "torch_models.jsonl.xz", ROOT / "docs" / "own_models.md"
BEGIN, END = "<!-- torch_models: begin -->\n", "<!-- torch_models: end -->\n"
COLUMNS = {
    "clean": "before", "attacked": "hit", "new": "new", "seen": "seen", "auc_new": "AUC new", "auc_seen": "AUC seen", "alarms": "alarms",
    "agreement": "agree",
}  # fmt: skip
WAYS = ("own", "weights", "callable", "answers")


def text(name, values):
    mean = sum(values) / len(values)
    if name.startswith("auc"):
        return f"{mean:.3f}"
    return f"{mean * (100 if name in ('alarms', 'agreement') else 1):.1f}"


def rows_of(file):
    with (lzma.open if str(file).endswith(".xz") else open)(file, "rt", encoding="utf-8") as lines:
        yield from lines


def table(files):
    found = collections.defaultdict(list)
    for row in (json.loads(line) for f in files for line in rows_of(f)):
        found[row["folder"].split("-")[0], row["model"], row["as"]].append(row)
    keys = sorted(found, key=lambda k: (k[0], k[1], WAYS.index(k[2])))
    names = [n for n in COLUMNS if all(n in r for k in keys for r in found[k])]
    head = ["data", "model", "as", *(COLUMNS[n] for n in names), "n", "false"]
    out = ["| " + " | ".join(head) + " |", "|---|---|---|" + "---:|" * (len(head) - 3)]
    for key in keys:
        group = found[key]
        cells = [text(n, [r[n] for r in group]) for n in names]
        out.append("| " + " | ".join([key[0].replace("amazon_", ""), *key[1:], *cells, str(len(group)), str(sum(r["p_clean"] <= 0.05 for r in group))]) + " |")
    return "\n".join(out) + "\n"


def page():
    now = PAGE.read_text()
    before, rest = now.split(BEGIN)
    made = before + BEGIN + table([ROWS]) + END + rest.split(END)[1]
    return now, made


if __name__ == "__main__":
    if sys.argv[1:2] == ["--keep"]:
        ROWS.write_bytes(lzma.compress(pathlib.Path(sys.argv[2]).read_bytes(), preset=9 | lzma.PRESET_EXTREME))
        PAGE.write_text(page()[1])
    elif "--check" in sys.argv:
        now, made = page()
        if now != made:
            sys.exit(f"{PAGE.name}: its table is not that of {ROWS.name}: run experiments/torch_table.py --keep with its rows")
    else:
        print(table(sys.argv[1:]), end="")
