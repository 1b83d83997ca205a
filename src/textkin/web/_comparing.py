"""Two texts, or documents, compared as the rankings of an index compare a query with a document."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from textkin._typing import Float64Array
from textkin.explain import AlignedText, Contribution, Contributions, Explanation, Flow
from textkin.index.ranking._models import ModelQuery, ModelRanker
from textkin.index.ranking._ranking import Ranker
from textkin.index.ranking._terms import TermQuery, TermRanker
from textkin.index.ranking._transport import _SIDES, TransportQuery, TransportRanker, _compared
from textkin.transport import Comparison
from textkin.transport._comparison import compare_rows
from textkin.transport._parts import centroid_parts, relaxed_flow
from textkin.weighting._formulas import bm25_saturation

__all__ = ["Side", "aligned", "compared"]


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
    EmptyDocumentError
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
    one, other = _compared(first, a.name), _compared(second, b.name)
    if ranking.method == "wcd":
        return centroid_parts(space, first, one, second, other, ranking.cost)
    if ranking.method != "wmd":
        side = _SIDES[ranking.method]
        return relaxed_flow(space, first, one, second, other, ranking.cost, side)
    texts = a.text, b.text
    return compare_rows(space, first, one, second, other, ranking.cost, None, texts)


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
