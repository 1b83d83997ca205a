"""Errors and notes of the library, reworded with command-line options."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from textkin.exceptions import AddError, IndexWarning, ParameterError, ParameterTypeError

__all__ = ["Interrupted", "describe_error", "note", "option_of", "reword_errors", "reword_hints"]

# Option of each parameter of the library.
_OPTIONS = {
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "b",
            "cost",
            "delimiter",
            "dimension",
            "dtype",
            "encoding",
            "epochs",
            "first",
            "gold",
            "id",
            "idf",
            "ids",
            "k",
            "k1",
            "label",
            "language",
            "learning_rate",
            "linkage",
            "max_bytes",
            "max_words",
            "method",
            "metric",
            "min_count",
            "min_learning_rate",
            "model",
            "normalizer",
            "oov",
            "part",
            "pattern",
            "qrels",
            "queries",
            "radius",
            "ranking",
            "second",
            "split",
            "stop_words",
            "subsample",
            "test_size",
            "text",
            "threshold",
            "timeout",
            "unit",
            "unknown",
            "variant",
            "vectors",
            "vote",
            "where",
            "window",
        )
    },
    "architecture": "--model",
    "distance_threshold": "--distance-threshold",
    "n_clusters": "-n",
    "n_components": "--dimension",
    "n_jobs": "--jobs",
    "n_negative": "--negative",
    "n_neighbors": "-k",
    "ngram_range": "--ngrams",
    "offset": "--page",
    "random_state": "--seed",
    "word_weights": "--word-weights",
}

# Code in hints of the library, and the command-line equivalent. A parameter, with or without a
# value, needs no entry: it becomes its option.
_CODE = {
    "Index.open(path, models={name: encoder})": "Index.open in Python",
    "index.embed(name)": "index.embed",
    "index.similar(id)": "textkin similar",
    "Index.create(path)": "textkin index create",
    "Index.create(path, text=...)": "textkin index create --text FIELD",
    "errors='skip'": "--skip-errors",
    "id in index": "textkin index list",
    "id=False": "--no-id",
    "index.delete(index.ids)": "textkin index delete",
    "index.verify(repair=True)": "textkin index verify --repair",
    "label=False": "--no-label",
    "missing='ignore'": "--ignore-missing",
    "model=Pooling(vectors)": "--model pooling",
    "quoted=False": "--unquoted",
    "quoted=True": "--quoted",
    "stop_words=None": "--keep-stop-words",
    "textkin.read(..., errors='skip')": "--skip-errors",
    "textkin.read(..., label=...)": "--label",
    "verify(repair=True)": "textkin index verify --repair",
}

# Parts of hints that do not apply to the command line.
_PYTHON_ONLY = (
    " A string is taken for a path; to read texts, pass a list of them.",
    "pass `reader` for other formats, ",
    ", or pass `reader` for another format",
    ", or use get(id), which returns None",
)

_CODE_IN_TEXT = re.compile(r"`([^`\n]+)`")
_KEYWORD = re.compile(r"(\w+)(?:=(.*))?")


class Interrupted(Exception):
    """Error for Ctrl-C, with a message about the documents stored before."""


def note(message: str) -> None:
    """Print a message as a note on standard error, on one line."""
    typer.echo(f"textkin: note: {' '.join(message.split())}", err=True)


@contextmanager
def reword_errors(kept: str = "") -> Iterator[None]:
    """Reword errors in a ``with`` block with option names, and print warnings as notes.

    Parameters
    ----------
    kept : str, default=""
        Message after Ctrl-C if the library has none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", IndexWarning)
            warnings.showwarning = _note_warning
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(" ".join(getattr(error, "__notes__", [kept]))) from error
    except (KeyError, ValueError, TypeError, OSError, MemoryError) as error:
        # the message is about a file, not about an option
        if isinstance(error, OSError) and error.strerror:
            raise
        reworded = ValueError(describe_error(error))
        for added in getattr(error, "__notes__", ()):
            reworded.add_note(added)
        raise reworded from error


def describe_error(error: Exception, option: Callable[[str], str | None] | None = None) -> str:
    """Return the message of an error with option names in place of parameter names.

    Parameters
    ----------
    error : Exception
        Error of the library or of Python.
    option : callable, optional
        Function that returns the option of a parameter, or None (default: `option_of`).
    """
    option = option or option_of
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        # a lone surrogate stands for a byte that is not valid UTF-8
        if "\ud800" <= character <= "\udfff":
            return "A text must be valid UTF-8. Put it in a file, and convert the file."
        return (
            f"The output encoding {error.encoding} has no {character!a}. "
            "Set PYTHONIOENCODING=utf-8, or PYTHONUTF8=1."
        )
    if isinstance(error, OSError) and error.strerror:  # the message without "[Errno 13]"
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, ParameterError | ParameterTypeError):
        message = _describe_parameter(error, option)
    else:  # str() of a KeyError puts the message in quotes
        message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, AddError):  # the position in the file is more helpful
        message = message.removeprefix(f"document {error.row:,}: ")
    return reword_hints(message, option) or type(error).__name__


def reword_hints(text: str, option: Callable[[str], str | None] | None = None) -> str:
    """Replace Python code in backticks in a hint by command-line options."""
    option = option or option_of
    for part in _PYTHON_ONLY:
        text = text.replace(part, "")

    def typed(found: re.Match[str]) -> str:
        code = found[1]
        if code in _CODE:
            return _CODE[code]
        keyword = _KEYWORD.fullmatch(code)
        name = None if keyword is None else option(keyword[1])
        if keyword is None or name is None:
            return found[0]
        value = keyword[2]
        if value and value.startswith("["):  # a list: the option is repeated
            return " ".join(f"{name} {item}" for item in re.findall(r"'([^']*)'", value))
        return f"{name} {value.strip(chr(39))}" if value else name

    return _CODE_IN_TEXT.sub(typed, text)


def option_of(parameter: str) -> str | None:
    """Return the command-line option for a parameter of the library, or None."""
    return _OPTIONS.get(parameter)


def _describe_parameter(
    error: ParameterError | ParameterTypeError, option: Callable[[str], str | None]
) -> str:
    """Return the message of a parameter error with its option and allowed values."""
    name = option(error.parameter)
    if name is None:
        return str(error)
    if not error.expected:
        return str(error).replace(error.parameter, name, 1)
    expected = error.expected.removeprefix("None or ")
    if len(error.choices) > 1:
        expected = f"one of {', '.join(map(repr, error.choices))}"
    return f"{name} must be {expected}; got {error.got}. {error.hint}".rstrip()


def _note_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    note(reword_hints(str(message)))
