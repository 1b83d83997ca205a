"""The documents of several sources as one stream."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from textkin.run import ProgressCallback
from textkin.text import Document, Documents, Skipped, read
from textkin.text.reading._document import shortened

__all__ = ["Sources"]

_REASONS_KEPT = 20


class Sources:
    """What `textkin.read` finds at several paths, one after the other.

    Parameters
    ----------
    paths : sequence of path
        Files and folders.
    skip : bool
        Leave out what cannot be read, and ids that come twice.
    pattern : sequence of str
        Of the files of folders; none is the default of `textkin.read`.
    progress : callable or None
        Gets (bytes that were read, all of them).
    distinct : bool, default=True
        Refuse ids that come twice.
    **options
        For `textkin.read`.

    Attributes
    ----------
    skipped : Skipped
        What was left out so far.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        skip: bool,
        pattern: Sequence[str],
        progress: ProgressCallback | None,
        distinct: bool = True,
        **options: Any,  # noqa: ANN401 (they are checked by `read`)
    ) -> None:
        self.skipped = Skipped(0, ())
        self._progress = progress
        self._before = 0
        self._skip = skip
        folders = any(path.is_dir() for path in paths)
        self._parts: list[tuple[Path, Documents]] = []
        for path in paths:
            # Where some are folders, the pattern is for those.
            chosen = list(pattern) if pattern and (path.is_dir() or not folders) else None
            documents = read(
                path,
                pattern=chosen,
                errors="skip" if skip else "raise",
                progress=self._tell if progress is not None else None,
                **options,
            )
            self._parts.append((path, documents))
        self._compared = distinct and len(self._parts) > 1
        self._total = 0
        if progress is not None:
            self._total = sum(part._source.total() or 0 for _, part in self._parts)

    def __iter__(self) -> Iterator[Document]:
        return (document for _, document in self.placed())

    def placed(self) -> Iterator[tuple[Path, Document]]:
        """Give each document with the path that it was found at."""
        found = 0
        seen: dict[str, Path] = {}
        for path, part in self._parts:
            for document in self._of(part):
                # Within one source `read` sees to it.
                if self._compared and seen.setdefault(document.id, path) is not path:
                    problem = (
                        f"{path}: the id {shortened(document.id)} is taken by a document of "
                        f"{seen[document.id]}; ids must differ"
                    )
                    if not self._skip:
                        raise ValueError(
                            f"{problem}. Add the folder that both lie in, so that ids are paths "
                            "within it, or pass errors='skip' to leave the later ones out."
                        )
                    self._add(Skipped(1, (problem,)))
                    continue
                found += 1
                yield path, _kept(document)
            self._before += self._size
        if found == 0 and self._skip and self.skipped.count:
            raise ValueError(
                f"Nothing could be read: all was skipped ({self.skipped.count}). The first: "
                f"{self.skipped.reasons[0]}"
            )

    def _of(self, part: Documents) -> Iterator[Document]:
        """Give the documents of one source; one of several may be skipped as a whole."""
        self._size = 0
        found = False
        try:
            for document in part:
                found = True
                yield document
        except ValueError:
            if found or len(self._parts) == 1 or part.skipped is None:
                raise
        if part.skipped is not None:
            self._add(part.skipped)

    def _add(self, more: Skipped) -> None:
        was = self.skipped
        self.skipped = Skipped(
            was.count + more.count,
            (was.reasons + more.reasons)[:_REASONS_KEPT],
            was.hidden + more.hidden,
        )

    def _tell(self, done: int, total: int) -> None:
        assert self._progress is not None
        self._size = total
        self._progress(self._before + done, self._total)


def _kept(document: Document) -> Document:
    """Return a document whose dates, times and decimal numbers, as Parquet has them, are texts."""
    told = {
        name: value.isoformat() if isinstance(value, date | time) else str(value)
        for name, value in document.metadata.items()
        if isinstance(value, date | time | Decimal)
    }
    if not told:
        return document
    return replace(document, metadata={**document.metadata, **told})
