"""What went wrong, as a client is told: a code, a sentence with the way out, a field."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from textkin.exceptions import AddError, DamagedIndexError, EmptyDocumentError, IndexLockedError

__all__ = ["Code", "Problem", "problem_of"]

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
    """A request that cannot be answered as asked.

    Parameters
    ----------
    code : str
        Which kind.
    message : str
        What was expected, what came, and the way out.
    field : str, optional
        The part of the request that is meant.
    status : int, optional
        Of HTTP; by default that of the code.
    unknown : mapping of str to sequences of str, optional
        Of "wordless": each text that cannot be compared, by its field, with its words that have
        no vector; without any, it has no words but stop words.
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
        """Return the same to be raised once more; each raising adds to what an error keeps."""
        return Problem(self.code, self.message, self.field, self.status, self.unknown)

    def as_dict(self) -> dict[str, dict[str, object]]:
        """Return what a client gets."""
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
        """Return what HTTP wants beside it."""
        if self.status == 401:
            return {"WWW-Authenticate": 'Bearer realm="textkin"'}
        return {"Retry-After": "1"} if self.code == "busy" else {}


def problem_of(error: Exception) -> Problem:
    """Return what a client is told of an error of the library."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, EmptyDocumentError):
        return Problem("wordless", str(error), error.argument or None)
    if isinstance(error, AddError):
        return Problem("invalid", str(error), "documents")
    if isinstance(error, IndexLockedError):
        return Problem("busy", "Somebody else is writing to the index; try again in a moment.")
    if isinstance(error, KeyError) and error.args:
        return Problem("not_found", str(error.args[0]))
    if isinstance(error, ValueError | TypeError) and not isinstance(error, DamagedIndexError):
        return Problem("invalid", str(error), _field(str(error)))
    if isinstance(error, DamagedIndexError):
        _log.error("the index is damaged: %s", _where(error))
        return Problem(
            "unavailable",
            "The index is damaged, and this cannot be answered. `textkin index verify` says what "
            "is wrong; put a copy in its place, and start the server again.",
        )
    if isinstance(error, OSError) and error.errno is not None:  # of a disk; paths are not told
        why = os.strerror(error.errno)
        _log.error("the index cannot be used (%s): %s", why, _where(error))
        return Problem("unavailable", f"The index cannot be used at the moment: {why.lower()}.")
    _log.error("internal error: %s", _where(error))
    return Problem("internal", "Something went wrong in the server; its log says where.")


def _whole(text: str) -> str:
    """Return a text that can be sent: messages quote what came, such as half a surrogate pair."""
    return text.encode(errors="backslashreplace").decode()


def _field(message: str) -> str | None:
    """Return the parameter that a message of the library begins with, where it does."""
    first = message.split(" ", 1)[0].rstrip(":")
    return first if first in _FIELDS else None


_FIELDS = {"by", "k", "offset", "where", "threshold", "query", "id", "limit", "documents"}


def _where(error: BaseException) -> str:
    """Return the kind of an error and the places it passed, without a word of its message.

    Messages may quote a document or a query, and logs hold neither.
    """
    places = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return f"{type(error).__name__} at {' < '.join(reversed(places[-6:]))}"
