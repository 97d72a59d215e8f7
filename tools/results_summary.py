"""results/summary.csv: one line for each cell. What a line leaves empty of recipe, dataset, model,
setting, point and commit is that of the line above; "-" is none. Not a program; tools/results uses
it."""
import csv
import io
import json
import statistics

COLUMNS = "recipe dataset model setting point method n commit victims others more".split()
CELL = "what mode setting dataset model method train seed set parameter value task".split()
LABELS = ["victims", "others"]
MEASURES = {  # of each kind of experiment
    "datasets": ["nodes", "edges", "features", "classes", "homophily"],
    "defence": LABELS, "attackers": LABELS, "budget": LABELS, "noise": LABELS,
    "ablation": LABELS, "parameters": LABELS + ["validation"], "confusion": LABELS,
    "alert": ["auc", "node_auc", "false_alarms", "detections"],
    "calibration": ["ece", "false_alarms"],
    "runtime": ["cpu_seconds"], "scale": ["cpu_seconds", "peak_memory"],
}


def records(folder):
    """Lines of both modes; of two lines of the same cell the later counts."""
    cells = {}
    for mode in ("honest", "paper"):
        with open(folder / mode / "records.jsonl", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                cells[tuple(str(record.get(name)) for name in CELL)] = record
    return [record for record in cells.values() if "metrics" in record]


def place(record):
    """The columns before `n`. Runs that differ by seed or set of victims have the same. What a
    recipe fixes (mode, attacker, budget) is in the recipe; docs/records.md says where."""
    repeat = record["repeat"]
    parameter, value = record.get("parameter"), record.get("value")
    if isinstance(value, float):
        value = f"{value:g}"
    if record["what"] == "runtime":
        parameter, value = "task", record["task"]
    method = record.get("method", "")
    if record.get("train") == "retrain" and method != "retrain":
        method += " retrained"
    return (repeat["recipe"], record["dataset"], record.get("model", ""),
            record.get("setting", ""), f"{parameter}={value}" if parameter else "", method)


PLAIN = ["nodes", "edges", "features", "classes", "homophily", "cpu_seconds"]


def number(measure, value):
    """Fractions in per cent, memory in MB."""
    if measure == "peak_memory":
        return f"{value / 1e6:.0f}"
    if measure not in PLAIN:
        return f"{100 * value:.1f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def summary(measure, values, runs):
    """81.2±1.3: mean and standard deviation, then the number of runs if it is another."""
    spread = f"±{number(measure, statistics.stdev(values))}" if len(values) > 1 else ""
    own = f" ({len(values)})" if len(values) != runs else ""
    return f"{number(measure, statistics.mean(values))}{spread}{own}"


def table(folder):
    found = {}
    for record in records(folder):
        for measure in MEASURES[record["what"]]:
            value = record["metrics"].get(measure)
            if value is not None:
                runs = found.setdefault(place(record), ({}, set()))
                runs[0].setdefault(measure, []).append(value)
                runs[1].add(record["repeat"].get("commit", "")[:7])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    above = [None] * 6
    for key in sorted(found):
        runs, commits = found[key]
        most = max(map(len, runs.values()))
        cell = {measure: summary(measure, runs[measure], most) for measure in sorted(runs)}
        labels = [cell.pop(measure, "") for measure in LABELS]
        more = " ".join(f"{measure} {value}" for measure, value in cell.items())
        commit = " ".join(sorted(commits - {""}))
        said = [value or "-" for value in (*key[:5], commit)]
        shown = ["" if new == old else new for new, old in zip(said, above)]
        above = said
        writer.writerow([*shown[:5], key[5], most, shown[5], *labels, more])
    return text.getvalue()
