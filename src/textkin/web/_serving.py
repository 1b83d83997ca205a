"""A server in this process, from its socket to its end."""

import errno
import logging
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext

import uvicorn

from textkin.index import Index
from textkin.web._app import made_app
from textkin.web._ending import Ending, told_to_end
from textkin.web._patience import bounded
from textkin.web._settings import Settings

__all__ = ["listening", "serve"]

_GRACE = 5  # seconds for requests that run when the server is told to end
_BACKLOG = 256


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Parameters
    ----------
    host : str
        An address of this machine, or a name of one.
    port : int
        0 takes any that is free.

    Raises
    ------
    ValueError
        If the port is in use, or the address is none of this machine; with the way out.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise ValueError(f"--host must be an address of this machine; got {host!r}.") from error
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise ValueError(
                f"Port {port} is in use already; take another, such as --port {port + 1}, or "
                "--port 0 for any that is free."
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM):
            raise ValueError(f"Port {port} may not be used here; take one above 1023.") from error
        if error.errno == errno.EADDRNOTAVAIL:
            raise ValueError(f"--host must be an address of this machine; got {host!r}.") from error
        raise
    return made


def serve(
    index: Index,
    settings: Settings,
    made: socket.socket,
    *,
    started: Callable[[], object] = lambda: None,
    ending: Ending | None = None,
) -> bool:
    """Serve an index until Ctrl-C or SIGTERM, or until the thread that runs it is told to end.

    Requests that run then have 5 seconds to end; maps and topics that are being computed are
    given up.

    Parameters
    ----------
    index : Index
        Open; it stays the caller's.
    settings : Settings
        Limits, title and token.
    made : socket
        Listening; closed at the end.
    started : callable, optional
        Called when the first request can be answered.
    ending : Ending, optional
        Who handles signals already; by default they are handled from here on.

    Returns
    -------
    bool
        Whether all work has ended; False where something runs on that cannot be stopped.
    """
    with made, told_to_end() if ending is None else nullcontext(ending) as told:
        try:
            return _served(index, settings, made, started, told)
        except KeyboardInterrupt:  # before there was a server that could be told
            return True


def _served(
    index: Index,
    settings: Settings,
    made: socket.socket,
    started: Callable[[], object],
    ending: Ending,
) -> bool:
    app = made_app(index, settings)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http=bounded(settings.limits.seconds),
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
            app.state.server.close()  # done already, unless a second Ctrl-C came
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
        """Leave signals to `Ending`, which has them from the beginning to the end."""
        yield
