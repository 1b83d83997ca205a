"""What the extra ``web`` brings, and the line that says how to get it."""

from importlib.util import find_spec

__all__ = ["needs_web"]


def needs_web() -> None:
    """Raise unless what serving needs is installed.

    Raises
    ------
    ImportError
        With the command that installs it.
    """
    for module in ("fastapi", "uvicorn"):
        if find_spec(module) is None:
            raise ImportError(
                f"Serving needs {module}, which is not installed here: pip install 'textkin[web]'"
            )
