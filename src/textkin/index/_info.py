"""`IndexInfo`: numbers of documents and words, file sizes, and settings of an index."""

import os
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textkin.index.store import (
    CATALOG,
    EMBEDDINGS,
    FORMAT,
    MODELS,
    SEGMENTS,
    Session,
    Snapshot,
    VectorSet,
)
from textkin.text import LANGUAGES, stop_word_set, tokenize

__all__ = ["IndexInfo", "info_of", "is_index"]

_SAMPLED = 200  # documents whose language is guessed
_SAMPLED_LENGTH = 2000  # characters of each
_LEAST_WORDS = 200
_LEAST_SHARE = 0.15  # of stop words among all words
_PLAINLY = 2.0  # ratio of the shares of two languages


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """Numbers of documents and words, file sizes, and settings of an index.

    Attributes
    ----------
    path : str
        Folder of the index.
    format : int
        Version of the file format.
    documents, tokens : int
        Number of documents, and total number of words in them, multiplied by the weights of their
        fields.
    words : int
        Number of distinct words that were ever added, which is the number of columns of
        `Index.bags`.
    segments : int
        Number of segment files with word counts.
    recent : int
        Number of documents that are not in a segment yet; searches read them from the catalog.
    deleted : int
        Number of deleted documents that are still in a segment; `Index.compact` removes them.
    bytes : dict
        Sizes on disk: ``catalog`` (with SQLite's log), ``segments``, ``vectors``, ``models``,
        ``embeddings``, ``total``.
    models : dict of str to str
        Descriptions of the attached models, by name.
    unembedded : dict of str to int
        Number of documents without a vector, by the name of the model.
    language : str or None
        Language of the stems that rankings by words use, or language of the normalizer.
    terms : int
        Number of distinct terms of rankings by words; equals `words` without stems.
    stemmer : str or None
        Stemmer of rankings by words with the version of PyStemmer, or None for whole words.
    term_stop_words : str or None
        Stop list of rankings by words with its version.
    likely_language : str or None
        Code of another language whose stop words are far more frequent in the first documents than
        the stop words of `language`; None if the language seems right, or there is none.
    lowercase, stop_words, normalizer, ngram_range
        Settings for counting words, as passed to `Index.create`; a stop list includes its version.
    text_fields : dict of str to int
        Weights of the text fields, by name, as passed to `Index.create`; empty if documents have a
        single text.
    vectors : str
        "built-in", or "own" if the word vectors are stored in the folder.
    created, textkin : str
        Time of creation (UTC), and version of textkin that created the index.
    """

    path: str
    format: int
    documents: int
    tokens: int
    words: int
    segments: int
    recent: int
    deleted: int
    bytes: dict[str, int]
    models: dict[str, str]
    terms: int
    stemmer: str | None
    term_stop_words: str | None
    likely_language: str | None
    unembedded: dict[str, int]
    lowercase: bool
    stop_words: str | tuple[str, ...] | None
    normalizer: str | None
    language: str | None
    ngram_range: tuple[int, int]
    text_fields: dict[str, int]
    vectors: str
    created: str
    textkin: str

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as a dict of JSON types."""
        found = asdict(self)
        found["ngram_range"] = list(self.ngram_range)
        if isinstance(self.stop_words, tuple):
            found["stop_words"] = list(self.stop_words)
        return found


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return True if a folder contains the catalog file of an index."""
    return (Path(path) / CATALOG).is_file()


def info_of(session: Session, snapshot: Snapshot) -> IndexInfo:
    """Collect the `IndexInfo` of one snapshot of an index."""
    state = snapshot.state
    with snapshot.catalog() as catalog:
        (recent,) = catalog.execute(
            "SELECT count(*) FROM documents WHERE position >= ?", (state.tail_position,)
        ).fetchone()
        deleted = catalog.count_deleted(0, state.next_position)
        created, made_by = (catalog.setting(name) for name in ("created", "textkin"))
    folder = snapshot.folder
    catalog_bytes = sum(_size(folder / f"{CATALOG}{ending}") for ending in ("", "-wal", "-shm"))
    sizes = {
        "catalog": catalog_bytes,
        "segments": _size_within(folder / SEGMENTS),
        "vectors": _size_within(folder / VectorSet.FOLDER),
        "models": _size_within(folder / MODELS),
        "embeddings": _size_within(folder / EMBEDDINGS),
    }
    term_map = snapshot.term_map
    stems = None if term_map is None else term_map.analyzer
    settings = asdict(session.analyzer)
    if stems is not None:
        settings["language"] = stems.language
    return IndexInfo(
        path=str(folder),
        format=FORMAT,
        documents=state.documents,
        tokens=state.tokens,
        words=state.words,
        segments=len(snapshot.segments),
        recent=recent,
        deleted=deleted,
        bytes={**sizes, "total": sum(sizes.values())},
        models=session.models.describe(snapshot),
        terms=state.words if term_map is None else term_map.n_terms,
        stemmer=None if stems is None else f"{stems.stemmer} (PyStemmer {stems.version})",
        term_stop_words=None if stems is None else stems.stop_words,
        likely_language=None if stems is None else _likely_language(snapshot, stems.language),
        unembedded={
            name: snapshot.count_missing(record) for name, record in snapshot.models.items()
        },
        **settings,
        text_fields={} if snapshot.text_fields is None else snapshot.text_fields.to_dict(),
        vectors=session.vector_set.name,
        created=created,
        textkin=made_by,
    )


def _size_within(folder: Path) -> int:
    """Return the total size in bytes of the files in a folder."""
    return sum(_size(Path(place) / name) for place, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # the file was removed concurrently, or never existed
        return 0


def _likely_language(snapshot: Snapshot, language: str) -> str | None:
    """Detect the language of the first documents; return it if it clearly differs, or None."""
    with snapshot.catalog() as catalog:
        rows = catalog.execute(
            "SELECT substr(text, 1, ?) FROM documents ORDER BY position LIMIT ?",
            (_SAMPLED_LENGTH, _SAMPLED),
        ).fetchall()
    counts = Counter(word for (text,) in rows for word in tokenize(text))
    if counts.total() < _LEAST_WORDS:
        return None
    shares = {
        code: sum(counts[word] for word in stop_word_set(f"snowball-{one.name}")) / counts.total()
        for code, one in LANGUAGES.items()
        if one.stop_words is not None
    }
    likely = max(shares, key=lambda code: shares[code])
    if likely == language or shares[likely] < _LEAST_SHARE:
        return None
    return likely if shares[likely] > _PLAINLY * shares.get(language, 0.0) else None
