"""Helpers for tests of the search."""

from typing import Any
from urllib.parse import parse_qs, urlsplit


def asked(page: Any) -> dict[str, str]:
    """Return the parameters of the page's URL, the first of each name."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def ids(page: Any) -> list[str]:
    """Return the IDs of the displayed hits."""
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def search(page: Any, text: str) -> None:
    """Submit a query, and wait for its hits."""
    page.fill(".search-box", text)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit, .state")
