"""Evaluation of word vectors by human similarity scores of word pairs."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._base import Float32Array, Float64Array, one_of
from textkin.exceptions import ParameterError
from textkin.reading import read
from textkin.vectors import WordVectors

__all__ = ["PairScores", "WordPair", "read_word_pairs", "word_pairs"]

WordPair: TypeAlias = tuple[str, str, float]
"""Two words and their judged similarity."""


@dataclass(frozen=True, slots=True)
class PairScores:
    """Correlations of word-vector cosines with human scores, per data set.

    Attributes
    ----------
    spearman : float
        Spearman's rank correlation, from -1 to 1; ties share their rank. NaN if undefined: fewer
        than two pairs, or all judgments or all cosines equal.
    pearson : float
        Pearson's correlation; NaN if undefined.
    covered : int
        Number of pairs with vectors for both words.
    total : int
        Number of all pairs.
    """

    spearman: float
    pearson: float
    covered: int
    total: int


def word_pairs(
    vectors: WordVectors, pairs: Iterable[WordPair], *, oov: Literal["drop", "zero"] = "drop"
) -> PairScores:
    """Compute correlations of word-vector cosines with human scores of word pairs.

    Parameters
    ----------
    vectors : WordVectors
        Vectors to evaluate.
    pairs : iterable of (str, str, float)
        Two words and their judged similarity, on any scale. Words are looked up as by
        `WordVectors.lookup`.
    oov : {"drop", "zero"}, default="drop"
        Treatment of pairs with a word without a vector: "drop" ignores them and measures the
        quality of the vectors; "zero" gives them a cosine of 0, which is fair between vectors of
        different words.

    Returns
    -------
    PairScores
        Both correlations, the number of pairs with two vectors, and the number of all pairs.

    Raises
    ------
    ValueError
        If a judgment is not a finite number.

    See Also
    --------
    read_word_pairs : Read pairs from a file.

    References
    ----------
    F. Hill, R. Reichart, A. Korhonen. SimLex-999: Evaluating Semantic Models with (Genuine)
    Similarity Estimation. Computational Linguistics 41, 2015.

    Examples
    --------
    >>> from textkin.evaluate import word_pairs
    >>> from textkin.vectors import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 4], [4, 3], [5, 0]])
    >>> pairs = [("cat", "dog", 8), ("cat", "car", 1), ("dog", "car", 2), ("dog", "emu", 0)]
    >>> scores = word_pairs(vectors, pairs)
    >>> scores.covered, scores.total
    (3, 4)
    >>> round(scores.spearman, 3), round(scores.pearson, 3)
    (1.0, 0.898)
    """
    one_of("drop", "zero").check("oov", oov)
    first, second, gold = _columns(pairs)
    scores = _cosines(vectors.align(first), vectors.align(second))
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
    """Read word pairs with human scores from a table, by data set.

    Parameters
    ----------
    source : path, DataFrame, or iterable of records
        Any source of rows for `textkin.read`: ``.tsv`` and ``.csv`` with a header, ``.jsonl``,
        each also with ``.gz``, Parquet, a DataFrame.
    first, second, gold : str
        Columns of the two words and of their judged similarity.
    dataset : str, default="dataset"
        Column with the set of a pair. Without it, all pairs form the set "pairs".

    Returns
    -------
    dict of str to list of (str, str, float)
        Pairs of each set, in the order of the file.

    Raises
    ------
    ValueError
        If a column is missing, or a judgment is not a finite number; with file and line.

    Examples
    --------
    >>> from textkin.evaluate import read_word_pairs
    >>> read_word_pairs([{"word1": "cat", "word2": "dog", "gold": "7.5"}])
    {'pairs': [('cat', 'dog', 7.5)]}
    """
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
            f"{place}: there is no {name!r}. A row must have the two words and the judgment; "
            f"apart from the first word, it has {', '.join(map(repr, fields)) or 'nothing'}."
        )
    return found


def _number(value: object, name: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type] # reported below
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ParameterError(name, "a finite number", repr(value))
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
        gold.append(_number(judged, f"the judgment of pair {position}"))
    return first, second, np.array(gold, dtype=np.float64)


def _cosines(first: Float32Array, second: Float32Array) -> Float64Array:
    """Return the cosine of row i of two matrices for each i; NaN if a row is missing."""
    one, other = first.astype(np.float64), second.astype(np.float64)
    products, ones, others = (
        np.einsum("ij,ij->i", a, b) for a, b in ((one, other), (one, one), (other, other))
    )
    cosines: Float64Array = products / (np.sqrt(ones) * np.sqrt(others))
    return cosines


def _ranks(values: Float64Array) -> Float64Array:
    from scipy.stats import rankdata  # takes a second to import

    return np.asarray(rankdata(values), dtype=np.float64)


def _correlation(a: Float64Array, b: Float64Array) -> float:
    """Return Pearson's correlation of two arrays, or NaN if it is undefined."""
    if len(a) < 2 or a.min() == a.max() or b.min() == b.max():
        return math.nan
    return float(np.clip(_standardize(a) @ _standardize(b), -1.0, 1.0))


def _standardize(values: Float64Array) -> Float64Array:
    """Subtract the mean, and divide by the L2 norm."""
    centered = values / np.abs(values).max()  # avoids overflow and underflow of squares
    centered -= centered.mean()
    return np.asarray(centered / np.linalg.norm(centered))
