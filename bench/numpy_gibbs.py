"""How long are the same sweeps in vectorised numpy? One line per case: nodes, classes, ms for 100 sweeps.

    python3 numpy_gibbs.py NODES CLASSES [NODES CLASSES ...]

All nodes are drawn at once from the counts of the last sweep: numpy has no fast way to take nodes out one by one, so this does less
than the collapsed sampler. Inputs as in bench_gibbs: right labels nine times in ten, softmax of a margin of 3 for the true class.
"""
import sys, time
import numpy as np


def sweeps(P, y, n_sweeps, warmup, alpha, rng):
    n, K = P.shape
    z = P.argmax(1)
    phi = np.full((K, K), 1 / K)
    sums = np.zeros((n, K))
    for s in range(n_sweeps):
        if s >= warmup:
            C = alpha + np.bincount(z * K + y, minlength=K * K).reshape(K, K)
            phi = C / C.sum(1, keepdims=True)
        W = P * phi.T[y]
        W /= W.sum(1, keepdims=True)
        z = np.minimum((W.cumsum(1) <= rng.random((n, 1))).sum(1), K - 1)
        if s >= warmup:
            sums += W
    return sums / (n_sweeps - warmup)


arguments = list(map(int, sys.argv[1:]))
for n, K in zip(arguments[::2], arguments[1::2]):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, K, n)
    logits = rng.normal(size=(n, K))
    logits[np.arange(n), truth] += 3
    P = np.exp(logits)
    P = (P / P.sum(1, keepdims=True)).astype(np.float32).astype(float)
    y = np.where(rng.random(n) < 0.9, truth, rng.integers(0, K, n))
    best = 1e30
    for _ in range(5 if n < 50000 else 1):
        start = time.process_time()
        sweeps(P, y, 100, 40, 1.0, rng)
        best = min(best, time.process_time() - start)
    print(f"{n}\t{K}\t{1e3 * best:.2f}", flush=True)
