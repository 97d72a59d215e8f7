"""Builds graphss._core against libgraphss.

GRAPHSS_BUILD names a build folder with libgraphss.a, which is put into the extension (make
python sets it); what it needs comes from the system. Without it pkg-config is asked for an
installed library, and the extension loads that one.
"""

import os
import pathlib
import re
import shlex
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

SOURCES = ["call", "objects", "data", "model", "defence", "live"]


def pkg_config(what, **more):
    command, env = ["pkg-config", "--static", what, "graphss_lab"], {**os.environ, **more}
    return shlex.split(subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout)


def library():
    """Flags to compile against libgraphss, and to link it."""
    build = os.environ.get("GRAPHSS_BUILD")
    if not build:
        return pkg_config("--cflags"), pkg_config("--libs")
    root = pathlib.Path(build)
    tree = re.search(r"^CMAKE_HOME_DIRECTORY:\w+=(.*)$", (root / "CMakeCache.txt").read_text(), re.M).group(1)
    parts = [str(root / "libgraphss_lab.a"), str(root / "libgraphss.a")]
    system = [flag for flag in pkg_config("--libs", PKG_CONFIG_PATH=build) if not flag.startswith(("-L", "-lgraphss"))]
    return [f"-I{tree}/include"], [*parts, *system]


class Build(build_ext):
    """Asks for the library when the extension is compiled: a source package needs none."""

    def build_extension(self, ext):
        include, link = library()
        checks = ["-fsanitize=address"] if os.environ.get("GRAPHSS_SANITIZE") else []
        ext.extra_compile_args += [*include, *checks]
        ext.extra_link_args += [*link, *checks, "-Wl,--exclude-libs,ALL"]
        super().build_extension(ext)


class Source(sdist):
    """With the header, which sdist would leave out."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, [*files, "src/core.h"])


core = Extension(
    "graphss._core",
    sources=["src/%s.c" % name for name in SOURCES],
    depends=["src/core.h"],
    define_macros=[("_GNU_SOURCE", "1")],
    extra_compile_args=["-std=c17", "-Wall", "-Wextra", "-Wno-missing-field-initializers"],
    py_limited_api=True,
)
setup(ext_modules=[core], cmdclass={"build_ext": Build, "sdist": Source}, options={"bdist_wheel": {"py_limited_api": "cp311"}})
