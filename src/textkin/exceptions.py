"""The few exceptions and warnings of textkin, each a subclass of a built-in one."""

from collections.abc import Sequence

__all__ = ["CertificateError", "EmptyDocumentError", "VectorFileWarning", "VocabularyWarning"]


class EmptyDocumentError(ValueError):
    """A document has no words to compare: it is empty, or none of its words has a vector.

    Attributes
    ----------
    rows : tuple of int
        Positions of the empty documents in the argument they came in.
    argument : str
        The name of that argument.
    reason : str
        Why the first of them is empty.
    """

    def __init__(
        self, message: str, rows: Sequence[int] = (), argument: str = "", reason: str = ""
    ) -> None:
        super().__init__(message)
        self.rows = tuple(rows)
        self.argument = argument
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.rows, self.argument, self.reason)


class CertificateError(ValueError):
    """A certificate does not prove the distance that it comes with."""


class VectorFileWarning(UserWarning):
    """A file of word vectors was read, but not everything in it could be used."""


class VocabularyWarning(UserWarning):
    """A vocabulary has words that no text can have, as texts are read."""
