"""As ``deeprobust.graph.data``: datasets by name, with a split."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ...._convert import array_of
from ....graph import Graph, read
from .utils import get_train_val_test, get_train_val_test_gcn


def _there(root: str, name: str) -> str:
    path = os.path.join(os.path.expanduser(root), name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such file, and nothing is downloaded here")
    return path


class Dataset:
    """``adj``, ``features`` (scipy CSR), ``labels``, ``idx_train``, ``idx_val``, ``idx_test``.

    Read from ROOT/NAME.npz where that is there, else by its name (``graphss fetch``). setting
    "nettack": the largest connected part; 10 %, 10 % and 80 % of its nodes, of each class alike.
    "gcn": all nodes; 20 of each class to train, 500 to validate, 1000 to test. "prognn": the
    largest connected part, and the split in ROOT/NAME_prognn_splits.json; where that is not
    there, the one of "nettack" with seed 15, by which the file was made.
    """

    def __init__(self, root: str, name: str, setting: str = "nettack", seed: int | None = None, require_mask: bool = False):
        if setting not in ("nettack", "gcn", "prognn"):
            raise ValueError(f"setting: found {setting!r}, want 'nettack', 'gcn' or 'prognn'")
        self.root, self.name, self.setting, self.seed = root, name.lower(), setting, seed
        own = os.path.join(os.path.expanduser(root), f"{self.name}.npz")
        data = read(own if os.path.exists(own) else self.name, warn=False)
        from scipy.sparse import csr_matrix

        self.adj, self.features = data.graph.adjacency(), csr_matrix(data.X.to_array())
        self.labels = data.y.astype(np.int64)
        if setting != "gcn":
            self._keep_largest_part()
        self.idx_train, self.idx_val, self.idx_test = self._split()
        if require_mask:
            for part in ("train", "val", "test"):
                mask = np.zeros(self.adj.shape[0], dtype=bool)
                mask[getattr(self, f"idx_{part}")] = True
                setattr(self, f"{part}_mask", mask)

    def _keep_largest_part(self) -> None:
        from scipy.sparse.csgraph import connected_components

        _, part = connected_components(self.adj, directed=False)
        keep = np.flatnonzero(part == np.bincount(part).argmax())
        self.adj, self.features = self.adj[keep][:, keep], self.features[keep]
        self.labels = self.labels[keep]

    def _split(self) -> tuple:
        own = os.path.join(os.path.expanduser(self.root), f"{self.name}_prognn_splits.json")
        if self.setting == "prognn" and os.path.exists(own):
            with open(own) as file:
                found = json.load(file)
            return tuple(np.array(found[f"idx_{part}"]) for part in ("train", "val", "test"))
        if self.setting == "gcn":
            return get_train_val_test_gcn(self.labels, self.seed)
        seed = 15 if self.setting == "prognn" else self.seed
        return get_train_val_test(self.adj.shape[0], 0.1, 0.8, self.labels, seed)

    def __repr__(self) -> str:
        return f"{self.name}(adj_shape={self.adj.shape}, feature_shape={self.features.shape})"


class PrePtbDataset:
    """A graph that was attacked before, ROOT/NAME_METHOD_adj_RATE.npz; nothing is downloaded.

    ``target_nodes`` of attack_method "nettack" are in ROOT/NAME_nettacked_nodes.json.
    """

    def __init__(self, root: str, name: str, attack_method: str = "meta", ptb_rate: float = 0.05, **more: Any):
        from scipy.sparse import load_npz

        self.name, self.ptb_rate = name.lower(), ptb_rate
        self.attack_method = "meta" if attack_method in ("mettack", "metattack") else attack_method
        path = _there(root, f"{self.name}_{self.attack_method}_adj_{ptb_rate}.npz")
        self.adj = Graph(load_npz(path), warn=False).adjacency()
        self.target_nodes = None
        if self.attack_method == "nettack":
            with open(_there(root, f"{self.name}_nettacked_nodes.json")) as file:
                self.target_nodes = json.load(file)["attacked_test_nodes"]


class PtbDataset(PrePtbDataset):
    """The same."""


class Dpr2Pyg:
    """A dataset for the models that are fitted to PyG data: ``fit(Dpr2Pyg(data))``."""

    def __init__(self, dpr_data: Any, transform: Any = None, **more: Any):
        self.dpr_data = dpr_data
        self.adj = dpr_data.adj

    def update_edge_index(self, adj: Any) -> None:
        """Puts another graph in its place."""
        self.adj = adj

    def __getitem__(self, i: int) -> "Dpr2Pyg":
        return self


class Pyg2Dpr:
    """A dataset of PyG, its graph ``pyg_data[0]``, with DeepRobust's fields."""

    def __init__(self, pyg_data: Any, **more: Any):
        from scipy.sparse import csr_matrix

        data = pyg_data[0]
        self.name = getattr(pyg_data, "name", "pyg")
        self.adj = Graph(data, warn=False).adjacency()
        self.features = csr_matrix(array_of(data.x, "x"))
        self.labels = array_of(data.y, "y").astype(np.int64).ravel()
        masks = [getattr(data, f"{part}_mask", None) for part in ("train", "val", "test")]
        if any(m is None for m in masks):
            found = get_train_val_test(self.adj.shape[0], 0.1, 0.8, self.labels, 15)
        else:
            found = tuple(np.flatnonzero(array_of(m)) for m in masks)
        self.idx_train, self.idx_val, self.idx_test = found
