"""The few exceptions of textkin, each a subclass of a built-in one."""

from collections.abc import Sequence

__all__ = ["CertificateError", "EmptyDocumentError"]


class EmptyDocumentError(ValueError):
    """A document has no words to compare: it is empty, or none of its words has a vector.

    Attributes
    ----------
    rows : tuple of int
        Positions of the empty documents in the argument they came in.
    """

    def __init__(self, message: str, rows: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.rows = tuple(rows)


class CertificateError(ValueError):
    """A certificate does not prove the distance that it comes with."""
