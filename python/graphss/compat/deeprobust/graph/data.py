"""As ``deeprobust.graph.data``: datasets by name, with a split."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ....graph import Graph, read
from .utils import get_train_val_test


class Dataset:
    """``adj``, ``features`` (scipy CSR), ``labels``, ``idx_train``, ``idx_val``, ``idx_test``.

    Read from ROOT/NAME.npz where that is there, else by its name (``graphss fetch``). setting
    "nettack": 10 %, 10 % and 80 % of the nodes, of each class alike.
    """

    def __init__(self, root: str, name: str, setting: str = "nettack", seed: int | None = None, require_mask: bool = False):
        self.name = name.lower()
        own = os.path.join(root, f"{self.name}.npz")
        data = read(own if os.path.exists(own) else self.name, warn=False)
        features = data.X.to_array()
        if isinstance(features, np.ndarray):
            from scipy.sparse import csr_matrix

            features = csr_matrix(features)
        self.adj, self.features, self.labels = data.graph.adjacency(), features, data.y.astype(np.int64)
        parts = get_train_val_test(data.graph.n_nodes, 0.1, 0.8, self.labels, seed)
        self.idx_train, self.idx_val, self.idx_test = parts
        if require_mask:
            for part in ("train", "val", "test"):
                mask = np.zeros(data.graph.n_nodes, dtype=bool)
                mask[getattr(self, f"idx_{part}")] = True
                setattr(self, f"{part}_mask", mask)

    def __repr__(self) -> str:
        return f"{self.name}(adj_shape={self.adj.shape}, feature_shape={self.features.shape})"


class PrePtbDataset:
    """A graph that was attacked before, ROOT/NAME_METHOD_adj_RATE.npz; nothing is downloaded."""

    def __init__(self, root: str, name: str, attack_method: str = "meta", ptb_rate: float = 0.05, **more: Any):
        from scipy.sparse import load_npz

        path = os.path.join(root, f"{name}_{attack_method}_adj_{ptb_rate}.npz")
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path}: no such file, and nothing is downloaded here")
        self.adj = Graph(load_npz(path), warn=False).adjacency()


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
