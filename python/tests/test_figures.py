"""Figures, where matplotlib is there."""

import numpy as np
import pytest

import graphss as gs
from graphss import plotting

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_figures_are_drawn(world):
    found = gs.TamperDetector(world.clf).inspect(world.hit.X, world.hit.graph, previous=None)
    assert found.plot().get_ylabel() == "p-value"
    truth = np.zeros(400)
    truth[world.hit.victims] = 1
    assert "AUC" in plotting.roc(found.node_score, truth).get_legend().get_texts()[0].get_text()
    plotting.p_values_over_time([0.5, 0.01], 0.05)
    gs.recover(world.clf, world.hit.X, world.hit.graph, method="none").plot(world.truth)
