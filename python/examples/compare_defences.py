"""Compare defences on one attack: how many victims does each get right?

    python3 compare_defences.py [DATASET]
"""

import sys
import time

import numpy as np

import graphss as gs

data = gs.read(sys.argv[1] if len(sys.argv) > 1 else "synth:nodes=500,classes=3,features=80,degree=6")
y = np.where(np.random.default_rng(0).random(data.graph.n_nodes) < 0.6, data.y, -1)
clf = gs.NodeClassifier("gcn").fit(data.X, y, graph=data.graph)
hit = gs.attack(clf, data.X, data.graph, links=3, features=5)
v = hit.victims
print(hit)
print(f"{'method':20s} victims  all nodes  seconds")
for method in ("none", "keep-last", "label-propagation", "jaccard", "graphss"):
    began = time.monotonic()
    found = gs.recover(clf, hit.X, hit.graph, previous=(data.X, data.graph), method=method)
    right = np.asarray(found.label == data.y)
    print(f"{method:20s} {right[v].mean():7.3f}  {right.mean():9.3f}  {time.monotonic() - began:7.2f}")
