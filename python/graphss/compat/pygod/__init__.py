"""PyGOD's face: in a script for it, write ``graphss.compat.pygod`` for ``pygod``.

``fit(data)`` takes a PyG ``Data``. Every detector's name of PyGOD leads to one detector of ours;
what it finds are nodes whose links or features look tampered with.
"""

from typing import Any

from . import detector, generator, metric, utils
from .detector import GraphSS


def __getattr__(name: str) -> Any:
    return getattr(detector, name)


__all__ = ["GraphSS", "detector", "generator", "metric", "utils"]
