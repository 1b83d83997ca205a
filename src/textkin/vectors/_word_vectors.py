"""`WordVectors`: words and their vectors, looked up, compared, post-processed and kept."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import (
    Float32Array,
    Float64Array,
    HasFeatureNames,
    Int32Array,
    WordLookup,
)
from textkin._validation import integer, one_of
from textkin.vectors._builtin import BUILTIN_PATHS, BuiltinName, read_packed
from textkin.vectors._cache import Loaded
from textkin.vectors._cosine import cosines, largest, row_lengths
from textkin.vectors._lookup import find_row, unknown_word
from textkin.vectors._names import Names
from textkin.vectors._pairs import JudgedByPairs
from textkin.vectors._postprocess import remove_components, unit_rows
from textkin.vectors._repairs import Repairs
from textkin.vectors._store import write_folder
from textkin.vectors._table import checked_matrix, checked_vector, column_names
from textkin.vectors._train import MadeByTraining

__all__ = ["WordVectors"]


class WordVectors(MadeByTraining, JudgedByPairs):
    """A table of words and their vectors, read-only.

    A word is found as it is written, else in lower case, else in title case (`str.title`, so
    that ``new_york`` finds ``New_York``), and a possessive such as ``Obama's`` else without its
    ending: the same rule in `lookup`, ``in``, ``[]`` and every method that takes a word.

    Parameters
    ----------
    words : sequence of str
        V distinct words, at least one.
    matrix : array-like of shape (V, d)
        The vector of each word, finite, none all zero. Held as float32 in C order: an array
        that is so already, memory-mapped or not, is not copied, so leave it unchanged.

    Raises
    ------
    TypeError
        If a word is not a string, or the matrix does not hold real numbers.
    ValueError
        If words repeat, or shapes differ, or a row is zero or not finite.

    See Also
    --------
    WordVectors.builtin : The vectors that come with textkin.
    WordVectors.load : Vectors in the formats that people have.
    WordVectors.train : Vectors of your own text.

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
        self._matrix = checked_matrix(self._names.words, matrix)
        self._repairs = Repairs()

    @classmethod
    def _of_words(cls, words: Sequence[str], matrix: ArrayLike) -> Self:
        return cls(words, matrix)

    @classmethod
    def _of_loaded(cls, found: Loaded) -> Self:
        vectors = cls.__new__(cls)
        vectors._names = found.names
        vectors._matrix = found.matrix.view(np.ndarray)
        vectors._matrix.flags.writeable = False
        vectors._repairs = found.repairs
        return vectors

    def _saved_parts(self) -> dict[str, Any]:
        """Tell what an estimator that has these vectors saves of them."""
        return {"words": np.array(self.words, dtype=object), "matrix": self._matrix}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> Self:
        return cls(parts["words"].tolist(), parts["matrix"])

    @classmethod
    def builtin(cls, name: BuiltinName = "glove") -> "WordVectors":
        """Return vectors that come with textkin, by name.

        Read once in a process and then shared. Both are of English words in lower case, in order
        of frequency, and are kept in one byte a number; numbers and single letters are absent.

        Parameters
        ----------
        name : {"glove", "distilled"}, default="glove"
            "glove": 100,000 words, 100 dimensions, trained on Wikipedia and Gigaword.
            "distilled": 60,000 words, 256 dimensions, each word put through the sentence encoder
            all-MiniLM-L6-v2.

        Returns
        -------
        WordVectors
            40 MB in memory, 61 MB the distilled ones.

        Raises
        ------
        ValueError
            If there are none of that name.

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

    @property
    def words(self) -> tuple[str, ...]:
        """The word of each row."""
        return self._names.words

    @property
    def lengths(self) -> Float64Array:
        """The Euclidean length of each vector: (V,), float64, read-only."""
        return self._lengths

    @property
    def repairs(self) -> Repairs:
        """What `load` had to leave out of a file; nothing for vectors that came otherwise."""
        return self._repairs

    @property
    def matrix(self) -> Float32Array:
        """The vectors, one row a word: (V, d), float32, read-only."""
        return self._matrix

    @property
    def dimension(self) -> int:
        """The number of columns, d."""
        return int(self._matrix.shape[1])

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the row of each word: as written, else in lower case, else in title case.

        A possessive that is nowhere is looked up without its ending.

        Parameters
        ----------
        words : sequence of str
            The words, repeated or not.

        Returns
        -------
        ndarray of shape (len(words),), int32
            -1 for a word without a vector.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["apple", "Paris"], [[1, 0], [0, 1]])
        >>> vectors.lookup(["Apple", "PARIS", "pear"])
        array([ 0,  1, -1], dtype=int32)
        """
        if isinstance(words, str):
            raise TypeError(f"words must be a sequence of strings; got the string {words!r}.")
        rows = self._names.rows
        try:
            found = [*map(rows.get, words)]  # most are as written, and many may be asked for
        except TypeError:  # not even hashable, so no word; which, the others will tell
            found = [None] * len(words)
        return np.fromiter(
            (
                find_row(rows, word) if row is None else row
                for word, row in zip(words, found, strict=True)
            ),
            np.int32,
            len(words),
        )

    def align(
        self, vocabulary: WordLookup | Sequence[str] | Mapping[str, int] | HasFeatureNames
    ) -> Float32Array:
        """Return one row for each column of a vocabulary, for methods that take bags.

        Parameters
        ----------
        vocabulary : Vocabulary, sequence of str, or scikit-learn vectoriser
            Whatever names the columns in their order: an object with `words`, the words
            themselves, a fitted ``CountVectorizer``, or its ``vocabulary_``.

        Returns
        -------
        ndarray of shape (n_columns, d), float32
            An all-NaN row says that the word has no vector.

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

    def nearest(
        self, word_or_vector: str | ArrayLike, n: int = 10, *, exclude: Sequence[str] = ()
    ) -> list[tuple[str, float]]:
        """Return the words whose vectors have the largest cosine with a word or a vector.

        Parameters
        ----------
        word_or_vector : str or array-like of shape (d,)
            A word, which is itself left out of the answer, or a vector.
        n : int, default=10
            How many, at least 1; fewer come where fewer exist.
        exclude : sequence of str
            Words to leave out; those without a vector do not matter.

        Returns
        -------
        list of (str, float)
            Words with their cosines, from -1 to 1 (same direction), largest first, equal
            ones by row. One pass over the table, O(V d).

        Raises
        ------
        KeyError
            If the word has no vector.
        ValueError
            If the vector has another dimension, or no direction.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
        >>> vectors.nearest("cat", 1)
        [('dog', 0.96)]
        >>> vectors.nearest([1, 0], 2)
        [('car', 1.0), ('dog', 0.8)]
        """
        integer(1).check("n", n)
        left_out = self.lookup(exclude).tolist()
        if isinstance(word_or_vector, str):
            row = self._known_row(word_or_vector)
            vector = self._matrix[row].astype(np.float64)
            left_out.append(row)
        else:
            vector = checked_vector(word_or_vector, self.dimension)
        scores = cosines(self._matrix, self._lengths, vector)
        hidden = {row for row in left_out if row >= 0}
        ranked = [row for row in largest(scores, n + len(hidden)).tolist() if row not in hidden]
        return [(self.words[row], float(scores[row])) for row in ranked[:n]]

    def analogy(self, a: str, b: str, c: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the words that are to `c` as `b` is to `a`.

        Parameters
        ----------
        a, b, c : str
            ``analogy("man", "king", "woman")`` asks: man is to king as woman is to what? None
            of the three is in the answer.
        n : int, default=10
            How many, at least 1; fewer come where fewer exist.

        Returns
        -------
        list of (str, float)
            Words with the cosine of their vector and the target, largest first.

        Notes
        -----
        The target is ``b - a + c`` over unit vectors (called 3CosAdd).

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
        return self.nearest(of_b - of_a + of_c, n, exclude=(a, b, c))

    def unit(self) -> "WordVectors":
        """Return the same words with every vector divided by its Euclidean length.

        Returns
        -------
        WordVectors
            Computed in float64 and rounded once.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> WordVectors(["cat"], [[3, 4]]).unit()["cat"]
        array([0.6, 0.8], dtype=float32)
        """
        return WordVectors(self.words, unit_rows(self._matrix))

    def without_components(self, n: int, *, center: bool = True) -> "WordVectors":
        """Return the vectors less their mean and their top principal components.

        All-but-the-top: what nearly all vectors share says little about a word.

        Parameters
        ----------
        n : int
            How many components to remove, from 0 to d - 1; the paper suggests about d / 100.
        center : bool, default=True
            Subtract the mean first. If False, the components are those of the vectors as they
            are.

        Returns
        -------
        WordVectors
            Computed in float64 and rounded once; the same to about 1e-6 whatever the BLAS.

        Raises
        ------
        ValueError
            If `n` is out of range, or nothing is left of some vector.

        Notes
        -----
        With the mean m and the eigenvectors u_1, u_2, ... of the covariance in order of their
        eigenvalues, each vector x becomes ``y - sum_{i <= n} <u_i, y> u_i`` with ``y = x - m``.

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
        integer(0, self.dimension - 1).check("n", n)
        return WordVectors(self.words, remove_components(self.words, self._matrix, int(n), center))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the vectors to a folder that `load` reads.

        Parameters
        ----------
        path : str or path
            A path where there is nothing, or an empty folder. It appears whole or not at all.

        Raises
        ------
        FileExistsError
            If there is something at `path`.

        Notes
        -----
        The folder holds ``manifest.json`` (format, version, count, dimension, and the size and
        sha256 of the other two), ``vectors.safetensors`` and ``words.json``, and can be moved.

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
        return isinstance(word, str) and find_row(self._names.rows, word) >= 0

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
        row = find_row(self._names.rows, word)
        if row < 0:
            raise unknown_word(self._names.rows, word)
        return row


@cache
def _builtin(name: BuiltinName) -> WordVectors:
    return WordVectors(*read_packed(BUILTIN_PATHS[name]))
