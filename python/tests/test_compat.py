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


def test_deeprobusts_other_attacks_and_training_that_goes_on(world, tmp_path):
    features, adj, labels = world.X.to_array(), world.graph.adjacency(), world.truth
    idx = np.random.default_rng(0).permutation(400)
    gcn = deeprobust.GCN(nhid=8, device="cpu")
    gcn.initialize()
    gcn.fit(features, adj, labels, idx[:160], idx[160:], train_iters=20)
    before = np.asarray(gcn.output)
    gcn.fit(features, adj, labels, idx[:160], idx[160:], train_iters=5, initialize=False)
    assert not np.array_equal(before, np.asarray(gcn.output))
    target = int(idx[-1])
    fga = deeprobust.FGA(gcn, nnodes=400, device="cpu")
    fga.attack(features, adj, labels, idx[:160], target, n_perturbations=3)
    assert abs(fga.modified_adj - adj).sum() == 6
    assert all(target in pair for pair in fga.structure_perturbations)
    sgc = deeprobust.SGC(nfeat=features.shape[1]).fit(features, adj, labels, idx[:160], idx[160:], train_iters=20)
    sga = deeprobust.SGAttack(sgc, attack_structure=True, attack_features=True, device="cpu")
    sga.attack(features, adj, labels, target, 3)
    assert abs(sga.modified_adj - adj).sum() > 0 and abs(sga.modified_features - features).sum() == 0
    sga.save_adj(str(tmp_path), "adj")
    sga.save_features(str(tmp_path), "x")
    assert (sp.load_npz(tmp_path / "x.npz") != sp.csr_matrix(sga.modified_features)).nnz == 0


def test_deeprobusts_models_and_attack_on_pygs_data(world):
    torch = pytest.importorskip("torch")
    from graphss.compat.deeprobust.graph.defense_pyg import GCN, SAGE
    from graphss.compat.deeprobust.graph.global_attack import PRBCD

    part = torch.tensor(np.random.default_rng(0).choice(3, 400, p=[0.4, 0.2, 0.4]))
    masks = {f"{name}_mask": part == i for i, name in enumerate(("train", "val", "test"))}
    index = torch.tensor(world.graph.edge_index())
    data = types.SimpleNamespace(x=torch.tensor(world.X.to_dense()), edge_index=index, y=torch.tensor(world.truth), num_nodes=400, **masks)
    for make, rate in ((GCN, 0.02), (SAGE, 0.2)):
        model = make(nfeat=60, nhid=8, nclass=3, nlayers=2, dropout=0.5, lr=0.01, weight_decay=5e-4, device="cpu").to("cpu")
        agent = PRBCD(data, model=model, device="cpu", epochs=50)
        agent.pretrain_model(model)
        before = model.test()
        edge_index, edge_weight = agent.attack(ptb_rate=rate)
        assert edge_weight.shape == edge_index.shape[1:] and agent.modified_adj.shape == (400, 400)
        changed = abs(agent.modified_adj - world.graph.adjacency()).sum() / 2
        assert 0 < changed <= rate * world.graph.n_edges
        found = model.predict(data.x, edge_index, edge_weight).argmax(1)
        assert (found == data.y)[data.test_mask].float().mean() < before
        assert torch.equal(model.predict(data.x, index), model.output)
    with pytest.raises(ValueError, match="batch norm"):
        GCN(nfeat=60, with_bn=True)


def test_deeprobusts_utilities(world):
    torch = pytest.importorskip("torch")
    from graphss.compat.deeprobust.graph.data import Pyg2Dpr
    from graphss.compat.deeprobust.graph.utils import (
        encode_onehot, is_sparse_tensor, normalize_adj, normalize_adj_tensor, normalize_feature, to_scipy, to_tensor,
    )  # fmt: skip

    adj, x = world.graph.adjacency(), sp.csr_matrix(world.X.to_array())
    assert np.allclose(normalize_feature(x).sum(1)[np.asarray(x.sum(1)) > 0], 1)
    a, f, y = to_tensor(adj, x, world.truth)
    assert is_sparse_tensor(a) and (to_scipy(a) != adj).nnz == 0 and y.dtype == torch.int64 and f.shape == x.shape
    assert np.allclose(normalize_adj_tensor(a).numpy(), normalize_adj(adj).toarray())
    assert (encode_onehot(world.truth).argmax(1) == world.truth).all()
    mask = torch.zeros(400, dtype=torch.bool)
    mask[:40] = True
    one = types.SimpleNamespace(
        x=f.to_dense(), y=y, edge_index=torch.tensor(world.graph.edge_index()), train_mask=mask, val_mask=mask, test_mask=~mask
    )
    data = Pyg2Dpr([one])
    assert (data.adj != adj).nnz == 0 and data.idx_train.tolist() == list(range(40)) and len(data.idx_test) == 360
    del one.test_mask
    assert len(Pyg2Dpr([one]).idx_train) in (39, 40)


def test_a_script_with_deeprobusts_folders(tmp_path):
    """The imports and calls of DeepRobust's examples, ``deeprobust`` replaced by ours."""
    from graphss.compat.deeprobust.graph.data import Dataset, PrePtbDataset
    from graphss.compat.deeprobust.graph.defense import GCN
    from graphss.compat.deeprobust.graph.targeted_attack import Nettack
    from graphss.compat.deeprobust.graph.utils import accuracy, classification_margin

    torch = pytest.importorskip("torch")
    data = Dataset(root=str(tmp_path), name="synth:nodes=300,classes=3,features=50,degree=6", setting="nettack", seed=15)
    adj, features, labels = data.adj, data.features, data.labels
    surrogate = GCN(
        nfeat=features.shape[1], nclass=labels.max().item() + 1, nhid=16, dropout=0, with_relu=False, with_bias=False
    ).to("cpu")
    surrogate.fit(features, adj, labels, data.idx_train)
    target = int(data.idx_test[0])
    degrees = adj.sum(0).A1
    model = Nettack(surrogate, nnodes=adj.shape[0], attack_structure=True, attack_features=True, device="cpu").to("cpu")
    model.attack(features, adj, labels, target, int(degrees[target]) + 1)
    gcn = GCN(nfeat=features.shape[1], nhid=16, nclass=labels.max().item() + 1, dropout=0.5, device="cpu")
    gcn.fit(model.modified_features, model.modified_adj, labels, data.idx_train)
    gcn.eval()
    output = gcn.predict()
    assert torch.exp(output[[target]])[0].detach().cpu().numpy().shape == (3,)
    assert 0 <= accuracy(output[data.idx_test], labels[data.idx_test]).item() <= 1
    assert accuracy(output[[target]], labels[target]).item() in (0, 1)
    from graphss.compat.deeprobust.graph.utils import normalize_adj, preprocess, sparse_mx_to_torch_sparse_tensor

    tensors = preprocess(adj, features, labels, preprocess_adj=False, sparse=True)
    again = GCN(nhid=16)
    torch.optim.Adam(again.parameters())
    again.fit(tensors[1], sparse_mx_to_torch_sparse_tensor(normalize_adj(adj)), tensors[2], data.idx_train, train_iters=5)
    same = GCN(nhid=16).fit(features, adj, labels, data.idx_train, train_iters=5)
    assert torch.equal(again.output, same.output)
    assert preprocess(adj, features, labels)[0].shape == adj.shape
    from graphss.compat.deeprobust.graph.data import Dpr2Pyg
    from graphss.compat.deeprobust.graph.defense import GAT

    gat = GAT(nfeat=features.shape[1], nhid=2, heads=2, nclass=3).fit(Dpr2Pyg(data), train_iters=20)
    assert 0 <= gat.test() <= 1
    csr = tensors[0].to_dense().to_sparse_csr()
    assert gs.Graph(csr) == gs.Graph(adj)
    assert -1 <= classification_margin(output[target], labels[target]) <= 1
    with pytest.raises(FileNotFoundError):
        PrePtbDataset(root=str(tmp_path), name="cora")


def test_deeprobusts_datasets_and_what_it_has_alone(tmp_path):
    from graphss.compat.deeprobust.graph.data import Dataset, PrePtbDataset

    source = "synth:nodes=300,classes=3,features=20,degree=2,seed=4"  # falls into parts
    whole, part = (Dataset(str(tmp_path), source, setting=s, seed=1, require_mask=True) for s in ("gcn", "nettack"))
    assert whole.adj.shape == (300, 300) and len(whole.idx_train) == 60 and whole.train_mask.sum() == 60
    assert part.adj.shape[0] < 300 and part.adj.sum(0).min() > 0 and part.features.shape[0] == len(part.labels)
    learnt = Dataset(str(tmp_path), source, setting="prognn")  # without its file: as it was made
    again = Dataset(str(tmp_path), source, setting="nettack", seed=15)
    assert (learnt.idx_test == again.idx_test).all() and len(np.unique(np.r_[learnt.idx_train, learnt.idx_val, learnt.idx_test])) == len(learnt.labels)
    with pytest.raises(ValueError, match="sideways"):
        Dataset(str(tmp_path), source, setting="sideways")
    sp.save_npz(tmp_path / "cora_nettack_adj_1.0.npz", part.adj)
    (tmp_path / "cora_nettacked_nodes.json").write_text('{"attacked_test_nodes": [3, 5]}')
    assert PrePtbDataset(str(tmp_path), "cora", "nettack", 1.0).target_nodes == [3, 5]
    with pytest.raises(ImportError, match="Metattack of DeepRobust has no counterpart"):
        from graphss.compat.deeprobust.graph.global_attack import Metattack  # noqa: F401

    rnd = deeprobust.RND()
    rnd.attack(part.features, part.adj, part.labels, part.idx_train, 7, 3)
    assert all(part.labels[v] != part.labels[7] for _, v in rnd.structure_perturbations)
    n = part.adj.shape[0]
    rnd.add_nodes(part.features, part.adj, part.labels, part.idx_train, 7, n_added=2, n_perturbations=3)
    assert rnd.modified_adj.shape == (n + 2, n + 2) and rnd.modified_features.shape[0] == n + 2
    assert rnd.modified_adj[7].sum() == part.adj[7].sum() + 3
    gcn = deeprobust.GCN(nhid=4).fit(rnd.modified_features, rnd.modified_adj, part.labels, part.idx_train, train_iters=5)
    learnt = deeprobust.ProGNN(gcn, types.SimpleNamespace(epochs=3))
    learnt.fit(part.features, part.adj, part.labels, part.idx_train, part.idx_val)
    assert 0 <= learnt.test(part.features, part.labels, part.idx_test) <= 1


def test_pygods_outliers_are_put_in(world):
    torch = pytest.importorskip("torch")
    from graphss.compat.pygod.generator import gen_contextual_outlier, gen_structural_outlier
    from graphss.compat.pygod.utils import load_data

    data = types.SimpleNamespace(x=torch.tensor(world.X.to_dense()), edge_index=torch.tensor(world.graph.edge_index()))
    one, odd = gen_contextual_outlier(data, n=20, k=10, seed=1)
    changed = (one.x != data.x).any(1)
    assert odd.sum() == 20 and not (changed & (odd == 0)).any() and changed.sum() > 15
    two, tight = gen_structural_outlier(one, m=5, n=3, seed=1)
    assert tight.sum() == 15 and two.x is one.x
    assert gs.Graph(two.edge_index, n_nodes=400).n_edges > world.graph.n_edges + 20
    there = data.edge_index.shape[1]
    assert torch.equal(two.edge_index[:, :there], data.edge_index) and two.edge_index.shape[1] == there + 3 * 5 * 4
    for wrong, kind in (((data, "few", 3), ValueError), (("no data", 1, 1), TypeError)):
        with pytest.raises(kind):
            gen_structural_outlier(*wrong)
    with pytest.raises(ValueError, match="401 outliers"):
        gen_contextual_outlier(data, n=401, k=1)
    with pytest.raises(FileNotFoundError, match="inj_cora.pt"):
        load_data("inj_cora", cache_dir="nowhere")
    names = {}
    exec("from graphss.compat.pygod.detector import *\nfrom graphss.compat.pygod.metric import *", names)
    assert names["CoLA"] is pygod.GraphSS and names["eval_f1"]([0, 1, 1], [0, 1, 0]) == pytest.approx(2 / 3)


def test_a_pygod_script(world):
    torch = pytest.importorskip("torch")
    index = torch.tensor(world.hit.graph.edge_index())
    data = types.SimpleNamespace(x=torch.tensor(world.hit.X.to_dense()), edge_index=index, num_nodes=400)
    detector = pygod.DOMINANT(hid_dim=64, num_layers=4, epoch=100)
    detector.fit(data)
    pred, score, prob, conf = detector.predict(data, return_pred=True, return_score=True, return_prob=True, return_conf=True)
    assert pred.shape == score.shape == prob.shape == conf.shape == (400,)
    assert torch.is_tensor(score) and set(pred.tolist()) <= {0, 1}
    from graphss.compat.pygod.detector import DOMINANT
    from graphss.compat.pygod.metric import eval_average_precision, eval_precision_at_k, eval_recall_at_k, eval_roc_auc

    assert DOMINANT is pygod.GraphSS
    both = detector.predict(data, return_emb=True)
    assert both[1].shape[0] == 400 and torch.equal(both[0], pred)
    with pytest.raises(ValueError, match="prob_method"):
        detector.predict(data, return_prob=True, prob_method="something")
    with pytest.raises(ValueError, match="contamination"):
        pygod.DOMINANT(contamination=10)
    from graphss.compat.pygod.utils import to_edge_score, to_graph_score

    assert to_edge_score(score, data.edge_index).shape[0] == data.edge_index.shape[1]
    assert to_graph_score(score).item() == pytest.approx(float(score.mean()))
    truth = np.zeros(400)
    truth[world.hit.victims] = 1
    # it rehearses on the attacked snapshot itself, without labels: no better than chance
    assert 0.3 < eval_roc_auc(truth, score) <= 1 and 0 < eval_average_precision(truth, score) <= 1
    assert eval_recall_at_k(truth, score) == eval_precision_at_k(truth, score)
    assert eval_roc_auc([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.2]) == 1
    metrics = pytest.importorskip("sklearn.metrics")
    tied = np.round(score.numpy(), 1)
    assert eval_average_precision(truth, tied) == pytest.approx(metrics.average_precision_score(truth, tied))
    assert eval_roc_auc(truth, tied) == pytest.approx(metrics.roc_auc_score(truth, tied)) and detector.epoch == 100
    assert detector.decision_score_.shape == (400,) and np.isfinite(detector.threshold_)
    with pytest.raises(AttributeError):
        pygod.Nobody
    data.y, data.train_mask = torch.tensor(truth).long(), torch.tensor(world.y >= 0)  # as Planetoid's data with outliers put in
    assert torch.equal(pygod.DOMINANT().fit(data).decision_score_, detector.fit(data).decision_score_)
    del data.y
    assert torch.equal(pygod.DOMINANT().fit(data).decision_score_, detector.decision_score_)
    assert pygod.GraphSS(labels=world.y).fit(data).classifier_.classes_.tolist() == [0, 1, 2]


def test_pyg_data_goes_in_whole(world):
    torch = pytest.importorskip("torch")
    mask = torch.tensor(world.y >= 0)
    data = types.SimpleNamespace(
        x=torch.tensor(world.X.to_dense()), edge_index=torch.tensor(world.graph.edge_index()), num_nodes=400,
        y=torch.tensor(world.truth), train_mask=mask,
    )  # fmt: skip
    clf = gs.NodeClassifier(epochs=5).fit(data)
    assert clf.predict(data).shape == (400,)
