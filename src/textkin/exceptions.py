"""Exceptions and warnings of textkin, each a subclass of a built-in one.

Each has a `hint` that says how to fix the problem, for users of Python. The message includes the
hint, usually as its last sentence. Code in a hint is in backticks, so that the command line and the
HTTP API can replace it by their own options.
"""

from collections.abc import Sequence
from typing import Any, Self

__all__ = [
    "AddError",
    "CertificateError",
    "DamagedIndexError",
    "EmptyDocumentError",
    "IndexLockedError",
    "IndexWarning",
    "ParameterError",
    "ParameterTypeError",
    "VectorFileWarning",
    "VocabularyWarning",
]


class _Hinted(Exception):
    """Mixin of exceptions with a message and a hint, which survive pickling.

    Parameters
    ----------
    message : str
        Description of the error.
    hint : str, default=""
        How to fix it; added to the message unless it is a part of it.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message if hint in message else f"{message} {hint}")
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.args, vars(self))


def _rebuilt(kind: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(state)
    return error


class _OfParameter(_Hinted):
    """Mixin of parameter errors with `parameter`, `expected`, `got`, and `hint`."""

    def __init__(
        self,
        parameter: str,
        expected: str = "",
        got: str = "",
        hint: str = "",
        *,
        choices: Sequence[str] = (),
        message: str | None = None,
    ) -> None:
        if message is None:
            message = f"{parameter} must be {expected}; got {got}."
        super().__init__(message, hint=hint)
        self.parameter = parameter
        self.expected = expected
        self.got = got
        self.choices = tuple(choices)

    def within(self, parameter: str, prefix: str) -> Self:
        """Return the same error for a parameter that contains this one, with a longer message."""
        return type(self)(
            parameter,
            self.expected,
            self.got,
            self.hint,
            choices=self.choices,
            message=f"{prefix}: {self.args[0]}",
        )


class ParameterError(_OfParameter, ValueError):
    """Error: a parameter has an invalid value.

    The message is "`parameter` must be `expected`; got `got`. `hint`" unless `message` is given.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    expected : str, default=""
        Description of valid values.
    got : str, default=""
        Received value, as shown in the message.
    hint : str, default=""
        How to fix it.
    choices : sequence of str, default=()
        All valid strings, if there is a fixed set.
    message : str, optional
        Message in another form, which starts with the name of the parameter.

    Attributes
    ----------
    parameter, expected, got, hint, choices
        The same as the parameters.

    Examples
    --------
    >>> from textkin.exceptions import ParameterError
    >>> error = ParameterError("k", "at least 1", "0", "Pass `k=10`.")
    >>> error
    ParameterError('k must be at least 1; got 0. Pass `k=10`.')
    >>> error.parameter, error.hint
    ('k', 'Pass `k=10`.')
    """


class ParameterTypeError(_OfParameter, TypeError):
    """Error: a parameter has a wrong type; see `ParameterError`."""


class EmptyDocumentError(_Hinted, ValueError):
    """Error: a document has no words to compare, because it is empty or has no known word.

    Attributes
    ----------
    rows : tuple of int
        Positions of the empty documents in the argument.
    argument : str
        Name of the argument.
    reason : str
        Reason why the first of them is empty.
    hint : str
        How to fix it.
    """

    def __init__(
        self,
        message: str,
        rows: Sequence[int] = (),
        argument: str = "",
        reason: str = "",
        *,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.rows = tuple(rows)
        self.argument = argument
        self.reason = reason


class CertificateError(_Hinted, ValueError):
    """Error: a certificate does not prove its distance or search result.

    Attributes
    ----------
    hint : str
        How to fix it.
    """


class AddError(_Hinted, ValueError):
    """Error: a document cannot be added to an index; says how many were added before.

    Attributes
    ----------
    row : int
        Position of the document in the added documents, from 0.
    id : str or None
        ID of the document, if any.
    kept : int
        Number of documents of the same call that were added before and stay: 0 for a list, which is
        added atomically.
    last_id : str or None
        ID of the last of them.
    hint : str
        How to fix it.
    """

    def __init__(
        self,
        message: str,
        row: int = 0,
        id: str | None = None,
        kept: int = 0,
        last_id: str | None = None,
        *,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.row = row
        self.id = id
        self.kept = kept
        self.last_id = last_id


class DamagedIndexError(_Hinted, ValueError):
    """Error: files of an index are corrupt.

    Attributes
    ----------
    problems : tuple of str
        Problems, each with its file or its part of the catalog.
    hint : str
        How to repair the index, if that is possible.
    """

    def __init__(self, message: str, problems: Sequence[str] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class IndexLockedError(_Hinted, TimeoutError):
    """Error: another process or thread is writing to the index for longer than the timeout.

    Attributes
    ----------
    hint : str
        How to fix it.
    """


class IndexWarning(_Hinted, UserWarning):
    """Warning: a derived file of an index is missing or corrupt; no data are lost.

    Attributes
    ----------
    hint : str
        How to fix it.
    """


class VectorFileWarning(_Hinted, UserWarning):
    """Warning: entries of a vector file cannot be used and were skipped.

    Attributes
    ----------
    hint : str
        How to fix it.
    """


class VocabularyWarning(_Hinted, UserWarning):
    """Warning: words of a vocabulary cannot occur in any text, due to the text settings.

    Attributes
    ----------
    hint : str
        How to fix it.
    """
