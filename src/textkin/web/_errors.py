"""What becomes of errors: one form for all of them, in words."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from textkin.web._pages import page
from textkin.web._problems import Problem

__all__ = ["add_errors"]


def add_errors(app: FastAPI) -> None:
    """Let an application tell its errors in one form."""

    async def told(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Problem)
        return JSONResponse(error.as_dict(), error.status, headers=error.headers())

    async def refused(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problem = _of_validation(error)
        return JSONResponse(problem.as_dict(), problem.status)

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404 and _is_typed(request):
            return page(404)
        problem = _of_http(error)
        return JSONResponse(problem.as_dict(), problem.status, headers=error.headers)

    app.add_exception_handler(Problem, told)
    app.add_exception_handler(RequestValidationError, refused)
    app.add_exception_handler(HTTPException, of_http)


def _is_typed(request: Request) -> bool:
    """Return whether somebody has typed the address into a browser, or followed a link."""
    reads = request.method in ("GET", "HEAD") and not request.url.path.startswith("/api")
    return reads and "text/html" in request.headers.get("accept", "")


def _of_validation(error: RequestValidationError) -> Problem:
    """Say the first thing that is wrong, and how many more there are."""
    found = error.errors()
    first = found[0]
    if first["type"] == "json_invalid":
        return Problem("bad_request", "The body must be JSON, and is not.")
    if first["type"] == "missing" and first["loc"] == ("body",):
        return Problem("bad_request", "The body is missing: it must be a JSON object.")
    if first["type"] == "model_attributes_type" and first["loc"] == ("body",):
        said = "The body must be a JSON object, sent with 'Content-Type: application/json'."
        return Problem("bad_request" if isinstance(first["input"], bytes) else "invalid", said)
    field = ".".join(map(str, first["loc"][1:])) or None  # without "body" or "query"
    if first["type"] == "too_long":
        most, got = first["ctx"]["max_length"], first["ctx"]["actual_length"]
        said = f"{field} may have {most:,} entries; got {got or 'more'}. Send less at once."
        return Problem("too_large", said, field)
    said = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    got = "" if first["type"] in _SELF_TOLD else f"; got {_described(first.get('input'))}"
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return Problem("invalid", f"{field}: {said}{got}.{more}" if field else f"{said}.{more}", field)


_SELF_TOLD = ("missing", "extra_forbidden", "value_error")


def _described(value: object) -> str:
    """Say what came, without repeating a text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else str(value)[:20]
    for kind, name in ((str, "a text"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return "something else"


def _of_http(error: HTTPException) -> Problem:
    if error.status_code == 404:
        return Problem("not_found", "There is nothing at this address; /docs lists what there is.")
    if error.status_code == 405:
        said = "This address does not take this method; /docs lists what there is."
        return Problem("bad_request", said, status=405)
    if error.status_code == 400:  # bytes that are no text, numbers or lists without end
        return Problem("bad_request", "The body must be JSON in UTF-8, and cannot be read as such.")
    return Problem("bad_request", str(error.detail), status=error.status_code)
