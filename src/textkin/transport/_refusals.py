"""What is said about documents that cannot be compared, or words that have no vector."""

from textkin.exceptions import EmptyDocumentError
from textkin.transport._encode import Encoded, listed

__all__ = ["empty_document_error", "refuse_unknown"]


def refuse_unknown(encoded: Encoded, name: str) -> None:
    """Raise for the first document with a word that has no vector."""
    for row, unknown in enumerate(encoded.unknown):
        if unknown:
            raise ValueError(
                f"Document {row} of {name} has words without a vector: {listed(unknown)}. Pass "
                "oov='drop' to leave them out, or load vectors that have them."
            )


def empty_document_error(encoded: Encoded, rows: list[int], name: str) -> EmptyDocumentError:
    """Say which documents have nothing to compare, why the first has not, and the way out."""
    first = rows[0]
    coverage = encoded.coverage(first)
    if coverage.known > 0:
        reason = "all its words weigh nothing under these masses"
        way_out = "Choose masses='nbow'"
    elif coverage.unknown:
        reason = (
            f"none of its words has a vector (coverage 0): {listed(coverage.unknown)} are not "
            f"among the {encoded.columns} words"
        )
        way_out = "Load vectors that have them, as with WordVectors.load(path)"
    else:
        reason = "it is empty, or has nothing but stop words"
        way_out = "Leave it out, or pass stop_words=None"
    if len(encoded) == 1:
        subject = f"Document {name} cannot be compared"
    else:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        subject = f"Document {first}{more} of {name} cannot be compared"
    return EmptyDocumentError(
        f"{subject}: {reason}. {way_out}, or pass empty='inf' for an infinite distance.",
        rows,
        name,
        reason,
    )
