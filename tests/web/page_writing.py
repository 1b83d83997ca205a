"""What tests that write with the page do again and again."""

from typing import Any

import textkin as tk
from web.browser import TOKEN


def give_token(page: Any, token: str = TOKEN) -> None:
    """Type the token into the question for it."""
    page.fill("dialog input[name=token]", token)
    page.keyboard.press("Enter")


def stored(index: tk.Index) -> dict[str, Any]:
    """All documents of an index by their id."""
    return {document.id: document for document in index}
