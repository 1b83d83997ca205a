"""Errors of the API: code, message, and field; and their HTTP form."""

import errno
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from textkin.exceptions import (
    AddError,
    DamagedIndexError,
    EmptyDocumentError,
    IndexLockedError,
    ParameterError,
    ParameterTypeError,
)
from textkin.web._pages import page

__all__ = ["Code", "Problem", "add_errors", "problem_of"]

Code: TypeAlias = Literal[
    "bad_request",
    "unauthorized",
    "read_only",
    "not_found",
    "conflict",
    "too_large",
    "invalid",
    "wordless",
    "too_slow",
    "busy",
    "unavailable",
    "internal",
]

STATUS: dict[Code, int] = {
    "bad_request": 400,
    "unauthorized": 401,
    "read_only": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "invalid": 422,
    "wordless": 422,
    "too_slow": 503,
    "busy": 503,
    "unavailable": 503,
    "internal": 500,
}

_log = logging.getLogger("textkin.web")


class Problem(Exception):
    """Error of a request.

    Parameters
    ----------
    code : str
        Kind of error.
    message : str
        Requirement, value received, and fix.
    field : str, optional
        Part of the request that caused the error.
    status : int, optional
        HTTP status. If None, the status of the code.
    unknown : mapping of str to sequences of str, optional
        For the code "wordless": each text that cannot be compared, by field, with its words without
        a vector. An empty sequence means that the text has only stop words.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        field: str | None = None,
        status: int | None = None,
        unknown: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.field = field
        self.status = STATUS[code] if status is None else status
        self.unknown = unknown

    def again(self) -> "Problem":
        """Return a copy to raise again; a raised exception keeps its traceback."""
        return Problem(self.code, self.message, self.field, self.status, self.unknown)

    def to_dict(self) -> dict[str, dict[str, object]]:
        """Return the response body."""
        field = None if self.field is None else _whole(self.field)
        told: dict[str, object] = {
            "code": self.code,
            "message": _whole(self.message),
            "field": field,
        }
        if self.unknown is None:
            return {"error": told}
        words = {name: [*map(_whole, words)] for name, words in self.unknown.items()}
        return {"error": {**told, "unknown": words}}

    def headers(self) -> dict[str, str]:
        """Return the HTTP headers of the response."""
        if self.status == 401:
            return {"WWW-Authenticate": 'Bearer realm="textkin"'}
        return {"Retry-After": "1"} if self.code == "busy" else {}


def problem_of(error: Exception) -> Problem:
    """Return the problem to report for an error of the library."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, EmptyDocumentError):
        return Problem("wordless", str(error), error.argument or None)
    if isinstance(error, AddError):
        return Problem("invalid", _message(error, str(error)), "documents")
    if isinstance(error, ParameterError | ParameterTypeError):
        field = _FIELDS.get(error.parameter, error.parameter)
        return Problem("invalid", _message(error, str(error)), field)
    if isinstance(error, IndexLockedError):
        return Problem("busy", "Another process is writing to the index. Try again in a moment.")
    if isinstance(error, KeyError) and error.args:
        return Problem("not_found", _message(error, str(error.args[0])))
    if isinstance(error, ValueError | TypeError) and not isinstance(error, DamagedIndexError):
        return Problem("invalid", _message(error, str(error)))
    if isinstance(error, DamagedIndexError):
        _log.error("the index is corrupt: %s", _where(error))
        return Problem(
            "unavailable",
            "The index is corrupt, so this request cannot be answered. Run `textkin index "
            "verify` to see the problem; restore a copy, and restart the server.",
        )
    if isinstance(error, OSError) and error.errno == errno.ESTALE:
        return Problem(
            "unavailable",
            "The index folder was moved, deleted, or replaced. Put it back, or restart the server.",
        )
    # a disk error; the response does not include paths
    if isinstance(error, OSError) and error.errno is not None:
        why = os.strerror(error.errno)
        _log.error("the index is unavailable (%s): %s", why, _where(error))
        return Problem("unavailable", f"The index is unavailable at the moment: {why.lower()}.")
    _log.error("internal error: %s", _where(error))
    return Problem("internal", "Internal error of the server. See its log.")


def _whole(text: str) -> str:
    """Escape characters that cannot be encoded, such as a lone surrogate in quoted input."""
    return text.encode(errors="backslashreplace").decode()


def _message(error: Exception, message: str) -> str:
    """Return a message without its hint if the hint has Python code."""
    hint = str(getattr(error, "hint", ""))
    return message.replace(hint, "").rstrip() if "`" in hint else message


_FIELDS = {"like": "id"}
"""Request fields of the library's parameters, if the names differ."""


def _where(error: BaseException) -> str:
    """Return the type of an error and its code positions, without its message.

    Messages may quote a document or a query, which must not be logged.
    """
    places = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{type(error).__name__} at {' < '.join(reversed(places[-6:]))}"


def add_errors(app: FastAPI) -> None:
    """Register error handlers that respond in one format."""

    async def told(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Problem)
        return JSONResponse(error.to_dict(), error.status, headers=error.headers())

    async def refused(_request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problem = _of_validation(error)
        return JSONResponse(problem.to_dict(), problem.status)

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404 and _is_typed(request):
            return page(404)
        problem = _of_http(error)
        return JSONResponse(problem.to_dict(), problem.status, headers=error.headers)

    app.add_exception_handler(Problem, told)
    app.add_exception_handler(RequestValidationError, refused)
    app.add_exception_handler(HTTPException, of_http)


def _is_typed(request: Request) -> bool:
    """Return True if a user typed the address into a browser or followed a link."""
    reads = request.method in ("GET", "HEAD") and not request.url.path.startswith("/api")
    return reads and "text/html" in request.headers.get("accept", "")


def _of_validation(error: RequestValidationError) -> Problem:
    """Return a problem with the first validation error and the number of further errors."""
    found = error.errors()
    first = found[0]
    if first["type"] == "json_invalid":
        return Problem("bad_request", "The body must be JSON.")
    if first["type"] == "missing" and first["loc"] == ("body",):
        return Problem("bad_request", "The body must be a JSON object; got no body.")
    if first["type"] == "model_attributes_type" and first["loc"] == ("body",):
        said = "The body must be a JSON object, sent with 'Content-Type: application/json'."
        return Problem("bad_request" if isinstance(first["input"], bytes) else "invalid", said)
    # The path without its first part, "body" or "query".
    field = ".".join(map(str, first["loc"][1:])) or None
    if first["type"] == "too_long":
        most, got = first["ctx"]["max_length"], first["ctx"]["actual_length"]
        said = f"{field} must have at most {most:,} entries; got {got or 'more'}. Send fewer."
        return Problem("too_large", said, field)
    said = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    got = "" if first["type"] in _SELF_TOLD else f"; got {_described(first.get('input'))}"
    more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
    return Problem("invalid", f"{field}: {said}{got}.{more}" if field else f"{said}.{more}", field)


_SELF_TOLD = ("missing", "extra_forbidden", "value_error")


def _described(value: object) -> str:
    """Return a description of the received value, without repeating a text."""
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
        return Problem("not_found", "Unknown path. See /docs for the endpoints.")
    if error.status_code == 405:
        said = "This path does not support this method. See /docs for the endpoints."
        return Problem("bad_request", said, status=405)
    if error.status_code == 400:  # invalid UTF-8, or too deeply nested numbers or lists
        return Problem("bad_request", "The body must be JSON in UTF-8; got unreadable bytes.")
    return Problem("bad_request", str(error.detail), status=error.status_code)
