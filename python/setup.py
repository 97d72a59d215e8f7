"""Builds graphss._core against libgraphss.

GRAPHSS_BUILD names a build folder with libgraphss.a (make python sets it); without it
pkg-config is asked for an installed one. The library is linked statically, what it needs
comes from the system.
"""

import os
import pathlib
import shlex
import subprocess

from setuptools import Extension, setup

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = ["call", "objects", "data", "model", "defence", "live"]
SYSTEM = ["z", "curl", "jansson", "dl", "dnnl", "gomp", "m"]


def pkg_config(*what):
    command = ["pkg-config", "--static", *what, "graphss_lab"]
    return shlex.split(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


build = os.environ.get("GRAPHSS_BUILD")
if build:
    root = pathlib.Path(build)
    include = ["-I" + str(HERE.parent / "include")]
    link = [str(root / "libgraphss_lab.a"), str(root / "libgraphss.a"), *("-l" + name for name in SYSTEM), "-pthread"]
else:
    include = pkg_config("--cflags")
    link = pkg_config("--libs")
if os.environ.get("GRAPHSS_SANITIZE"):
    include.append("-fsanitize=address")
    link.append("-fsanitize=address")

core = Extension(
    "graphss._core",
    sources=["src/%s.c" % name for name in SOURCES],
    depends=["src/core.h"],
    define_macros=[("_GNU_SOURCE", "1")],
    extra_compile_args=[*include, "-std=c17", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    extra_link_args=[*link, "-Wl,--exclude-libs,ALL"],
    py_limited_api=True,
)
setup(ext_modules=[core], options={"bdist_wheel": {"py_limited_api": "cp311"}})
