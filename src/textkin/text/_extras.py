"""Optional dependencies of this room."""

from importlib import import_module
from typing import Any

__all__ = ["import_extra"]


def import_extra(module: str, package: str, extra: str, purpose: str) -> Any:  # noqa: ANN401 (untyped)
    """Return the module, or say which extra to install for it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {package}, which is not installed here: "
            f"pip install 'textkin[{extra}]'"
        ) from error
