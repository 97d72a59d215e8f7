"""As ``deeprobust.graph``; one module stands for its defences and its two kinds of attacks."""

import sys

from . import models

defense = defense_pyg = global_attack = targeted_attack = models
sys.modules.update(
    {f"{__name__}.{name}": models for name in ("defense", "defense_pyg", "global_attack", "targeted_attack")}
)
