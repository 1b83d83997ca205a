"""Sentence pairs with gold scores, and the texts that models of sentences learn from."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["CORPORA", "Pairs", "read_corpus", "read_pairs"]

# The corpora of the paper; GCIDE stands in for Wiktionary, which is not at hand.
CORPORA = ("wordnet", "gcide", "brown", "sts-train")
# The paper kept entries that Wiktionary tags as one of these.
PARTS_OF_SPEECH = {"n", "v", "a", "adj", "adv"}


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of sentences, the set of each, and how similar people find them."""

    sets: list[str]
    gold: np.ndarray
    sentences: tuple[list[str], list[str]]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.sets)


def read_pairs(data: Path, name: str) -> Pairs:
    """Read the pairs of a file such as ``sts2012-test``; sets are named by their last part."""
    rows = list(_rows(data / "sts" / f"{name}.tsv.gz"))
    sets, gold, first, second = map(list, zip(*rows, strict=True))
    names = [each.rsplit(".", 1)[-1] for each in sets]
    return Pairs(names, np.array(gold, dtype=np.float64), (first, second))


def read_corpus(
    data: Path, name: str, *, target_words: bool = True, examples: bool = True
) -> list[str]:
    """Return the texts of one of `CORPORA`.

    Parameters
    ----------
    data : Path
        The folder of the shared data sets.
    name : str
        "wordnet": a definition a synset. "gcide": a definition a sense, of nouns, verbs,
        adjectives and adverbs. "brown": a sentence a text. "sts-train": a sentence a text.
    target_words : bool, default=True
        Put the words that are defined before their definition.
    examples : bool, default=True
        Put the examples of their use behind it (WordNet).
    """
    if name == "sts-train":
        return [side for pair in zip(*read_pairs(data, "sts2012-train").sentences, strict=True)
                for side in pair]  # fmt: skip
    texts = []
    if name == "wordnet":
        for _, lemmas, definition, usage in _rows(data / "text" / "wordnet_glosses.tsv.gz"):
            parts = [lemmas.replace("|", " ")] if target_words else []
            texts.append(" ".join([*parts, definition, *([usage] if examples else [])]))
    elif name == "gcide":
        for word, pos, definition in _rows(data / "text" / "gcide_definitions.tsv.gz"):
            if PARTS_OF_SPEECH.intersection(part.strip(" ") for part in pos.split(".")):
                texts.append(f"{word} {definition}" if target_words else definition)
    elif name == "brown":
        texts = [sentence for _, _, sentence in _rows(data / "text" / "brown.tsv.gz")]
    else:
        raise ValueError(f"a corpus is one of {', '.join(CORPORA)}; got {name!r}.")
    return texts


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows below the header; nothing is quoted in these files."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            yield line.rstrip("\r\n").split("\t")
