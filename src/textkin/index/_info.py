"""What an index says of itself."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from textkin.index._catalogue import CATALOGUE
from textkin.index._model_folders import MODELS
from textkin.index._opening import FORMAT
from textkin.index._settings import Reading, VectorSet
from textkin.index._snapshot import SEGMENTS, Snapshot

__all__ = ["IndexInfo", "info_of"]


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The numbers and settings of an index.

    Attributes
    ----------
    path : str
        The folder.
    format : int
        The version of its format.
    documents, tokens : int
        How many documents there are, and how many words they have in all.
    words : int
        Different words that were ever added; the columns of `Index.bags`.
    segments : int
        Files of counted documents.
    recent : int
        Documents that are in no segment yet; they are counted from the catalogue.
    deleted : int
        Documents that were deleted but are still in a segment; `Index.compact` removes them.
    bytes : dict
        On the disk: ``catalogue`` (with SQLite's log), ``segments``, ``vectors``, ``models``,
        ``total``.
    models : dict of str to str
        The attached models by their names, and what they are.
    lowercase, stop_words, normalize, language, ngram_range
        How texts are read, as given to `Index.create`; a stop list has its version.
    vectors : str
        "built-in", or "own" for those that lie in the folder.
    created, textkin : str
        When the index was made (UTC), and by which version.
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
    lowercase: bool
    stop_words: str | tuple[str, ...] | None
    normalize: str | None
    language: str | None
    ngram_range: tuple[int, int]
    vectors: str
    created: str
    textkin: str

    def as_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON has."""
        found = asdict(self)
        found["ngram_range"] = list(self.ngram_range)
        if isinstance(self.stop_words, tuple):
            found["stop_words"] = list(self.stop_words)
        return found


def info_of(
    snapshot: Snapshot, reading: Reading, vectors: VectorSet, models: dict[str, str]
) -> IndexInfo:
    """Return the numbers and settings of a snapshot."""
    state = snapshot.state
    with snapshot.catalogue() as catalogue:
        (recent,) = catalogue.execute(
            "SELECT count(*) FROM documents WHERE position >= ?", (state.tail_position,)
        ).fetchone()
        deleted = catalogue.count_deleted(0, state.next_position)
        created, made_by = (catalogue.setting(name) for name in ("created", "textkin"))
    folder = snapshot.folder
    catalogue_bytes = sum(_size(folder / f"{CATALOGUE}{ending}") for ending in ("", "-wal", "-shm"))
    sizes = {
        "catalogue": catalogue_bytes,
        "segments": _size_within(folder / SEGMENTS),
        "vectors": _size_within(folder / VectorSet.FOLDER),
        "models": _size_within(folder / MODELS),
    }
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
        models=models,
        **asdict(reading),
        vectors=vectors.name,
        created=created,
        textkin=made_by,
    )


def _size_within(folder: Path) -> int:
    """Return the bytes of all files in a folder; a writer may remove it while we look."""
    return sum(_size(Path(place) / name) for place, _, names in os.walk(folder) for name in names)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone meanwhile, or never there
        return 0
