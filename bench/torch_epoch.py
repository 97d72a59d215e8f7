"""How long is the same epoch in PyTorch? One line: dataset, threads, ms an epoch, peak KiB, variant.

    OPENBLAS_CORETYPE=SkylakeX python3 torch_epoch.py FILE.npz THREADS EPOCHS VARIANT [DROPOUT]

VARIANT is sparse (X sparse, then A), dense (X dense, then A) or propagated (A X computed once, dense). A two-layer GCN with
loops, hidden 200, Adam, validation accuracy each epoch: the work of bench_train. DROPOUT (0 unless given) is that of stored
entries of X, or of cells where it is dense, and of the hidden layer; the epoch then has a second pass, without it, to validate. Set OPENBLAS_CORETYPE on processors
that Debian's OpenBLAS does not know, else torch's matrix products run four times slower than they can.
"""
import resource, sys, time
import numpy as np, scipy.sparse as sp, torch

path, threads, epochs, variant = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dropout = float(sys.argv[5]) if len(sys.argv) > 5 else 0
clock = time.process_time if threads == 1 else time.perf_counter  # as bench_train
torch.set_num_threads(threads)
torch.manual_seed(1)
z = np.load(path)
N, d = z["attr_shape"]
A = sp.csr_matrix((np.ones(len(z["adj_indices"]), np.float32), z["adj_indices"], z["adj_indptr"]), (N, N))
A = ((A + A.T) > 0).astype(np.float32).tolil()
A.setdiag(1)
A = A.tocsr()
D = sp.diags(1 / np.sqrt(np.asarray(A.sum(1)).ravel()))
A = (D @ A @ D).tocsr().astype(np.float32)
X = sp.csr_matrix((z["attr_data"], z["attr_indices"], z["attr_indptr"]), (N, d)).astype(np.float32)
X = (sp.diags(1 / np.maximum(np.asarray(X.sum(1)).ravel(), 1e-9)) @ X).tocsr().astype(np.float32)


def tensor(m):
    # COO: in Debian's build (no MKL) products with CSR tensors are many times slower.
    m = m.tocoo()
    return torch.sparse_coo_tensor(np.stack([m.row, m.col]), m.data, m.shape).coalesce()


class Product(torch.autograd.Function):
    """m @ w for a constant sparse m: the gradient is m^T g, with the transpose built once."""

    @staticmethod
    def forward(ctx, w, m, mt):
        ctx.mt = mt
        return m @ w

    @staticmethod
    def backward(ctx, g):
        return ctx.mt @ g.contiguous(), None, None


def drop_sparse(m, mt, transposed_at):
    # The same entries of m and of its transpose; transposed_at: where those of mt stand in m.
    kept = torch.rand(m._nnz()) >= dropout
    value = m.values() * kept / (1 - dropout)
    with_values = lambda like, v: torch.sparse_coo_tensor(like.indices(), v, like.shape)._coalesced_(True)
    return with_values(m, value), with_values(mt, value[transposed_at])


drop = torch.nn.functional.dropout
At = tensor(A)
if variant == "sparse":
    Xs, Xst = tensor(X), tensor(X.T)
    place = sp.csr_matrix((np.arange(X.nnz), X.indices, X.indptr), X.shape)  # sorted as coalesce sorts
    transposed_at = torch.from_numpy(place.T.tocsr().data.astype(np.int64))

    def first(w, training):
        m, mt = drop_sparse(Xs, Xst, transposed_at) if training and dropout else (Xs, Xst)
        return Product.apply(Product.apply(w, m, mt), At, At)
elif variant == "dense":
    Xd = torch.from_numpy(X.toarray())
    first = lambda w, training: Product.apply(drop(Xd, dropout, training) @ w, At, At)
else:
    AX = torch.from_numpy((A @ X).toarray())
    first = lambda w, training: drop(AX, dropout, training) @ w
y = torch.from_numpy(z["labels"].astype(np.int64))
K = int(y.max()) + 1
order = torch.randperm(N)
train, val = order[: int(0.4 * N)], order[int(0.4 * N): int(0.6 * N)]
w0 = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(d, 200)))
b0 = torch.nn.Parameter(torch.zeros(200))
w1 = torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(200, K)))
b1 = torch.nn.Parameter(torch.zeros(K))
optimiser = torch.optim.Adam([w0, b0, w1, b1], lr=1e-3)
del X, z


def forward(training):
    h = drop(torch.relu(first(w0, training) + b0), dropout, training)
    return Product.apply(h @ w1, At, At) + b1


def epoch():
    optimiser.zero_grad()
    out = forward(True)
    loss = torch.nn.functional.cross_entropy(out[train], y[train])
    with torch.no_grad():
        judged = forward(False) if dropout else out
        (judged[val].argmax(1) == y[val]).float().mean().item()
    loss.backward()
    optimiser.step()


best = 1e30
epoch(), epoch()
for _ in range(3):
    start = clock()
    for _ in range(epochs):
        epoch()
    best = min(best, (clock() - start) / epochs)
print(f"{path}\t{threads}\t{1e3 * best:.3f}\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}\t{variant}")
