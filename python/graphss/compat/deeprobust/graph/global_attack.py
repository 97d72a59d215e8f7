"""As ``deeprobust.graph.global_attack``."""

from .models import DICE, Random  # noqa: F401
