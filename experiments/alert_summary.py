#!/usr/bin/env python3
"""Tables in Markdown of what `alert_protocol.py` and `alert_archive.py` printed.

    experiments/alert_summary.py FILE.jsonl ...

Rates and honest change are sums over graphs and seeds, power and hit references are a line each.
"""
import json, sys
from collections import defaultdict


def table(title, head, rows):
    if rows:
        print(f"### {title}\n\n| " + " | ".join(head) + " |\n|---" + "|---:" * (len(head) - 1) + "|")
        for row in rows:
            print("| " + " | ".join(map(str, row)) + " |")
        print()


def main():
    rows = [json.loads(line) for path in sys.argv[1:] for line in open(path) if line.startswith("{")]
    if not rows:
        sys.exit(__doc__)
    rates, honest = defaultdict(lambda: [0, 0]), defaultdict(lambda: [0, 0, 0])
    for r in rows:
        if r.get("part") == "rates":
            sums = rates[r["groups"] + (", with a past" if r["past"] and "unchanged" not in r["groups"] else "")]
            sums[0] += r["n"]
            sums[1] += r["alerts"]
        if r.get("part") == "honest":
            for name in (r["kind"], "all"):
                sums = honest[name]
                sums[0] += 1
                sums[1] += r["p_new"] <= 0.05
                sums[2] += r["p_seen"] <= 0.05
    share = lambda a, n: f"{a} ({100 * a / n:.1f} %)" if n else "-"
    table("Groups in which nobody was attacked, at 5 %", ["groups", "number", "alerts"],
          [[k, n, share(a, n)] for k, (n, a) in rates.items()])
    table("Honest change, at 5 %", ["change", "snapshots", "alerts without a past", "with a past"],
          [[k, n, share(a, n), share(b, n)] for k, (n, a, b) in sorted(honest.items(), key=lambda x: x[0] == "all")])
    table("Power", ["graph, seed", "hit", "p without a past", "AUC of nodes", "AUC of groups", "p with a past", "AUC of nodes",
                    "AUC of groups", "guilty of those listed"],
          [[f"{r['dataset']} {r['seed']}", f"{100 * r['share']:g} %", r["new_p"], r["new_nodes"], r.get("new_groups", "-"),
            r["seen_p"], r["seen_nodes"], r.get("seen_groups", "-"), f"{r['seen_guilty']} of {r['seen_listed']}"]
           for r in rows if r.get("part") == "power"])
    table("Validation nodes hit as well", ["graph, seed", "hit", "p without a past", "p with a past"],
          [[f"{r['dataset']} {r['seed']}", f"{100 * r['validation_hit']:g} %", r["new_p"], r["seen_p"]]
           for r in rows if r.get("part") == "references"])
    table("Groups of an archive, unchanged or honestly updated", ["case", "groups", "with change", "alerts"],
          [[r["case"], r["groups"], r["changed"], r["alerts"]] for r in rows if "case" in r and "groups" in r])
    table("Snapshots of an archive", ["case", "p", "judged", "listed", "guilty of these", "guilty in all", "undefended",
                                      "keep-last", "recover"],
          [[r["case"], r["p"], r["judged"], r["listed"], r.get("guilty_listed", "-"), r.get("guilty", "-"), r.get("none", "-"),
            r.get("keep-last", "-"), r.get("graphss", "-")] for r in rows if "case" in r and "p" in r])


if __name__ == "__main__":
    main()
