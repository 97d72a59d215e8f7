#!/usr/bin/env python3
"""How much of an attack do proposed changes undo, and how much else do they change?

    experiments/undone.py TRUE.tsv PROPOSED.tsv

TRUE.tsv made the snapshot (`graphss snapshots`, `attack`), PROPOSED.tsv is to take it back (`graphss
recover --flips`). Prints for links and features: precision, recall, counts. Needs nothing but Python.
"""
import sys


def read(path):
    made = {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            continue
        _, kind, node, target, old, new = line.rstrip("\n").split("\t")
        key = (kind, *sorted((node, target))) if kind == "link" else (kind, node, target)
        made[key] = (made[key][0] if key in made else float(old), float(new))
    return {key: change for key, change in made.items() if change[0] != change[1]}


def main():
    true, proposed = read(sys.argv[1]), read(sys.argv[2])
    for kind in ("link", "feature"):
        wanted = {key: (new, old) for key, (old, new) in true.items() if key[0] == kind}
        given = {key: change for key, change in proposed.items() if key[0] == kind}
        right = sum(wanted.get(key) == change for key, change in given.items())
        print(f"{kind + 's':9} precision {100 * right / max(len(given), 1):5.1f} %  "
              f"recall {100 * right / max(len(wanted), 1):5.1f} %  proposed {len(given)}  made {len(wanted)}")


if __name__ == "__main__":
    sys.exit(main())
