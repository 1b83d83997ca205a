"""What the library says of an index, in the words of the command line."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from textkin.cli._printing import note

__all__ = ["Interrupted", "in_words", "reason", "reworded"]

# What messages name, and what a user of the command line types for it; the first that fits.
_OPTIONS = (
    (r"^document [\d,]+: ", ""),  # where it was found says more
    (r" A string is taken for a path; to read texts, pass a list of them\.", ""),
    (r"errors='skip'", "--skip-errors"),
    (r"\b(id|label)=False", r"--no-\1"),
    (r"\bquoted=True", "--quoted"),
    (r"\bquoted=False", "--unquoted"),
    (r"pass reader= for other formats, encoding= for", "for other formats, pass --encoding for"),
    (r"Rename the file, or pass reader= for another format", "Rename the file"),
    (r"\bencoding='cp1252' or 'latin-1'", "--encoding cp1252"),
    (r"\bmax_bytes=?", "--max-bytes "),
    (r"\bmissing='ignore'", "--ignore-missing"),
    (r"open it with a longer timeout=", "pass a longer --timeout"),
    (r"\bngram_range\b", "--ngrams"),
    (r"two whole numbers from 1 to 16, the smaller first, such as \(1, 2\)", "such as 2 or 1-3"),
    (r"\b(text|id|label|pattern|encoding|delimiter|split|language|vectors)=(?=['\"(])", r"--\1 "),
    (r"\b(text|id|label|pattern|encoding|delimiter|split)=", r"--\1"),
    (r"^(text|id|label|pattern|encoding|delimiter|split|language) must", r"--\1 must"),
    (r"another pattern\b", "another --pattern"),
    (r"Make one with Index\.create\(path\)", "Make one with textkin index create"),
    (r"(?:index\.)?verify\(repair=True\)", "textkin index verify --repair"),
    (r"index\.delete\(index\.ids\(\)\) does it", "textkin index delete does it"),
    (r"\b(metric|by)='([\w-]+)'", r"--by \2"),
    (r"(--by \S+) with threshold=", r"\1 --threshold "),
    (r"^(--by \S+) needs a threshold", r"\1 needs a --threshold"),
    (r"^(?:metric|by) must be (?:None or )?one of '", "--by must be one of '"),
    (r"\bmethod='(\w+)'", r"--method \1"),
    (r"\bmodel=Pooling\(vectors\)", "--model pooling"),
    (r" \((?:n_samples|n_features)=\d+\)", ""),
    (r"\bLook at stop_words", "Look at --stop-words"),
    (
        r" for algorithm='randomized' with n_samples = ([\d,]+) documents and n_features = ",
        r" with \1 documents and ",
    ),
    (
        r"^no word to learn: the texts \(([\d,]+)\) .*",
        r"there is nothing to compare: none of the texts (\1) has a word that counts. "
        "--keep-stop-words counts all.",
    ),
    (r", a WordMover or a TokenMover(?=; got)", ""),
    (r"^n_clusters\b", "-n"),
    (r"^n_components\b", "--dimension"),
    (r"\bdistance_threshold\b", "--threshold"),
    (r"^(vote|linkage|method|stop_words) must", r"--\1 must"),
    (r"^(by|k|k1|b|idf|variant|threshold) must", r"--\1 must"),
    (r"^where(?=:| must| begins)", "--where"),
    (r", a TfIdf, a BM25, a WordMover or a ranking(?=; got)", ""),
    (r"^(--\w+) must be None or ", r"\1 must be "),
    (r"test with `id in index`", "textkin index list prints all ids"),
)


class Interrupted(Exception):
    """Ctrl-C; says what was kept."""


@contextmanager
def in_words(kept: str = "") -> Iterator[None]:
    """Let errors name options, warnings be notes, and Ctrl-C say what it left.

    Parameters
    ----------
    kept : str, default=""
        What to say after Ctrl-C where the library says nothing.
    """
    from textkin.exceptions import IndexWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", IndexWarning)
            warnings.showwarning = _show
            yield
    except KeyboardInterrupt as error:
        raise Interrupted(" ".join(getattr(error, "__notes__", [kept]))) from error
    except (KeyError, ValueError, TypeError, OSError) as error:
        if isinstance(error, OSError) and error.strerror:  # names a file, and no option
            raise
        said = ValueError(reworded(reason(error)))
        for told in getattr(error, "__notes__", ()):
            said.add_note(told)
        raise said from error


def reason(error: Exception) -> str:
    """Return what an error says, for a person."""
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start]
        if "\ud800" <= character <= "\udfff":  # stands for a byte that could not be read
            return "A text is not valid UTF-8; put it in a file, and convert that."
        return (
            f"The output is written as {error.encoding}, which has no {character!a}; "
            "set PYTHONIOENCODING=utf-8, or PYTHONUTF8=1."
        )
    if isinstance(error, OSError) and error.strerror:  # without "[Errno 13]"
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, KeyError) and error.args:  # without the quotes
        return str(error.args[0])
    return str(error) or type(error).__name__


def reworded(message: str) -> str:
    """Return a message of the library with options in place of parameters."""
    for pattern, replacement in _OPTIONS:
        message = re.sub(pattern, replacement, message)
    return message


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    note(reworded(str(message)))
