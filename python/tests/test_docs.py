"""The reference page is what the docstrings say, and every public name has one."""

import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import graphss as gs

ROOT = os.environ.get("GRAPHSS_SOURCE")


@pytest.mark.skipif(not ROOT, reason="GRAPHSS_SOURCE names no tree")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="signatures print differently")
def test_the_reference_is_up_to_date():
    script = pathlib.Path(ROOT) / "python" / "make_api.py"
    built = str(pathlib.Path(gs.__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-B", str(script), "--check"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": built},
    )
    assert done.returncode == 0, done.stderr


def test_every_public_name_has_a_docstring():
    for name in gs.__all__:
        thing = getattr(gs, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and inspect.isfunction(value):
                assert inspect.getdoc(value), f"{name}.{member}"
