#!/usr/bin/env python3
"""Another attacker: victims are made to look like a node of another class.

    experiments/copied.py SOURCE TARGET RECIPE SEED [--graphss build/graphss]

SOURCE is a folder that `graphss snapshots` wrote: its attack is undone and its victims
are changed towards a random node of another class. TARGET gets the same files. RECIPE:
A  joins 3 of that node's neighbours, cuts 1 own link, takes 10 of its words, drops 10 own
B  joins the node and one neighbour, 20 words changed towards it
C  takes all its words and no link
D  takes each of its links and words with chance a half, and drops as many own
Needs nothing but Python.
"""
import argparse, os, random, shutil, subprocess
from recovery_table import read_npz


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("source"), parse.add_argument("target")
    parse.add_argument("recipe", choices="ABCD"), parse.add_argument("seed", type=int)
    parse.add_argument("--graphss", default="build/graphss")
    args = parse.parse_args()
    draw = random.Random(args.seed)
    os.makedirs(args.target, exist_ok=True)
    for name in ("model", "groups.npz", "split.npz", "previous.npz"):
        shutil.copy(f"{args.source}/{name}", args.target)
    apply = lambda data, flips, out, *more: subprocess.run(
        [args.graphss, "apply", data, "--flips", flips, "-o", out, "-q", *more], check=True, stdout=subprocess.DEVNULL)
    clean, flips = f"{args.target}/clean.npz", f"{args.target}/flips.tsv"
    victims = read_npz(f"{args.source}/groups.npz", ["victims"])["victims"][0]
    with open(f"{args.source}/flips.tsv") as file, open(flips, "w") as hostile:  # benign changes stay
        hostile.writelines(row for row in file if "# hash" not in row and (row[0] == "#" or int(row.split()[0]) in set(victims)))
    apply(f"{args.source}/current.npz", flips, clean, "--undo")

    data = read_npz(clean, ["adj_indptr", "adj_indices", "attr_indptr", "attr_indices", "labels"])
    start, target, first, word, label = (data[k][0] for k in ("adj_indptr", "adj_indices", "attr_indptr", "attr_indices", "labels"))
    n, made = len(label), []
    links, words = [set() for _ in range(n)], [set(word[first[i]:first[i + 1]]) for i in range(n)]
    for i in range(n):
        for j in target[start[i]:start[i + 1]]:
            links[i].add(j), links[j].add(i)

    def flip_link(v, u):
        made.append((v, "link", v, u, int(u in links[v]), int(u not in links[v])))
        links[v] ^= {u}
        links[u] ^= {v}

    def flip_word(v, w):
        made.append((v, "feature", v, w, int(w in words[v]), int(w not in words[v])))
        words[v] ^= {w}

    def some(items, most):
        items = sorted(items)
        draw.shuffle(items)
        return items[:most]

    for v in victims:
        d = draw.randrange(n)
        while label[d] == label[v] or d == v:
            d = draw.randrange(n)
        near = links[d] - links[v] - {v}
        if args.recipe == "A":
            for u in some(near, 3):
                flip_link(v, u)
            for u in some([u for u in links[v] - links[d] if len(links[u]) > 1], 1):
                flip_link(v, u)
            for w in some(words[d] - words[v], 10):
                flip_word(v, w)
            for w in some(words[v] - words[d], min(10, len(words[v]) - 2)):
                flip_word(v, w)
        elif args.recipe == "B":
            for u in [u for u in [d] + some(near, 1) if u not in links[v]]:
                flip_link(v, u)
            for w in some(words[d] ^ words[v], 20):
                flip_word(v, w)
        elif args.recipe == "C":
            for w in sorted(words[d] ^ words[v]):
                flip_word(v, w)
        else:
            for u in sorted(links[v]):
                if draw.random() < 0.5 and len(links[v]) > 1 and len(links[u]) > 1:
                    flip_link(v, u)
            for u in sorted(near):
                if draw.random() < 0.5:
                    flip_link(v, u)
            for w in sorted(words[d] ^ words[v]):
                if draw.random() < 0.5:
                    flip_word(v, w)
    with open(flips, "w") as file:
        file.write("# graphss flips 1\n# victim\tkind\tnode\ttarget\told\tnew\n")
        file.writelines("\t".join(map(str, row)) + "\n" for row in made)
    apply(clean, flips, f"{args.target}/current.npz")


if __name__ == "__main__":
    main()
