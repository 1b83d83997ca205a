"""`WordVectors`: a read-only table of words and their vectors."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import (
    Float32Array,
    Float64Array,
    HasFeatureNames,
    Int32Array,
    WordLookup,
    integer,
    one_of,
)
from textkin.exceptions import ParameterError, ParameterTypeError, VectorFileWarning
from textkin.run import ProgressCallback
from textkin.vectors._arithmetic import (
    compute_cosines,
    find_largest,
    remove_components,
    row_lengths,
    unit_rows,
)
from textkin.vectors._builtin import BUILTIN_PATHS, BuiltinName, builtin_name, read_packed
from textkin.vectors._cache import Loaded
from textkin.vectors._formats._options import (
    DuplicatesPolicy,
    EncodingPolicy,
    ErrorsPolicy,
    TokenVectorsPolicy,
    make_options,
)
from textkin.vectors._repairs import Repairs
from textkin.vectors._storage import Format, load_vectors, write_folder
from textkin.vectors._table import Names, check_matrix, check_vector, column_names

__all__ = ["WordVectors", "vectors_by_name"]

_POSSESSIVE = ("'s", "'S", "\u2019s", "\u2019S")


class WordVectors:
    """Read-only table of words and their vectors, from files or built in.

    All methods look up a word in the same way: as written, then in lowercase, then in title case
    (`str.title`, so that ``new_york`` finds ``New_York``), and a possessive such as ``Obama's``
    finally without its ending.

    Parameters
    ----------
    words : sequence of str
        V distinct words, at least one.
    matrix : array-like of shape (V, d)
        Vector of each word; finite, and not all zero. A float32 array in C order, memory-mapped
        or not, is shared instead of copied: leave it unchanged.

    Raises
    ------
    TypeError
        If a word is not a string, or the matrix does not contain real numbers.
    ValueError
        If words repeat, shapes differ, or a row is zero or not finite.

    See Also
    --------
    WordVectors.builtin : Vectors that come with textkin.
    WordVectors.load : Vectors from files in common formats.
    textkin.models.train_word_vectors : Train vectors on your own text.

    Examples
    --------
    >>> from textkin.vectors import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
    >>> vectors
    WordVectors(3 words, dimension 2)
    >>> vectors["dog"]
    array([4., 3.], dtype=float32)
    >>> "Dog" in vectors
    True
    """

    def __init__(self, words: Sequence[str], matrix: ArrayLike) -> None:
        self._names = Names(words)
        self._matrix = check_matrix(self._names.words, matrix)
        self._repairs = Repairs()

    @classmethod
    def _from_loaded(cls, found: Loaded) -> Self:
        vectors = cls.__new__(cls)
        vectors._names = found.names
        vectors._matrix = found.matrix.view(np.ndarray)
        vectors._matrix.flags.writeable = False
        vectors._repairs = found.repairs
        return vectors

    def _saved_parts(self) -> dict[str, Any]:
        """Return words and matrix as values for the `save` of an estimator."""
        return {"words": np.array(self.words, dtype=object), "matrix": self._matrix}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> Self:
        return cls(parts["words"].tolist(), parts["matrix"])

    @classmethod
    def builtin(cls, name: BuiltinName = "glove") -> "WordVectors":
        """Return the built-in vectors with a name, which need no download.

        Vectors are read once per process and then shared. Both sets contain lowercase English
        words in order of frequency, stored with one byte per number. They contain no numbers and
        no single letters.

        Parameters
        ----------
        name : {"glove", "distilled"}, default="glove"
            "glove": 100,000 words, 100 dimensions, trained on Wikipedia and Gigaword.
            "distilled": 60,000 words, 256 dimensions; each vector is the output of the sentence
            encoder all-MiniLM-L6-v2 for the word.

        Returns
        -------
        WordVectors
            Vectors, which take 40 MB in memory ("glove") or 61 MB ("distilled").

        Raises
        ------
        ValueError
            If the name is unknown.

        References
        ----------
        J. Pennington, R. Socher, C. D. Manning. GloVe: Global Vectors for Word Representation.
        EMNLP 2014.

        W. Wang et al. MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of
        Pre-Trained Transformers. NeurIPS 2020.

        N. Reimers, I. Gurevych. Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks.
        EMNLP 2019.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors.builtin()
        WordVectors(100000 words, dimension 100)
        >>> WordVectors.builtin("distilled")
        WordVectors(60000 words, dimension 256)
        """
        one_of(*BUILTIN_PATHS).check("name", name)
        return _builtin(name)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        format: Format | None = None,
        max_words: int | None = None,
        words: Iterable[str] | None = None,
        errors: ErrorsPolicy = "raise",
        encoding_errors: EncodingPolicy = "strict",
        duplicates: DuplicatesPolicy = "first",
        token_vectors: TokenVectorsPolicy = "mean",
        cache: bool = True,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        r"""Load word vectors from a file or folder of any supported format.

        Supported formats are a folder that `save` wrote; word2vec binary and text; GloVe text;
        fastText ``.vec``; safetensors, ``.npy``, and ``.npz`` with their words; gzip of each; and
        folders of model2vec and of static models of sentence-transformers. The format is detected
        from the contents. Nothing is ever unpickled, and memory is never allocated only because a
        header claims a size, so you can open untrusted files. Exception: a static model must be
        trusted, because the rules of its tokenizer can use up all memory.

        Parameters
        ----------
        path : str or path
            File or folder, or ``"builtin:glove"`` or ``"builtin:distilled"`` for built-in vectors
            (if no file has this name). Leave the file unchanged while you use the vectors, because
            it is memory-mapped if possible.
        format : str, optional
            "textkin", "static", "word2vec" (binary), "word2vec-text" (with a header; also for
            fastText), "glove" (no header), "safetensors", "npy", or "npz". By default, the format
            is detected.
        max_words : int, optional
            Maximum number of words to keep, from the start of the file; in most files, these are
            the most frequent words.
        words : iterable of str, optional
            Keep only rows that a lookup of these words can find. For a static model, the words to
            embed; by default, its tokens that are whole words.
        errors : {"raise", "skip"}
            Handling of an entry with NaN or infinite numbers, a line that is not a word and d
            numbers, a word that is not UTF-8, and a header with another count. "raise": raise an
            error. "skip": omit the entry, and count it in `repairs`.
        encoding_errors : {"strict", "replace"}
            With "replace", bytes that are not UTF-8 become U+FFFD.
        duplicates : {"first", "error"}
            Handling of a word that occurs again: keep the first vector, or raise an error.
        token_vectors : {"mean", "sum"}
            Vector of a word of a static model. "mean": the output of the model for the word alone,
            L2-normalized if the model normalizes. "sum": the sum of the vectors of its tokens. The
            mean over the words of a text (`Pooling` without stop words) then has the direction of
            the model's own embedding of the text.
        cache : bool, default=True
            Whether to store a converted copy of a text, word2vec, or ``.npz`` file of more than 8
            MB, which then opens in milliseconds. The copy is next to the file (``NAME.textkin``),
            or in the user's cache folder if that is impossible. It is rebuilt when the file
            changes. Only a cache of the current user, of root, or of the owner of the file is used.
        n_jobs : int, optional
            Number of threads that parse text, as in scikit-learn.
        progress : callable, optional
            Function that is called with (done, total) from time to time.

        Returns
        -------
        WordVectors
            Vectors of the file. Zero vectors, empty words, and repeated words are omitted and
            counted in `repairs`: for the whole file if its cache is used, otherwise for the part
            that was read.

        Raises
        ------
        FileNotFoundError
            If `path` does not exist.
        ValueError
            If `path` has an unsupported format, or is corrupt.

        Warns
        -----
        VectorFileWarning
            If entries were omitted.

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
        options = make_options(
            max_words, words, errors, encoding_errors, duplicates, n_jobs, progress, token_vectors
        )
        name = builtin_name(path)
        if name is not None and not Path(path).exists():
            if not str(path).startswith("builtin:"):
                raise FileNotFoundError(
                    f"{path} does not exist. For the built-in vectors, call "
                    f"WordVectors.builtin({name!r})."
                )
            return cls._of_builtin(name, max_words, words)
        found = load_vectors(Path(path), format, options, cache)
        if found.repairs:
            warnings.warn(f"omitted from {path}: {found.repairs}.", VectorFileWarning, stacklevel=2)
        return cls._from_loaded(found)

    @classmethod
    def _of_builtin(
        cls, name: BuiltinName, max_words: int | None, words: Iterable[str] | None
    ) -> Self:
        """Return built-in vectors, or only the selected words."""
        vectors = cls.builtin(name)
        if max_words is None and words is None:
            return cast(Self, vectors)
        rows = np.arange(len(vectors))
        if words is not None:
            found = vectors.lookup(list(words))
            rows = np.unique(found[found >= 0])
        rows = rows[:max_words]
        return cls([vectors.words[row] for row in rows.tolist()], vectors.matrix[rows])

    @classmethod
    def from_dict(cls, vectors: Mapping[str, ArrayLike]) -> Self:
        """Create word vectors from a dict of words and vectors, in its order.

        Parameters
        ----------
        vectors : mapping of str to array-like of shape (d,)
            Vector of each word.

        Returns
        -------
        WordVectors
            Vectors of the dictionary.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors.from_dict({"up": [1, 0.5], "down": [-1, 0.5]})
        WordVectors(2 words, dimension 2)
        """
        if not isinstance(vectors, Mapping):
            raise ParameterTypeError(
                "vectors", "a mapping of words to their vectors", type(vectors).__name__
            )
        rows = [np.asarray(vector) for vector in vectors.values()]
        for word, row in zip(vectors, rows, strict=True):
            if row.shape != rows[0].shape or row.ndim != 1:
                raise ValueError(
                    f"vectors must be 1-D and of equal length; got shape {row.shape} for {word!r} "
                    f"and {rows[0].shape} for the first word."
                )
        return cls(list(vectors), np.stack(rows) if rows else np.empty((0, 1)))

    @classmethod
    def from_gensim(cls, kv: Any) -> Self:  # noqa: ANN401 (gensim is not imported)
        """Create word vectors from gensim's ``KeyedVectors``, without copying the matrix.

        Parameters
        ----------
        kv : object
            Object with `index_to_key`, a list of words, and `vectors`, a matrix.

        Returns
        -------
        WordVectors
            Vectors of `kv`.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> from textkin.vectors import WordVectors
        >>> kv = SimpleNamespace(index_to_key=["up", "down"], vectors=[[1.0], [-1.0]])
        >>> WordVectors.from_gensim(kv)
        WordVectors(2 words, dimension 1)
        """
        if not (hasattr(kv, "index_to_key") and hasattr(kv, "vectors")):
            raise ParameterTypeError(
                "kv",
                "a gensim KeyedVectors, with index_to_key and vectors",
                type(kv).__name__,
                "For a gensim model, pass its .wv.",
            )
        return cls(kv.index_to_key, kv.vectors)

    @property
    def words(self) -> tuple[str, ...]:
        """All words in the order of the rows of `matrix`."""
        return self._names.words

    @property
    def lengths(self) -> Float64Array:
        """Euclidean length of each vector, in float64."""
        return self._lengths

    @property
    def repairs(self) -> Repairs:
        """Counts of entries that `load` omitted, by reason."""
        return self._repairs

    @property
    def matrix(self) -> Float32Array:
        """Matrix of vectors, one row per word, in float32; read-only."""
        return self._matrix

    @property
    def dimension(self) -> int:
        """Number of dimensions of the vectors."""
        return int(self._matrix.shape[1])

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the row of each word (as written, lowercase, or title case), or -1.

        A possessive that is not found is looked up without its ending.

        Parameters
        ----------
        words : sequence of str
            Words, which may repeat.

        Returns
        -------
        ndarray of shape (len(words),), int32
            Row of each word; -1 for a word without a vector.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["apple", "Paris"], [[1, 0], [0, 1]])
        >>> vectors.lookup(["Apple", "PARIS", "pear"])
        array([ 0,  1, -1], dtype=int32)
        """
        if isinstance(words, str):
            raise ParameterTypeError("words", "a sequence of strings", f"the string {words!r}")
        rows = self._names.rows
        try:
            found = [*map(rows.get, words)]  # fast path, because most words are found as written
        except TypeError:  # an unhashable value; `_find_row` raises the error
            found = [None] * len(words)
        return np.fromiter(
            (
                _find_row(rows, word) if row is None else row
                for word, row in zip(words, found, strict=True)
            ),
            np.int32,
            len(words),
        )

    def align(
        self, vocabulary: WordLookup | Sequence[str] | Mapping[str, int] | HasFeatureNames
    ) -> Float32Array:
        """Return a matrix with the vector of each word of a vocabulary, in column order.

        Parameters
        ----------
        vocabulary : Vocabulary, sequence of str, or scikit-learn vectorizer
            Names of the columns in order: an object with `words`, the words themselves, a fitted
            ``CountVectorizer``, or its ``vocabulary_``.

        Returns
        -------
        ndarray of shape (n_columns, d), float32
            Vector of each column; NaN for a word without a vector.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors(["cat", "dog"], [[3, 4], [4, 3]]).align(["dog", "unicorn"])
        array([[ 4.,  3.],
               [nan, nan]], dtype=float32)
        """
        rows = self.lookup(column_names(vocabulary))
        aligned = np.full((len(rows), self.dimension), np.nan, dtype=np.float32)
        found = rows >= 0
        aligned[found] = self._matrix[rows[found]]
        return aligned

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine similarity of two words.

        Parameters
        ----------
        a, b : str
            Words that have vectors.

        Returns
        -------
        float
            Cosine, from -1 to 1 (same direction).

        Raises
        ------
        KeyError
            If a word has no vector.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
        >>> round(vectors.similarity("cat", "dog"), 2)
        0.96
        """
        row = self._known_row(a)
        other = self._matrix[self._known_row(b)].astype(np.float64)
        cosines = compute_cosines(self._matrix[row : row + 1], self._lengths[row : row + 1], other)
        return float(cosines[0])

    def nearest(
        self,
        word_or_vector: str | Sequence[str] | ArrayLike,
        k: int = 10,
        *,
        negative: str | Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> list[tuple[str, float]]:
        """Return the `k` words with the largest cosine to a word or vector.

        Parameters
        ----------
        word_or_vector : str, sequence of str, or array-like of shape (d,)
            A word, several words, or a vector. For several words, the unit vectors are added.
        k : int, default=10
            Maximum number of words, at least 1.
        negative : str or sequence of str, default=()
            Words whose unit vectors are subtracted (with words only).
        exclude : sequence of str
            Words to exclude; words without a vector have no effect. The words of the query are
            always excluded.

        Returns
        -------
        list of (str, float)
            Words with their cosines, from -1 to 1 (same direction), in descending order; ties are
            in row order. The time is O(V d).

        Raises
        ------
        KeyError
            If a word has no vector.
        ValueError
            If the vector has another dimension, or is zero.

        See Also
        --------
        similarity : Cosine of two words.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
        >>> vectors.nearest("cat", 1)
        [('dog', 0.96)]
        >>> vectors.nearest([1, 0], 2)
        [('car', 1.0), ('dog', 0.8)]
        >>> WordVectors.builtin().nearest(["king", "woman"], 1, negative="man")[0][0]
        'queen'
        """
        integer(1).check("k", k)
        negatives = [negative] if isinstance(negative, str) else list(negative)
        left_out = self.lookup(exclude).tolist()
        if isinstance(word_or_vector, str) and not negatives:
            row = self._known_row(word_or_vector)
            vector = self._matrix[row].astype(np.float64)
            left_out.append(row)
        elif isinstance(word_or_vector, str) or _are_words(word_or_vector):
            positives = [word_or_vector] if isinstance(word_or_vector, str) else word_or_vector
            rows = [self._known_row(word) for word in (*positives, *negatives)]
            if not rows:
                raise ParameterError("word_or_vector", "at least one word", "an empty list")
            signs = np.repeat([1.0, -1.0], [len(positives), len(negatives)])
            units = self._matrix[rows] / self._lengths[rows, np.newaxis]
            vector = signs @ units
            left_out.extend(rows)
            if not vector.any():
                raise ValueError("the sum of the words must not be zero; pass other words.")
        elif negatives:
            raise ParameterTypeError(
                "word_or_vector", "words if negative is given", type(word_or_vector).__name__
            )
        else:
            vector = check_vector(word_or_vector, self.dimension)
        scores = compute_cosines(self._matrix, self._lengths, vector)
        hidden = {row for row in left_out if row >= 0}
        ranked = [
            row for row in find_largest(scores, k + len(hidden)).tolist() if row not in hidden
        ]
        return [(self.words[row], float(scores[row])) for row in ranked[:k]]

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> list[tuple[str, float]]:
        """Find the `k` words that are to `c` as `b` is to `a`.

        Parameters
        ----------
        a, b, c : str
            Words of the analogy. ``analogy("man", "king", "woman")`` means: man is to king as
            woman is to what? These three words are excluded from the result.
        k : int, default=10
            Maximum number of words, at least 1.

        Returns
        -------
        list of (str, float)
            Words with the cosine between their vector and the target, largest first.

        Notes
        -----
        The target is ``b - a + c`` with unit vectors (3CosAdd).

        References
        ----------
        T. Mikolov, W. Yih, G. Zweig. Linguistic Regularities in Continuous Space Word
        Representations. NAACL 2013.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors.builtin().analogy("man", "king", "woman", 1)[0][0]
        'queen'
        """
        rows = [self._known_row(word) for word in (a, b, c)]
        of_a, of_b, of_c = self._matrix[rows] / self._lengths[rows, np.newaxis]
        return self.nearest(of_b - of_a + of_c, k, exclude=(a, b, c))

    def unit(self) -> "WordVectors":
        """Return the same words with L2-normalized vectors.

        Returns
        -------
        WordVectors
            Unit vectors, computed in float64 and rounded once.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors(["cat"], [[3, 4]]).unit()["cat"]
        array([0.6, 0.8], dtype=float32)
        """
        return WordVectors(self.words, unit_rows(self._matrix))

    def without_components(self, n_components: int, *, center: bool = True) -> "WordVectors":
        """Return the words with vectors without mean and top principal components.

        This is the method All-but-the-Top: directions that nearly all vectors share carry little
        information about a word.

        Parameters
        ----------
        n_components : int
            Number of components to remove, from 0 to d - 1; Mu and Viswanath suggest about d / 100.
        center : bool, default=True
            Whether to subtract the mean first. If False, the components are computed from
            uncentered vectors.

        Returns
        -------
        WordVectors
            Vectors, computed in float64 and rounded once; any BLAS gives the same to about 1e-6.

        Raises
        ------
        ValueError
            If `n_components` is out of range, or a vector would become zero.

        Notes
        -----
        Let m be the mean, and u_1, u_2, ... the eigenvectors of the covariance in order of their
        eigenvalues. Each vector x becomes ``y - sum_i <u_i, y> u_i`` with ``y = x - m``, for the
        first `n_components` eigenvectors.

        References
        ----------
        J. Mu, P. Viswanath. All-but-the-Top: Simple and Effective Postprocessing for Word
        Representations. ICLR 2018, algorithm 1.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["a", "b", "c", "d"], [[9, 1], [9, -1], [1, 1], [1, -1]])
        >>> vectors.without_components(1).matrix.round(3) + 0.0
        array([[ 0.,  1.],
               [ 0., -1.],
               [ 0.,  1.],
               [ 0., -1.]], dtype=float32)
        """
        integer(0, self.dimension - 1).check("n_components", n_components)
        matrix = remove_components(self.words, self._matrix, int(n_components), center)
        return WordVectors(self.words, matrix)

    def save(self, path: str | PathLike[str]) -> None:
        """Save words and vectors to a new folder, which `load` reads.

        Parameters
        ----------
        path : str or path
            Path that does not exist, or an empty folder. The folder is written atomically.

        Raises
        ------
        FileExistsError
            If `path` exists and is not an empty folder.

        Notes
        -----
        The folder contains ``manifest.json`` (format, version, count, dimension, and the size and
        sha256 of the other files), ``vectors.safetensors``, and ``words.json``. You can move it.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from textkin.vectors import WordVectors
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordVectors(["up", "down"], [[1], [-1]]).save(Path(folder) / "ways")
        ...     sorted(file.name for file in (Path(folder) / "ways").iterdir())
        ['manifest.json', 'vectors.safetensors', 'words.json']
        """
        write_folder(Path(path), self.words, self._matrix)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and _find_row(self._names.rows, word) >= 0

    def __getitem__(self, word: str) -> Float32Array:
        vector: Float32Array = self._matrix[self._known_row(word)]
        return vector

    def __repr__(self) -> str:
        return f"WordVectors({len(self)} words, dimension {self.dimension})"

    def __reduce__(
        self,
    ) -> tuple[type[Self], tuple[tuple[str, ...], Float32Array], dict[str, Repairs]]:
        return type(self), (self.words, self._matrix), {"_repairs": self._repairs}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # read-only: scikit-learn's clone need not copy the matrix

    @cached_property
    def _lengths(self) -> Float64Array:
        lengths = row_lengths(self._matrix)
        lengths.flags.writeable = False
        return lengths

    def _known_row(self, word: str) -> int:
        row = _find_row(self._names.rows, word)
        if row < 0:
            raise _unknown_word(self._names.rows, word)
        return row


def vectors_by_name(vectors: object) -> WordVectors | None:
    """Return built-in vectors by a name such as "glove", or None for other values.

    Examples
    --------
    >>> vectors_by_name("distilled"), vectors_by_name("distilled.txt")
    (WordVectors(60000 words, dimension 256), None)
    """
    name = builtin_name(vectors)
    return None if name is None else _builtin(name)


def _are_words(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


@cache
def _builtin(name: BuiltinName) -> WordVectors:
    return WordVectors(*read_packed(BUILTIN_PATHS[name]))


def _find_row(rows: Mapping[str, int], word: str) -> int:
    """Return the row of a word in the first of its spellings that has one, or -1.

    The spellings are: as written, in lowercase, and in title case. A possessive (``Obama's``) that
    is not found is also looked up without its ending.
    """
    if not isinstance(word, str):
        raise TypeError(f"a word must be a string; got {type(word).__name__} {word!r}.")
    row = _row_of_spelling(rows, word)
    if row < 0 and word.endswith(_POSSESSIVE):
        row = _row_of_spelling(rows, word[:-2])
    return row


def _row_of_spelling(rows: Mapping[str, int], word: str) -> int:
    row = rows.get(word)
    if row is None:
        row = rows.get(word.lower())
    if row is None:
        row = rows.get(word.title(), -1)
    return row


def _unknown_word(rows: Mapping[str, int], word: str) -> KeyError:
    """Create the KeyError for a word without a vector, with similar words."""
    first = (word[:1].lower(), word[:1].upper())
    alike = [other for other in rows if other[:1] in first and abs(len(other) - len(word)) <= 2]
    near = get_close_matches(word.lower(), alike, n=3)
    hint = f"similar spelling: {', '.join(near)}" if near else "no word has a similar spelling"
    return KeyError(f"no vector for {word!r} among {len(rows):,} words; {hint}")
