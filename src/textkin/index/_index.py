"""The index: documents in a folder that textkin owns."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar, overload

import textkin
from textkin._typing import Bags, Int64Array
from textkin._validation import real
from textkin.exceptions import DamagedIndexError
from textkin.index._attaching import AttachingIndex
from textkin.index._bag_blocks import BagBlock, bag_blocks
from textkin.index._catalogue import CATALOGUE
from textkin.index._changing import ChangingIndex
from textkin.index._checking import check_snapshot
from textkin.index._copying import copy_snapshot
from textkin.index._files import new_folder
from textkin.index._info import IndexInfo, info_of
from textkin.index._joining import JoiningIndex
from textkin.index._life import TIMEOUT
from textkin.index._opening import create_catalogue
from textkin.index._settings import Normalize, VectorSet, reading_of
from textkin.index._snapshot import SEGMENTS, open_snapshot
from textkin.run import ProgressCallback
from textkin.text import Document, Vocabulary
from textkin.text._stop_words import StopWords
from textkin.text.reading._document import counted, shortened
from textkin.vectors import WordVectors

__all__ = ["Index"]

_SHOWN = 3

_Default = TypeVar("_Default")


class Index(AttachingIndex, JoiningIndex, ChangingIndex):
    """Documents in a folder that textkin owns: added, updated and deleted, and never lost.

    Make one with `Index.create`, open it again with `Index.open`. One process or thread writes at
    a time, any number read.

    Parameters
    ----------
    path : path
        The folder of an index.
    timeout : float, default=10
        Seconds to wait for another writer before `IndexLockedError` is raised.
    models : mapping of str to object, default=None
        Attached models that are not of textkin, by their names; see `attach`.

    Attributes
    ----------
    path : pathlib.Path
        The folder.

    See Also
    --------
    textkin.read : Documents from files, folders and tables.

    Notes
    -----
    **What is kept.** The id, the text, the label and the metadata of each document, and how often
    each word occurs in it, in a SQLite file (``catalogue.sqlite``), which is the only truth. Files
    in ``segments`` hold the counts in the form that a search wants; they are made from the
    catalogue, and made again when they are missing or damaged. How texts are read and the word
    vectors belong to the folder, so it can be moved, copied and opened elsewhere.

    **When it is safe.** When `add`, `update` or `delete` returns, the change survives a kill and a
    power cut. A list is added whole or not at all. Anything else that iterates, such as what
    `textkin.read` returns, is added in batches of some megabytes: an error, or Ctrl-C, keeps the
    batches before.

    **What a reader sees.** One state, from `open`, `refresh` or its own last write on, whatever
    others write meanwhile. An iteration goes on in the state in which it began. Space that others
    free is given back only when nobody reads an older state.

    **Order.** Documents come in the order in which they were added; one that is updated goes to
    the end.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/papers.kin")
    >>> print(index.add([
    ...     {"id": "a", "text": "Obama speaks to the media in Illinois", "year": 2015},
    ...     {"id": "b", "text": "The president greets the press in Chicago", "year": 2016},
    ... ]))
    2 added
    >>> index["a"].metadata, "c" in index, len(index)
    ({'year': 2015}, False, 2)
    >>> print(index.update([{"id": "a", "text": "The media are in Illinois"}]))
    1 updated
    >>> [document.id for document in index]
    ['b', 'a']
    >>> index.close()
    >>> with Index.open(f"{folder.name}/papers.kin") as index:
    ...     index.delete("b")
    ...     index.ids()
    Changes(added=0, updated=0, unchanged=0, deleted=1)
    ['a']
    >>> folder.cleanup()
    """

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        stop_words: StopWords = None,
        lowercase: bool = True,
        normalize: Normalize = None,
        ngram_range: tuple[int, int] = (1, 1),
        vectors: WordVectors | None = None,
        timeout: float = TIMEOUT,
    ) -> Self:
        """Make an empty index in a new folder, and open it.

        Parameters
        ----------
        path : path
            A folder that does not exist yet, or is empty.
        stop_words : str, None, path or collection of str, default=None
            Words that are never counted, as for `BagOfWords`. Rankings by BM25 and TF-IDF do well
            without; for transport the stop words are left out anyway.
        lowercase : bool, default=True
            Count words in lower case.
        normalize : {"stem", "lemma", "wordnet"}, Stemmer, Lemmatizer or None, default=None
            Brings words to their normal forms. Do not stem where the words are looked up in
            vectors.
        ngram_range : (int, int), default=(1, 1)
            Count runs of so many words.
        vectors : WordVectors or None, default=None
            The word vectors of the index, which are copied into its folder; None is the built-in
            ones, which are named there with their hash.
        timeout : float, default=10
            Seconds to wait for another writer.

        Returns
        -------
        Index
            The index, open.

        Raises
        ------
        FileExistsError
            If something lies there already.
        ValueError, TypeError
            If a setting makes no sense, or cannot be kept in a folder; nothing is made then.
        """
        real(0).check("timeout", timeout)
        reading = reading_of(
            lowercase=lowercase,
            stop_words=stop_words,
            normalize=normalize,
            ngram_range=ngram_range,
        )
        if vectors is not None and not isinstance(vectors, WordVectors):
            raise TypeError(
                f"vectors must be WordVectors or None; got {type(vectors).__name__}. Load a file "
                "with WordVectors.load(path)."
            )
        own = vectors is not None and vectors is not WordVectors.builtin()
        vector_set = VectorSet("own") if own else VectorSet.built_in()
        with new_folder(Path(path).absolute()) as folder:
            (folder / SEGMENTS).mkdir()
            if own:
                assert vectors is not None
                vectors.save(folder / VectorSet.FOLDER)
            settings = {
                "reading": reading.to_json(),
                "vectors": vector_set.to_json(),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "textkin": textkin.__version__,
            }
            create_catalogue(folder / CATALOGUE, settings)
        return cls(path, timeout=timeout)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        timeout: float = TIMEOUT,
        models: Mapping[str, object] | None = None,
    ) -> Self:
        """Open the index in a folder.

        Parameters
        ----------
        path : path
            The folder.
        timeout : float, default=10
            Seconds to wait for another writer.
        models : mapping of str to object, default=None
            Attached models that are not of textkin, by their names, as they were given to
            `attach`. Without one of them there are `similar` and `delete`, but no search for a
            text by it and nothing can be added.

        Returns
        -------
        Index
            The index; close it, or use it as a context manager.

        Raises
        ------
        FileNotFoundError
            If there is no index.
        ValueError
            If it is something else, or made by a newer textkin.
        DamagedIndexError
            If its catalogue cannot be read. Segments that cannot are made again, with an
            `IndexWarning`.
        """
        return cls(path, timeout=timeout, models=models)

    # Reading

    def __len__(self) -> int:
        return len(self._snapshot())

    def __iter__(self) -> Iterator[Document]:
        return self._snapshot().documents()

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._snapshot().get(id) is not None

    def __getitem__(self, id: str) -> Document:
        found = self.get(id)
        if found is None:
            raise KeyError(
                f"no document has the id {shortened(id)}; test with `id in index`, or use get, "
                "which gives None."
            )
        return found

    @overload
    def get(self, id: str) -> Document | None: ...
    @overload
    def get(self, id: str, default: _Default) -> Document | _Default: ...
    def get(self, id: str, default: Any = None) -> Any:
        """Return the document with this id, or `default` if there is none.

        Parameters
        ----------
        id : str
            The id.
        default : object, default=None
            What is returned if no document has it.

        Returns
        -------
        Document or default
            With label and metadata as they were added (tuples as lists, as JSON has them).
        """
        if not isinstance(id, str):
            raise TypeError(f"id must be a str; got {type(id).__name__}.")
        found = self._snapshot().get(id)
        return default if found is None else found

    def ids(self) -> list[str]:
        """Return the ids of all documents, in the order of the iteration."""
        return self._snapshot().ids()

    def bags(self) -> Bags:
        """Return how often each word occurs in each document.

        Returns
        -------
        csr_array of shape (n_documents, n_words), float32
            Rows in the order of `ids`, columns in that of `vocabulary`.
        """
        return self._snapshot().bags()

    def bag_blocks(self) -> list[BagBlock]:
        """Return the rows of `bags` in parts that are read when they are called.

        Returns
        -------
        list of callable
            A small one for each segment, and for the documents that are in none yet; each gives
            its rows, where it is called. `textkin.models.fit_blocks` takes them. They refuse to
            read an index that has changed since.
        """
        return bag_blocks(self._snapshot())

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the columns of `bags`, in the order in which they first came.

        Words stay when the last document that has them is deleted. Each access makes it anew.
        """
        return Vocabulary._of_distinct(self._snapshot().words())

    def document_frequencies(self) -> Int64Array:
        """Return in how many documents each word of `vocabulary` occurs."""
        return self._snapshot().frequencies.copy()

    def info(self) -> IndexInfo:
        """Return what is in the index: numbers, sizes and settings."""
        snapshot = self._snapshot()
        return info_of(snapshot, self._reading, self._vector_set, self._described(snapshot))

    def refresh(self) -> None:
        """See what others have written since the index was opened, or last refreshed."""
        self._check_usable()
        with self._mutex:
            self._see(open_snapshot(self.path))

    def compact(self) -> None:
        """Merge the segments, and give back the space of what was deleted or replaced.

        Takes time and, for a moment, as much space as the index; nothing changes in it.
        """
        with self._writing() as writer:
            writer.compact()

    def copy(
        self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None
    ) -> "Index":
        """Copy the index, as this object sees it, into a new folder, and open the copy.

        Parameters
        ----------
        path : path
            A folder that does not exist yet, or is empty. If copying fails, it is not made.
        progress : callable, default=None
            Gets (done, total) pages of the catalogue.

        Returns
        -------
        Index
            The copy.
        """
        target = Path(path).absolute()
        if self.path.resolve() in target.resolve().parents:
            raise ValueError(f"An index cannot be copied into itself; got {target}.")
        snapshot = self._snapshot()
        copy_snapshot(snapshot, target, progress)
        copy = type(self)(path, timeout=self._timeout)
        seen = snapshot.models.values()
        given = [(record, model) for record, model in self._models.given() if record in seen]
        copy._models.give_again(given, copy._snapshot().models)
        return copy

    def verify(self, *, repair: bool = False, progress: ProgressCallback | None = None) -> None:
        """Check every file of the index; raise if one is damaged.

        The catalogue must be sound, each document must be what was added, by its hash; each
        segment must have the hash that it was written with and agree with the catalogue; own word
        vectors and models must have their hashes, and each document a vector of each model.

        Parameters
        ----------
        repair : bool, default=False
            Make damaged segments again from the catalogue instead of raising.
        progress : callable, default=None
            Gets (done, total) documents.

        Raises
        ------
        DamagedIndexError
            If something is damaged; ``problems`` lists what, by file.
        """
        self._check_usable()
        snapshot = open_snapshot(self.path)  # the newest, and nobody else waits for it
        found = check_snapshot(snapshot, progress or (lambda _done, _total: None))
        lost = found.lost + self._vector_problems()
        snapshot.close()
        if repair and not found.lost:
            with self._writing() as writer:
                writer.repair(found.segments)
            found.derived.clear()
        problems = [*lost, *found.models, *found.derived]
        if problems:
            shown = "; ".join(problems[:_SHOWN])
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            way_out = (
                "It holds what cannot be made again: take a copy from a backup."
                if lost
                else "The documents are whole: detach the model, and attach it again."
                if found.models
                else "Nothing is lost: verify(repair=True) makes them again."
            )
            raise DamagedIndexError(f"{self.path} is damaged: {shown}{more}. {way_out}", problems)

    def __repr__(self) -> str:
        if self._closed:
            return f"Index({str(self.path)!r}, closed)"
        return f"Index({str(self.path)!r}, {counted(len(self), 'document')})"

    def _vector_problems(self) -> list[str]:
        try:
            self._vector_set.load(self.path)
        except ValueError as error:
            return [f"{VectorSet.FOLDER}: {error}"]
        return []
