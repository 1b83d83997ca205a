"""Web page, its files, and the page of the API reference."""

from pathlib import Path

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse, HTMLResponse
from fastapi.staticfiles import StaticFiles

from textkin.explain import stylesheet

__all__ = ["add_pages", "page"]

_PAGE = Path(__file__).with_name("page")
_VIEWS = (
    "/",
    "/compare",
    "/map",
    "/neighbors",
    "/clusters",
    "/topics",
    "/document",
    "/add",
)
_ABSENT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>textkin</title>"
    "<h1>The page is missing</h1><p>This installation of textkin has no web page. "
    'The API is available: see its <a href="/docs">reference</a>.</p></html>'
)


def page(status: int = 200) -> Response:
    """Return the page; its script shows the view of the URL, or an error for an unknown view."""
    index = _PAGE / "index.html"
    return FileResponse(index, status) if index.is_file() else HTMLResponse(_ABSENT, 404)


def add_pages(app: FastAPI) -> None:
    """Register the routes of the page."""

    def view() -> Response:
        return page()

    for address in _VIEWS:
        app.add_api_route(address, view, include_in_schema=False, methods=["GET", "HEAD"])

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return FileResponse(_PAGE / "docs.html")

    @app.get("/favicon.ico", include_in_schema=False)
    def icon() -> Response:
        found = _PAGE / "favicon.svg"
        return FileResponse(found) if found.is_file() else Response(status_code=404)

    @app.get("/explain.css", include_in_schema=False)
    def style() -> Response:
        return Response(stylesheet(), media_type="text/css")

    app.mount("/static", StaticFiles(directory=_PAGE), name="static")
