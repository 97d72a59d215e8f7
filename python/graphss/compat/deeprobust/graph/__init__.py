"""As ``deeprobust.graph``."""
