"""Fixtures for tests of the page; a module imports them by ``pytest_plugins``."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from web.browser import PATIENCE, TOKEN, Seen, Writable, chromium, serving, small_index
from web.fixed_map import CLUSTERS, DRAWN, FIXED
from web.page_waiting import answer, eventually
from web.small_collection import DOCUMENTS


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium for the tests of one module.

    Playwright keeps an event loop running in this thread until it ends. In tests that come between
    two modules of the page, `asyncio.run` would fail.
    """
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium is installed (apt install chromium, or set TEXTKIN_CHROMIUM)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a read-only server over `DOCUMENTS`."""
    with (
        small_index(tmp_path_factory.mktemp("site"), DOCUMENTS) as index,
        serving(index, title="Small things") as address,
    ):
        yield address


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[Writable]:
    with small_index(tmp_path, DOCUMENTS[:6]) as index, serving(index, token=TOKEN) as address:
        yield Writable(address, index)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a URL in a fresh page; ``expected`` errors are permitted.

    At the end of the test, no page may have had a script error, a violation of its
    Content-Security-Policy, or a request to another host.
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
            lambda message: (
                watched.errors.append(message.text) if message.type == "error" else None
            ),
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


@pytest.fixture
def fixed_map(open_page: Callable[..., Any], site: str) -> Callable[..., Any]:
    """Open the map with the five fixed points, after a script of the test, and return the page."""

    def opened(
        query: str = "",
        answers: tuple[Any, Any] = (FIXED, CLUSTERS),
        script: str | None = None,
        **options: Any,
    ) -> Any:
        page = open_page(f"{site}/compare", **options)
        if script is not None:
            page.add_init_script(script)
        page.route("**/api/map?*", lambda route: answer(route, answers[0]))
        page.route("**/api/clusters?*", lambda route: answer(route, answers[1]))
        page.goto(f"{site}/map{query}")
        page.wait_for_selector(".legend")
        eventually(page, lambda: page.evaluate(DRAWN))
        return page

    return opened
