"""What tests of the search do again and again."""

from typing import Any
from urllib.parse import parse_qs, urlsplit


def asked(page: Any) -> dict[str, str]:
    """The parameters of the page's address, the first of each name."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def ids(page: Any) -> list[str]:
    """The ids of the hits that are shown."""
    return page.eval_on_selector_all(".hit", "hits => hits.map(hit => hit.dataset.id)")


def search(page: Any, text: str) -> None:
    """Type a query, send it, and wait for what it finds."""
    page.fill(".search-box", text)
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit, .state")
