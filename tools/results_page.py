"""docs/results.md and the table in README.md, from what `graphss report` wrote; and the sections of
the full page on training and attack. Not a program; tools/results uses it."""
import csv
import re
import statistics
import textwrap

WIDTH = 98
FAILURES = 10  # shown; the full page has all
DATASETS = ["Cora", "Citeseer", "Pubmed", "Amazon Photo", "Coauthor CS"]
PROTOCOL = {"honest": "ours", "paper": "the paper's"}
SETTINGS = {"seen": "seen before", "new": "new", "growing": "growing"}
UNREHEARSED = ("unrehearsed", "foreign", "adaptive")
COUNTS = ("floor held",)
PLOTS = {  # file in docs/img: plot of the report, caption
    "defence-new-cora.svg": ("fig-defence-honest-new-gcn-1.svg",
                             "Victims right on Cora, new with the attack, all methods"),
    "scale.svg": ("fig-scale-honest-seen-nodes-cpu_seconds-1.svg",
                  "Processor seconds against the number of nodes"),
}


def wrap(text, first="", rest=""):
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest,
                         break_long_words=False, break_on_hyphens=False) + "\n"


def table(head, rows):
    """Markdown; columns whose head ends in a blank are text, the others numbers."""
    lines = [[cell.strip() for cell in head]] + [list(map(str, row)) for row in rows]
    marks = "|".join("---" if cell.endswith(" ") else "---:" for cell in head)
    text = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([text[0], f"|{marks}|", *text[1:]]) + "\n"


def signed(value):
    return f"{value:+.1f}".replace("-", "−")


def place(row):
    """"honest, new" as the reader sees it."""
    mode, setting = row.split(", ")
    return f"{PROTOCOL[mode]}, {SETTINGS[setting]}"


class Page:
    def __init__(self, folder):
        self.folder = folder
        self.tables = {}  # table: row: column: (value, sd, n, text)
        with open(folder / "report.csv", newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                row = self.tables.setdefault(line["table"], {}).setdefault(line["row"], {})
                row[line["column"]] = line

    def value(self, name, row, column):
        text = self.tables[name][row][column]["value"]
        return float(text) if text else None

    def text(self, name, row, column):
        return self.tables[name][row][column]["text"]

    def percent(self, name, row, column):
        """"87.3 ± 1.6", without the deviation where there is one run."""
        cell = self.tables[name][row][column]
        if not cell["value"]:
            return "–"
        spread = f" ± {float(cell['sd']):.1f}" if cell["sd"] else ""
        return f"{float(cell['value']):.1f}{spread}"

    def plots(self):
        return {name: source for name, (source, _) in PLOTS.items()}

    def answers(self):
        """The three answers at the top of the report, each one line of it."""
        lines = (self.folder / "report.md").read_text().splitlines()
        start = lines.index("## In short")
        found = [line for line in lines[start:start + 8] if line.startswith("* **")]
        if len(found) != 3:
            raise SystemExit("results: the report does not begin with three answers")
        return "".join(wrap(line, rest="  ") for line in found)

    def defence(self):
        name = "found-defence"
        columns = ["before", "undefended", "best other", "GraphSS"]
        return table(
            ["protocol, victims ", "cells", *(f"{c}, %" for c in columns), "others"],
            [[place(row), f"{self.value(name, row, 'cells'):.0f}",
              *(f"{self.value(name, row, c):.1f}" for c in columns),
              signed(self.value(name, row, "others"))] for row in self.tables[name]])

    def datasets(self):
        rows = []
        for setting in ("seen", "new"):
            name = f"defence-honest-{setting}-gcn"
            ours = ["before the attack", "undefended", "GraphSS"]
            for data in DATASETS:
                others = {row: self.value(name, row, data) for row in self.tables[name]
                          if row not in ours}
                best = max((row for row in others if others[row] is not None), key=others.get)
                before, none, graphss = (
                    self.percent(name, row, data) if data in self.tables[name].get(row, {})
                    else "–" for row in ours)
                rows.append([SETTINGS[setting], data, before, none,
                             f"{self.percent(name, best, data)} ({best})", graphss])
        return table(["victims ", "dataset ", "before, %", "undefended, %", "best other, %",
                      "GraphSS, %"], rows)

    def attackers(self):
        """Each attacker in setting new: undefended and GraphSS on each dataset that was run."""
        names = [name for name in (f"attackers-honest-new-{data}-gcn"
                                   for data in ("cora", "citeseer", "amazon_photo"))
                 if name in self.tables]
        head = [f"{name.split('-')[3].replace('amazon_', '').capitalize()}: undefended, %"
                for name in names]
        rows = []
        for row in self.tables[names[0]]:
            cells = []
            for name in names:
                there = row in self.tables[name]
                cells += [self.percent(name, row, column) if there else "–"
                          for column in ("undefended", "GraphSS")]
            rows.append([row, self.text(names[0], row, "who"), *cells])
        return table(["attacker ", "who ", *(c for h in head for c in (h, "GraphSS, %"))], rows)

    def who(self):
        """Attackers by who they are: the honest rows of the table of findings."""
        name, rows = "found-attackers", []
        for row in self.tables[name]:
            setting, who = row.split(" / ")
            numbers = [f"{self.value(name, row, c):.1f}" for c in ("undefended", "best other",
                                                                   "GraphSS")]
            undone = self.value(name, row, "undone")
            rows.append([SETTINGS[setting.split(", ")[1]], who,
                         f"{self.value(name, row, 'cells'):.0f}", *numbers,
                         "–" if undone is None else f"{undone:.0f}",
                         f"{self.value(name, row, 'floor held'):.0f}",
                         signed(self.value(name, row, "worst")),
                         self.text(name, row, "worst in")])
        return table(["victims ", "who ", "cells", "undefended", "best other", "GraphSS", "undone",
                      "floor", "worst", "worst in "], rows)

    def field(self, setting, column):
        """Mean over the cells of attackers that GraphSS does not rehearse; None: none were run."""
        name, cells, total = "found-attackers", 0, 0
        for who in UNREHEARSED:
            row = f"honest, {setting} / {who}"
            if row in self.tables[name]:
                n = self.value(name, row, "cells")
                value = self.value(name, row, column)
                cells += n
                total += value if column in COUNTS else n * value
        return (total if column in COUNTS else total / cells, cells) if cells else None

    def alert(self):
        name = "found-alert"
        rows = []
        for row in self.tables[name]:
            rate = self.value(name, row, "false alarms")
            rows.append([place(row), f"{self.value(name, row, 'cells'):.0f}",
                         self.text(name, row, "AUC, groups"), self.text(name, row, "AUC, nodes"),
                         f"{self.value(name, row, 'clean groups'):.0f}",
                         "–" if rate is None else f"{rate:.1f}"])
        return table(["protocol, victims ", "cells", "AUC, groups", "AUC, nodes", "clean groups",
                      "false alarms, %"], rows)

    def scale(self):
        seconds, memory = (f"scale-honest-seen-nodes-{m}" for m in ("cpu_seconds", "peak_memory"))
        rows = []
        for nodes in self.tables[seconds]["GCN / GraphSS"]:
            if nodes == "n" or self.value(seconds, "GCN / GraphSS", nodes) is None:
                continue
            rows.append([f"{int(nodes):,}"] +
                        [text.format(self.value(name, f"GCN / {method}", nodes))
                         for method in ("GraphSS", "alert")
                         for name, text in ((seconds, "{:.1f}"), (memory, "{:.0f}"))])
        return table(["nodes", "recover, s", "recover, MB", "alert, s", "alert, MB"], rows)

    def ablation(self):
        """What experiments/ablation.py wrote."""
        with open(self.folder / "ablation.csv", newline="", encoding="utf-8") as file:
            rows = [[r["part"], r["cells"], r["victims"], r["others"], r["worst"].replace("-", "−")]
                    for r in csv.DictReader(file)]
        return table(["part ", "cells", "victims, %", "others, %", "worst"], rows)

    def failures(self):
        name, rows = "failures", []
        for row in list(self.tables.get(name, {}))[:FAILURES]:
            where, part, attack, data, model = row.split(" / ")
            rows.append([place(where), "Nettack" if part == "Defence" else attack, data, model,
                         self.text(name, row, "better"), f"{self.value(name, row, 'runs'):.0f}",
                         signed(self.value(name, row, "difference"))])
        return table(["protocol, victims ", "attack ", "dataset ", "classifier ", "better ",
                      "runs", "points"], rows)

    def pictures(self):
        return "".join(f"![{caption}](img/{name})\n" for name, (_, caption) in PLOTS.items())

    def short(self):
        parts = dict(answers=self.answers(), defence=self.defence(), datasets=self.datasets(),
                     attackers=self.attackers(), who=self.who(), alert=self.alert(), scale=self.scale(),
                     ablation=self.ablation(),
                     failures=self.failures(), pictures=self.pictures(), shown=FAILURES,
                     all=len(self.tables.get("failures", {})))
        return SHORT.format(**parts)

    def headline(self):
        """The figures for README.md: of attackers that GraphSS does not rehearse."""
        rows, held, all_cells = [], 0, 0
        for setting, what in (("seen", "seen before the attack"), ("new", "new with the attack")):
            if not self.field(setting, "cells"):
                continue
            none, other, ours = (f"{self.field(setting, column)[0]:.1f} %"
                                 for column in ("undefended", "best other", "GraphSS"))
            rows.append([f"victims right, {what}", none, other, ours])
            count, cells = self.field(setting, "floor held")
            held, all_cells = held + count, all_cells + cells
        if all_cells:
            rows.append(["of these cells: at most a point below undefended and keep-last", "", "",
                         f"{held:.0f} of {all_cells:.0f}"])
        told = "honest, new / told"
        name, row = (("found-attackers", told) if told in self.tables["found-attackers"] else
                     ("found-defence", "honest, new"))
        if row in self.tables[name]:
            rows.append(["victims right, new, rehearsed attacker who is told the truth",
                         *(f"{self.value(name, row, column):.1f} %"
                           for column in ("undefended", "best other", "GraphSS"))])
        return table(["measured ", "undefended", "best other", "GraphSS"], rows) + "\n" + wrap(
            f"The first two rows are means over {all_cells:.0f} cells, an attacker on a dataset: "
            "attackers that GraphSS does not rehearse, who know the model's answers but not the "
            "truth. Best other is whichever other method is best in a cell. "
            "[docs/results.md](docs/results.md) has the tables, runs and failures.")


SHORT = """# Results

This page is made by `make results` from the archive of run records; nothing in it is typed by
hand. It also writes the full page, with every method, table and plot, to
`build/results/report.html`. [results/summary.csv](../results/summary.csv) has one line for each
cell: commit, and mean, standard deviation and number of runs of each measure.

*Our protocol* (`--mode honest`) gives the defender what a defender would have. *The paper's
protocol* (`--mode paper`) repeats the paper's public code, quirks included, for comparison
([method.md](method.md)). Victims are *seen before* when the defender has the previous snapshot
with them in it, *new* when they appear with the attack, *growing* when they were there with half
of their links. A cell is a dataset and a classifier. ± is one standard deviation over runs.

**Who attacks.** The tables of *attackers of many kinds* are of attackers who know what a model
predicts, most of them of code that GraphSS does not rehearse: these are the figures to go by. The
other attackers of our protocol, those of *Recovery* and the counts below among them, are Nettack,
which GraphSS rehearses, told the true class of every victim, which its push then gives away.

## In short

{answers}
## Where GraphSS fails, worst first

Cells in which another method labels more victims correctly by over a point, or other test nodes end
over a point below the undefended classifier: ours first, then the paper's, {shown} of {all}. Points:
GraphSS minus the other method, on the same victims. Under three runs, other seeds may differ.

{failures}
## Recovery

Victims labelled correctly, mean over cells. Best other: whichever other method is best in a cell.
Others: change of the other test nodes in points, against the undefended classifier.

{defence}
GCN, our protocol. The best other method stands behind its figure.

{datasets}
Attackers of many kinds, GCN, our protocol. They know the graph, the model and its answers, not the
truth, but for one who is *told*. GraphSS *rehearses* some kinds on nodes whose labels it has; the
*unrehearsed* it does not, *foreign* ones are code that is not ours, *adaptive* ones search against
GraphSS. Per cent of victims right. Undone: per cent of the damage. Floor: cells at most a
point below the better of undefended and, where there is a past, keep-last; worst: points above
that floor.

{who}
Each of them, new victims. *Nobody* and *benign churn* are no attacks: there GraphSS must not do
harm.

{attackers}
{pictures}
## What each part is worth

`experiments/ablation.py`: the method without a part, on attackers of others' code and Nettack who
know predictions, new victims, Cora and Citeseer, on splits that choices were made on. Per cent
right; worst: points between the worst cell and the undefended classifier.

{ablation}
## Alert

AUC: area under the ROC curve, lowest to highest cell. False alarms: clean groups with p at most
0.05, so 5 % is the stated rate.

{alert}
## Time and memory

Generated graphs, one run each; processor time of the method alone, and the peak of its process.

{scale}
## Run it again

    graphss fetch all
    graphss reproduce all -o DIR         # days; --datasets cora --methods graphss,none: minutes
    graphss report DIR -o report.html

[reproduce.md](reproduce.md) explains the experiments, [records.md](records.md) the records, the
archive and how to add to it.
"""


# The full page's sections on training and attack, from train.csv and attack.csv.
def share(values):
    mean = 100 * statistics.mean(values)
    spread = f" ± {100 * statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{mean:.1f}{spread}"


def seconds(values):
    return f"{statistics.mean(values):.2f}"


CHOSEN_ON = 3  # seeds up to here were looked at while the attack's surrogate was chosen
SECTIONS = {
    "train": (["gcn", "sgc", "sage", "mlp"],
              {"train": ("train_accuracy", share), "validation": ("val_accuracy", share),
               "test": ("test_accuracy", share), "training, s": ("seconds", seconds)}, """
## Training

`graphss train DATASET --model MODEL --seed SEED`. Defaults: 40 % of the nodes train, 20 % validate,
40 % test; a tenth of the training and validation labels is wrong. Accuracy in per cent, mean ±
standard deviation over seeds; train and validation against the noisy labels, test against the truth.
"""),
    "attack": (["gcn", "sgc", "sage"],
               {"victims before": ("accuracy_before", share),
                "victims after": ("accuracy_after", share),
                "others before": ("others_accuracy_before", share),
                "others after": ("others_accuracy_after", share),
                "attack, s": ("seconds", seconds)}, """
## Attack

`graphss attack DATASET --model-file MODEL --seed SEED`: Nettack, evasion, 20 % of the test nodes, 2
links and 20 features each (5 and 50 on amazon_photo and coauthor_cs). Accuracy in per cent, mean ±
standard deviation over seeds; a seed draws split, noise, weights and victims. Others are the test
nodes that are no victims. docs/attacks.md tells how the surrogate was chosen, on seeds 11 to 16.
"""),
}


def training_and_attack(folder):
    page = ""
    for name, (models, columns, text) in SECTIONS.items():
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        page += text
        for fresh in (False, True):
            groups = {}
            for line in lines:
                if (int(line["seed"]) > CHOSEN_ON) == fresh:
                    groups.setdefault((line["dataset"], line["model"]), []).append(line)
            if not groups:
                continue
            page += "\nSeeds on which nothing was chosen:\n\n" if fresh else "\n"
            page += table(["dataset ", "model ", "seeds", *columns],
                          [[*key, len(runs), *(show([float(r[column]) for r in runs])
                                               for column, show in columns.values())]
                           for key, runs in sorted(groups.items(),
                                                   key=lambda g: (g[0][0], models.index(g[0][1])))])
    return page
