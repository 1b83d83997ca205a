"""Two texts, or documents, compared as the rankings of an index compare a query with a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from textkin._typing import Float64Array
from textkin.explain import (
    AlignedText,
    Contribution,
    Contributions,
    Explanation,
    Flow,
    shortened,
)
from textkin.index.ranking._hybrid_rankers import HybridRanker
from textkin.index.ranking._models import ModelQuery, ModelRanker
from textkin.index.ranking._ranking import Ranker
from textkin.index.ranking._terms import TermQuery, TermRanker
from textkin.index.ranking._transport_ranker import SIDES, TransportQuery, TransportRanker
from textkin.transport import Comparison
from textkin.transport._comparison import compare_rows
from textkin.transport._parts import centroid_parts, relaxed_flow
from textkin.vectors._encode import Encoded
from textkin.web._problems import Problem
from textkin.weighting._formulas import bm25_saturation

__all__ = ["Side", "aligned", "check_flow", "compared"]

_NAMED = 5  # words without a vector that an answer names
_COLUMNS = 40
_MOST_PAIRS = 10_000_000  # of words: a flow needs a table of costs, and its proof three such


@dataclass(frozen=True, slots=True)
class Side:
    """One of two that are compared.

    Attributes
    ----------
    name : str
        "a" or "b".
    text : str
        Its text.
    row : int or None
        Where it is a document of the index.
    """

    name: str
    text: str
    row: int | None = None

    def query(self, ranker: Ranker[Any]) -> Any:  # noqa: ANN401 (of the ranker)
        """Return it as the ranker wants a query."""
        return ranker.of_text(self.text) if self.row is None else ranker.of_row(self.row)


def compared(ranker: Ranker[Any], a: Side, b: Side) -> Explanation:
    """Return the parts that sum to the score of `b` for the query `a`.

    Raises
    ------
    Problem
        If the ranking is by transport, and one of them has no word with a vector.
    """
    if isinstance(ranker, TransportRanker):
        return _by_transport(ranker, a, b)
    if b.row is not None:
        explained: Explanation = ranker.explain(a.query(ranker), b.row)
        return explained
    if isinstance(ranker, TermRanker):
        return _by_words(ranker, a.query(ranker), b)
    assert isinstance(ranker, ModelRanker)
    return _by_model(ranker, a.query(ranker), b.query(ranker))


def _check_words(texts: Mapping[str, Encoded]) -> None:
    """Raise unless each text has a word that can travel; says which has not, and its words."""
    unknown = {
        name: [shortened(word, _COLUMNS) for word in islice(encoded.coverage(0).unknown, _NAMED)]
        for name, encoded in texts.items()
        if encoded.documents().empty_rows().size
    }
    if unknown:
        said = " ".join(_wordless(name, words) for name, words in unknown.items())
        field = next(iter(unknown)) if len(unknown) == 1 else None
        raise Problem("wordless", said, field, unknown=unknown)


def check_flow(ranker: Ranker[Any], query: Any, row: int) -> None:  # noqa: ANN401 (of the ranker)
    """Raise unless the words of a query can travel to those of a document, where a ranker asks it.

    A part of a hybrid may lack words: then it has not found the document.
    """
    if isinstance(ranker, TransportRanker):
        texts = {"query": query.encoded, "document": ranker.of_row(row).encoded}
        _check_words(texts)
        _check_pairs(ranker, texts)
    elif isinstance(ranker, HybridRanker):
        for part, own in zip(ranker._rankers, query, strict=True):
            if isinstance(part, TransportRanker):
                _check_pairs(part, {"query": own.encoded, "document": part.of_row(row).encoded})


def _check_pairs(ranker: TransportRanker, texts: Mapping[str, Encoded]) -> None:
    """Raise if two texts have too many words for a table of what each way costs."""
    (one, n), (other, m) = ((name, len(encoded.indices)) for name, encoded in texts.items())
    if ranker._ranking.method != "wcd" and n * m > _MOST_PAIRS:
        raise Problem(
            "too_large",
            f"{one} has {n:,} different words and {other} {m:,}, which makes {n * m:,} pairs; "
            f"{_MOST_PAIRS:,} can be looked at. Take a part of a text, or a measure that needs no "
            "pairs, such as wcd or tfidf.",
        )


def _wordless(name: str, unknown: list[str]) -> str:
    if not unknown:
        return f"{name} has no words but stop words; it needs others to be compared."
    return (
        f"{name} has no word with a vector, only such as {', '.join(unknown)}. Take other words, "
        "or a measure of spellings, such as tfidf."
    )


def aligned(ranker: Ranker[Any], found: Explanation, texts: tuple[str, str]) -> AlignedText | None:
    """Return two texts whole, each word as far as it travels; None where no word does."""
    flow = found.flow if isinstance(found, Comparison) else found
    if not isinstance(ranker, TransportRanker) or not isinstance(flow, Flow) or not all(texts):
        return None
    first, second = map(ranker._stored.places, texts)
    return AlignedText.of(flow, texts[0], first, texts[1], second)


def _by_transport(ranker: TransportRanker, a: Side, b: Side) -> Explanation:
    ranking, space = ranker._ranking, ranker._stored.space
    sides: list[TransportQuery] = [a.query(ranker), b.query(ranker)]
    first, second = (side.encoded for side in sides)
    texts = {a.name: first, b.name: second}
    _check_words(texts)
    _check_pairs(ranker, texts)
    one, other = first.documents(), second.documents()
    if ranking.method == "wcd":
        return centroid_parts(space, first, one, second, other, ranking.cost)
    if ranking.method != "wmd":
        side = SIDES[ranking.method]
        return relaxed_flow(space, first, one, second, other, ranking.cost, side)
    whole = a.text, b.text
    return compare_rows(space, first, one, second, other, ranking.cost, None, whole)


def _by_words(ranker: TermRanker, query: TermQuery, b: Side) -> Contributions:
    """Weigh a text as a document of the index would be."""
    formula = ranker._formula
    document = ranker.of_text(b.text)
    words, weights = document.words, document.weights
    if formula.tf == "bm25":
        bag = ranker.view.bag_of_text(b.text)
        length = float(bag.counts.sum() + sum(bag.unknown.values()))
        saturated: Float64Array = bm25_saturation(
            bag.counts,
            np.full(len(bag.counts), length),
            ranker.view.average_length,
            k1=formula.k1,
            b=formula.b,
        )
        words, weights = bag.words, saturated * ranker._idf[bag.words]
    _, here, there = np.intersect1d(query.words, words, True, return_indices=True)
    names = ranker.view.names(query.words[here])
    pairs = zip(names, query.weights[here].tolist(), weights[there].tolist(), strict=True)
    return Contributions.of(
        Contribution(name, asked * weight, f"{asked:.3g} x {weight:.3g}")
        for name, asked, weight in pairs
    )


def _by_model(ranker: ModelRanker, a: ModelQuery, b: ModelQuery) -> Contributions:
    products = a.vector * b.vector
    if ranker.vectors.cosine:
        both = a.length * b.length
        products = products / both if both > 0 else np.zeros_like(products)
    return Contributions.of(
        Contribution(
            ranker._name(int(at)), float(products[at]), f"{a.vector[at]:.3g} x {b.vector[at]:.3g}"
        )
        for at in np.flatnonzero(products)
    )
