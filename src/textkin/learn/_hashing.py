"""Documents that are the same, told by a key of bytes: equal documents alone share one.

Keys go into a table by their hash and are compared byte by byte there, so no collision ever joins
documents that differ, and no pair of documents is looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from textkin._typing import Int64Array
from textkin.run import ProgressCallback, effective_jobs
from textkin.text._stop_words import StopWords
from textkin.text._terms import TermReader, batches, prepare
from textkin.text._tokenise import described, text_of

__all__ = [
    "first_of_equals",
    "has_words",
    "keys_of_entries",
    "keys_of_rows",
    "keys_of_texts",
    "keys_of_words",
    "refuse_mixed",
]


def first_of_equals(keys: Sequence[bytes]) -> Int64Array:
    """Return for each key the position where it stands first; an empty key equals none."""
    seen: dict[bytes, int] = {}
    places = (seen.setdefault(key, at) if key else at for at, key in enumerate(keys))
    return np.fromiter(places, np.int64, len(keys))


def keys_of_texts(
    documents: Sequence[Any],
    *,
    ordered: bool,
    stop_words: StopWords = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> list[bytes]:
    """Return keys of texts, or of lists of words: their words, empty where there are none.

    Parameters
    ----------
    documents : sequence of str, documents with a text, or lists of words
        Texts are read by `tokenize`: NFKC, lower case, nothing but words. Words that stand in
        lists stay as they are.
    ordered : bool
        Whether the order of the words counts.
    stop_words : str, None, path or collection of str
        Words of texts that are left out.
    n_jobs : int or None
        Threads.
    progress : callable or None
        Called with (documents read, all of them), where they are texts.
    """
    if documents and not isinstance(text_of(documents[0]), str):
        return keys_of_words(_word_lists(documents), ordered=ordered)
    reader = TermReader(prepare(stop_words=stop_words), n_threads=effective_jobs(n_jobs))
    keys: list[bytes] = []
    for batch in batches(_texts(documents), reader.n_threads):
        keys += _keys(*reader.read(batch).arrays(), ordered=ordered)
        if progress is not None:
            progress(len(keys), len(documents))
    return keys


def refuse_mixed(documents: Sequence[Any], name: str) -> None:
    """Refuse texts among lists of words, and lists of words among texts."""
    if documents and isinstance(text_of(documents[0]), str):
        for _ in _texts(documents, name):
            pass
    elif documents and isinstance(documents[0], list | tuple):
        for _ in _word_lists(documents, name):
            pass


def has_words(documents: Sequence[Any], stop_words: StopWords) -> bool:
    """Tell whether any text has a word that counts, or any list of words a word."""
    if documents and not isinstance(text_of(documents[0]), str):
        return any(_word_lists(documents))
    reader = TermReader(prepare(stop_words=stop_words))
    return any(len(reader.read([text]).arrays()[0]) for text in _texts(documents))


def keys_of_words(documents: Iterable[Iterable[str]], *, ordered: bool = True) -> list[bytes]:
    """Return keys of lists of words."""
    numbers: dict[str, int] = {}
    keys = []
    for words in documents:
        ids = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
        keys.append((ids if ordered else np.sort(ids)).tobytes())
    return keys


def keys_of_rows(values: Any) -> list[bytes]:  # noqa: ANN401 (sparse or dense)
    """Return keys of rows of numbers, sparse or dense; a sparse row without values has none."""
    if isinstance(values, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(values)]
    return keys_of_entries(values.indptr, values.indices, values.data)


def keys_of_entries(starts: Any, columns: Any, values: Any) -> list[bytes]:  # noqa: ANN401 (arrays)
    """Return keys of sparse rows."""
    columns = columns.astype(np.int64, copy=False)  # as wide for every row of every array
    return [
        columns[begin:end].tobytes() + values[begin:end].tobytes()
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def _keys(ids: Any, offsets: Any, *, ordered: bool) -> list[bytes]:  # noqa: ANN401 (arrays)
    """Return keys of documents as numbers of words."""
    if not ordered:
        documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ids = ids[np.lexsort((ids, documents))]
    return [
        ids[begin:end].tobytes()
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]


def _texts(documents: Sequence[Any], name: str = "documents") -> Iterator[str]:
    for position, document in enumerate(documents):
        text = text_of(document)
        if not isinstance(text, str):
            raise TypeError(
                f"{name} must be texts, as the first one is, or lists of words, all of them; "
                f"position {position} holds {described(text)}."
            )
        yield text


def _word_lists(documents: Sequence[Any], name: str = "documents") -> Iterator[Sequence[str]]:
    for position, words in enumerate(documents):
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            raise TypeError(
                f"{name} must be lists of words, as the first one is, or texts, all of them; "
                f"position {position} holds {described(words)}."
            )
        yield words
