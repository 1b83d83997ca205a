"""The few exceptions and warnings of textkin, each a subclass of a built-in one."""

from collections.abc import Sequence

__all__ = [
    "AddError",
    "CertificateError",
    "DamagedIndexError",
    "EmptyDocumentError",
    "IndexLockedError",
    "IndexWarning",
    "VectorFileWarning",
    "VocabularyWarning",
]


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


class AddError(ValueError):
    """A document cannot be added to an index; says which, and what was kept.

    Attributes
    ----------
    row : int
        Position of the document in what was to be added, from 0.
    id : str or None
        Its id, where it has one.
    kept : int
        Documents of the same call that were added before and stay: 0 for a list, which is added
        whole or not at all.
    last_id : str or None
        The id of the last of them.
    """

    def __init__(
        self,
        message: str,
        row: int = 0,
        id: str | None = None,
        kept: int = 0,
        last_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.id = id
        self.kept = kept
        self.last_id = last_id

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.row, self.id, self.kept, self.last_id)


class DamagedIndexError(ValueError):
    """Files of an index are not what they were when they were written.

    Attributes
    ----------
    problems : tuple of str
        Each with the file, or the part of the catalogue, that it was found in.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (str(self), self.problems)


class IndexLockedError(TimeoutError):
    """Another process or thread is writing to the index, which has one writer at a time."""


class IndexWarning(UserWarning):
    """An index had to make do, and nothing is lost: a derived file was missing or damaged."""


class VectorFileWarning(UserWarning):
    """A file of word vectors was read, but not everything in it could be used."""


class VocabularyWarning(UserWarning):
    """A vocabulary has words that no text can have, as texts are read."""
