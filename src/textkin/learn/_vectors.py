"""Vectors as a measure of documents: any representation, compared by any metric of `distances`."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin, clone
from sklearn.utils import get_tags

from textkin._typing import Bags, BoolArray, Float64Array, Int64Array
from textkin.distance import distances
from textkin.distance._near import NearRows, nearest_rows, rows_below
from textkin.distance._pairwise import known_distance
from textkin.explain import Contributions
from textkin.learn._documents import are_numbers, one, part, size
from textkin.learn._hashing import keys_of_rows, keys_of_words
from textkin.learn._measures import Measure, infinite_where
from textkin.learn._why import PARTS_OF, edit_reasons, vector_reasons
from textkin.models import Pooling
from textkin.run import ProgressCallback
from textkin.text import BagOfWords, Vocabulary, count_words
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import described, text_of, tokenize
from textkin.transport import PairBlock
from textkin.weighting import TfIdf

__all__ = ["Representation", "VectorMeasure"]

_OF_DIRECTIONS = ("cosine", "hellinger")  # a row of zeros has none
_OF_COUNTS = ("hellinger", "jaccard", "weighted-jaccard")  # which tf-idf would change


class Representation:
    """Documents of any kind as vectors: words counted where they are texts, then a model.

    Parameters
    ----------
    model : transformer or None
        Makes vectors of bags, or of texts where it takes them (`Pooling`, a pipeline that begins
        with `BagOfWords`). None: texts are counted and weighed by `weigh`; numbers stay.
    stop_words : str, None, path or collection of str
        Words of texts that are not counted.
    weigh : bool
        Whether texts are weighed by tf-idf where there is no model; else they stay counts.
    n_jobs : int or None
        Threads for counting.

    Attributes
    ----------
    words : sequence of str or None
        The words of the columns, where the vectors are weighed words.
    model_ : transformer or None
        The fitted model.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 (a transformer of anybody's)
        stop_words: StopWords,
        *,
        weigh: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self._given = model
        self._stop_words = stop_words
        self._weigh = weigh
        self._n_jobs = n_jobs
        self._vocabulary: Any = None
        self.model_: Any = None
        self.words: Any = None

    def fit_transform(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Learn from documents; return their vectors, and which of them have nothing in them."""
        given = X
        self.model_ = None if self._given is None else clone(self._given)
        if not are_numbers(X) and not takes_texts(self.model_):
            given = self._count(X)
            self.words = self._vocabulary.words
            if self.model_ is None and self._weigh:
                self.model_ = TfIdf()
        vectors = given if self.model_ is None else self.model_.fit_transform(given)
        if not _keeps_columns(self.model_):
            self.words = None
        return self._checked(vectors, given)

    def transform(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return the vectors of documents, and which of them have nothing in them."""
        given = X
        if not are_numbers(X) and not takes_texts(self.model_):
            if self._vocabulary is None:
                raise TypeError("X must be rows of numbers, as those of fit were; got texts.")
            given = self._counted(X)
        elif self._vocabulary is not None:
            raise TypeError("X must be texts, as those of fit were; got numbers.")
        vectors = given if self.model_ is None else self.model_.transform(given)
        return self._checked(vectors, given)

    def names(self, given: Sequence[str] | None = None) -> Sequence[str] | None:
        """Return the names of the columns of the vectors; None if they have none.

        `given` are those of the rows of numbers, if any, that the vectors are made of.
        """
        if self.words is not None:
            return self.words  # type: ignore[no-any-return]
        if self.model_ is None:
            return given
        try:
            found: Sequence[str] = self.model_.get_feature_names_out()
        except (AttributeError, ValueError, TypeError):  # some have none, or need more to tell
            return None
        return found

    @property
    def counted_words(self) -> list[str] | None:
        """The words that texts are counted by; None where nothing is counted here."""
        return None if self._vocabulary is None else list(self._vocabulary.words)

    def restored(
        self,
        words: Sequence[str] | None,
        model: Any,  # noqa: ANN401
        columns: int,
    ) -> "Representation":
        """Return a representation that was fitted before.

        `words` are those that texts are counted by, `columns` the number of those of vectors.
        """
        self.model_ = model
        if words is not None:
            self._vocabulary = Vocabulary(words)
            same = len(words) == columns and _keeps_columns(model)
            self.words = self._vocabulary.words if same else None
        return self

    def _count(self, X: list[Any]) -> Bags:
        """Learn the words of texts, or of lists of words, and count them."""
        self._vocabulary = None
        if _are_token_lists(X):
            words = {word for words in X for word in words}
            for word in words:
                if not isinstance(word, str):
                    raise TypeError(f"X must hold lists of words; one holds {described(word)}.")
            self._vocabulary = Vocabulary(sorted(words))
            return self._counted(X)
        counter = BagOfWords(stop_words=self._stop_words, n_jobs=self._n_jobs)
        bags: Bags = counter.fit_transform(X)
        self._vocabulary = counter.vocabulary_
        return bags

    def _counted(self, X: list[Any]) -> Bags:
        if _are_token_lists(X):
            return count_words(X, self._vocabulary).bags
        counter = BagOfWords(
            stop_words=self._stop_words, vocabulary=self._vocabulary, n_jobs=self._n_jobs
        )
        bags: Bags = counter.transform(X)
        return bags

    def _checked(self, vectors: Any, given: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        is_sparse: bool = sparse.issparse(vectors)
        vectors = vectors.tocsr() if is_sparse else np.asarray(vectors)
        nothing = _rows_of_zeros(vectors)
        if self._vocabulary is not None:
            nothing = _rows_of_zeros(given)
        elif not isinstance(given, list):  # numbers of the user's: a zero may well be a place
            nothing = np.zeros_like(nothing)
        return vectors, nothing


class VectorMeasure(Measure):
    """Documents as vectors, and a metric of `distances`; "edit" compares words in their order.

    Parameters
    ----------
    metric : str
        One of `distances`.
    model, stop_words, n_jobs
        As for `Representation`; without a model, texts are weighed by tf-idf, or stay counts for
        "hellinger", "jaccard" and "weighted-jaccard".
    """

    def __init__(
        self,
        metric: str,
        model: Any,  # noqa: ANN401
        stop_words: StopWords,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = known_distance(metric)
        self.n_jobs = n_jobs
        self.parts_of = PARTS_OF.get(self.metric, self.parts_of)
        self.names: Sequence[str] | None = None  # of the columns of rows of numbers, if known
        self.representation = Representation(
            model, stop_words, weigh=self.metric not in _OF_COUNTS, n_jobs=n_jobs
        )
        if self.metric == "edit" and model is not None:
            raise ValueError("metric='edit' compares words in their order; it takes no model.")

    def fit(self, X: Any) -> "VectorMeasure":  # noqa: ANN401
        """Keep documents, and make vectors of them."""
        self.documents = X
        if self.metric == "edit":
            self.vectors = _sequences(X)
            self.empty: BoolArray = np.array([not words for words in self.vectors], dtype=bool)
        else:
            self.vectors, nothing = self.representation.fit_transform(X)
            self.empty = nothing | self._without_direction(self.vectors)
        return self

    def vectors_of(self, X: Any) -> tuple[Any, BoolArray]:  # noqa: ANN401
        """Return the vectors of other documents, and which of them have nothing to compare."""
        if self.metric == "edit":
            sequences = _sequences(X)
            return sequences, np.array([not words for words in sequences], dtype=bool)
        vectors, nothing = self.representation.transform(X)
        return vectors, nothing | self._without_direction(vectors)

    def nearest(
        self,
        queries: Any,  # noqa: ANN401
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Compute all distances, block by block, and keep the smallest."""
        allowed = ~self.empty if self.empty.any() else None
        if queries is None:
            asked, empty, documents = self.vectors, self.empty, None
        else:
            asked, empty = self.vectors_of(queries)
            documents = self.vectors
        if not len(empty):
            return NearRows.of([])
        found = nearest_rows(
            asked,
            documents,
            self.metric,
            k,
            allowed=allowed,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        return _without(found, empty)

    def nearest_among(
        self,
        rows: Int64Array,
        k: int,
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Compute the distances between those documents, and keep the smallest."""
        some = part(self.vectors, rows)
        return nearest_rows(some, None, self.metric, k, n_jobs=self.n_jobs, progress=progress)

    def below(
        self,
        threshold: float,
        queries: Any = None,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Compute all distances, block by block, and keep those below the threshold."""
        if queries is None:
            asked, empty, documents = self.vectors, self.empty, None
        else:
            asked, empty = self.vectors_of(queries)
            documents = self.vectors
        if not len(empty):
            return
        blocks = rows_below(
            asked, documents, self.metric, threshold, n_jobs=self.n_jobs, progress=progress
        )
        for begin, found in blocks:
            rows = np.repeat(np.arange(begin, begin + len(found)), np.diff(found.starts))
            kept = ~(empty[rows] | self.empty[found.rows])
            if kept.any():
                yield PairBlock(rows[kept], found.rows[kept], found.distances[kept])

    def below_among(
        self,
        threshold: float,
        rows: Int64Array,
        columns: Int64Array | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Compute the distances of some documents, block by block, and keep those below."""
        found = rows if columns is None else columns
        if not len(rows) or not len(found):
            return
        blocks = rows_below(
            part(self.vectors, rows),
            None if columns is None else part(self.vectors, columns),
            self.metric,
            threshold,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        for begin, near in blocks:
            first = rows[np.repeat(np.arange(begin, begin + len(near)), np.diff(near.starts))]
            second = found[near.rows]
            kept = ~(self.empty[first] | self.empty[second])
            if kept.any():
                yield PairBlock(first[kept], second[kept], near.distances[kept])

    def keys(self) -> list[bytes]:
        """Return the vectors, or the words in their order."""
        if self.metric == "edit":
            return keys_of_words(self.vectors)
        return [key or b"zeros" for key in keys_of_rows(self.vectors)]  # which a sparse row has not

    def between(
        self,
        rows: Int64Array,
        columns: Int64Array,
        *,
        progress: ProgressCallback | None = None,
    ) -> Float64Array:
        """Return the matrix of distances."""
        matrix = distances(
            part(self.vectors, rows),
            part(self.vectors, columns),
            self.metric,  # type: ignore[arg-type]
            n_jobs=self.n_jobs,
            progress=progress,
        )
        return infinite_where(matrix, self.empty[rows], self.empty[columns])

    def nearest_of(
        self,
        columns: Int64Array,
        queries: Any,  # noqa: ANN401
        *,
        progress: ProgressCallback | None = None,
    ) -> NearRows:
        """Compute the distances from those documents alone."""
        asked, empty = self.vectors_of(queries)
        if not len(empty):
            return NearRows.of([])
        some = (
            [self.vectors[row] for row in columns]
            if self.metric == "edit"
            else self.vectors[columns]
        )
        found = nearest_rows(asked, some, self.metric, 1, n_jobs=self.n_jobs, progress=progress)
        return _without(found, empty)

    def explain(self, query: Any, row: int) -> Contributions | None:  # noqa: ANN401
        """Return what of the two documents makes them near or far, see `vector_reasons`.

        None where one of the two is empty, and where two sequences are too long to be aligned.
        """
        document: Any = one(self.documents, row)
        asked, empty = self.vectors_of(query if are_numbers(self.documents) else [query])
        if empty[0] or self.empty[row]:
            return None
        if self.metric == "edit":
            return edit_reasons(asked[0], self.vectors[row])
        model = self.representation.model_
        if self.metric == "cosine" and isinstance(model, Pooling):  # which knows the words
            return model.explain(query, document)
        names = self.representation.names(self.names)  # once: models make them anew
        return vector_reasons(
            self.metric,
            asked,
            one(self.vectors, row),
            lambda column: f"column {column}" if names is None else str(names[column]),
        )

    def _without_direction(self, vectors: Any) -> BoolArray:  # noqa: ANN401
        if self.metric in _OF_DIRECTIONS:
            return _rows_of_zeros(vectors)
        return np.zeros(size(vectors), dtype=bool)


def takes_texts(model: Any) -> bool:  # noqa: ANN401 (a transformer of anybody's)
    """Tell whether a model makes vectors of texts, not of bags."""
    if model is None:
        return False
    if hasattr(model, "_takes_texts"):
        return bool(model._takes_texts)
    if hasattr(model, "steps") and model.steps:
        return takes_texts(model.steps[0][1])
    try:
        return bool(get_tags(model).input_tags.string)
    except (AttributeError, TypeError):  # no estimator of scikit-learn's kind
        return False


def _keeps_columns(model: Any) -> bool:  # noqa: ANN401
    """Tell a model that weighs columns from one that makes others of them."""
    if model is None or isinstance(model, OneToOneFeatureMixin):
        return True
    steps: Any = getattr(model, "steps", ())
    return bool(steps) and all(_keeps_columns(step) for _, step in steps if step != "passthrough")


def _are_token_lists(X: list[Any]) -> bool:
    return bool(X) and not isinstance(text_of(X[0]), str)


def _sequences(X: Any) -> list[list[str]]:  # noqa: ANN401
    if are_numbers(X):
        raise TypeError("metric='edit' compares texts or lists of words; got rows of numbers.")
    sequences: list[list[str]] = []
    for at, text in enumerate(map(text_of, X)):
        if not isinstance(text, str | list | tuple):
            raise TypeError(
                f"X must hold texts or lists of words; position {at} holds {described(text)}."
            )
        sequences.append(tokenize(text) if isinstance(text, str) else list(text))
    return sequences


def _rows_of_zeros(vectors: Any) -> BoolArray:  # noqa: ANN401
    if vectors.ndim != 2:  # told later, in words
        return np.zeros(len(vectors), dtype=np.bool_)
    if not isinstance(vectors, np.ndarray):
        rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
        filled = np.bincount(rows[vectors.data != 0], minlength=vectors.shape[0])
        return np.asarray(filled == 0)
    return np.asarray(~vectors.any(axis=1))


def _without(found: NearRows, empty: BoolArray) -> NearRows:
    """Let empty queries find nothing."""
    if not empty.any():
        return found
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    return NearRows.of([nothing if empty[i] else found[i] for i in range(len(found))])
