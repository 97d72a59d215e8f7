"""Scripts written for DeepRobust and PyGOD, with the import changed."""

import types

import numpy as np
import pytest
import scipy.sparse as sp

import graphss as gs
from graphss.compat import deeprobust, pygod


def test_a_deeprobust_script(world):
    features, adj, labels = world.X.to_array(), world.graph.adjacency(), world.truth
    idx = np.random.default_rng(0).permutation(400)
    idx_train, idx_val, idx_test = idx[:160], idx[160:240], idx[240:]

    surrogate = deeprobust.SGC(nfeat=features.shape[1], nclass=3, K=2, device="cpu").to("cpu")
    surrogate.fit(features, adj, labels, idx_train, idx_val, patience=30)
    model = deeprobust.Nettack(surrogate, nnodes=400, attack_structure=True, attack_features=True).to("cpu")
    target = int(idx_test[0])
    model.attack(features, adj, labels, target, n_perturbations=5)
    assert sp.issparse(model.modified_adj) and abs(model.modified_adj - adj).sum() > 0

    gcn = deeprobust.GCN(nfeat=features.shape[1], nhid=16, nclass=3, dropout=0.5, device="cpu")
    gcn.fit(features, adj, labels, idx_train, idx_val, verbose=False)
    gcn.eval()
    output = gcn.predict()
    assert np.allclose(np.exp(np.asarray(output)).sum(1), 1, atol=1e-4)
    assert gcn.test(idx_test) > 0.6
    on_attacked = gcn.predict(model.modified_features, model.modified_adj)
    assert np.asarray(on_attacked).shape == (400, 3)


def test_deeprobusts_global_attacks_and_defences(world):
    adj, labels = world.graph.adjacency(), world.truth
    for attack, arguments in ((deeprobust.Random(), ()), (deeprobust.DICE(), (labels,))):
        attack.attack(adj, *arguments, n_perturbations=20)
        assert abs(attack.modified_adj - adj).sum() == 40
    idx = np.random.default_rng(0).permutation(400)
    defence = deeprobust.GCNJaccard(nhid=8)
    defence.fit(world.X.to_array(), adj, labels, idx[:160], idx[160:240], train_iters=20, threshold=0.01)
    assert np.asarray(defence.predict()).shape == (400, 3)
    assert deeprobust.GAT(nhid=2, heads=2).fit(world.X, adj, labels, idx[:160], idx[160:], train_iters=3).output is not None
    with pytest.raises(ValueError):
        deeprobust.Random().attack(adj, 3, type="sideways")


def test_a_pygod_script(world):
    torch = pytest.importorskip("torch")
    index = torch.tensor(world.hit.graph.edge_index())
    data = types.SimpleNamespace(x=torch.tensor(world.hit.X.to_dense()), edge_index=index, num_nodes=400)
    detector = pygod.DOMINANT(hid_dim=64, num_layers=4, epoch=100)
    detector.fit(data)
    pred, score, prob, conf = detector.predict(data, return_pred=True, return_score=True, return_prob=True, return_conf=True)
    assert pred.shape == score.shape == prob.shape == conf.shape == (400,)
    assert torch.is_tensor(score) and set(pred.tolist()) <= {0, 1}
    assert detector.decision_score_.shape == (400,) and np.isfinite(detector.threshold_)
    with pytest.raises(AttributeError):
        pygod.Nobody
    mask = torch.tensor(world.y >= 0)
    data.y, data.train_mask = torch.tensor(world.truth), mask
    assert pygod.GraphSS().fit(data).label_.shape == (400,)


def test_pyg_data_goes_in_whole(world):
    torch = pytest.importorskip("torch")
    mask = torch.tensor(world.y >= 0)
    data = types.SimpleNamespace(
        x=torch.tensor(world.X.to_dense()), edge_index=torch.tensor(world.graph.edge_index()), num_nodes=400,
        y=torch.tensor(world.truth), train_mask=mask,
    )  # fmt: skip
    clf = gs.NodeClassifier(epochs=5).fit(data)
    assert clf.predict(data).shape == (400,)
