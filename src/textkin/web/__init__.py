"""The HTTP API and the page to explore a collection; needs the extra ``web``."""

from typing import TYPE_CHECKING

from textkin.web._settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from textkin.index import Index

__all__ = ["Settings", "create_app"]


def create_app(index: "Index", *, settings: Settings | None = None) -> "FastAPI":
    """Make the web application of an open index: an ASGI app for any server.

    Parameters
    ----------
    index : Index
        Open; it stays the caller's, who closes it after the server has ended.
    settings : Settings, optional
        Limits, title, the token of writers and the names under which the server may be called.

    Returns
    -------
    fastapi.FastAPI
        With the API under ``/api``, its description at ``/openapi.json`` and ``/docs``, and the
        page at ``/``.

    Raises
    ------
    ImportError
        If the extra ``web`` is not installed; the message has the command.

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
    from textkin.web._needed import needs_web

    needs_web()
    from textkin.web._app import made_app

    return made_app(index, settings or Settings())
