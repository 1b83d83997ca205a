"""Sentence pairs with gold scores, and the texts that models of sentences learn from."""

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from textkin.evaluate._cells import Task, file_in
from textkin.evaluate._pairs import PairData, read_pairs

__all__ = ["CORPORA", "TESTS", "TRAINING", "pairs_of", "read_corpus", "repeated", "sts_files"]

TRAINING = "sts2012-train"
TESTS = ("sts2012-test", "sts2013-test", "li06-30")
CORPORA = ("wordnet", "gcide", "brown", "sts-train")
"""The corpora of the paper; GCIDE stands in for Wiktionary, which is not at hand."""

_TEXTS = {
    "wordnet": "text/wordnet_glosses.tsv.gz",
    "gcide": "text/gcide_definitions.tsv.gz",
    "brown": "text/brown.tsv.gz",
    "sts-train": f"sts/{TRAINING}.tsv.gz",
}
# The paper kept entries that Wiktionary tags as one of these.
_PARTS_OF_SPEECH = {"n", "v", "a", "adj", "adv"}
_QUICK_PAIRS = 150


def sts_files(dataset: str) -> list[str]:
    """Return all files of the experiment: what is learnt serves every test, and is kept for all."""
    pairs = dict.fromkeys((TRAINING, *TESTS, dataset))
    return list(dict.fromkeys([*(f"sts/{name}.tsv.gz" for name in pairs), *_TEXTS.values()]))


def pairs_of(task: Task, name: str) -> PairData:
    """Return the pairs of a file such as ``sts2012-test``, sets named by the last part of a name.

    When quick, about 150 of them, evenly from all sets.
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
        The data folder.
    name : str
        "wordnet": a definition a synset. "gcide": a definition a sense, of nouns, verbs,
        adjectives and adverbs. "brown": a sentence a text. "sts-train": a sentence a text.
    target_words : bool, default=True
        Put the words that are defined before their definition.
    examples : bool, default=True
        Put the examples of their use behind it (WordNet).
    most : int, optional
        Only the first ones.
    """
    if name not in _TEXTS:
        raise ValueError(f"a corpus is one of {', '.join(CORPORA)}; got {name!r}.")
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
    """Yield the rows below the header; nothing is quoted in these files."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\r\n").split("\t")


def repeated(task: Task, name: str) -> dict[str, float]:
    """Count what a test has in common with what is learnt from.

    Returns
    -------
    dict
        "pairs"; "in training": pairs that the training pairs have too, in either order; and the
        share of sentences of each set that are a definition of WordNet, word for word.
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
