"""What an index is written by: adding, updating, mirroring, deleting."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Literal

from textkin._validation import one_of
from textkin.index._adding import Adding, Changes, add_all, add_files
from textkin.index._counted_files import counting, file_blocks
from textkin.index._life import OpenIndex
from textkin.index._records import items_to_add
from textkin.run import Place, ProgressCallback, effective_jobs, map_blocks
from textkin.text import Document
from textkin.text.reading._document import shortened
from textkin.text.reading._read import Documents

__all__ = ["ChangingIndex"]

_SHOWN = 3


class ChangingIndex(OpenIndex):
    """An index that documents are put into, and taken out of; see `Index`."""

    def add(
        self,
        documents: Iterable[object],
        *,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
        on: Place = None,
    ) -> Changes:
        """Add documents whose ids are new.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            What `textkin.read` returns, or anything that it reads but for paths. Records have
            their text in ``text``, and may have ``id`` and ``label``; all else is metadata, which
            must be JSON. A document without an id gets a number as its id.
        n_jobs : int or None, default=None
            Threads that split texts into words; None is one, -1 one for each core.
        progress : callable, default=None
            Gets (documents done, all of them or 0 where that is unknown) after each batch.
        on : {"threads", "joblib"}, distributed.Client or str, default=None
            Where files are read and counted, see `textkin.run.map_blocks`: for documents that lie
            in many files, and that `textkin.read` reads. This process writes what comes back, in
            the order of the files: documents, words and counts are what one process makes. A
            block of files, some megabytes, is a transaction.

        Returns
        -------
        Changes
            How many were added.

        Raises
        ------
        AddError
            If an id is there already, or a document is no document. It says which one, and what
            was kept: of a list or tuple nothing, of a stream the batches before.

        See Also
        --------
        update : Replace documents that are there.
        """
        return self._write(documents, n_jobs, progress, replace=False, on=on)

    def update(
        self,
        documents: Iterable[object],
        *,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Changes:
        """Add documents, and replace those whose ids are there already.

        A document that is there exactly as it comes is left alone. Of several with one id the last
        one counts.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            As for `add`.
        n_jobs : int or None, default=None
            As for `add`.
        progress : callable, default=None
            As for `add`.

        Returns
        -------
        Changes
            How many were added, updated and unchanged.
        """
        return self._write(documents, n_jobs, progress, replace=True)

    def mirror(
        self,
        documents: Iterable[object],
        *,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Changes:
        """Make the index hold exactly these documents: `update`, then delete all others.

        Nothing is deleted before the last document was read; if one cannot be, nothing is.

        Parameters
        ----------
        documents : iterable of Document, mapping or str
            As for `add`; all that the index shall hold, and at least one.
        n_jobs : int or None, default=None
            As for `add`.
        progress : callable, default=None
            As for `add`.

        Returns
        -------
        Changes
            How many were added, updated, unchanged and deleted.
        """
        seen: set[str] = set()
        return self._write(documents, n_jobs, progress, replace=True, seen=seen)

    def delete(
        self, ids: str | Iterable[str], *, missing: Literal["raise", "ignore"] = "raise"
    ) -> Changes:
        """Delete documents, all of them or none.

        Parameters
        ----------
        ids : str or iterable of str
            Their ids.
        missing : {"raise", "ignore"}, default="raise"
            What becomes of an id that no document has.

        Returns
        -------
        Changes
            How many were deleted.

        Raises
        ------
        KeyError
            If an id is missing; then nothing is deleted.
        """
        one_of("raise", "ignore").check("missing", missing)
        if isinstance(ids, Document | Mapping) or not isinstance(ids, Iterable):
            raise TypeError(f"ids must be a str or an iterable of str; got {type(ids).__name__}.")
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for id in wanted:
            if not isinstance(id, str):
                raise TypeError(f"ids must hold str; got {shortened(id)} ({type(id).__name__}).")
        wanted = list(dict.fromkeys(wanted))
        with self._writing() as writer:
            with writer.transaction():
                unknown = writer.missing(wanted) if missing == "raise" else []
                if unknown:
                    raise KeyError(_unknown(unknown))
                deleted = writer.delete(wanted)
            self._tidy(writer)
        return Changes(deleted=deleted)

    def _write(
        self,
        documents: Iterable[object],
        n_jobs: int | None,
        progress: ProgressCallback | None,
        *,
        replace: bool,
        seen: set[str] | None = None,
        on: Place = None,
    ) -> Changes:
        n_threads = effective_jobs(n_jobs)
        items = items_to_add(documents)
        files = None if on is None else file_blocks(documents)
        with self._writing() as writer:
            writer.check_models()

            def committed() -> None:
                self._tidy(writer)
                self._forget()

            adding = Adding(writer, replace, n_threads, committed, seen)
            if files is None:
                counts = add_all(adding, items, progress)
            else:
                assert isinstance(documents, Documents)
                count = counting(documents, self._reading)
                # What is raised keeps this frame, and would keep blocks that run.
                with closing(map_blocks(count, files, on=on, n_jobs=n_jobs)) as blocks:
                    counts = add_files(adding, documents, blocks, progress)
            deleted = 0
            if seen is not None:
                deleted = adding.delete_others()
        return Changes(*counts, deleted)


def _unknown(ids: Sequence[str]) -> str:
    shown = ", ".join(shortened(id) for id in ids[:_SHOWN])
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return (
        f"no document has the id {shown}{more}; nothing was deleted. missing='ignore' passes over "
        "such ids."
    )
