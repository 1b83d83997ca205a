"""The bag-of-words estimator: texts in, counted words out."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textkin._typing import Bags, Texts, WordLookup
from textkin._validation import Constraint, check_params, instance_of, integer, one_of
from textkin.text._counting import MAX_WORDS, count_words
from textkin.text._stop_words import stop_word_set, stop_word_test
from textkin.text._tokenise import described, tokenize
from textkin.text._vocabulary import Vocabulary

__all__ = ["BagOfWords"]


class BagOfWords(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Turn texts into bags: how often each word occurs in each text.

    Parameters
    ----------
    stop_words : "smart", None or collection of str, default="smart"
        Words to leave out, whatever their case: the SMART list, none, or your own.
    min_count : int, default=1
        Learn only words that occur at least this often in all texts of `fit` together.
    max_words_per_document : int or None, default=None
        Keep only this many words of the vocabulary in each text, the most frequent ones; among
        equals the first in the text.
    vocabulary : Vocabulary, collection of str, WordVectors or None, default=None
        The words to count, in the order of the columns; None learns them from the texts. With a
        vocabulary given, `transform` needs no `fit`. For transport and pooling give the word
        vectors, so that a query's words count even if no document has them.
    lowercase : bool, default=True
        Turn all words into lower case. Choose False with case-sensitive word vectors.

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
    Entry (d, w) of a bag is n(d, w), the number of times word w occurs in text d. Words outside
    the vocabulary are left out; a text without known words gives an empty row. The time is
    linear in the length of the texts; `fit_transform` holds eight bytes a token beside the bags,
    `fit` and `transform` need none.

    References
    ----------
    Salton, Wong and Yang, "A Vector Space Model for Automatic Indexing", CACM 18(11), 1975.

    Examples
    --------
    >>> texts = ["Obama speaks to the media in Illinois", "The media, the media!"]
    >>> bag_of_words = BagOfWords()
    >>> bag_of_words.fit_transform(texts).toarray()
    array([[1., 1., 1., 1.],
           [0., 2., 0., 0.]], dtype=float32)
    >>> bag_of_words.vocabulary_
    Vocabulary(4 words: 'illinois', 'media', 'obama', 'speaks')
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "stop_words": one_of("smart", None) | instance_of(Collection, "a collection of words"),
        "min_count": integer(1),
        "max_words_per_document": MAX_WORDS,
        "lowercase": one_of(True, False),
    }

    def __init__(
        self,
        stop_words: Literal["smart"] | Collection[str] | None = "smart",
        *,
        min_count: int = 1,
        max_words_per_document: int | None = None,
        vocabulary: WordLookup | Collection[str] | None = None,
        lowercase: bool = True,
    ) -> None:
        self.stop_words = stop_words
        self.min_count = min_count
        self.max_words_per_document = max_words_per_document
        self.vocabulary = vocabulary
        self.lowercase = lowercase

    def fit(self, X: Texts, y: object = None) -> Self:
        """Learn the vocabulary of the texts.

        Parameters
        ----------
        X : iterable of str
            Texts.
        y : object, optional
            Ignored.

        Returns
        -------
        BagOfWords
            The estimator itself.
        """
        return self._learn(self._documents(X))

    def fit_transform(self, X: Texts, y: object = None) -> Bags:
        """Learn the vocabulary and count, reading the texts once.

        Parameters
        ----------
        X : iterable of str
            Texts.
        y : object, optional
            Ignored.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            The bags.
        """
        documents = [[sys.intern(word) for word in words] for words in self._documents(X)]
        return self._learn(documents)._count(documents)

    def transform(self, X: Texts) -> Bags:
        """Count the words of the texts.

        Parameters
        ----------
        X : iterable of str
            Texts.

        Returns
        -------
        csr_array of shape (n_texts, n_words), float32
            The bags; int32 indices, sorted, no explicit zeros.
        """
        return self._count(self._documents(X))

    def tokens(self, text: str) -> list[str]:
        """Return the words of one text that would be counted: no stop words, unknown ones too.

        Parameters
        ----------
        text : str
            A text.

        Returns
        -------
        list of str
            Its words in order.

        Examples
        --------
        >>> BagOfWords().tokens("Obama speaks to the media in Illinois")
        ['obama', 'speaks', 'media', 'illinois']
        """
        (words,) = self._documents([text])
        return words

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

    def _documents(self, texts: Texts) -> Iterator[list[str]]:
        """Check the parameters now, then give the counted words of each text."""
        check_params(self)
        if self.vocabulary is not None and self.min_count > 1:
            raise ValueError(
                f"min_count must be 1 when a vocabulary is given; got {self.min_count}. "
                "It chooses the words of a learnt vocabulary: leave one of the two out."
            )
        is_stop_word = stop_word_test(stop_word_set(self.stop_words))
        return (
            list(filterfalse(is_stop_word, tokenize(text, lowercase=self.lowercase)))
            for text in _checked(texts)
        )

    def _learn(self, documents: Iterable[Sequence[str]]) -> Self:
        """Set the vocabulary, from the words of the documents unless one was given."""
        totals: Counter[str] = Counter()
        n_documents = 0
        for n_documents, words in enumerate(documents, start=1):  # noqa: B007
            totals.update(words)
        if not n_documents:
            raise ValueError("fit needs at least one text; got none.")
        if self.vocabulary is not None:
            self.vocabulary_ = _lookup_of(self.vocabulary)
            return self
        learnt = sorted(word for word, total in totals.items() if total >= self.min_count)
        if not learnt:
            raise ValueError(
                f"no word to learn in {n_documents} texts: {len(totals)} distinct words are left "
                f"after removing stop words, and min_count={self.min_count}. "
                "Pass other texts, stop_words=None or a smaller min_count."
            )
        self.vocabulary_ = Vocabulary(learnt)
        return self

    def _count(self, documents: Iterable[Sequence[str]]) -> Bags:
        cap = self.max_words_per_document
        return count_words(documents, self._columns(), max_words_per_document=cap).bags

    def _columns(self) -> WordLookup:
        if self.vocabulary is not None and not hasattr(self, "vocabulary_"):
            return _lookup_of(self.vocabulary)
        check_is_fitted(self, "vocabulary_")
        return self.vocabulary_


def _lookup_of(vocabulary: WordLookup | Collection[str]) -> WordLookup:
    """Return a word lookup as it is, words as a vocabulary."""
    if hasattr(vocabulary, "lookup") and hasattr(vocabulary, "words"):
        return cast(WordLookup, vocabulary)
    if not isinstance(vocabulary, Collection):
        raise TypeError(
            "vocabulary must be a Vocabulary, a list of words, WordVectors or None; "
            f"got {type(vocabulary).__name__}."
        )
    return Vocabulary(vocabulary)


def _checked(texts: Texts) -> Iterator[str]:
    """Give the texts one by one, each surely a str."""
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
    return _each(texts)


def _each(texts: Iterable[object]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts must hold str; position {position} holds {described(text)}.")
        yield text
