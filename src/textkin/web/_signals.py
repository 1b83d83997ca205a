"""Handling of Ctrl-C and SIGTERM during a whole command."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uvicorn

__all__ = ["SignalHandler", "handle_signals"]

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class SignalHandler:
    """Signal handler that stops the startup or the running server.

    One handler is installed for the whole time. If handlers were swapped when the server starts, a
    signal could arrive between them. A signal that arrives where Python ignores exceptions, such as
    in a destructor, is stored and stops the server as soon as it exists.
    """

    def __init__(self) -> None:
        self._asked = False
        self._server: uvicorn.Server | None = None

    @contextmanager
    def ends(self, server: "uvicorn.Server") -> Iterator[None]:
        """Stop a server when a signal arrives, or at once if a signal has already arrived."""
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
def handle_signals() -> Iterator[SignalHandler]:
    """Install the signal handler; only the main thread receives signals."""
    ending = SignalHandler()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.signal(number, ending) for number in _NUMBERS}
    try:
        yield ending
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
