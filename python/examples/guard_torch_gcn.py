"""Guard a GCN of your own: plain torch, nothing of it known to GraphSS but its answers.

    python3 guard_torch_gcn.py [DATASET]
"""

import sys

import numpy as np
import torch

import graphss as gs

data = gs.read(sys.argv[1] if len(sys.argv) > 1 else "synth:nodes=800,classes=4,features=120,degree=6")
X, n = torch.tensor(data.X.to_dense()), data.graph.n_nodes
rng = np.random.default_rng(0)
y = np.where(rng.random(n) < 0.6, data.y, -1)  # labels we have; -1: none


def propagation(graph):
    """D^-1/2 (A + I) D^-1/2 as a sparse tensor."""
    source, target = graph.edge_index()
    loop = np.arange(graph.n_nodes)
    index = torch.tensor(np.stack([np.r_[source, loop], np.r_[target, loop]]))
    r = torch.tensor((graph.degree + 1.0) ** -0.5, dtype=torch.float32)
    return torch.sparse_coo_tensor(index, r[index[0]] * r[index[1]], (graph.n_nodes,) * 2)


class GCN(torch.nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.first, self.second = torch.nn.Linear(d, 32), torch.nn.Linear(32, k)

    def forward(self, p, x):
        h = torch.relu(self.first(torch.sparse.mm(p, x)))
        return self.second(torch.sparse.mm(p, torch.dropout(h, 0.5, self.training)))


net = GCN(X.shape[1], data.n_classes)
step = torch.optim.Adam(net.parameters(), lr=0.02, weight_decay=5e-4)
known = torch.tensor(y >= 0)
for _ in range(80):
    step.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(propagation(data.graph), X)[known], torch.tensor(y)[known].long())
    loss.backward()
    step.step()
net.eval()


def answer(graph, features):
    """What GraphSS calls: class probabilities for any graph and features."""
    x = features.toarray() if hasattr(features, "toarray") else features
    with torch.no_grad():
        return torch.softmax(net(propagation(graph), torch.tensor(x)), dim=1)


clf = gs.wrap(answer, data.X, data.graph, y=y)
print(clf)
detector = gs.TamperDetector(clf, false_alarm_rate=0.05).fit(data.X, graph=data.graph)

hit = gs.attack(clf, data.X, data.graph, links=3, features=5)  # somebody tampers with it
found = detector.inspect(hit.X, hit.graph)
print(found)
fixed = gs.recover(clf, hit.X, hit.graph, previous=(data.X, data.graph))
v = hit.victims
print(f"victims right: clean {np.mean(clf.predict(data.X, data.graph)[v] == data.y[v]):.2f}, "
      f"attacked {np.mean(clf.predict(hit.X, hit.graph)[v] == data.y[v]):.2f}, "
      f"recovered {np.mean(fixed.label[v] == data.y[v]):.2f}; {clf.calls_} calls of the model")
