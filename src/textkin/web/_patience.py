"""How long a connection may keep the server waiting."""

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["BoundedProtocol", "bounded"]

_HEAD = 10.0  # seconds for the first line and the headers of a request


class BoundedProtocol(H11Protocol):
    """A connection that ends unless requests are sent, and answers taken, in time.

    uvicorn waits without end for the headers of a request, and for a client that does not read.
    The body of a request has its time in the `Gate`, where there is an answer to be given.

    Attributes
    ----------
    head, reading : float
        Seconds for the headers of a request, from when the connection was made or the first of
        them came; and for a client to read some of what waits for it.
    """

    head: ClassVar[float] = _HEAD
    reading: ClassVar[float] = 30.0
    _late: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless the headers are complete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None

    def pause_writing(self) -> None:
        """Begin to wait for a client that reads slowly."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.reading, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: it has read."""
        super().resume_writing()
        self._cancel_unread()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting: there is nobody any more."""
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


def bounded(seconds: float) -> type[BoundedProtocol]:
    """Return the protocol of a server whose requests may take so long."""
    times = {"head": min(_HEAD, seconds), "reading": seconds}
    return type("BoundedProtocol", (BoundedProtocol,), times)
