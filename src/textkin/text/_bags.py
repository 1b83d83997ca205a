"""`BagOfWords`: document-term matrices with the word counts of texts."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from operator import is_
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin import _core
from textkin._base import (
    Bags,
    Constraint,
    SavedEstimator,
    SparseOutput,
    Texts,
    WordLookup,
    check_params,
    describe_non_text,
    hinted,
    integer,
    one_of,
    rollback_on_error,
)
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.run import effective_jobs
from textkin.text._analyzer import (
    Numbers,
    TermReader,
    TokenizerLike,
    prepare,
    split_batches,
    text_of,
)
from textkin.text._counting import MAX_WORDS, ColumnFinder, count_blocks
from textkin.text._normalizers import word_normalizer
from textkin.text._pruning import TermPruning, TermStatistics
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.text._tokens import Tokens
from textkin.text._vocabulary import Vocabulary, unchecked_vocabulary, warn_unreachable_words

__all__ = ["BagOfWords"]


class BagOfWords(SparseOutput, SavedEstimator, TransformerMixin, BaseEstimator):
    """Bag-of-words estimator, which counts the words of texts in a sparse matrix.

    The steps are: split a text into words, join phrases, remove stop words, normalize words, and
    build n-grams. Each step is applied only if it is enabled.

    Parameters
    ----------
    stop_words : str, None, path or collection of str, default="smart"
        Words to ignore in any case: the name of a list (see `stop_lists`), None, a file with one
        word per line (a `pathlib.Path`), or your own words.
    min_count : int, default=1
        Minimum number of occurrences of a learned word in all texts of `fit`.
    min_df : int or float, default=1
        Minimum document frequency of a learned word; a float is a fraction of the texts.
    max_df : int or float, default=1.0
        Maximum document frequency of a learned word; a float is a fraction of the texts.
    max_features : int or None, default=None
        Maximum number of learned words, ranked by `max_features_by`; ties go to the first word in
        the order of code points.
    max_features_by : {"count", "tfidf"}, default="count"
        Weight that `max_features` ranks by: the number of occurrences n(w), or the TF-IDF weight
        summed over the texts, n(w) log(N / df(w)).
    max_words_per_document : int or None, default=None
        Maximum number of words of the vocabulary per text; the most frequent words stay, and ties
        go to the first in the text.
    ngram_range : (int, int), default=(1, 1)
        Minimum and maximum number of words in the n-grams to count, which are joined by spaces.
    phrases : Vocabulary, collection of str, WordVectors or None, default=None
        Words of several tokens, such as ``New_York`` or ``well-known``. If their tokens are
        adjacent in a text, with any separator, they are counted as one word (from left to right,
        the longest phrase first). You can pass word vectors that contain phrases.
    vocabulary : Vocabulary, collection of str, WordVectors or None, default=None
        Words to count, in the order of the columns. If None, they are learned from the texts. With
        a vocabulary, `transform` requires no `fit`. For transport and pooling, pass the word
        vectors, so that the words of a query count even if they occur in no document.
    normalizer : {"stem", "lemma", "wordnet"}, callable or None, default=None
        Normalizer of words, called once per distinct word; words that become empty are removed. Do
        not stem words that are looked up in vectors.
    tokenizer : callable, compiled pattern or None, default=None
        Tokenizer: a callable that returns the words of a text, or a pattern that matches words
        (with at most one group, the word). If None, `tokenize`.
    numbers : {"keep", "drop", "mask"}, default="keep"
        Treatment of numbers, which are words with a digit and without a letter: "drop" ignores
        them, "mask" counts all of them as the one word ``<number>``.
    min_length : int, default=1
        Minimum number of characters of a word, before it is normalized. Numbers that are masked
        may be shorter.
    lowercase : bool, default=True
        Convert all words to lowercase. Pass False for case-sensitive word vectors.
    n_jobs : int or None, default=None
        Number of threads; None means 1, and -1 means one per core. It does not change results.

    Attributes
    ----------
    vocabulary_ : Vocabulary or the given word lookup
        Names of the columns; learned words are in the order of their code points.

    See Also
    --------
    textkin.text.tokenize : Split a text into words.
    textkin.text.count_words : Count your own tokens, and return the unknown words.
    textkin.weighting.TfIdf, textkin.weighting.SIF, textkin.weighting.nbow : Weight the bags.

    Notes
    -----
    Entry (d, w) of a bag is n(d, w), the number of times word w occurs in text d, exact up to
    2**24 in float32. Words outside the vocabulary are ignored; a text without known words has an
    empty row. The time is linear in the length of the texts. Texts are read in batches of some
    million characters, so that a stream is never in memory as a whole. `fit_transform` stores
    eight bytes per distinct word of each text; `fit` stores none. The default tokenizer runs on
    `n_jobs` threads without the interpreter lock; a custom tokenizer runs in Python, one text after
    another. Stop words and phrases are prepared once, and again at each `fit`.

    The TF-IDF ranking of `max_features_by` follows the 5,000-word baseline of Zhang et al.; the
    paper does not state the formula, so this one is an interpretation.

    References
    ----------
    Salton, Wong and Yang, "A Vector Space Model for Automatic Indexing", CACM 18(11), 1975.

    Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings for Document
    Representation", ECIR 2018.

    Examples
    --------
    >>> texts = ["Obama speaks to the media in Illinois", "The media, the media!"]
    >>> bag_of_words = BagOfWords()
    >>> bag_of_words.fit_transform(texts).toarray()
    array([[1., 1., 1., 1.],
           [0., 2., 0., 0.]], dtype=float32)
    >>> bag_of_words.vocabulary_
    Vocabulary(4 words: 'illinois', 'media', 'obama', 'speaks')
    >>> BagOfWords(ngram_range=(2, 2)).fit(texts).vocabulary_
    Vocabulary(4 words: 'media illinois', 'media media', 'obama speaks', 'speaks media')
    >>> BagOfWords(phrases=["New_York"]).fit(["The new New York times"]).vocabulary_
    Vocabulary(2 words: 'New_York', 'times')
    >>> BagOfWords(numbers="mask", min_length=2).fit(["Plan B costs 9.50"]).vocabulary_
    Vocabulary(3 words: '<number>', 'costs', 'plan')

    With pandas, the columns can have names:

    >>> bag_of_words.set_output(transform="pandas").transform(texts)
       illinois  media  obama  speaks
    0       1.0    1.0    1.0     1.0
    1       0.0    2.0    0.0     0.0
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "stop_words": STOP_WORDS,
        "min_count": integer(1),
        "max_features": one_of(None) | integer(1),
        "max_features_by": one_of("count", "tfidf"),
        "max_words_per_document": MAX_WORDS,
        "numbers": one_of("keep", "drop", "mask"),
        "min_length": integer(1),
        "lowercase": one_of(True, False),
    }

    def __init__(
        self,
        stop_words: StopWords = "smart",
        *,
        min_count: int = 1,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        max_features_by: Literal["count", "tfidf"] = "count",
        max_words_per_document: int | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        phrases: WordLookup | Collection[str] | None = None,
        vocabulary: WordLookup | Collection[str] | None = None,
        normalizer: Literal["stem", "lemma", "wordnet"] | Callable[[str], str] | None = None,
        tokenizer: TokenizerLike = None,
        numbers: Numbers = "keep",
        min_length: int = 1,
        lowercase: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.stop_words = stop_words
        self.min_count = min_count
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.max_features_by = max_features_by
        self.max_words_per_document = max_words_per_document
        self.ngram_range = ngram_range
        self.phrases = phrases
        self.vocabulary = vocabulary
        self.normalizer = normalizer
        self.tokenizer = tokenizer
        self.numbers = numbers
        self.min_length = min_length
        self.lowercase = lowercase
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(self, X: Texts, y: object = None) -> Self:
        """Learn the vocabulary from texts.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents from `read`.
        y : object, optional
            Ignored.

        Returns
        -------
        BagOfWords
            The estimator itself.
        """
        self._learn(X, keep=False)
        return self

    @rollback_on_error
    def fit_transform(self, X: Texts, y: object = None) -> Bags:
        """Learn the vocabulary from texts, and return their word counts.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents from `read`.
        y : object, optional
            Ignored.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            Word counts.
        """
        columns, counts = self._learn(X, keep=True)
        return count_blocks(counts, columns, self.max_words_per_document).bags

    def transform(self, X: Texts) -> Bags:
        """Return the word counts of texts, one row per text, one column per word.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents from `read`.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            Word counts; int32 indices, sorted, no explicit zeros.
        """
        reader = self._reader(n_wrappers=1)
        columns = ColumnFinder(self._lookup(), reader)
        blocks = (
            reader.read(batch).count(reader.n_threads)
            for batch in _text_batches(X, reader.n_threads)
        )
        return count_blocks(blocks, columns, self.max_words_per_document).bags

    def tokens(self, X: Texts, *, unknown: Literal["drop", "keep"] = "drop") -> Tokens:
        """Return each text as its sequence of vocabulary columns, in text order.

        Stop words are removed, phrases joined, and words normalized as for the bags;
        `max_words_per_document` does not apply.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents from `read`.
        unknown : {"drop", "keep"}, default="drop"
            Whether to drop words outside the vocabulary, or keep them as -1.

        Returns
        -------
        Tokens
            Column of each token, in the order of the texts.

        Examples
        --------
        >>> bag_of_words = BagOfWords(vocabulary=["media", "speaks"])
        >>> bag_of_words.tokens(["Obama speaks to the media"], unknown="keep").ids
        array([-1,  1,  0], dtype=int32)
        """
        one_of("drop", "keep").check("unknown", unknown)
        reader = self._reader()
        lookup = self._lookup()
        columns = ColumnFinder(lookup, reader)
        ids, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
        for batch in _text_batches(X, reader.n_threads):
            terms, offsets = reader.read(batch).arrays()
            found = columns()[terms]
            kept = found >= 0
            if unknown == "keep":
                kept[:] = True
            before = np.concatenate([[0], np.cumsum(kept)])
            ids.append(found[kept])
            lengths.append(np.diff(before[offsets]))
        return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)), lookup)

    def words(self, text: str) -> list[str]:
        """Return the analyzed words of one text, including unknown words.

        Parameters
        ----------
        text : str
            Text.

        Returns
        -------
        list of str
            Words in order, without stop words, with phrases joined, and normalized.

        Examples
        --------
        >>> BagOfWords().words("Obama speaks to the media in Illinois")
        ['obama', 'speaks', 'media', 'illinois']
        """
        (batch,) = _text_batches([text])
        return self._reader().words(*batch)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the word that each column counts.

        Parameters
        ----------
        input_features : object, optional
            Ignored; texts have no feature names.

        Returns
        -------
        ndarray of shape (n_words,), object
            Words of the columns.
        """
        return np.asarray(self._lookup().words, dtype=object)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.vocabulary is None
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _pruning(self) -> TermPruning:
        return TermPruning(
            min_count=self.min_count,
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=self.max_features,
            by=self.max_features_by,
        )

    def _reader(self, *, anew: bool = False, n_wrappers: int = 0) -> TermReader:
        """Validate the parameters, and return a `TermReader`; prepared settings are cached.

        `n_wrappers` is the number of decorators between the caller and the public method.
        """
        check_params(self)
        self._pruning().check(given=self.vocabulary is not None)
        ngram_range = _check_range(self.ngram_range)
        n_threads = effective_jobs(self.n_jobs)
        key = (
            self.lowercase,
            self.tokenizer,
            self.stop_words,
            self.normalizer,
            self.phrases,
            self.vocabulary,
            self.numbers,
            self.min_length,
        )
        cached = self.__dict__.get("_prepared")
        if anew or cached is None or not all(map(is_, cached[0], key)):
            prepared = prepare(
                lowercase=bool(self.lowercase),
                tokenizer=self.tokenizer,
                stop_words=self.stop_words,
                normalizer=word_normalizer(self.normalizer),
                phrases=None if self.phrases is None else _phrase_names(self.phrases),
                numbers=self.numbers,
                min_length=int(self.min_length),
            )
            if isinstance(self.vocabulary, Collection):
                depth = (5 if anew else 4) + n_wrappers
                warn_unreachable_words(self.vocabulary, prepared, stacklevel=depth)
            cached = self._prepared = (key, prepared)
        return TermReader(cached[1], ngram_range=ngram_range, n_threads=n_threads)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_prepared", None)
        return state

    def _learn(self, texts: Texts, *, keep: bool) -> tuple[ColumnFinder, list[_core.WordCounts]]:
        """Learn the vocabulary; return its lookup and, with `keep`, the texts' word counts."""
        reader = self._reader(anew=True, n_wrappers=2 if keep else 1)
        statistics = TermStatistics()
        counts = []
        for batch in _text_batches(texts, reader.n_threads):
            block = reader.read(batch).count(reader.n_threads)
            statistics.add(block, len(reader.terms))
            if keep:
                counts.append(block)
        if not statistics.n_documents:
            raise ValueError("X must have at least one text; got none.")
        if self.vocabulary is not None:
            self.vocabulary_ = _make_lookup(self.vocabulary, "vocabulary")
            return ColumnFinder(self.vocabulary_, reader), counts
        terms = statistics.select(self._pruning(), reader.terms.sorted(reader.n_threads))
        if not len(terms):
            met = int(np.count_nonzero(statistics.totals))
            raise hinted(
                ValueError,
                f"no word can be learned: the texts ({statistics.n_documents}) have {met} distinct "
                f"terms after removal of stop words, and none of them satisfies {self._pruning()}.",
                "Pass other texts, `stop_words=None`, or weaker limits.",
            )
        self.vocabulary_ = unchecked_vocabulary(reader.terms.words_at(terms))
        return ColumnFinder(self.vocabulary_, reader, terms), counts

    @property
    def _takes_texts(self) -> bool:
        return True

    def _check_loaded(self) -> None:
        self._reader()  # raises for invalid parameters
        words = self._lookup()
        if not (hasattr(words, "lookup") and hasattr(words, "words")):
            raise ValueError("vocabulary_ must be a Vocabulary or WordVectors")

    def _lookup(self) -> WordLookup:
        if self.vocabulary is not None and not hasattr(self, "vocabulary_"):
            return _make_lookup(self.vocabulary, "vocabulary")
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_


def _make_lookup(words: WordLookup | Collection[str], name: str) -> WordLookup:
    """Return a word lookup unchanged, or create a `Vocabulary` from words."""
    if hasattr(words, "lookup") and hasattr(words, "words"):
        return cast(WordLookup, words)
    if not isinstance(words, Collection):
        raise ParameterTypeError(
            name, "a Vocabulary, a list of words, WordVectors or None", type(words).__name__
        )
    try:
        return Vocabulary(words)
    except (ParameterError, ParameterTypeError) as error:
        raise error.within(name, f"{name} is not a valid vocabulary") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} is not a valid vocabulary: {error}") from error


def _phrase_names(phrases: WordLookup | Collection[str]) -> Sequence[str]:
    """Return the phrases of a lookup or collection in a fixed order."""
    if isinstance(phrases, Set) and all(isinstance(name, str) for name in phrases):
        return sorted(phrases)
    return _make_lookup(phrases, "phrases").words


def _check_range(ngram_range: tuple[int, int]) -> tuple[int, int]:
    """Validate an n-gram range, and return its minimum and maximum."""
    expected = "ngram_range must be two integers, the minimum and maximum number of words"
    try:
        shortest, longest = ngram_range
    except (TypeError, ValueError):
        raise ValueError(f"{expected}, such as (1, 2); got {ngram_range!r}.") from None
    if not all(integer().accepts(length) for length in (shortest, longest)):
        raise TypeError(f"{expected}, such as (1, 2); got {ngram_range!r}.")
    if not 1 <= shortest <= longest:
        raise ValueError(f"{expected}, 1 <= shortest <= longest; got {ngram_range!r}.")
    return int(shortest), int(longest)


def _text_batches(texts: Texts, n_threads: int = 1) -> Iterator[list[str]]:
    """Yield texts in batches; raise TypeError for an item that is not a text."""
    if isinstance(texts, str):
        raise ParameterError("texts", "a list of texts", "a single str", "Wrap it: [text].")
    if isinstance(texts, bytes | Mapping) or not isinstance(texts, Iterable):
        raise ParameterTypeError("texts", "a list of texts", describe_non_text(texts))
    dimensions = getattr(texts, "ndim", 1)
    if dimensions != 1:
        raise ParameterError(
            "texts",
            "a list of texts",
            f"a {type(texts).__name__} with {dimensions} dimensions",
            "Pass its one column of texts.",
        )
    return split_batches(_each(texts), n_threads)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for position, given in enumerate(texts):
        text = text_of(given)
        if not isinstance(text, str):
            raise TypeError(
                f"texts must be strings; position {position} holds {describe_non_text(text)}."
            )
        yield text
