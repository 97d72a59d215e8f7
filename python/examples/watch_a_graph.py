"""Watch a graph that changes from day to day: benign changes are let by, an attack is not.

    python3 watch_a_graph.py [DATASET]
"""

import sys

import numpy as np

import graphss as gs

data = gs.read(sys.argv[1] if len(sys.argv) > 1 else "synth:nodes=800,classes=4,features=120,degree=6")
y = np.where(np.random.default_rng(0).random(data.graph.n_nodes) < 0.6, data.y, -1)
clf = gs.NodeClassifier("gcn").fit(data.X, y, graph=data.graph)
detector = gs.TamperDetector(clf).fit(data.X, graph=data.graph)

yesterday = (data.X, data.graph)
p_values = []
for day in range(1, 7):
    method = "nettack" if day == 5 else "benign"  # benign: links and words that come by themselves
    change = gs.attack(clf, *yesterday, method=method, victims=0.1, seed=day, **({"links": 3} if day == 5 else {}))
    found = detector.inspect(change.X, change.graph, previous=yesterday)
    p_values.append(found.p_value)
    print(f"day {day}: {found}")
    if found.alert:
        print("  look at", found.flagged[:8].tolist())
        fixed = gs.recover(clf, change.X, change.graph, previous=yesterday)
        print(" ", fixed, "accuracy", round(float(np.mean(fixed.label == data.y)), 3))
    else:
        yesterday = (change.X, change.graph)
try:
    gs.plotting.p_values_over_time(p_values, detector.false_alarm_rate)
except ImportError:
    pass  # no matplotlib
