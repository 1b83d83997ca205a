"""What a regression on sentence pairs is given: how their words align, numbers a pair.

All are the same with the two sentences exchanged, and the larger the more alike the two are.
"""

import math
from collections.abc import Mapping, Sequence, Set
from difflib import SequenceMatcher

import numpy as np

from textkin._typing import Float64Array
from textkin.evaluate._pairs import PairData
from textkin.text import Stemmer, WordNetLemmas, tokenize
from textkin.transport import WordMover
from textkin.transport._masses import Masses

__all__ = ["agreement", "aligned", "covered", "distances", "longest_run", "overlap"]

_NOTHING_IN_COMMON = math.sqrt(2)  # of unit vectors: their cosine is 0, as that of no words


def overlap(first: Set[str], second: Set[str]) -> float:
    """Return the words that both have, as a share of those that one has; 1 where none has any.

    Examples
    --------
    >>> overlap({"a", "cat"}, {"a", "dog"})
    0.3333333333333333
    """
    either = first | second
    return len(first & second) / len(either) if either else 1.0


def covered(
    first: Set[str], second: Set[str], weights: Mapping[str, float], rarest: float
) -> float:
    """Return the weight of the words of `first` that `second` has too, as a share of all its own.

    Words without a weight have that of the rarest.

    Examples
    --------
    >>> covered({"the", "cat"}, {"the", "dog"}, {"the": 1.0}, rarest=4.0)
    0.2
    """
    weighed = {word: weights.get(word, rarest) for word in sorted(first)}
    whole = sum(weighed.values())
    return sum(weighed[word] for word in sorted(first & second)) / whole if whole else 0.0


def longest_run(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the longest run of words that both have, as a share of the shorter; 0 without words.

    Examples
    --------
    >>> longest_run(["a", "cat", "sat", "down"], ["the", "cat", "sat"])
    0.6666666666666666
    """
    shorter = min(len(first), len(second))
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return match.size / shorter if shorter else 0.0


def agreement(first: Set[str], second: Set[str], words: tuple[Set[str], Set[str]]) -> float:
    """Return the share of marked words, such as names, that the other sentence has; 1 of none.

    Parameters
    ----------
    first, second : set of str
        The marked words of the two sentences.
    words : pair of sets of str
        All words of the two.

    Examples
    --------
    >>> agreement({"paris"}, {"rome"}, ({"in", "paris"}, {"rome", "paris"}))
    0.5
    """
    marked = len(first) + len(second)
    return (len(first & words[1]) + len(second & words[0])) / marked if marked else 1.0


def distances(pairs: PairData, n_jobs: int | None, *, masses: Masses, exact: bool) -> Float64Array:
    """Return the distance that words travel at unit length; relaxed ones as the larger of both.

    A pair with a sentence without known words is as far apart as words with a cosine of 0.
    """
    mover = _mover(masses, n_jobs)
    far = mover.paired(pairs.first, pairs.second) if exact else _bounds(mover, pairs).max(axis=1)
    found: Float64Array = np.where(np.isfinite(far), far, _NOTHING_IN_COMMON)
    return found


def _mover(masses: Masses, n_jobs: int | None) -> WordMover:
    return WordMover(masses=masses, unit=True, stop_words=None, empty="inf", n_jobs=n_jobs)


def _bounds(mover: WordMover, pairs: PairData) -> Float64Array:
    found = [mover.bounds(*pair) for pair in zip(pairs.first, pairs.second, strict=True)]
    rows = np.array([(each.source, each.target) for each in found], dtype=np.float64)
    sides: Float64Array = np.where(np.isfinite(rows), rows, _NOTHING_IN_COMMON).reshape(-1, 2)
    return sides


def aligned(
    pairs: PairData, idf: Mapping[str, float], n_jobs: int | None
) -> dict[str, Float64Array]:
    """Return features of how the words of two sentences align, by name.

    Parameters
    ----------
    pairs : PairData
        The pairs; gold scores are not looked at.
    idf : mapping of str to float
        Weights of lemmas.
    n_jobs : int or None
        Threads of the transport.
    """
    lemma, stem = WordNetLemmas(), Stemmer()
    rarest = max(idf.values(), default=1.0)
    rows = []
    for sentences in zip(pairs.first, pairs.second, strict=True):
        cased = [tokenize(sentence, lowercase=False) for sentence in sentences]
        words = [[word.lower() for word in side] for side in cased]
        first, second = map(frozenset, words)
        one, other = (frozenset(map(lemma, side)) for side in words)
        stems = [frozenset(map(stem, side)) for side in words]
        cover = sorted((covered(one, other, idf, rarest), covered(other, one, idf, rarest)))
        lengths = sorted(map(len, words))
        numbers = [frozenset(w for w in side if any(map(str.isdigit, w))) for side in words]
        # Not the first one, which is always written so.
        names = [frozenset(w.lower() for w in side[1:] if w[0].isupper()) for side in cased]
        rows.append(
            {
                "lemmas shared": overlap(one, other),
                "stems shared": overlap(*stems),
                "lemmas covered, less": cover[0],
                "lemmas covered, more": cover[1],
                "longest run": longest_run(*words),
                "lengths": lengths[0] / lengths[1] if lengths[1] else 1.0,
                "numbers": agreement(numbers[0], numbers[1], (first, second)),
                "names": agreement(names[0], names[1], (first, second)),
            }
        )
    sides = -np.sort(_bounds(_mover("sif", n_jobs), pairs), axis=1)
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found["RWMD, nearer side"], found["RWMD, farther side"] = sides.T
    found["WMD"] = -distances(pairs, n_jobs, masses="sif", exact=True)
    return found
