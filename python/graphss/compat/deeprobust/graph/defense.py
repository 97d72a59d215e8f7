"""As ``deeprobust.graph.defense``."""

from .models import GAT, GCN, RGCN, SAGE, SGC, GCNJaccard, GCNSVD, ProGNN  # noqa: F401
