"""Writes docs/python_api.md from the docstrings; --check: is it what they say?

    /usr/bin/python3 python/make_api.py [--check]
"""

import inspect
import pathlib
import re
import sys
import textwrap

# The built package, wherever PYTHONPATH or the installation has it, not the sources beside this.
sys.path[:] = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import graphss as gs  # noqa: E402
from graphss.compat import deeprobust, pygod  # noqa: E402

PAGE = pathlib.Path(sys.argv[0]).resolve().parent.parent / "docs" / "python_api.md"
PARTS = [
    ("Data", [gs.read, gs.Dataset, gs.Graph, gs.Features]),
    ("Classifiers", [gs.NodeClassifier, gs.wrap, gs.wrap_answers, gs.Predictor]),
    ("Alerts, recovery, attacks", [gs.TamperDetector, gs.Alert, gs.Reason, gs.recover, gs.Recovery, gs.attack, gs.Attack, gs.apply_flips]),
    ("A graph that changes", [gs.live.Watch]),
    ("Lists and options", [gs.models, gs.methods, gs.attacks, gs.options]),
    ("Faces of other libraries", [deeprobust.GCN, deeprobust.Nettack, pygod.GraphSS]),
]


def signature(thing):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    return re.sub(r"ForwardRef\(([^()]*)\)", r"\1", text.replace("'", "")).replace("self, ", "").replace("(self)", "()")


def wrapped(text):
    return "\n".join(textwrap.wrap(text, 94, break_long_words=False, subsequent_indent="    "))


def doc(thing):
    return inspect.getdoc(thing) or ""


def page():
    out = ["# The Python package, name by name", "", "Made from the docstrings by `python/make_api.py`; do not edit.", ""]
    for title, things in PARTS:
        out += [f"## {title}", ""]
        for thing in things:
            name = thing.__module__.startswith("graphss.compat.")
            called = ("compat." + thing.__module__.split(".")[2] + "." if name else "") + thing.__qualname__
            called = "live." + called if thing.__module__ == "graphss.live" else called
            out += [f"### {called}", "", "```", wrapped(called + signature(thing)), "", doc(thing), "```", ""]
            if not inspect.isclass(thing):
                continue
            for member, value in sorted(vars(thing).items()):
                target = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                public = not member.startswith("_") and (callable(target) or isinstance(value, property))
                if public and doc(target) and not (issubclass(thing, tuple) and member in thing._fields):
                    first = doc(target).split("\n\n")[0].replace("\n", " ")
                    out += textwrap.wrap(f"* `{member}`: {first}", 98, subsequent_indent="  ")
            out.append("")
    return "\n".join(line.rstrip() for line in out).rstrip() + "\n"


if "--check" in sys.argv:
    if PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the docstrings say: run python/make_api.py")
else:
    PAGE.write_text(page())
