"""Of ``deeprobust.graph.utils``, what scripts use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._convert import array_of


def accuracy(output: Any, labels: Any) -> Any:
    """Share of rows whose largest entry is at the label; a number with ``item()``."""
    label = np.atleast_1d(array_of(labels, "labels"))
    return np.float64(np.mean(array_of(output, "output").argmax(1) == label))


def classification_margin(output: Any, true_label: Any) -> float:
    """Probability of the true class minus that of the best other, from log-probabilities."""
    p = np.exp(array_of(output, "output").astype(np.float64))
    label = int(true_label)
    return float(p[label] - np.delete(p, label).max())


def _draws(seed: int | None) -> Any:
    """Random numbers as DeepRobust draws them: numpy's old generator, without a seed the global one."""
    return np.random.mtrand._rand if seed is None else np.random.RandomState(seed)


def _cut(nodes: np.ndarray, first: float, second: float, stratify: Any, draws: Any) -> tuple:
    """Two random parts of nodes, which are such shares of them; of each class alike with stratify.

    By scikit-learn, which DeepRobust draws with: the same seed then gives the same nodes.
    """
    try:
        from sklearn.model_selection import train_test_split
    except ImportError:
        order = draws.permutation(nodes.size)
        if stratify is not None:
            group, place = np.asarray(stratify)[order], np.empty(nodes.size)
            for k in np.unique(group):
                mine = np.flatnonzero(group == k)
                place[mine] = (np.arange(mine.size) + draws.random_sample()) / mine.size
            order = order[np.argsort(place, kind="stable")]
        n = nodes.size - int(np.ceil(second * nodes.size))
        return nodes[order[:n]], nodes[order[n:]]
    return tuple(train_test_split(nodes, random_state=draws, train_size=first, test_size=second, stratify=stratify))


def get_train_val_test(
    nnodes: int, val_size: float = 0.1, test_size: float = 0.8, stratify: Any = None, seed: int | None = None
) -> tuple:
    """Random numbers of nodes to train, validate and test; of each class alike with stratify."""
    draws, y = _draws(seed), None if stratify is None else np.asarray(stratify)
    share = 1 - val_size - test_size
    both = share + val_size
    rest, test = _cut(np.arange(nnodes), both, test_size, y, draws)
    train, val = _cut(rest, share / both, val_size / both, None if y is None else y[rest], draws)
    return train, val, test


def get_train_val_test_gcn(labels: Any, seed: int | None = None) -> tuple:
    """20 nodes of each class to train, 500 others to validate, 1000 others to test."""
    draws, y = _draws(seed), np.asarray(labels)
    order = [draws.permutation(np.flatnonzero(y == k)) for k in range(int(y.max()) + 1)]
    rest = draws.permutation(np.concatenate([nodes[20:] for nodes in order]))
    return np.concatenate([nodes[:20] for nodes in order]), rest[:500], rest[500:1500]


def get_train_test(nnodes: int, test_size: float = 0.8, stratify: Any = None, seed: int | None = None) -> tuple:
    """The same without validation nodes."""
    return _cut(np.arange(nnodes), 1 - test_size, test_size, None if stratify is None else np.asarray(stratify), _draws(seed))


def normalize_adj(mx: Any) -> Any:
    """D^-1/2 (A + I) D^-1/2 as a scipy matrix. Models here normalise by themselves and look at
    which entries are there only, so fitting to this is fitting to ``mx``."""
    from scipy.sparse import diags, eye

    loops = mx.tocsr() + eye(mx.shape[0], format="csr")
    root = diags(np.asarray(loops.sum(1)).ravel() ** -0.5)
    return (root @ loops @ root).tocsr()


def sparse_mx_to_torch_sparse_tensor(sparse_mx: Any) -> Any:
    """A scipy matrix as a sparse torch tensor."""
    import torch

    coo = sparse_mx.tocoo()
    index = torch.tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    return torch.sparse_coo_tensor(index, torch.tensor(coo.data.astype(np.float32)), coo.shape)


def preprocess(
    adj: Any, features: Any, labels: Any, preprocess_adj: bool = False, preprocess_feature: bool = False,
    sparse: bool = False, device: Any = "cpu",
) -> tuple:  # fmt: skip
    """adj, features and labels as torch tensors, sparse ones if asked for."""
    import torch

    if preprocess_adj:
        adj = normalize_adj(adj)
    if preprocess_feature:
        features = features / np.maximum(np.asarray(features.sum(1)), 1e-12)
    if sparse:
        parts = [sparse_mx_to_torch_sparse_tensor(m) for m in (adj, features)]
    else:
        dense = (m.toarray() if hasattr(m, "toarray") else np.asarray(m) for m in (adj, features))
        parts = [torch.tensor(m, dtype=torch.float32) for m in dense]
    return parts[0], parts[1], torch.tensor(np.asarray(labels)).long()


def is_sparse_tensor(tensor: Any) -> bool:
    """Whether a torch tensor is sparse."""
    return "sparse" in str(tensor.layout)


def to_tensor(adj: Any, features: Any, labels: Any = None, device: Any = "cpu") -> tuple:
    """Tensors of a graph, features and labels: sparse where the matrix is."""
    import torch

    def tensor(m: Any) -> Any:
        return sparse_mx_to_torch_sparse_tensor(m) if hasattr(m, "tocoo") else torch.tensor(np.asarray(m), dtype=torch.float32)

    made = tensor(adj), tensor(features)
    return made if labels is None else (*made, torch.tensor(np.asarray(labels)).long())


def to_scipy(tensor: Any) -> Any:
    """A torch tensor as a scipy CSR matrix."""
    from scipy.sparse import csr_matrix

    from ...._convert import unsparse

    made = unsparse(tensor)
    return csr_matrix(array_of(made) if made is tensor else made)


def normalize_feature(mx: Any) -> Any:
    """Rows divided by their sums, as a scipy matrix."""
    from scipy.sparse import csr_matrix, diags

    mx = csr_matrix(mx)
    total = np.asarray(mx.sum(1)).ravel()
    return (diags(np.divide(1.0, total, out=np.zeros_like(total, dtype=float), where=total != 0)) @ mx).tocsr()


def normalize_adj_tensor(adj: Any, sparse: bool = False) -> Any:
    """``normalize_adj`` of a tensor."""
    import torch

    made = normalize_adj(to_scipy(adj))
    return sparse_mx_to_torch_sparse_tensor(made) if sparse else torch.tensor(made.toarray(), dtype=torch.float32)


def encode_onehot(labels: Any) -> Any:
    """A row for each label, 1 at its class."""
    y = array_of(labels, "labels")
    return np.eye(int(y.max()) + 1, dtype=np.int32)[y]
