"""DeepRobust's faces: in a script for it, write ``graphss.compat.deeprobust`` for ``deeprobust``.

Models are fitted as there, ``fit(features, adj, labels, idx_train, idx_val)``, and give
log-probabilities; attacks leave ``modified_adj`` and ``modified_features``. Matrices stay sparse
throughout. What DeepRobust has and GraphSS has not (MetaAttack, PGD ...) is not here.
"""

from .graph.data import Dataset, PrePtbDataset, PtbDataset
from .graph.models import DICE, FGA, GAT, GCN, PRBCD, RGCN, RND, SAGE, SGC, GCNJaccard, GCNSVD, Nettack, ProGNN, Random, SGAttack
from .graph.utils import accuracy, classification_margin

__all__ = [
    "DICE", "Dataset", "FGA", "GAT", "GCN", "GCNJaccard", "GCNSVD", "Nettack", "PRBCD", "PrePtbDataset", "ProGNN",
    "PtbDataset", "RGCN", "RND", "Random", "SAGE", "SGAttack", "SGC", "accuracy", "classification_margin",
]  # fmt: skip
