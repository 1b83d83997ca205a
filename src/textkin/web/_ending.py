"""Ctrl-C and SIGTERM, seen at any moment between the first line of a command and its last."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

__all__ = ["Ending", "told_to_end"]

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    """What a signal ends: the work that comes before a server, or the server.

    There is one handler for all of the time. Were it to change hands when the server starts, a
    signal could come in between; and one that is raised where Python drops errors, such as in a
    destructor, is remembered here and ends the server as soon as there is one.
    """

    def __init__(self) -> None:
        self._asked = False
        self._server: uvicorn.Server | None = None

    @contextmanager
    def ends(self, server: "uvicorn.Server") -> Iterator[None]:
        """Let signals end a server, which sees also those that came before."""
        self._server = server
        if self._asked:
            server.should_exit = True
        try:
            yield
        finally:
            self._server = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        self._asked = True
        if self._server is None:
            raise KeyboardInterrupt
        self._server.handle_exit(number, frame)


@contextmanager
def told_to_end() -> Iterator[Ending]:
    """Handle signals; those other than the main thread get none, and are ended otherwise."""
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.signal(number, ending) for number in _NUMBERS}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
