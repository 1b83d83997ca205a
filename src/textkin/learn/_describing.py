"""What there is to say of a cluster: its members, the most central one, the words of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from textkin._typing import Float64Array, Int64Array
from textkin.explain import shortened
from textkin.learn._documents import are_numbers
from textkin.text import BagOfWords, Vocabulary, count_words
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import text_of

__all__ = ["Cluster", "Counted", "described", "log_odds"]

_SNIPPET = 160  # columns
_PRIOR = 100.0  # documents' words that are like those of all, before any of the cluster are seen


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cluster:
    """A group of documents that are near to each other.

    Attributes
    ----------
    number : int
        Its label. The largest cluster is 0.
    members : ndarray of int64
        Positions of its documents, the nearest to the centre first.
    distances : ndarray of float64
        How far each member is from the centre.
    central : int
        The position of its most central document.
    spread : float
        The mean of `distances`: the smaller, the more alike its documents are.
    words : tuple of (str, float)
        Words that set it apart from the others, and how surely: z-scores of log-odds ratios.
    snippet : str
        The beginning of the most central document; empty if documents are no texts.
    """

    number: int
    members: Int64Array
    distances: Float64Array
    central: int
    spread: float
    words: tuple[tuple[str, float], ...]
    snippet: str

    @property
    def size(self) -> int:
        """How many documents it has."""
        return len(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        words = " ".join(shortened(word, 24) for word, _ in self.words[:5])
        return (
            f"Cluster({self.number}, size={self.size}, central={self.central}, "
            f"spread={self.spread:.3g}, words={words!r})"
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """Which documents have which words."""

    has: Any  # CSR, documents x words
    words: Sequence[str]

    @classmethod
    def of(
        cls,
        X: Any,  # noqa: ANN401 (what `listed` returned)
        words: Sequence[str] | None,
        stop_words: StopWords,
        n_jobs: int | None,
    ) -> "Counted | None":
        """Count the words of texts and of lists of words; of numbers, where `words` names them."""
        if are_numbers(X):
            return None if words is None else cls(sparse.csr_array(X), words)
        if isinstance(text_of(X[0]), str):
            counter = BagOfWords(stop_words=stop_words, n_jobs=n_jobs)
            return cls(counter.fit_transform(X), counter.vocabulary_.words)
        if all(isinstance(item, list | tuple) for item in X):
            vocabulary = Vocabulary(sorted({word for item in X for word in item}))
            return cls(count_words(X, vocabulary).bags, vocabulary.words)
        return None


def described(
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    counted: Counted | None,
    labels: Int64Array,
    distances: Float64Array,
    central: Int64Array,
    n_words: int,
) -> list[Cluster]:
    """Return clusters; `distances` are those of documents from the centre of their cluster."""
    order = np.lexsort((np.arange(len(labels)), distances, labels))
    order = order[np.searchsorted(labels[order], 0) :]
    ends = np.searchsorted(labels[order], np.arange(len(central) + 1))
    groups = [order[a:b] for a, b in pairwise(ends)]
    words = _words_of(counted, groups, n_words)
    return [
        Cluster(
            number=number,
            members=members.astype(np.int64),
            distances=distances[members],
            central=int(central[number]),
            spread=float(distances[members].mean()),
            words=next(words),
            snippet=_snippet(documents, int(central[number])),
        )
        for number, members in enumerate(groups)
    ]


def log_odds(inside: Float64Array, outside: Float64Array, prior: float = _PRIOR) -> Float64Array:
    r"""Return how surely each word is more usual inside than outside, as z-scores.

    Log-odds ratios with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, equations
    16 and 22). With y and y' the numbers of a word inside and outside, n and n' their sums, and
    a = prior (y + y') / (n + n') the prior of the word,

    .. math:: \delta = \log \frac{y + a}{n + a_0 - y - a} - \log \frac{y' + a}{n' + a_0 - y' - a},
        \qquad z = \delta \Big/ \sqrt{\frac{1}{y + a} + \frac{1}{y' + a}},

    where a_0 is the sum of all a. A word that is nowhere has 0.

    Examples
    --------
    >>> log_odds(np.array([8.0, 2.0]), np.array([2.0, 8.0]), prior=2.0).round(3)
    array([ 3.296, -3.296])
    """
    both = inside + outside
    total = both.sum()
    if not total:
        return np.zeros(len(both))
    a = prior * both / total
    y, other = inside + a, outside + a
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.log(y / (y.sum() - y)) - np.log(other / (other.sum() - other))
        z = delta / np.sqrt(1 / y + 1 / other)
    # Of one word alone the odds are infinite on both sides, and so the same.
    return np.where((both > 0) & ~np.isnan(z), z, 0.0)


def _words_of(
    counted: Counted | None, groups: list[Int64Array], n_words: int
) -> Iterator[tuple[tuple[str, float], ...]]:
    """Yield for each group the words that set it apart."""
    if counted is None:
        yield from ((),) * len(groups)
        return
    has, n = counted.has, len(counted.words)
    everywhere = np.zeros(n)
    for members in groups:
        everywhere += _documents_with(has, members, n)
    for members in groups:
        inside = _documents_with(has, members, n)
        scores = log_odds(inside, everywhere - inside)
        top = np.argsort(-scores, kind="stable")[:n_words]
        yield tuple((str(counted.words[at]), float(scores[at])) for at in top if scores[at] > 0)


def _documents_with(has: Any, members: Int64Array, n: int) -> Float64Array:  # noqa: ANN401
    """Return how many of some documents have each word."""
    part = has[members]
    return np.bincount(part.indices[part.data != 0], minlength=n).astype(np.float64)


def _snippet(documents: Any, position: int) -> str:  # noqa: ANN401
    if are_numbers(documents):
        return ""
    text = text_of(documents[position])
    if isinstance(text, str):
        return shortened(text, _SNIPPET)
    if isinstance(text, list | tuple):
        return shortened(" ".join(map(str, text)), _SNIPPET)
    return ""
