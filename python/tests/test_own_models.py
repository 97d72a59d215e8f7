"""Classifiers that are not ours: callables, answers alone, weights of torch."""

import pickle

import numpy as np
import pytest

import graphss as gs

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def propagation(graph, loops=True):
    a = torch.tensor(graph.adjacency().toarray())
    if loops:
        a = a + torch.eye(graph.n_nodes)
    return a


class Gcn(torch.nn.Module):
    """Plain torch, with the parameter names of PyG's GCNConv."""

    def __init__(self, d, k, hidden=16):
        super().__init__()
        self.w = torch.nn.ModuleList([torch.nn.Linear(d, hidden, bias=False), torch.nn.Linear(hidden, k, bias=False)])
        self.b = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(n)) for n in (hidden, k)])

    def forward(self, graph, x):
        a = propagation(graph)
        r = a.sum(1) ** -0.5
        p = a * r[:, None] * r[None, :]
        h = torch.relu(p @ self.w[0](x) + self.b[0])
        h = torch.nn.functional.dropout(h, 0.5, self.training)
        return p @ self.w[1](h) + self.b[1]

    def pyg(self):
        return {f"conv{i + 1}.{n}": t for i in (0, 1) for n, t in (("lin.weight", self.w[i].weight), ("bias", self.b[i]))}


class Sage(torch.nn.Module):
    """PyG's SAGEConv in plain torch."""

    def __init__(self, d, k, hidden=16):
        super().__init__()
        sizes = ((d, hidden), (hidden, k))
        self.l = torch.nn.ModuleList([torch.nn.Linear(*s) for s in sizes])
        self.r = torch.nn.ModuleList([torch.nn.Linear(*s, bias=False) for s in sizes])

    def forward(self, graph, x):
        a = propagation(graph, loops=False)
        m = a / a.sum(1, keepdim=True).clamp(min=1)
        for i in (0, 1):
            x = self.l[i](m @ x) + self.r[i](x)
            x = torch.relu(x) if i == 0 else x
        return x

    def pyg(self):
        out = {}
        for i in (0, 1):
            out |= {f"convs.{i}.lin_l.weight": self.l[i].weight, f"convs.{i}.lin_l.bias": self.l[i].bias}
            out[f"convs.{i}.lin_r.weight"] = self.r[i].weight
        return out


class Gat(torch.nn.Module):
    """PyG's GATConv in plain torch: 4 heads side by side, then the mean of 2."""

    def __init__(self, d, k):
        super().__init__()
        self.heads = ((4, 5, False), (2, k, True))
        self.lin = torch.nn.ModuleList([torch.nn.Linear(d, 20, bias=False), torch.nn.Linear(20, 2 * k, bias=False)])
        shapes = [(1, h, c) for h, c, _ in self.heads]
        self.src = torch.nn.ParameterList([torch.nn.Parameter(0.3 * torch.randn(s)) for s in shapes])
        self.dst = torch.nn.ParameterList([torch.nn.Parameter(0.3 * torch.randn(s)) for s in shapes])
        self.b = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(20)), torch.nn.Parameter(torch.zeros(k))])

    def forward(self, graph, x):
        a = propagation(graph) > 0
        for i, (h, c, mean) in enumerate(self.heads):
            g = self.lin[i](x).view(-1, h, c)
            z = (g * self.dst[i]).sum(-1)[:, None, :] + (g * self.src[i]).sum(-1)[None, :, :]
            z = torch.nn.functional.leaky_relu(z, 0.2).masked_fill(~a[:, :, None], -1e30)
            out = torch.einsum("ijh,jhc->ihc", torch.softmax(z, dim=1), g)
            x = (out.mean(1) if mean else out.flatten(1)) + self.b[i]
            x = torch.nn.functional.elu(x) if i == 0 else x
        return x

    def pyg(self):
        out = {}
        for i in (0, 1):
            names = {"lin.weight": self.lin[i].weight, "att_src": self.src[i], "att_dst": self.dst[i], "bias": self.b[i]}
            out |= {f"conv{i + 1}.{n}": t for n, t in names.items()}
        return out


def train(make, world, epochs=25):
    torch.manual_seed(0)
    x = torch.tensor(world.X.to_dense())
    y = torch.tensor(world.y).long()
    known = y >= 0
    net = make(x.shape[1], 3)
    step = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(epochs):
        step.zero_grad()
        torch.nn.functional.cross_entropy(net(world.graph, x)[known], y[known]).backward()
        step.step()
    return net.eval()


@pytest.fixture(scope="module")
def nets(world):
    return {make.__name__: train(make, world) for make in (Gcn, Sage, Gat)}


def answer(net):
    def ask(graph, X):
        x = torch.tensor(np.asarray(X.todense() if hasattr(X, "todense") else X), dtype=torch.float32)
        with torch.no_grad():
            return torch.softmax(net(graph, x), dim=1)

    return ask


@pytest.mark.parametrize("name", ["Gcn", "Sage", "Gat"])
def test_a_torch_model_is_guarded_by_a_callable(world, nets, name):
    ask = answer(nets[name])
    clf = gs.wrap(ask, world.X, world.graph, y=world.y)
    assert clf.agreement_ > 0.8 and clf.calls_ == 2
    want = ask(world.graph, world.X.to_array()).numpy()
    assert np.array_equal(clf.predict_proba(world.X, world.graph), want)
    hit = gs.attack(clf, world.X, world.graph, links=4, features=6, victims=world.hit.victims)
    asked = clf.calls_
    detector = gs.TamperDetector(clf).fit(world.X, graph=world.graph)
    assert 1 <= clf.calls_ - asked <= 40  # the bounds of docs/python.md
    found = detector.inspect(hit.X, hit.graph)
    assert found.alert and 1 <= found.calls <= 8
    fixed = gs.recover(clf, hit.X, hit.graph, previous=(world.X, world.graph))
    assert 1 <= fixed.calls <= 10
    v = world.hit.victims
    assert np.mean(fixed.label[v] == world.truth[v]) >= np.mean(clf.predict(hit.X, hit.graph)[v] == world.truth[v])


@pytest.mark.parametrize("name, kind", [("Gcn", "gcn"), ("Sage", "sage-mean"), ("Gat", "gat")])
def test_weights_of_torch_give_the_origins_probabilities(world, nets, name, kind):
    net = nets[name]
    prob = answer(net)(world.graph, world.X.to_array())
    clf = gs.NodeClassifier.from_state_dict(
        net.pyg(), model=kind, probe=(world.X, world.graph, prob), y=world.y
    )
    assert clf.probe_difference_ < 1e-5
    assert (clf.predict(world.X, world.graph) == prob.numpy().argmax(1)).all()
    back = clf.to_state_dict("pyg")
    again = gs.NodeClassifier.from_state_dict(back, model=kind, probe=(world.X, world.graph, prob))
    assert again.probe_difference_ < 1e-5
    assert gs.TamperDetector(clf).inspect(world.X, world.graph, previous=None).p_value > 0


def test_weights_that_are_not_the_origins_are_refused(world, nets):
    net = nets["Gcn"]
    probe = (world.X, world.graph, answer(net)(world.graph, world.X.to_array()))
    make = gs.NodeClassifier.from_state_dict
    with pytest.raises(gs.DataError, match="differs from the one behind the probe"):
        make(net.pyg(), probe=probe, self_loops=False)
    with pytest.raises(gs.DataError, match="differs from the one behind the probe"):
        make(net.pyg(), probe=probe, row_normalise=True)
    turned = {k: v.T if k == "conv1.lin.weight" else v for k, v in net.pyg().items()}
    with pytest.raises(gs.GraphssError):
        make(turned, probe=probe)
    small = train(lambda d, k: Gcn(d, k, hidden=3), world, epochs=5)
    told = (world.X, world.graph, answer(small)(world.graph, world.X.to_array()))
    square = {k: v.T if k == "conv2.lin.weight" else v for k, v in small.pyg().items()}
    assert make(small.pyg(), probe=told).probe_difference_ < 1e-5
    with pytest.raises(gs.DataError, match="differs from the one behind the probe"):
        make(square, probe=told)  # 3 x 3: its shape does not tell
    with pytest.raises(gs.DataError, match="bn.running_mean"):
        make({**net.pyg(), "bn.running_mean": torch.zeros(16)}, probe=probe)
    with pytest.warns(gs.GraphssWarning, match="probe"):
        make(net.pyg())
    with pytest.raises(ValueError, match="layout"):
        make(net.pyg(), layout="keras", probe=probe)


@pytest.mark.parametrize("layout", ["pyg of old", "dgl", "deeprobust"])
def test_other_layouts_of_a_gcn(world, nets, layout):
    w, b = nets["Gcn"].w, nets["Gcn"].b
    names = {"pyg of old": ("conv1", "conv2"), "dgl": ("layers.0", "layers.1"), "deeprobust": ("gc1", "gc2")}[layout]
    state = {f"{name}.{what}": t for i, name in enumerate(names) for what, t in (("weight", w[i].weight.T), ("bias", b[i]))}
    probe = (world.X, world.graph, answer(nets["Gcn"])(world.graph, world.X.to_array()))
    clf = gs.NodeClassifier.from_state_dict(state, layout=layout.split()[0], probe=probe)
    assert clf.probe_difference_ < 1e-5
    with pytest.raises(gs.GraphssError):
        gs.NodeClassifier.from_state_dict({k: v.t() for k, v in state.items()}, layout=layout.split()[0], probe=probe)


def test_layouts_of_graphsage_and_of_sgc(world, nets):
    make, net = gs.NodeClassifier.from_state_dict, nets["Sage"]
    probe = (world.X, world.graph, answer(net)(world.graph, world.X.to_array()))
    state = {}
    for i in (0, 1):
        state[f"layers.{i}.fc_neigh.weight"], state[f"layers.{i}.fc_self.weight"] = net.l[i].weight, net.r[i].weight
        state[f"layers.{i}.bias"] = net.l[i].bias
    assert make(state, layout="dgl", model="sage-mean", probe=probe).probe_difference_ < 1e-5
    swapped = {k.replace("fc_neigh", "x").replace("fc_self", "fc_neigh").replace("x", "fc_self"): v for k, v in state.items()}
    with pytest.raises(gs.DataError, match="differs from the one behind the probe"):
        make(swapped, layout="dgl", model="sage-mean", probe=probe)

    w, a = nets["Gcn"].w, propagation(world.graph)  # the mean of neighbours and node, one matrix: DGL's "gcn"
    m, x = a / a.sum(1, keepdim=True), torch.tensor(world.X.to_dense())
    one = (m @ w[1](torch.relu(m @ w[0](x)))).softmax(1).detach()
    state = {f"layers.{i}.fc_neigh.weight": w[i].weight for i in (0, 1)}
    assert make(state, layout="dgl", model="sage", probe=(world.X, world.graph, one)).probe_difference_ < 1e-5

    r, line = a.sum(1) ** -0.5, torch.nn.Linear(x.shape[1], 3)
    p = a * r[:, None] * r[None, :]
    told = (world.X, world.graph, line(p @ (p @ x)).softmax(1).detach())
    for layout, name in (("pyg", "lin"), ("dgl", "fc")):
        state = {f"{name}.weight": 9 * line.weight, f"{name}.bias": line.bias}
        sharp = (*told[:2], (9 * (line(p @ (p @ x)) - line.bias) + line.bias).softmax(1).detach())
        assert make(state, layout=layout, model="sgc", hops=2, probe=sharp).probe_difference_ < 1e-5
        with pytest.raises(gs.DataError, match="differs from the one behind the probe"):
            make(state, layout=layout, model="sgc", hops=3, probe=sharp)


def test_answers_alone_are_enough_for_a_verdict(world, nets):
    ask = answer(nets["Gcn"])
    before, after = (ask(g, x.to_array()) for g, x in ((world.graph, world.X), (world.hit.graph, world.hit.X)))
    clf = gs.wrap_answers(
        (world.X, world.graph, before), (world.hit.X, world.hit.graph, after), y=world.y
    )
    assert np.allclose(clf.predict_proba(world.hit.X, world.hit.graph), after)
    detector = gs.TamperDetector(clf).fit(world.X, graph=world.graph)
    assert not detector.alert_ and detector.inspect(world.hit.X, world.hit.graph).alert
    assert gs.recover(clf, world.hit.X, world.hit.graph, previous=(world.X, world.graph)).label.shape == (400,)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(clf)


def test_what_a_callable_must_not_do(world):
    def wrap(f, **more):
        return gs.wrap(f, world.X, world.graph, classes=[0, 1, 2], **more)

    good = np.full((400, 3), 1 / 3, dtype=np.float32)
    with pytest.raises(gs.DataError, match="sum to 3"):
        wrap(lambda g, X: np.ones((400, 3)))
    with pytest.raises(gs.DataError, match="softmax"):
        wrap(lambda g, X: -np.ones((400, 3)))
    with pytest.raises(ValueError, match="want 400 nodes x 3"):
        wrap(lambda g, X: good[:-1])
    with pytest.raises(ZeroDivisionError):
        wrap(lambda g, X: 1 // 0)
    rng = np.random.default_rng(0)
    with pytest.raises(gs.DataError, match="eval"):
        wrap(lambda g, X: rng.dirichlet(np.ones(3), 400))
    with pytest.raises(TypeError, match="callable"):
        wrap(3)
    with pytest.raises(ValueError, match="output"):
        wrap(lambda g, X: good, output="odds")
    logits = world.clf.predict_log_proba(world.X, world.graph)
    same = wrap(lambda g, X: logits * 2 + 5, output="logits", y=world.y)
    assert same.predict_proba(world.X, world.graph).shape == (400, 3)


def test_classes_in_any_order_and_victims_off_the_training_nodes(world):
    names = np.array(["c", "a", "b"])
    y = np.where(world.y < 0, None, names[world.y])
    clf = gs.wrap(lambda graph, X: world.clf.predict_proba(X, graph), world.X, world.graph, y=y, classes=names)
    assert (clf.predict(world.X, world.graph) == names[world.clf.predict(world.X, world.graph)]).all()
    assert (clf.split_["train_labels"] == world.y[clf.split_["train"]]).all()
    hit = gs.attack(clf, world.X, world.graph, links=1, features=0, method="random")
    assert (world.y[hit.victims] < 0).all()


class Fixed:
    """A callable that can be pickled."""

    def __init__(self, clf):
        self.clf = clf

    def __call__(self, graph, X):
        return self.clf.predict_proba(X, graph)


def test_a_wrapped_callable_is_pickled_with_it(world):
    clf = gs.wrap(Fixed(world.clf), world.X, world.graph, y=world.y)
    back = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(back.predict_proba(world.X, world.graph), clf.predict_proba(world.X, world.graph))
    failing = gs.wrap(Fixed(world.clf), world.X, world.graph, y=world.y)
    failing._caller.function.clf = None
    with pytest.raises(gs.DataError, match="the predictor failed: AttributeError"):
        failing.predict(world.X, world.graph)
