"""The page, its files, and the page that shows the description of the API."""

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
    "/neighbours",
    "/clusters",
    "/topics",
    "/document",
    "/add",
)
_ABSENT = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>textkin</title>"
    "<h1>The page is not here</h1><p>This installation of textkin has no page to explore a "
    'collection. The API answers: <a href="/docs">what it takes</a>.</p></html>'
)


def page(status: int = 200) -> Response:
    """Return the page, which shows what its address asks for, or that there is no such view."""
    index = _PAGE / "index.html"
    return FileResponse(index, status) if index.is_file() else HTMLResponse(_ABSENT, 404)


def add_pages(app: FastAPI) -> None:
    """Let an application serve the page."""

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
