#!/usr/bin/env python3
"""Folders of snapshots that attackers of others' code have changed, for the scripts that take folders.

    GRAPHSS_ATTACKERS=DIR experiments/foreign_folders.py --graphss build/graphss --kinds loud+loud2,none+rand2 --seeds 1,2 -o PLACE DATASET ...

DIR holds `common.py` and `recipes.py` (a World and an Attacker, who knows what the model predicts). PLACE/DATASET-SEED-KIND gets
previous.npz, current.npz, split.npz and groups.npz, as `graphss snapshots --setting seen` makes them. Needs numpy and scipy."""
import argparse
import os
import pathlib
import shutil
import sys


def make(recipes, name, seed, kind, place):
    world = recipes.World(name, seed)
    words, links = kind.split("+")
    large = name in ("amazon_photo", "coauthor_cs")
    attacker = recipes.Attacker(world, 5 if large or words == "none" else 2, 50 if large else 20, seed)
    folder = pathlib.Path(place) / f"{name}-{seed}-{kind}"
    folder.mkdir(parents=True, exist_ok=True)
    attacker.attack(words, links).save(folder / "current.npz")
    world.clean.save(folder / "previous.npz")
    for file in ("split.npz", "groups.npz"):
        shutil.copy(f"{world.dir}/{file}", folder)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphss", default="build/graphss")
    parser.add_argument("--kinds", default="loud+loud2,swap+swap11,none+rand2")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("datasets", nargs="+")
    a = parser.parse_args()
    os.environ["GRAPHSS"] = a.graphss
    sys.path.insert(0, os.environ["GRAPHSS_ATTACKERS"])
    import recipes

    for name in a.datasets:
        for seed in map(int, a.seeds.split(",")):
            for kind in a.kinds.split(","):
                print(make(recipes, name, seed, kind, a.output), flush=True)
