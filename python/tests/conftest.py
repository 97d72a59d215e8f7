"""A small world: a generated graph with three classes, and an attacked copy of it."""

import numpy as np
import pytest

import graphss as gs


class World:
    def __init__(self, features="features=60"):
        data = gs.read(f"synth:nodes=400,classes=3,{features},degree=6,seed=3")
        self.graph, self.X, self.truth = data.graph, data.X, data.y
        self.y = data.y.copy()
        self.y[np.random.default_rng(1).random(400) < 0.4] = -1
        self.clf = gs.NodeClassifier("gcn", epochs=60).fit(self.X, self.y, graph=self.graph)
        self.hit = gs.attack(self.clf, self.X, self.graph, links=4, features=6, victims=0.3)


@pytest.fixture(scope="session")
def world():
    return World()
