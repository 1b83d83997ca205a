"""Tests of the package: light imports, documented public names, and doctests."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import textkin

HEAVY = ("numpy", "scipy", "sklearn", "rich")


def modules_after(code):
    """Return the heavy packages that a fresh interpreter has loaded after it ran `code`."""
    listing = f"{code}\nimport sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_import_loads_no_heavy_packages():
    assert modules_after("import textkin; dir(textkin)") == "[]"


def test_help_loads_no_heavy_packages():
    code = "from textkin.cli import main\nassert main(['--help']) == 0\nmain(['demo', '--help'])"
    code += "\nassert main(['vectors', 'info', '--help']) == 0"
    assert modules_after(code) == "[]"


@pytest.mark.parametrize("name", textkin.__all__)
def test_public_name_exists_and_is_documented(name):
    value = getattr(textkin, name)
    assert name == "__version__" or inspect.getdoc(value)


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'WordMoover'"):
        _ = textkin.WordMoover


MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(textkin.__path__, "textkin.")
    if not found.name.endswith(("_core", "__main__"))
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    if name == "textkin.transport.gpu._kernels":
        pytest.importorskip("triton", reason="Triton comes with torch for CUDA alone")
    result = doctest.testmod(importlib.import_module(name), extraglobs={"__name__": name})
    assert result.failed == 0
