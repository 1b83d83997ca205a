"""Browser and server on a free port, for tests of the page; see `page_fixtures`."""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import textkin as tk

TOKEN = "only-for-these-tests"
PATIENCE = 15_000  # milliseconds; far more than a step needs on an idle computer


def chromium() -> str | None:
    """Return the path of the system's Chromium, or None."""
    named = os.environ.get("TEXTKIN_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def serving(index: tk.Index, **settings: Any) -> Iterator[str]:
    """Serve an index on a free local port, and yield the address."""
    uvicorn = pytest.importorskip("uvicorn", reason="the extra web is not installed")
    from textkin.web import Settings, create_app

    config = uvicorn.Config(
        create_app(index, settings=Settings(**settings)),
        host="127.0.0.1",
        port=0,
        log_level="error",
        ws="none",
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + 300  # a loaded computer is slow
        while not server.started:
            assert thread.is_alive(), "the server ended before it had begun"
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=60)
        assert not thread.is_alive(), "the server does not end"


@contextmanager
def small_index(folder: Path, documents: list[dict[str, Any]]) -> Iterator[tk.Index]:
    index = tk.Index.create(folder / "small.kin", language=None)
    try:
        if documents:
            index.add(documents)
        yield index
    finally:
        index.close()


@dataclass
class Writable:
    """Serve a writable index, and yield the server and the index."""

    address: str
    index: tk.Index
    token: str = TOKEN


@dataclass
class Seen:
    """Errors of a page, and its requests."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def unexpected(self) -> list[str]:
        return [one for one in self.errors if not any(part in one for part in self.expected)]


def wide(page: Any) -> float:
    """Return the width of the page beyond its window, in pixels; above 0, it scrolls sideways."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def until(page: Any, condition: str) -> None:
    """Wait for an expression to become true, without ``eval``, which the page's CSP forbids."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, f"never came true: {condition}"
        page.wait_for_timeout(20)
