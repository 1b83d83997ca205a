"""What is said about documents that cannot be compared."""

import re
from collections.abc import Iterable

from textkin.exceptions import EmptyDocumentError
from textkin.vectors._encode import Encoded, listed

__all__ = ["empty_document_error"]

# Thai, Lao, Burmese, Khmer; kana and Chinese characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


def empty_document_error(
    encoded: Encoded, rows: list[int], name: str, *, choice: bool
) -> EmptyDocumentError:
    """Say which documents have nothing to compare, why the first has not, and the way out.

    `choice` says whether the caller may choose infinity instead.
    """
    first = rows[0]
    coverage = encoded.coverage(first)
    if coverage.known > 0:
        reason = "all its words weigh nothing under these masses"
        way_out = "Choose masses='nbow'"
    elif coverage.unknown:
        reason = (
            "none of its words has a vector (coverage 0); not among the "
            f"{encoded.columns} words: {listed(coverage.unknown)}"
        )
        way_out = _way_out(coverage.unknown)
    else:
        reason = "it has no words, or nothing but stop words"
        way_out = "Leave it out, or pass stop_words=None"
    if len(encoded) == 1:
        subject = f"Document {name} cannot be compared"
    else:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        subject = f"Document {first}{more} of {name} cannot be compared"
    last = ", or pass empty='inf' for an infinite distance" if choice else ""
    message = f"{subject}: {reason}. {way_out}{last}."
    return EmptyDocumentError(message, rows, name, reason)


def _way_out(unknown: Iterable[str]) -> str:
    words = list(unknown)
    if any(" " in word for word in words):
        return "A list holds tokens: pass a text as it is, not in a list"
    if any(_UNSPACED.search(word) for word in words):
        return (
            "Scripts without spaces are split into pairs of characters: pass lists of tokens, "
            "and vectors that have them"
        )
    return "Load vectors that have them, as with WordVectors.load(path)"
