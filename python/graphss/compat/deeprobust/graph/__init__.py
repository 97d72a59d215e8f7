"""As ``deeprobust.graph``; one module stands for its ``defense`` and its two kinds of attacks."""

import sys

from . import models

defense = global_attack = targeted_attack = models
sys.modules.update(
    {f"{__name__}.{name}": models for name in ("defense", "global_attack", "targeted_attack")}
)
