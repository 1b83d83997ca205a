"""Helpers for tests that write with the page."""

from typing import Any

import textkin as tk
from web.browser import TOKEN


def give_token(page: Any, token: str = TOKEN) -> None:
    """Enter the token in its dialog."""
    page.fill("dialog input[name=token]", token)
    page.keyboard.press("Enter")


def stored(index: tk.Index) -> dict[str, Any]:
    """Return all documents of an index by ID."""
    return {document.id: document for document in index}
