"""Sentence pairs with gold scores, training texts of sentence models, and alignment features.

The features describe how the words of a pair align, and are the input of the regression. Each is
symmetric in the two sentences, and larger for more similar sentences.
"""

import gzip
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

import numpy as np

from papers.cells import Task, file_in
from textkin._base import Float64Array
from textkin.evaluate import PairData, read_pairs
from textkin.text import Stemmer, WordNetLemmas, tokenize
from textkin.transport import WordMover
from textkin.weighting import TransportWeights

__all__ = [
    "CORPORA",
    "TESTS",
    "TRAINING",
    "agreement",
    "aligned",
    "covered",
    "distances",
    "longest_run",
    "overlap",
    "pairs_of",
    "read_corpus",
    "repeated",
    "sts_files",
]

TRAINING = "sts2012-train"
TESTS = ("sts2012-test", "sts2013-test", "li06-30")
CORPORA = ("wordnet", "gcide", "brown", "sts-train")
"""Training corpora of the paper. GCIDE replaces Wiktionary, which was not available."""

_TEXTS = {
    "wordnet": "text/wordnet_glosses.tsv.gz",
    "gcide": "text/gcide_definitions.tsv.gz",
    "brown": "text/brown.tsv.gz",
    "sts-train": f"sts/{TRAINING}.tsv.gz",
}
# The paper kept Wiktionary entries with one of these parts of speech.
_PARTS_OF_SPEECH = {"n", "v", "a", "adj", "adv"}
_QUICK_PAIRS = 150


def sts_files(dataset: str) -> list[str]:
    """Return all files of the experiment, because stored scores cover all tests."""
    pairs = dict.fromkeys((TRAINING, *TESTS, dataset))
    return list(dict.fromkeys([*(f"sts/{name}.tsv.gz" for name in pairs), *_TEXTS.values()]))


def pairs_of(task: Task, name: str) -> PairData:
    """Return the pairs of a file such as ``sts2012-test``; set names are cut to their last part.

    If the task is quick, return about 150 pairs, evenly from all sets.
    """

    def made() -> PairData:
        whole = read_pairs(task.file(f"sts/{name}.tsv.gz"))
        step = 1 + len(whole) // _QUICK_PAIRS if task.quick else 1
        return PairData(
            whole.first[::step],
            whole.second[::step],
            whole.gold[::step],
            [each.rsplit(".", 1)[-1] for each in whole.sets[::step]],
        )

    return task.memo(f"pairs {name}", made, "run")


def read_corpus(
    data: Path,
    name: str,
    *,
    target_words: bool = True,
    examples: bool = True,
    most: int | None = None,
) -> list[str]:
    """Return the texts of one of `CORPORA`.

    Parameters
    ----------
    data : Path
        Data folder.
    name : str
        "wordnet": one definition per synset. "gcide": one definition per sense of nouns, verbs,
        adjectives, and adverbs. "brown": one sentence per text. "sts-train": one sentence per text.
    target_words : bool, default=True
        If True, put the defined words before their definition.
    examples : bool, default=True
        If True, append usage examples to the definition (WordNet only).
    most : int, optional
        Maximum number of texts. If None, no limit.
    """
    if name not in _TEXTS:
        raise ValueError(f"name must be one of {', '.join(CORPORA)}; got {name!r}.")
    texts = _texts(name, file_in(data, _TEXTS[name]), target_words, examples)
    return list(islice(texts, most))


def _texts(name: str, path: Path, target_words: bool, examples: bool) -> Iterator[str]:
    for row in _rows(path):
        if name == "wordnet":
            _, lemmas, definition, usage = row
            before = [lemmas.replace("|", " ")] if target_words else []
            yield " ".join([*before, definition, *([usage] if examples else [])])
        elif name == "gcide":
            word, tags, definition = row
            if _PARTS_OF_SPEECH.intersection(tag.strip(" ") for tag in tags.split(".")):
                yield f"{word} {definition}" if target_words else definition
        elif name == "brown":
            yield row[2]
        else:
            yield from row[2:4]


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows below the header; these files have no quoting."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\r\n").split("\t")


def repeated(task: Task, name: str) -> dict[str, float]:
    """Count overlaps between a test and the training data.

    Returns
    -------
    dict
        "pairs", the number of pairs; "in training", the number of test pairs that are also
        training pairs, in either order; and for each set the share of sentences that equal a
        definition of WordNet.
    """
    pairs, training = pairs_of(task, name), pairs_of(task, TRAINING)
    known = {
        frozenset(map(_plain, pair)) for pair in zip(training.first, training.second, strict=True)
    }
    both = zip(pairs.first, pairs.second, strict=True)
    found: dict[str, float] = {
        "pairs": len(pairs),
        "in training": sum(frozenset(map(_plain, pair)) in known for pair in both),
    }
    glosses = task.memo("glosses", lambda: _glosses(task), "run")
    for each, part in pairs.by_set().items():
        sentences = [*part.first, *part.second]
        share = np.mean([_plain(sentence) in glosses for sentence in sentences])
        found[f"WordNet, {each}"] = float(share)
    return found


def _glosses(task: Task) -> frozenset[str]:
    texts = read_corpus(task.data, "wordnet", target_words=False, examples=False)
    return frozenset(map(_plain, texts))


def _plain(sentence: str) -> str:
    return " ".join(sentence.casefold().strip(" .;").split())


_NOTHING_IN_COMMON = math.sqrt(2)  # distance of unit vectors with cosine 0


def overlap(first: Set[str], second: Set[str]) -> float:
    """Return the Jaccard index of two sets of words; 1 if both are empty.

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
    """Return the share of the weight of `first` that is on words also in `second`.

    Words without a weight have the weight `rarest`.

    Examples
    --------
    >>> covered({"the", "cat"}, {"the", "dog"}, {"the": 1.0}, rarest=4.0)
    0.2
    """
    weighed = {word: weights.get(word, rarest) for word in sorted(first)}
    whole = sum(weighed.values())
    return sum(weighed[word] for word in sorted(first & second)) / whole if whole else 0.0


def longest_run(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the longest common run of words relative to the shorter sentence; 0 without words.

    Examples
    --------
    >>> longest_run(["a", "cat", "sat", "down"], ["the", "cat", "sat"])
    0.6666666666666666
    """
    shorter = min(len(first), len(second))
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return match.size / shorter if shorter else 0.0


def agreement(first: Set[str], second: Set[str], words: tuple[Set[str], Set[str]]) -> float:
    """Return the share of marked words, such as names, in the other sentence; 1 if there are none.

    Parameters
    ----------
    first, second : set of str
        Marked words of the two sentences.
    words : pair of sets of str
        All words of the two sentences.

    Examples
    --------
    >>> agreement({"paris"}, {"rome"}, ({"in", "paris"}, {"rome", "paris"}))
    0.5
    """
    marked = len(first) + len(second)
    return (len(first & words[1]) + len(second & words[0])) / marked if marked else 1.0


def distances(
    pairs: PairData, n_jobs: int | None, *, masses: TransportWeights, exact: bool
) -> Float64Array:
    """Return transport distances of unit vectors: exact, or the larger of both relaxed ones.

    A pair in which a sentence has no known word has the distance of vectors with cosine 0.
    """
    mover = _mover(masses, n_jobs)
    far = mover.paired(pairs.first, pairs.second) if exact else _bounds(mover, pairs).max(axis=1)
    found: Float64Array = np.where(np.isfinite(far), far, _NOTHING_IN_COMMON)
    return found


def _mover(masses: TransportWeights, n_jobs: int | None) -> WordMover:
    return WordMover(word_weights=masses, unit=True, stop_words=None, empty="inf", n_jobs=n_jobs)


def _bounds(mover: WordMover, pairs: PairData) -> Float64Array:
    found = [mover.bounds(*pair) for pair in zip(pairs.first, pairs.second, strict=True)]
    rows = np.array([(each.source, each.target) for each in found], dtype=np.float64)
    sides: Float64Array = np.where(np.isfinite(rows), rows, _NOTHING_IN_COMMON).reshape(-1, 2)
    return sides


def aligned(
    pairs: PairData, idf: Mapping[str, float], n_jobs: int | None
) -> dict[str, Float64Array]:
    """Return alignment features of sentence pairs, by name.

    Parameters
    ----------
    pairs : PairData
        Sentence pairs; the gold scores are not used.
    idf : mapping of str to float
        Weights of lemmas.
    n_jobs : int or None
        Number of threads of the transport solver.
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
        # The first word is excluded, because it is always capitalized.
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
