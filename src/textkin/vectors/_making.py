"""How `WordVectors` come about: from a file, a dictionary, gensim."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from textkin.exceptions import VectorFileWarning
from textkin.run import ProgressCallback
from textkin.vectors._cache import Loaded
from textkin.vectors._formats._options import (
    DuplicatesPolicy,
    EncodingPolicy,
    ErrorsPolicy,
    make_options,
)
from textkin.vectors._formats._sniff import Format
from textkin.vectors._load import load_vectors

__all__ = ["MadeFromOthers"]


class MadeFromOthers(ABC):
    """The ways into a table of word vectors, apart from what the table does."""

    @classmethod
    @abstractmethod
    def _of_words(cls, words: Sequence[str], matrix: ArrayLike) -> Self:
        """Make a table of words and a matrix, both checked."""

    @classmethod
    @abstractmethod
    def _of_loaded(cls, found: Loaded) -> Self:
        """Make a table of what was read and checked already."""

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        format: Format | None = None,
        limit: int | None = None,
        words: Iterable[str] | None = None,
        errors: ErrorsPolicy = "raise",
        encoding_errors: EncodingPolicy = "strict",
        duplicates: DuplicatesPolicy = "first",
        cache: bool = True,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        r"""Return the vectors that a file or a folder holds.

        Read are a folder that `save` wrote; word2vec binary and text; GloVe text; fastText
        ``.vec``; safetensors, ``.npy`` and ``.npz`` with their words; gzip of each; and folders of
        model2vec and of sentence-transformers' static models. The format is recognised by what
        the file holds. Nothing is ever unpickled, and no allocation rests on what a header merely
        claims, so a stranger's file is safe to open. Only a static model must be trusted: the
        rules of its tokenizer can use up all memory.

        Parameters
        ----------
        path : str or path
            The file or folder. It must stay unchanged while the vectors are in use, for where it
            can be it is memory-mapped.
        format : str, optional
            "textkin", "static", "word2vec" (binary), "word2vec-text" (with a header; fastText's
            too), "glove" (no header), "safetensors", "npy" or "npz". By default this is seen.
        limit : int, optional
            Keep only the first so many words, the most frequent in most files.
        words : iterable of str, optional
            Keep only the rows that a lookup of these words can find. For a static model, the
            words to embed; by default those of its tokens that are whole words.
        errors : {"raise", "skip"}
            What to do about an entry with NaN or infinite numbers, a line that is not a word and
            d numbers, a word that is not UTF-8, and a header that gives another count: raise,
            or leave it out and count it in `repairs`.
        encoding_errors : {"strict", "replace"}
            "replace" puts U+FFFD for bytes that are not UTF-8.
        duplicates : {"first", "error"}
            What to do about a word that comes again.
        cache : bool, default=True
            Keep a converted copy of a text, word2vec or ``.npz`` file of more than 8 MB, and open
            that the next time, in milliseconds: beside the file (``NAME.textkin``), else in the
            user's cache folder. It is made again when the file changes. Only a cache of the
            user, of root or of the file's owner is used.
        n_jobs : int, optional
            Threads that read text, as scikit-learn counts them.
        progress : callable, optional
            Called with (done, total) now and then.

        Returns
        -------
        WordVectors
            Zero vectors, empty words and repeated words are left out and counted in `repairs`:
            those of the whole file where a cache of it is used, else of what was read.

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ValueError
            If `path` is in no format that is read, or is damaged.

        Warns
        -----
        VectorFileWarning
            If anything was left out.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from textkin.vectors import WordVectors
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "glove.txt"
        ...     _ = file.write_text("up 1 0.5\ndown -1 0.5\n")
        ...     WordVectors.load(file)["down"]
        array([-1. ,  0.5], dtype=float32)
        """
        options = make_options(limit, words, errors, encoding_errors, duplicates, n_jobs, progress)
        found = load_vectors(Path(path), format, options, cache)
        if found.repairs:
            warnings.warn(f"left out of {path}: {found.repairs}.", VectorFileWarning, stacklevel=2)
        return cls._of_loaded(found)

    @classmethod
    def from_dict(cls, vectors: Mapping[str, ArrayLike]) -> Self:
        """Return the vectors of a dictionary, in its order.

        Parameters
        ----------
        vectors : mapping of str to array-like of shape (d,)
            The vector of each word.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors.from_dict({"up": [1, 0.5], "down": [-1, 0.5]})
        WordVectors(2 words, dimension 2)
        """
        if not isinstance(vectors, Mapping):
            raise TypeError(
                "vectors must be a mapping of words to their vectors; got "
                f"{type(vectors).__name__}."
            )
        rows = [np.asarray(vector) for vector in vectors.values()]
        for word, row in zip(vectors, rows, strict=True):
            if row.shape != rows[0].shape or row.ndim != 1:
                raise ValueError(
                    f"vectors must be 1-D and of one length; that of {word!r} has the shape "
                    f"{row.shape}, the first {rows[0].shape}."
                )
        return cls._of_words(list(vectors), np.stack(rows) if rows else np.empty((0, 1)))

    @classmethod
    def from_gensim(cls, kv: Any) -> Self:  # noqa: ANN401 (gensim is not imported)
        """Return the vectors of a gensim ``KeyedVectors``, sharing its memory.

        Parameters
        ----------
        kv : object
            Anything with `index_to_key`, a list of words, and `vectors`, a matrix.

        Returns
        -------
        WordVectors

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> from textkin.vectors import WordVectors
        >>> kv = SimpleNamespace(index_to_key=["up", "down"], vectors=[[1.0], [-1.0]])
        >>> WordVectors.from_gensim(kv)
        WordVectors(2 words, dimension 1)
        """
        if not (hasattr(kv, "index_to_key") and hasattr(kv, "vectors")):
            raise TypeError(
                "kv must be a gensim KeyedVectors, with index_to_key and vectors; got "
                f"{type(kv).__name__}. Of a gensim model pass its .wv."
            )
        return cls._of_words(kv.index_to_key, kv.vectors)
