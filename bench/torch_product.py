"""How long is A H in PyTorch? One line: ms, peak KiB.

    OPENBLAS_CORETYPE=Haswell python3 torch_product.py NODES LINKS WIDTH [THREADS]

A is a sparse matrix of 2 LINKS + NODES entries in no order, as a graph with loops has them, H a dense one of NODES x WIDTH.
The better of two products by processor time with one thread, and by the clock with more.
"""
import resource, sys, time
import numpy as np, torch

nodes, links, width = (int(a) for a in sys.argv[1:4])
threads = int(sys.argv[4]) if len(sys.argv) > 4 else 1
clock = time.process_time if threads == 1 else time.perf_counter
torch.set_num_threads(threads)
entries = 2 * links + nodes
column = np.random.default_rng(1).integers(0, nodes, entries)
row = np.sort(np.arange(entries) % nodes)
index = torch.from_numpy(np.stack([row, column]))
del row, column
a = torch.sparse_coo_tensor(index, torch.ones(entries), (nodes, nodes))._coalesced_(True)
h = torch.rand(nodes, width)
best = 1e30
for _ in range(2):
    start = clock()
    a @ h
    best = min(best, clock() - start)
print(f"{1e3 * best:.1f}\t{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
