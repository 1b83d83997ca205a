"""Imports on first use: public names of packages (PEP 562), and optional dependencies."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["import_extra", "lazy_names"]


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]], subpackages: Sequence[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that imports names on first use.

    Importing the package then loads none of its modules.

    Parameters
    ----------
    package : str
        Full name of the package.
    modules : mapping of str to sequence of str
        Names that each module defines. A module name is relative to the package unless it starts
        with ``textkin.``.
    subpackages : sequence of str, default=()
        Modules of the package that are attributes as well, without an explicit import.

    Returns
    -------
    tuple of two functions
        `__getattr__` and `__dir__` of the package.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        home = homes.get(name)
        if home is None:
            if name in subpackages:
                return import_module(f"{package}.{name}")
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = home if home.startswith("textkin.") else f"{package}.{home}"
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def public_names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, public_names


def import_extra(module: str, package: str, extra: str, purpose: str) -> Any:  # noqa: ANN401 (untyped)
    """Import an optional dependency, or raise ImportError that names the extra to install.

    Parameters
    ----------
    module : str
        Full name of the module.
    package : str
        Name of the package on PyPI.
    extra : str
        Extra of textkin that installs the package.
    purpose : str
        Feature that needs the package, for the message.
    """
    try:
        return import_module(module)
    except ImportError as error:
        install = f"pip install 'textkin[{extra}]'"
        if isinstance(error, ModuleNotFoundError) and _is_part_of(module, error.name):
            raise ImportError(
                f"{purpose} requires {package}, which is not installed: {install}"
            ) from error
        raise ImportError(
            f"{purpose} requires {package}, which is installed but cannot be imported "
            f"({error}). Install a working version: {install} --upgrade"
        ) from error


def _is_part_of(module: str, name: str | None) -> bool:
    """Return True if `name` is `module` or one of its parent packages."""
    return name is not None and f"{module}.".startswith(f"{name}.")
