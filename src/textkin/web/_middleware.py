"""Middleware for every request: host name, size, headers, and access log."""

import asyncio
import json
import logging
import re
import time
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textkin.web._errors import Problem, problem_of
from textkin.web._limits import Settings

__all__ = ["HEADERS", "RequestMiddleware"]

_log = logging.getLogger("textkin.web.access")

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_LONGEST_PATH = 100
_PER_THREAD = 64  # open requests per worker thread; their bodies take memory


class RequestMiddleware:
    """Middleware in front of the application.

    Parameters
    ----------
    app : ASGI application
        Application that answers requests.
    settings : Settings
        Allowed host names, and limits of requests.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = settings.hosts
        self._most = settings.limits.body
        self._seconds = settings.limits.seconds
        self._at_once = settings.limits.searches * _PER_THREAD
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _AnswerSender(send, scope["path"])
        started = time.perf_counter()
        self._inside += 1  # only the event loop thread changes this counter
        try:
            self._check(scope)
            body = await self._read(receive)
            await self._app(scope, _replayed(body, receive), answer)
        # for any error, the client gets a response in the format of the API
        except Exception as error:
            await answer.refuse(problem_of(error))
        finally:
            self._inside -= 1
            elapsed = 1000 * (time.perf_counter() - started)
            _log.info(
                "%s %s %d %.1f ms %d bytes",
                scope["method"][:10],
                quote(scope["path"])[:_LONGEST_PATH],
                answer.status,
                elapsed,
                answer.size,
            )

    def _check(self, scope: Scope) -> None:
        """Raise unless the headers of a request are valid and the server has capacity."""
        if self._inside > self._at_once:
            said = f"The server handles {self._at_once:,} requests at once. Try again in a moment."
            raise Problem("busy", said)
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            raise Problem(
                "bad_request",
                f"The Host header must name one of: {', '.join(self._hosts)}. To serve other "
                "names, start the server with --host.",
            )
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._most:
            raise self._too_large()

    async def _read(self, receive: Receive) -> bytes:
        """Return the body of a request."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._whole(receive)
        except TimeoutError:
            said = f"The request must be complete within {self._seconds:g} s."
            raise Problem("too_slow", said) from None

    async def _whole(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem("bad_request", "The request is incomplete.")
            body += message.get("body", b"")
            if len(body) > self._most:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> Problem:
        return Problem(
            "too_large",
            f"A request must have at most {self._most:,} bytes. Send less, such as fewer "
            "documents.",
        )


class _AnswerSender:
    """Sends a response with the common headers, and counts its bytes."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self.status = 0
        self.size = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            if self._path.startswith("/api"):
                headers["cache-control"] = "no-store"
            elif "cache-control" not in headers:
                headers["cache-control"] = "no-cache"
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        if self.status:  # too late for an error response
            return
        body = json.dumps(problem.to_dict(), ensure_ascii=False).encode()
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",  # the rest of the request is not read
            **problem.headers(),
        }
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self({"type": "http.response.start", "status": problem.status, "headers": raw})
        await self({"type": "http.response.body", "body": body})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that starts with a given body."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


_HOST = re.compile(r"(?:\[([0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)\]|([^\[\]:@/?#\\\s]+))(?::([0-9]{1,5}))?")
_LAST_PORT = 65535


def _name(host: str) -> str | None:
    """Return the name of a Host header without its port, or None if the header is invalid."""
    found = _HOST.fullmatch(host)
    if found is None or int(found[3] or 0) > _LAST_PORT:
        return None
    return (found[1] or found[2]).lower()
