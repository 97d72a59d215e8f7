"""What estimators share: parameters, options, threads, progress."""

from __future__ import annotations

import inspect
import sys
import time
from typing import Any, Callable

from . import _core


class Params:
    """scikit-learn's parameter protocol, without importing scikit-learn."""

    @classmethod
    def _names(cls) -> list[str]:
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        found = inspect.signature(cls.__init__).parameters.values()
        return [p.name for p in found if p.name != "self" and p.kind not in kinds]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; those of nested estimators as ``name__parameter``."""
        out: dict[str, Any] = {}
        for name in self._names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                out.update((f"{name}__{k}", v) for k, v in value.get_params().items())
            out[name] = value
        return out

    def set_params(self, **params: Any) -> "Params":
        """Sets parameters by name and returns the estimator."""
        known = self._names()
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in known:
                raise ValueError(
                    f"Invalid parameter {first!r} for estimator {self}. "
                    f"Valid parameters are: {known!r}."
                )
            if rest:
                getattr(self, first).set_params(**{rest: value})
            else:
                setattr(self, first, value)
        return self

    def __repr__(self) -> str:
        default = inspect.signature(type(self).__init__).parameters
        given = []
        for name in self._names():
            value = getattr(self, name, None)
            if value is not default[name].default and value != default[name].default:
                given.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(given)})"


def option_text(value: Any) -> str:
    """A value of Python as the library's option tables read it."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value)
    return str(value)


def option_dict(values: dict[str, Any]) -> dict[str, str]:
    """``weight_decay=0.1`` to ``{"weight-decay": "0.1"}``; None is left out."""
    return {k.replace("_", "-"): option_text(v) for k, v in values.items() if v is not None}


def option_names(which: str, name: str = "") -> list[str]:
    """Names of the options of a table, as Python spells them."""
    return [row["name"].replace("-", "_") for row in _core.options(which, name)]


def threads(n_jobs: int | None) -> int:
    """Threads of the library: None and -1 mean all cores."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs < 1:
        raise ValueError(f"n_jobs: found {n_jobs}, want at least 1, or None for all cores")
    return int(n_jobs)


def checked_seed(seed: Any) -> int:
    """A seed of the library: a whole number of 64 bits."""
    try:
        number = int(seed)
    except (TypeError, ValueError):
        raise ValueError(f"seed: found {seed!r}, want a whole number") from None
    if not 0 <= number < 2**64:
        raise ValueError(f"seed: found {number}, want 0 to 2**64 - 1")
    return number


class _Bar:
    """tqdm where it is there, else a line on standard error."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.stage = ""
        self.last = 0.0

    def __call__(self, stage: str, done: int, total: int, note: str | None) -> bool:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            now = time.monotonic()
            if now - self.last > 0.2 or done == total:
                self.last = now
                print(f"\r{stage} {done}/{total} {note or ''}".ljust(70), end="", file=sys.stderr)
                if done == total:
                    print(file=sys.stderr)
            return True
        if self.bar is None or self.stage != stage or done < self.bar.n:
            if self.bar is not None:
                self.bar.close()
            self.stage = stage
            self.bar = tqdm(total=total or None, desc=stage, leave=False)
        self.bar.update(done - self.bar.n)
        if done == total:
            self.bar.close()
            self.bar = None
        return True


def progress_of(progress: bool | Callable | None) -> Callable | None:
    """None and False: silent; True: a bar; or a function (stage, done, total, note), which
    returns False to stop."""
    if progress is True:
        return _Bar()
    return progress or None
