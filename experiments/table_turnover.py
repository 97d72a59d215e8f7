#!/usr/bin/env python3
"""A table of accounts with ordinary turnover: how often do `alert` and `watch` raise an alarm?

    experiments/table_turnover.py --graphss build/graphss [--idle] 1 2 3 4

For each seed 2,000 accounts of three kinds (60, 30 and 10 %) with three numbers each and 6,000 links, four in five of
them inside a kind; two in five accounts have a label. Each day one link in fifty goes, as many come by the law the first
were drawn by, and the numbers of 100 accounts rise. Nobody attacks for eight days. `alert` compares each day with the
day before, at 5 %; `watch` gets all days as events, in random order, by its defaults. Then `graphss attack` changes up to
four links and a number of three in ten test nodes, and both look again. --idle adds a country and a year, which say
nothing about the kind. Printed: Markdown."""
import argparse
import csv
import json
import os
import random
import subprocess
import tempfile

KINDS = ("customer", "merchant", "mule")
N, LINKS, DAYS = 2000, 6000, 8


class Table:
    def __init__(self, seed, idle):
        self.rng = random.Random(seed)
        self.kind = self.rng.choices(range(3), (0.6, 0.3, 0.1), k=N)
        self.members = [[i for i in range(N) if self.kind[i] == k] for k in range(3)]
        self.rows = [[f"acc{i}", KINDS[k] if self.rng.random() < 0.4 else "",
                      int(self.rng.lognormvariate((6, 6.5, 4)[k], 0.8)), int(self.rng.lognormvariate((2, 4, 3)[k], 1)),
                      round(self.rng.lognormvariate((3, 6, 5)[k], 1.2), 2)] for i, k in enumerate(self.kind)]
        self.head = ["node_id", "label", "age", "posts", "paid"]
        if idle:
            self.head += ["country", "year"]
            for i, row in enumerate(self.rows):
                row += [self.rng.choice(("DE", "FR", "")), 2010 + i % 15]
        self.links = set()
        self.fill()

    def fill(self):
        while len(self.links) < LINKS:
            a = self.rng.randrange(N)
            b = self.rng.choice(self.members[self.kind[a] if self.rng.random() < 0.8 else self.rng.randrange(3)])
            if a != b:
                self.links.add((min(a, b), max(a, b)))

    def next_day(self):
        self.links = {link for link in sorted(self.links) if self.rng.random() >= 0.02}
        self.fill()
        for row in self.rng.sample(self.rows, 100):
            row[3] += 3
            row[4] = round(row[4] + 20, 2)

    def write(self, folder):
        os.makedirs(folder)
        for name, head, rows in (("nodes", self.head, self.rows),
                                 ("edges", ("src_id", "dst_id"), [(f"acc{a}", f"acc{b}") for a, b in sorted(self.links)])):
            with open(f"{folder}/{name}.csv", "w", newline="") as file:
                csv.writer(file).writerows([head, *rows])


def run(*words, codes=(0,)):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(words)}: code {done.returncode}: {done.stderr}")
    return done


def measure(graphss, seed, idle):
    table, previous, alarms = Table(seed, idle), "day0", 0
    table.write("day0")
    run(graphss, "train", "day0", "-o", "model")

    def looks(before, now, day):
        alert = run(graphss, "alert", "--model-file", "model", "--current", now, "--previous", before, codes=(0, 1))
        run(graphss, "events", before, now, "--shuffle", "--source", now, "--start", f"2026-11-{day:02d}T00:00:00Z", "-o", f"{now}.events")
        watch = run(graphss, "--json", "watch", "day0", "--model-file", "model", "--store", "store", "--events", f"{now}.events", codes=(0, 1))
        return alert.returncode == 1, json.loads(watch.stdout)["alert"]

    watched = False
    for day in range(1, DAYS + 1):
        table.next_day()
        table.write(f"day{day}")
        alert, watch = looks(previous, f"day{day}", day)
        alarms += alert
        watched = watched or watch
        previous = f"day{day}"
    run(graphss, "attack", previous, "--model-file", "model", "--victims", "0.3", "--links", "4", "--features", "1", "-o", "f")
    run(graphss, "apply", previous, "--flips", "f", "-o", "hit.npz")
    alert, watch = looks(previous, "hit.npz", DAYS + 1)
    said = ("no", "yes")
    print(f"| {seed} | {alarms} of {DAYS} | {said[watched]} | {said[alert]} | {said[watch]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", default="build/graphss")
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("seed", type=int, nargs="+")
    given = parser.parse_args()
    graphss, home = os.path.abspath(given.graphss), os.getcwd()
    print("| seed | honest days with an alert | watch alarmed in them | alert sees the attack | watch sees it |")
    print("|---:|---:|---|---|---|")
    for seed in given.seed:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            measure(graphss, seed, given.idle)
            os.chdir(home)


if __name__ == "__main__":
    main()
