"""As ``deeprobust.graph.targeted_attack``."""

from .models import Nettack  # noqa: F401
