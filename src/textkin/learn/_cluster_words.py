"""Clusters with their members, central documents, and most distinctive words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from textkin._base import Float64Array, Int64Array
from textkin.explain import shortened
from textkin.learn._documents import are_numbers
from textkin.text import BagOfWords, StopWords, Vocabulary, count_words, text_of

__all__ = [
    "Cluster",
    "WordCounts",
    "describe_clusters",
    "log_odds",
    "restored_clusters",
    "saved_clusters",
]

_SNIPPET = 160  # columns
_PRIOR = 100.0  # total weight of the Dirichlet prior, in words


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cluster:
    """One cluster: members, central document, and words more frequent than elsewhere.

    Attributes
    ----------
    number : int
        Label of the cluster. The largest cluster is 0.
    members : ndarray of int64
        Positions of the documents, by ascending distance from the center.
    distances : ndarray of float64
        Distance of each member from the center.
    central : int
        Position of the most central document.
    spread : float
        Mean of `distances`. Similar documents have a small spread.
    words : tuple of (str, float)
        Distinctive words of the cluster, with the z-scores of their log-odds ratios.
    snippet : str
        Beginning of the most central document. Empty if the documents are not texts.
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
        """Number of documents in the cluster."""
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
class WordCounts:
    """Document-term matrix from which the distinctive words of clusters are computed.

    Attributes
    ----------
    bags : csr_array of shape (n_documents, n_words)
        Counts, or any numbers, that are not 0 for the words of a document.
    words : sequence of str
        Words of the columns.
    """

    bags: Any
    words: Sequence[str]

    @classmethod
    def from_documents(
        cls,
        X: Any,  # noqa: ANN401 (what `listed` returned)
        words: Sequence[str] | None,
        stop_words: StopWords,
        n_jobs: int | None,
    ) -> "WordCounts | None":
        """Count the words of texts or token lists; a matrix is taken as counts of `words`.

        Return None for other documents, and for numbers without `words`.
        """
        if are_numbers(X):
            return None if words is None else cls(sparse.csr_array(X), words)
        if isinstance(text_of(X[0]), str):
            counter = BagOfWords(stop_words=stop_words, n_jobs=n_jobs)
            return cls(counter.fit_transform(X), counter.vocabulary_.words)
        if all(isinstance(item, list | tuple) for item in X):
            vocabulary = Vocabulary(sorted({word for item in X for word in item}))
            return cls(count_words(X, vocabulary).bags, vocabulary.words)
        return None


def describe_clusters(
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    counts: WordCounts | None,
    labels: Int64Array,
    distances: Float64Array,
    central: Int64Array,
    n_words: int,
) -> list[Cluster]:
    """Create a `Cluster` per label, with members by distance from the center, and words."""
    order = np.lexsort((np.arange(len(labels)), distances, labels))
    order = order[np.searchsorted(labels[order], 0) :]
    ends = np.searchsorted(labels[order], np.arange(len(central) + 1))
    groups = [order[a:b] for a, b in pairwise(ends)]
    words = _distinctive_words(counts, groups, n_words)
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


def saved_clusters(clusters: list[Cluster]) -> dict[str, Any]:
    """Convert clusters to values for `save`; members are not saved but derived from labels."""
    words = [word for cluster in clusters for word in cluster.words]
    return {
        "members": np.concatenate([cluster.members for cluster in clusters]),
        "distances": np.concatenate([cluster.distances for cluster in clusters]),
        "central": np.array([cluster.central for cluster in clusters], dtype=np.int64),
        "spreads": np.array([cluster.spread for cluster in clusters], dtype=np.float64),
        "snippets": np.array([cluster.snippet for cluster in clusters], dtype=object),
        "words": np.array([word for word, _ in words], dtype=object),
        "scores": np.array([score for _, score in words], dtype=np.float64),
        "n_words": np.array([len(cluster.words) for cluster in clusters], dtype=np.int64),
    }


def restored_clusters(state: dict[str, Any], labels: Int64Array) -> list[Cluster]:
    """Create the clusters from the result of `saved_clusters`, or raise if it is invalid."""
    members, distances, central, spreads = (
        state[key] for key in ("members", "distances", "central", "spreads")
    )
    words, scores, n_words, snippets = (
        state[key] for key in ("words", "scores", "n_words", "snippets")
    )
    n = len(central)
    kept = np.flatnonzero(labels >= 0)
    if not (
        members.dtype == central.dtype == n_words.dtype == np.int64
        and distances.dtype == spreads.dtype == scores.dtype == np.float64
        and words.dtype == snippets.dtype == object
        and n > 0
        and spreads.shape == snippets.shape == n_words.shape == (n,)
        and members.shape == distances.shape == kept.shape
        and np.array_equal(np.sort(members), kept)
        and bool((np.diff(labels[members]) >= 0).all())
        and np.array_equal(np.unique(labels[members]), np.arange(n))
        and bool((central >= 0).all() and (central < len(labels)).all())
        and bool((n_words >= 0).all())
        and words.shape == scores.shape == (n_words.sum(),)
        and all(bool(np.isfinite(numbers).all()) for numbers in (distances, spreads, scores))
    ):
        raise ValueError("the clusters do not fit to labels_")
    cuts = np.searchsorted(labels[members], np.arange(n + 1))
    ends = np.concatenate([[0], np.cumsum(n_words)])
    return [
        Cluster(
            number=number,
            members=members[cuts[number] : cuts[number + 1]],
            distances=distances[cuts[number] : cuts[number + 1]],
            central=int(central[number]),
            spread=float(spreads[number]),
            words=tuple(
                zip(
                    words[ends[number] : ends[number + 1]].tolist(),
                    scores[ends[number] : ends[number + 1]].tolist(),
                    strict=True,
                )
            ),
            snippet=snippets[number],
        )
        for number in range(n)
    ]


def log_odds(inside: Float64Array, outside: Float64Array, prior: float = _PRIOR) -> Float64Array:
    r"""Compute z-scores of log-odds ratios: how typical each word is of a cluster.

    The prior is an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008, equations 16 and
    22). Let y and y' be the counts of a word inside and outside, n and n' the sums of these counts
    over all words, and a = prior (y + y') / (n + n') the prior of the word. Then

    .. math:: \delta = \log \frac{y + a}{n + a_0 - y - a} - \log \frac{y' + a}{n' + a_0 - y' - a},
        \qquad z = \delta \Big/ \sqrt{\frac{1}{y + a} + \frac{1}{y' + a}},

    where a_0 is the sum of a over all words. A word without counts has the score 0.

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
    # A single word has infinite odds on both sides: NaN becomes 0.
    return np.where((both > 0) & ~np.isnan(z), z, 0.0)


def _distinctive_words(
    counts: WordCounts | None, groups: list[Int64Array], n_words: int
) -> Iterator[tuple[tuple[str, float], ...]]:
    """Yield the words with the highest z-scores for each group of documents."""
    if counts is None:
        yield from ((),) * len(groups)
        return
    n = len(counts.words)
    everywhere = np.zeros(n)
    for members in groups:
        everywhere += _document_frequencies(counts.bags, members, n)
    for members in groups:
        inside = _document_frequencies(counts.bags, members, n)
        scores = log_odds(inside, everywhere - inside)
        top = np.argsort(-scores, kind="stable")[:n_words]
        yield tuple((str(counts.words[at]), float(scores[at])) for at in top if scores[at] > 0)


def _document_frequencies(bags: Any, members: Int64Array, n: int) -> Float64Array:  # noqa: ANN401
    """Count the member documents that contain each word."""
    part = bags[members]
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
