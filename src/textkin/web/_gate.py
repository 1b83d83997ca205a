"""What every request passes: whose name it calls, how large it is, headers, and the log."""

import asyncio
import json
import logging
import time
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from textkin.web._problems import Problem, problem_of
from textkin.web._settings import Settings

__all__ = ["Gate"]

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
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_LONGEST_PATH = 100
_PER_THREAD = 64  # requests inside for each thread that answers: bodies take memory


class Gate:
    """Stands before the application.

    Parameters
    ----------
    app : ASGI application
        What answers.
    settings : Settings
        The names under which the server may be called, and how large a request may be.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = settings.hosts
        self._most = settings.limits.body
        self._seconds = settings.limits.seconds
        self._at_once = settings.limits.searches * _PER_THREAD
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and write a line of the log."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(send, scope["path"])
        started = time.perf_counter()
        self._inside += 1  # all of this runs in one thread
        try:
            self._check(scope)
            body = await self._read(receive)
            await self._app(scope, _replayed(body, receive), answer)
        except Exception as error:  # whatever it is, the client gets an answer in our form
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
        """Raise unless a request may pass, by its headers and how many there are."""
        if self._inside > self._at_once:
            said = f"The server takes {self._at_once:,} requests at once; try again in a moment."
            raise Problem("busy", said)
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            raise Problem(
                "bad_request",
                f"This server answers to {', '.join(self._hosts)}, and not to the name in the "
                "Host header. Start it with --host to serve others.",
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
            said = f"The request was not sent to its end within {self._seconds:g} s."
            raise Problem("too_slow", said) from None

    async def _whole(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem("bad_request", "The request was not sent to its end.")
            body += message.get("body", b"")
            if len(body) > self._most:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> Problem:
        return Problem(
            "too_large",
            f"A request may have {self._most:,} bytes. Send less at once, such as fewer documents.",
        )


class _Answer:
    """Sends an answer with the headers that all have, and counts it."""

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self.status = 0
        self.size = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if self._path.startswith("/api"):
                headers["cache-control"] = "no-store"
            elif "cache-control" not in headers:
                headers["cache-control"] = "no-cache"
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        if self.status:  # it has begun already
            return
        body = json.dumps(problem.as_dict(), ensure_ascii=False).encode()
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",  # what is left of the request is not read
            **problem.headers(),
        }
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await self({"type": "http.response.start", "status": problem.status, "headers": raw})
        await self({"type": "http.response.body", "body": body})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives the body that was read, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _name(host: str) -> str:
    """Return the name of a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
