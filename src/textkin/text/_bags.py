"""The bag-of-words estimator: texts in, counted words out."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from operator import is_
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin import _core
from textkin._typing import Bags, Texts, WordLookup
from textkin._validation import Constraint, check_params, integer, one_of
from textkin.run import effective_jobs
from textkin.text._choosing import Statistics, TermChoice
from textkin.text._counting import MAX_WORDS, ColumnFinder, counted_blocks
from textkin.text._normalisers import word_normalizer
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.text._terms import TermReader, TokenizerLike, batches, prepare
from textkin.text._tokenise import described, text_of
from textkin.text._tokens import Tokens
from textkin.text._unreachable import warn_of_unreachable
from textkin.text._vocabulary import Vocabulary

__all__ = ["BagOfWords"]


class BagOfWords(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turn texts into bags: how often each word occurs in each text.

    A text is split into words, phrases are joined, stop words are left out, words are brought to
    their normal forms, and runs of words are made: in this order, each step only if asked for.

    Parameters
    ----------
    stop_words : str, None, path or collection of str, default="smart"
        Words to leave out, whatever their case: a list by name (see `stop_lists`), none, a file
        with a word a line (a `pathlib.Path`), or your own.
    min_count : int, default=1
        Learn only words that occur at least this often in all texts of `fit` together.
    min_df : int or float, default=1
        Learn only words that occur in at least so many texts; a float is a share of them.
    max_df : int or float, default=1.0
        Learn only words that occur in at most so many texts; a float is a share of them.
    max_features : int or None, default=None
        Learn only this many words, the first by `max_features_by`; among equals the first in the
        order of code points.
    max_features_by : {"count", "tfidf"}, default="count"
        What `max_features` ranks by: how often a word occurs, n(w), or its tf-idf weight summed
        over the texts, n(w) log(N / df(w)).
    max_words_per_document : int or None, default=None
        Keep only this many words of the vocabulary in each text, the most frequent ones; among
        equals the first in the text.
    ngram_range : (int, int), default=(1, 1)
        Count runs of so many words, from the shortest to the longest, joined by spaces.
    phrases : Vocabulary, collection of str, WordVectors or None, default=None
        Words of several tokens, such as ``New_York`` or ``well-known``, that are counted as one
        wherever their tokens stand side by side, whatever is between them (from left to right,
        the longest first). Give the word vectors that have them.
    vocabulary : Vocabulary, collection of str, WordVectors or None, default=None
        The words to count, in the order of the columns; None learns them from the texts. With a
        vocabulary given, `transform` needs no `fit`. For transport and pooling give the word
        vectors, so that a query's words count even if no document has them.
    normalize : {"stem", "lemma", "wordnet"}, callable or None, default=None
        Brings a word to its normal form, once for each distinct word; a word that becomes empty
        is left out. Do not stem words that are looked up in vectors.
    tokenizer : callable, compiled pattern or None, default=None
        Splits a text into words: a callable that returns them, a pattern that finds them (at
        most one group, the word), or `tokenize`.
    lowercase : bool, default=True
        Turn all words into lower case. Choose False with case-sensitive word vectors.
    n_jobs : int or None, default=None
        Threads; None is one, -1 one for each core. The result is the same on any number.

    Attributes
    ----------
    vocabulary_ : Vocabulary or the given word lookup
        Names the columns; learnt words are in the order of their code points.

    See Also
    --------
    textkin.text.tokenize : What a word is.
    textkin.text.count_words : Count tokens of your own, and see the unknown words.
    textkin.weighting.TfIdf, textkin.weighting.SIF, textkin.weighting.nbow : Weigh the bags.

    Notes
    -----
    Entry (d, w) of a bag is n(d, w), the number of times word w occurs in text d, exact up to
    2**24 as float32 is. Words outside
    the vocabulary are left out; a text without known words gives an empty row. The time is
    linear in the length of the texts. Texts are read in batches of some million characters, so
    that a stream is never held whole; `fit_transform` holds eight bytes for each distinct word
    of each text, `fit` none. Our own tokeniser runs on `n_jobs` threads without the interpreter
    lock; a tokeniser of your own runs in Python, one text after another. Stop words and phrases
    are made ready once, and again at each `fit`.

    The ranking by tf-idf is that of the 5,000-word baseline of the Fisher-vector paper; its
    formula is our reading of it.

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
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "stop_words": STOP_WORDS,
        "min_count": integer(1),
        "max_features": one_of(None) | integer(1),
        "max_features_by": one_of("count", "tfidf"),
        "max_words_per_document": MAX_WORDS,
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
        normalize: Literal["stem", "lemma", "wordnet"] | Callable[[str], str] | None = None,
        tokenizer: TokenizerLike = None,
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
        self.normalize = normalize
        self.tokenizer = tokenizer
        self.lowercase = lowercase
        self.n_jobs = n_jobs

    def fit(self, X: Texts, y: object = None) -> Self:
        """Learn the vocabulary of the texts.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents as `read` gives them.
        y : object, optional
            Ignored.

        Returns
        -------
        BagOfWords
            The estimator itself.
        """
        self._learn(X, keep=False)
        return self

    def fit_transform(self, X: Texts, y: object = None) -> Bags:
        """Learn the vocabulary and count, reading the texts once.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents as `read` gives them.
        y : object, optional
            Ignored.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            The bags.
        """
        columns, counts = self._learn(X, keep=True)
        return counted_blocks(counts, columns, self.max_words_per_document).bags

    def transform(self, X: Texts) -> Bags:
        """Count the words of the texts.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents as `read` gives them.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            The bags; int32 indices, sorted, no explicit zeros.
        """
        reader = self._reader()
        columns = ColumnFinder(self._columns(), reader)
        blocks = (
            reader.read(batch).count(reader.n_threads)
            for batch in _text_batches(X, reader.n_threads)
        )
        return counted_blocks(blocks, columns, self.max_words_per_document).bags

    def tokens(self, X: Texts, *, unknown: Literal["drop", "keep"] = "drop") -> Tokens:
        """Return the texts as columns of the vocabulary in the order of their words.

        Stop words are left out, phrases joined and words normalised as for the bags;
        `max_words_per_document` does not apply.

        Parameters
        ----------
        X : iterable of str or Document
            Texts, or documents as `read` gives them.
        unknown : {"drop", "keep"}, default="drop"
            Leave words outside the vocabulary out, or keep their place as -1.

        Returns
        -------
        Tokens
            Ids with order.

        Examples
        --------
        >>> bag_of_words = BagOfWords(vocabulary=["media", "speaks"])
        >>> bag_of_words.tokens(["Obama speaks to the media"], unknown="keep").ids
        array([-1,  1,  0], dtype=int32)
        """
        one_of("drop", "keep").check("unknown", unknown)
        reader = self._reader()
        lookup = self._columns()
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
        """Return the words of one text that would be counted, known to the vocabulary or not.

        Parameters
        ----------
        text : str
            A text.

        Returns
        -------
        list of str
            Its words in order: no stop words, phrases joined, normalised.

        Examples
        --------
        >>> BagOfWords().words("Obama speaks to the media in Illinois")
        ['obama', 'speaks', 'media', 'illinois']
        """
        (batch,) = _text_batches([text])
        return self._reader().words(*batch)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the word of each column.

        Parameters
        ----------
        input_features : object, optional
            Ignored; texts have no feature names.

        Returns
        -------
        ndarray of shape (n_words,), object
            Words.
        """
        return np.asarray(self._columns().words, dtype=object)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.vocabulary is None
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _choice(self) -> TermChoice:
        return TermChoice(
            min_count=self.min_count,
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=self.max_features,
            by=self.max_features_by,
        )

    def _reader(self, *, anew: bool = False) -> TermReader:
        """Check the parameters, then make what reads the texts; stop words and phrases once."""
        check_params(self)
        self._choice().check(given=self.vocabulary is not None)
        ngram_range = _checked_range(self.ngram_range)
        n_threads = effective_jobs(self.n_jobs)
        key = (
            self.lowercase,
            self.tokenizer,
            self.stop_words,
            self.normalize,
            self.phrases,
            self.vocabulary,
        )
        cached = self.__dict__.get("_prepared")
        if anew or cached is None or not all(map(is_, cached[0], key)):
            prepared = prepare(
                lowercase=bool(self.lowercase),
                tokenizer=self.tokenizer,
                stop_words=self.stop_words,
                normalize=word_normalizer(self.normalize),
                phrases=None if self.phrases is None else _phrase_names(self.phrases),
            )
            if isinstance(self.vocabulary, Collection):
                warn_of_unreachable(self.vocabulary, prepared)
            cached = self._prepared = (key, prepared)
        return TermReader(cached[1], ngram_range=ngram_range, n_threads=n_threads)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_prepared", None)
        return state

    def _learn(self, texts: Texts, *, keep: bool) -> tuple[ColumnFinder, list[_core.WordCounts]]:
        """Set the vocabulary; return what finds its columns and, to keep, the counted texts."""
        reader = self._reader(anew=True)
        statistics = Statistics()
        counts = []
        for batch in _text_batches(texts, reader.n_threads):
            block = reader.read(batch).count(reader.n_threads)
            statistics.add(block, len(reader.terms))
            if keep:
                counts.append(block)
        if not statistics.n_documents:
            raise ValueError("fit needs at least one text; got none.")
        if self.vocabulary is not None:
            self.vocabulary_ = _lookup_of(self.vocabulary, "vocabulary")
            return ColumnFinder(self.vocabulary_, reader), counts
        terms = statistics.chosen(self._choice(), reader.terms.sorted(reader.n_threads))
        if not len(terms):
            met = int(np.count_nonzero(statistics.totals))
            raise ValueError(
                f"no word to learn: the texts ({statistics.n_documents}) have {met} distinct terms "
                "after stop_words, normalize and ngram_range; of these none passes "
                f"{self._choice()}. Pass other texts, stop_words=None or weaker limits."
            )
        self.vocabulary_ = Vocabulary._of_distinct(reader.terms.words_at(terms))
        return ColumnFinder(self.vocabulary_, reader, terms), counts

    def _columns(self) -> WordLookup:
        if self.vocabulary is not None and not hasattr(self, "vocabulary_"):
            return _lookup_of(self.vocabulary, "vocabulary")
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_


def _lookup_of(words: WordLookup | Collection[str], name: str) -> WordLookup:
    """Return a word lookup as it is, words as a vocabulary."""
    if hasattr(words, "lookup") and hasattr(words, "words"):
        return cast(WordLookup, words)
    if not isinstance(words, Collection):
        raise TypeError(
            f"{name} must be a Vocabulary, a list of words, WordVectors or None; "
            f"got {type(words).__name__}."
        )
    try:
        return Vocabulary(words)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} is no vocabulary: {error}") from error


def _phrase_names(phrases: WordLookup | Collection[str]) -> Sequence[str]:
    """Return the words of a lookup, or the words given; of a set in the order of code points."""
    if isinstance(phrases, Set) and all(isinstance(name, str) for name in phrases):
        return sorted(phrases)
    return _lookup_of(phrases, "phrases").words


def _checked_range(ngram_range: tuple[int, int]) -> tuple[int, int]:
    """Return the shortest and the longest run of words that is counted."""
    expected = "ngram_range must be two whole numbers, the shortest and the longest run of words"
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
    """Give the texts in batches, each surely a str."""
    if isinstance(texts, str):
        raise ValueError("texts must be a list of texts; got a single str. Wrap it: [text].")
    if isinstance(texts, bytes | Mapping) or not isinstance(texts, Iterable):
        raise TypeError(f"texts must be a list of texts; got {described(texts)}.")
    dimensions = getattr(texts, "ndim", 1)
    if dimensions != 1:
        raise ValueError(
            f"texts must be a list of texts; got a {type(texts).__name__} with "
            f"{dimensions} dimensions. Pass its one column of texts."
        )
    return batches(_each(texts), n_threads)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for position, given in enumerate(texts):
        text = text_of(given)
        if not isinstance(text, str):
            raise TypeError(f"texts must hold str; position {position} holds {described(text)}.")
        yield text
