"""Waiting for changes of a page, without a fixed pause."""

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from web.browser import PATIENCE


def eventually(page: Any, holds: Callable[[], bool]) -> None:
    """Wait until a condition is true, while the page keeps running."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds():
        assert time.monotonic() < deadline, f"this never came to hold at {page.url}"
        page.wait_for_timeout(25)


def asked(page: Any) -> dict[str, list[str]]:
    """Return the parameters of the page's URL."""
    return parse_qs(urlsplit(page.url).query)


def answer(route: Any, content: Any, status: int = 200) -> None:
    """Answer a request instead of the server."""
    route.fulfill(status=status, content_type="application/json", body=json.dumps(content))
