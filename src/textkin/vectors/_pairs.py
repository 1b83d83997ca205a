"""How well vectors rank pairs of words: correlation of cosines with what people said."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from textkin._typing import Float32Array, Float64Array
from textkin._validation import one_of

__all__ = ["JudgedByPairs", "PairScores", "WordPair", "read_word_pairs"]

WordPair: TypeAlias = tuple[str, str, float]
"""Two words, and how alike people found them."""


@dataclass(frozen=True, slots=True)
class PairScores:
    """How cosines of word vectors follow the judgements of people.

    Attributes
    ----------
    spearman : float
        Spearman's rank correlation, from -1 to 1; equal values share their rank. NaN where it is
        not defined: fewer than two pairs, or all judgements or all cosines equal.
    pearson : float
        Pearson's correlation, likewise.
    covered : int
        How many pairs have a vector for both words.
    total : int
        How many pairs there are.
    """

    spearman: float
    pearson: float
    covered: int
    total: int


class _Aligns(Protocol):
    """What the evaluation needs of a table of vectors."""

    def align(self, vocabulary: Sequence[str], /) -> Float32Array: ...


class JudgedByPairs:
    """The evaluation of a table of word vectors by pairs of words."""

    def evaluate_pairs(
        self: _Aligns, pairs: Iterable[WordPair], *, oov: Literal["drop", "zero"] = "drop"
    ) -> PairScores:
        """Return how well cosines rank pairs of words that people have judged.

        Parameters
        ----------
        pairs : iterable of (str, str, float)
            Two words, and how alike they are on any scale, the larger the more. Words are found
            as `lookup` finds them.
        oov : {"drop", "zero"}, default="drop"
            What becomes of a pair with a word that has no vector: it is left out, or it counts
            with a cosine of 0. The first asks how good the vectors are, the second is fair
            between tables with different words.

        Returns
        -------
        PairScores
            Both correlations, the number of pairs with two vectors, and that of all pairs.

        Raises
        ------
        ValueError
            If a judgement is not a finite number, with the position of its pair.

        See Also
        --------
        textkin.vectors.read_word_pairs : Read pairs from a file.

        References
        ----------
        F. Hill, R. Reichart, A. Korhonen. SimLex-999: Evaluating Semantic Models with (Genuine)
        Similarity Estimation. Computational Linguistics 41, 2015.

        Examples
        --------
        >>> from textkin.vectors import WordVectors
        >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
        >>> pairs = [("cat", "dog", 8), ("cat", "car", 1), ("dog", "car", 2), ("dog", "emu", 0)]
        >>> scores = vectors.evaluate_pairs(pairs)
        >>> scores.covered, scores.total
        (3, 4)
        >>> round(scores.spearman, 3), round(scores.pearson, 3)
        (1.0, 0.898)
        """
        one_of("drop", "zero").check("oov", oov)
        first, second, gold = _columns(pairs)
        scores = _cosines(self.align(first), self.align(second))
        known = np.isfinite(scores)
        if oov == "drop":
            gold, scores = gold[known], scores[known]
        else:
            scores[~known] = 0.0
        return PairScores(
            _correlation(_ranks(gold), _ranks(scores)),
            _correlation(gold, scores),
            int(known.sum()),
            len(known),
        )


def read_word_pairs(
    source: Any,  # noqa: ANN401 (whatever `read` takes)
    *,
    first: str = "word1",
    second: str = "word2",
    gold: str = "gold",
    dataset: str = "dataset",
) -> dict[str, list[WordPair]]:
    """Read judged pairs of words from a table, for `WordVectors.evaluate_pairs`.

    Parameters
    ----------
    source : path, DataFrame, or iterable of records
        Anything that `textkin.text.read` reads as rows: ``.tsv`` and ``.csv`` with a header,
        ``.jsonl``, each also with ``.gz``, Parquet, a DataFrame.
    first, second, gold : str
        The columns of the two words and of how alike people found them.
    dataset : str, default="dataset"
        The column that names the set of a pair; without it, all pairs are the set "pairs".

    Returns
    -------
    dict of str to list of (str, str, float)
        The pairs of each set, in the order of the file.

    Raises
    ------
    ValueError
        If a column is missing, or a judgement is not a finite number; with file and line.

    Examples
    --------
    >>> from textkin.vectors import read_word_pairs
    >>> read_word_pairs([{"word1": "cat", "word2": "dog", "gold": "7.5"}])
    {'pairs': [('cat', 'dog', 7.5)]}
    """
    from textkin.text import read

    sets: dict[str, list[WordPair]] = {}
    for row in read(source, text=first, id=False, label=False):
        other, judged = (_field(row.metadata, name, row.id) for name in (second, gold))
        name = row.metadata.get(dataset, "pairs")
        pair = (row.text, str(other), _number(judged, f"{row.id}: {gold}"))
        sets.setdefault(str(name), []).append(pair)
    return sets


def _field(fields: Mapping[str, Any], name: str, place: str) -> Any:  # noqa: ANN401
    found = fields.get(name)
    if found is None:
        raise ValueError(
            f"{place}: there is no {name!r}. A row must have the two words and the judgement; "
            f"beside the first word it has {', '.join(map(repr, fields)) or 'nothing'}."
        )
    return found


def _number(value: object, name: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type] # what is no number is told below
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")
    return number


def _columns(pairs: Iterable[WordPair]) -> tuple[list[str], list[str], Float64Array]:
    first, second, gold = [], [], []
    for position, pair in enumerate(pairs):
        try:
            one, other, judged = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"a pair must be two words and a number; pair {position} is {pair!r}."
            ) from None
        first.append(one)
        second.append(other)
        gold.append(_number(judged, f"the judgement of pair {position}"))
    return first, second, np.array(gold, dtype=np.float64)


def _cosines(first: Float32Array, second: Float32Array) -> Float64Array:
    """Return the cosine of each row with its partner; NaN where one has no vector."""
    one, other = first.astype(np.float64), second.astype(np.float64)
    products, ones, others = (
        np.einsum("ij,ij->i", a, b) for a, b in ((one, other), (one, one), (other, other))
    )
    cosines: Float64Array = products / (np.sqrt(ones) * np.sqrt(others))
    return cosines


def _ranks(values: Float64Array) -> Float64Array:
    from scipy.stats import rankdata  # a second to import; only ever needed here

    return np.asarray(rankdata(values), dtype=np.float64)


def _correlation(a: Float64Array, b: Float64Array) -> float:
    """Return Pearson's correlation; NaN where it is not defined."""
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return math.nan
    return float(np.clip(_centred(a) @ _centred(b), -1.0, 1.0))


def _centred(values: Float64Array) -> Float64Array:
    """Return values that are not all equal, less their mean, as a vector of length one."""
    apart = values / np.abs(values).max()  # so that no square overflows or vanishes
    apart -= apart.mean()
    return np.asarray(apart / np.linalg.norm(apart))
