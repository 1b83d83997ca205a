"""A real browser and a real server on a free port, for tests of the page.

A test module takes the fixtures with ``pytest_plugins = ["web.browser"]``.
"""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import textkin as tk
from web.small_collection import DOCUMENTS

TOKEN = "only-for-these-tests"
PATIENCE = 15_000  # milliseconds; far more than anything here needs on an idle machine


def _chromium() -> str | None:
    named = os.environ.get("TEXTKIN_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = _chromium()
    if path is None:
        pytest.skip("no Chromium is installed (apt install chromium, or set TEXTKIN_CHROMIUM)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@contextmanager
def serving(index: tk.Index, **settings: Any) -> Iterator[str]:
    """Serve an index on a free port of this machine; the address is given."""
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
        deadline = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive(), "the server ended before it had begun"
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        assert not thread.is_alive(), "the server does not end"


@contextmanager
def small_index(folder: Path, documents: list[dict[str, Any]]) -> Iterator[tk.Index]:
    index = tk.Index.create(folder / "small.kin")
    try:
        if documents:
            index.add(documents)
        yield index
    finally:
        index.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that only reads, over `DOCUMENTS`."""
    with (
        small_index(tmp_path_factory.mktemp("site"), DOCUMENTS) as index,
        serving(index, title="Small things") as address,
    ):
        yield address


@dataclass
class Writable:
    """A server that takes the token, and its index."""

    address: str
    index: tk.Index
    token: str = TOKEN


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[Writable]:
    with small_index(tmp_path, DOCUMENTS[:6]) as index, serving(index, token=TOKEN) as address:
        yield Writable(address, index)


@dataclass
class Seen:
    """What went wrong in a page, and what it asked for."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()

    def unexpected(self) -> list[str]:
        return [one for one in self.errors if not any(part in one for part in self.expected)]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens an address in a fresh page; ``expected`` errors are no failures.

    At the end of the test no page may have had a script error, a breach of its
    Content-Security-Policy or a request to another host.
    """
    contexts, seen = [], []

    def opened(address: str, *, expected: tuple[str, ...] = (), **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 850}, **options})
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        watched = Seen(expected=expected)
        page.on("pageerror", lambda error: watched.errors.append(str(error)))
        page.on(
            "console",
            lambda message: watched.errors.append(message.text) if message.type == "error" else None,
        )
        page.on("request", lambda request: watched.requests.append(request.url))
        contexts.append(context)
        seen.append((address, watched))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    for address, watched in seen:
        host = "/".join(address.split("/")[:3])
        assert watched.unexpected() == []
        assert [url for url in watched.requests if not url.startswith((host, "data:"))] == []


def wide(page: Any) -> float:
    """How many pixels the page is wider than its window: more than 0 scrolls sideways."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
