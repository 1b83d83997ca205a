"""Entry point of the web application; checks that the extra ``web`` is installed."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from textkin.web._limits import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from textkin.index import Index

__all__ = ["check_installed", "create_app"]


def check_installed() -> None:
    """Raise unless the packages of the extra ``web`` are installed.

    Raises
    ------
    ImportError
        If a package is missing; the message includes the installation command.
    """
    for module in ("fastapi", "uvicorn"):
        if find_spec(module) is None:
            raise ImportError(
                f"The web server requires {module}. Install it: pip install 'textkin[web]'"
            )


def create_app(index: "Index", *, settings: Settings | None = None) -> "FastAPI":
    """Create the web application of an open index: an ASGI app for any server.

    Parameters
    ----------
    index : Index
        Open index. The caller closes it after the server has stopped.
    settings : Settings, optional
        Limits, title, write token, and allowed host names.

    Returns
    -------
    fastapi.FastAPI
        Application with the API under ``/api``, its description at ``/openapi.json`` and ``/docs``,
        and the page at ``/``.

    Raises
    ------
    ImportError
        If the extra ``web`` is not installed; the message includes the installation command.

    Examples
    --------
    >>> import tempfile
    >>> from fastapi.testclient import TestClient
    >>> from textkin import Index
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/papers.kin")
    >>> _ = index.add([{"id": "a", "text": "Obama speaks to the media"}])
    >>> with TestClient(create_app(index), base_url="http://localhost") as client:
    ...     found = client.post("/api/search", json={"query": "media"}).json()
    >>> [hit["id"] for hit in found["hits"]]
    ['a']
    >>> index.close()
    >>> folder.cleanup()
    """
    check_installed()
    from textkin.web._routes import made_app

    return made_app(index, settings or Settings())
