"""HTTP server in this process, with time limits for connections."""

import asyncio
import errno
import json
import logging
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from textkin.index import Index
from textkin.web._errors import Problem
from textkin.web._limits import Settings
from textkin.web._middleware import HEADERS
from textkin.web._routes import made_app
from textkin.web._signals import SignalHandler, handle_signals

__all__ = ["BoundedProtocol", "listen", "serve"]

_GRACE = 5  # seconds for running requests after a stop signal
_BACKLOG = 256
_HEAD = 10.0  # seconds for the request line and the headers
_LINGER = 2.0  # seconds for a client to read the response to a request that is not HTTP
_DISCARDED = 1 << 20  # bytes that are read and discarded in this time


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Parameters
    ----------
    host : str
        Address or name of this computer.
    port : int
        Port. 0 selects any free port.

    Raises
    ------
    ValueError
        If the port is in use, or the address is not an address of this computer.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise ValueError(f"--host must be an address of this computer; got {host!r}.") from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(
                f"Port {port} is in use. Pass another port, such as --port {port + 1}, or "
                "--port 0 for any free port."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise ValueError(
                f"Port {port} requires more rights. Pass a port above 1023."
            ) from error
        if error.errno == errno.EADDRNOTAVAIL:
            raise ValueError(
                f"--host must be an address of this computer; got {host!r}."
            ) from error
        raise
    return made


def serve(
    index: Index,
    settings: Settings,
    made: socket.socket,
    *,
    started: Callable[[], object] = lambda: None,
    ending: SignalHandler | None = None,
) -> bool:
    """Serve an index until Ctrl-C, SIGTERM, or a stop request to the server thread.

    Running requests then have 5 seconds to finish; running computations of maps and topics are
    canceled.

    Parameters
    ----------
    index : Index
        Open index; the caller closes it.
    settings : Settings
        Limits, title, and write token.
    made : socket
        Listening socket; closed at the end.
    started : callable, optional
        Called when the server is ready for requests.
    ending : SignalHandler, optional
        Existing signal handler. If None, a new one is installed.

    Returns
    -------
    bool
        True if all work has stopped; False if a computation is running that cannot be stopped.
    """
    with made, handle_signals() if ending is None else nullcontext(ending) as told:
        try:
            return _served(index, settings, made, started, told)
        except KeyboardInterrupt:  # Ctrl-C arrived before the server existed
            return True


def _served(
    index: Index,
    settings: Settings,
    made: socket.socket,
    started: Callable[[], object],
    ending: SignalHandler,
) -> bool:
    app = made_app(index, settings)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http=_bounded(settings.limits.seconds),
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=_GRACE,
    )
    server = _Server(config, started)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    work = app.state.server.work
    with ending.ends(server):
        try:
            server.run(sockets=[made])
        finally:
            app.state.server.close()  # needed if a second Ctrl-C interrupted the first call
        deadline = time.monotonic() + _GRACE
        while work.running and not server.force_exit and time.monotonic() < deadline:
            time.sleep(0.05)
    return not work.running


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], object]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._tell()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Install no signal handlers, unlike uvicorn: `SignalHandler` handles signals."""
        yield


class BoundedProtocol(H11Protocol):
    """Connection with time limits for sending requests and receiving responses.

    uvicorn has no time limit for the headers of a request, or for a client that does not read.
    `RequestMiddleware` limits the time of the request body, as it can send a response.

    Attributes
    ----------
    head, reading : float
        Seconds for the headers of a request, from the connection or the first header byte; and for
        a client to read part of the pending response.
    """

    head: ClassVar[float] = _HEAD
    reading: ClassVar[float] = 30.0
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _discarded = -1  # bytes discarded after an error; -1 before one

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for headers."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Restart the timer unless the headers are complete; discard data after an error."""
        if self._discarded >= 0:
            self._discarded += len(data)
            if self._discarded > _DISCARDED:
                self.transport.close()
            return
        super().data_received(data)
        if self._discarded >= 0:  # the response to an error was just sent
            return
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP in the form of all errors, and close the connection.

        Closing a socket with unread bytes resets the connection, and the client loses the response.
        So the server closes its direction only, and discards data until the client closes the
        other, or a limit of time or bytes is reached.
        """
        if self.conn.our_state is h11.IDLE or self.conn.our_state is h11.SEND_RESPONSE:
            problem = Problem("bad_request", f"{msg} Send a request of HTTP/1.1.")
            body = json.dumps(problem.to_dict()).encode()
            headers = {
                **HEADERS,
                "cache-control": "no-store",
                "connection": "close",
                "content-type": "application/json",
                "content-length": str(len(body)),
            }
            for event in (
                h11.Response(
                    status_code=problem.status,
                    headers=[(name.encode(), value.encode()) for name, value in headers.items()],
                    reason=b"Bad Request",
                ),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
            self.transport.write_eof()
            if self.cycle is not None and not self.cycle.response_complete:
                self.cycle.disconnected = True  # its application gets no more data, and sends none
                self.cycle.message_event.set()
            self._discarded = 0
            if self._late is not None:
                self._late.cancel()
            self._late = self.loop.call_later(min(_LINGER, self.head), self.transport.close)
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        """Start the timer for a client that reads slowly."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.reading, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer, as the client has read."""
        super().resume_writing()
        self._cancel_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers, as the connection is closed."""
        if self._late is not None:
            self._late.cancel()
        self._cancel_unread()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.head, self.transport.abort)

    def _cancel_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


def _bounded(seconds: float) -> type[BoundedProtocol]:
    """Return a protocol class with a time limit for requests."""
    times = {"head": min(_HEAD, seconds), "reading": seconds}
    return type("BoundedProtocol", (BoundedProtocol,), times)
