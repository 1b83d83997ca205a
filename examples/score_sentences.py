"""How similar are two sentences? WTMF, learnt from definitions, with the paper's recipe.

Without arguments it learns from the docstrings of the standard library, in some seconds::

    python examples/score_sentences.py
    python examples/score_sentences.py "Remove a folder." "Delete a directory tree."

With the shared data sets it learns from WordNet, GCIDE, the Brown corpus and the training pairs of
STS 2012 (some minutes), can keep the model in a folder, and score a file of pairs, two sentences a
line with a tab between them (the scores go before them)::

    python examples/score_sentences.py --data ../shared/data --save sentences.model
    python examples/score_sentences.py --load sentences.model --pairs pairs.tsv
"""

import argparse
import csv
import gzip
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import textkin as tk
from textkin.exceptions import VocabularyWarning
from textkin.text import standard_library_docstrings

PAIRS = [
    ("Delete a file.", "Remove the file."),
    ("Delete a file.", "Erase a directory."),
    ("Delete a file.", "Return the mean of the numbers."),
    ("Open a connection to the server.", "Connect the socket to the host."),
    ("Open a connection to the server.", "Compute the median of the data."),
]
REGULARIZATION = 20  # the paper's, for weights of about 5 to 10 and many texts
WORD_CLASSES = {"n", "v", "a", "adj", "adv"}


@dataclass
class SentenceModel:
    """Text to lemmas to tf-idf weights to vectors of WTMF."""

    counter: tk.BagOfWords
    weighting: tk.TfIdf
    wtmf: tk.WTMF

    @classmethod
    def learn(cls, texts: Sequence[str], n_components: int) -> "SentenceModel":
        """Learn from texts, with the recipe of the paper; docs/sentences.md has the reasons."""
        # No stop words are left out, words that occur once are; weights keep their lengths.
        counter = tk.BagOfWords(None, normalize="wordnet", min_count=2)
        weighting = tk.TfIdf("wtmf", norm=None, keep_zeros=True)
        weights = weighting.fit_transform(counter.fit_transform(texts))
        wtmf = tk.WTMF(n_components, regularization=REGULARIZATION, max_iter=10, random_state=0)
        print(
            f"Learning from {len(texts):,} texts, {weights.shape[1]:,} words ", end="", flush=True
        )
        wtmf.fit(weights, progress=lambda done, total: print(".", end="", flush=True))
        print()
        return cls(counter, weighting, wtmf)

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """Return the cosine of each pair, from -1 to 1; 0 for a sentence without known words."""
        one, other = (
            self.weighting.transform(self.counter.transform(side)) for side in (first, second)
        )
        return self.wtmf.paired(one, other)

    def save(self, folder: Path) -> None:
        """Write the words, the weighting and the model into a new folder."""
        folder.mkdir(parents=True)
        words = "\n".join(self.counter.vocabulary_)
        (folder / "words.txt").write_text(words + "\n", encoding="utf-8")
        self.weighting.save(folder / "weighting")
        self.wtmf.save(folder / "wtmf")

    @classmethod
    def load(cls, folder: Path) -> "SentenceModel":
        """Read what `save` wrote."""
        words = (folder / "words.txt").read_text(encoding="utf-8").splitlines()
        with warnings.catch_warnings():
            # a lemma can have another lemma of its own; as a word of texts it is then rare
            warnings.simplefilter("ignore", VocabularyWarning)
            counter = tk.BagOfWords(None, normalize="wordnet", vocabulary=words)
        weighting, wtmf = tk.TfIdf.load(folder / "weighting"), tk.WTMF.load(folder / "wtmf")
        return cls(counter, weighting, wtmf)


def shared_texts(data: Path) -> Iterator[str]:
    """Yield definitions with the words that they define and examples of use, and sentences."""
    for _, lemmas, definition, examples in rows(data / "text" / "wordnet_glosses.tsv.gz"):
        yield f"{lemmas.replace('|', ' ')} {definition} {examples}"
    for word, word_class, definition in rows(data / "text" / "gcide_definitions.tsv.gz"):
        if WORD_CLASSES.intersection(word_class.replace(".", " ").split()):
            yield f"{word} {definition}"
    for _, _, sentence in rows(data / "text" / "brown.tsv.gz"):
        yield sentence
    for _, _, first, second in rows(data / "sts" / "sts2012-train.tsv.gz"):
        yield from (first, second)


def rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows of a table, without its header."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as opened:
        found = csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(found)
        yield from found


def pairs_of(asked: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the pairs to score; where none are given, some of ours, or none to save a model."""
    if asked.pairs:
        return read_pairs(asked.pairs)
    if asked.sentences:
        first, second = asked.sentences
        return [(first, second)]
    return [] if asked.save else PAIRS


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read pairs from a file; a line that is not one is told by its number."""
    pairs = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match line.split("\t"):
            case [first, second]:
                pairs.append((first, second))
            case parts:
                raise ValueError(
                    f"{path}, line {number}: expected two sentences with one tab between them; "
                    f"got {len(parts)} part{'s' * (len(parts) != 1)}."
                )
    return pairs


def main() -> None:
    """Learn or load, save if asked to, and print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="two sentences")
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="two sentences a line")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="learn from the data sets here")
    parser.add_argument("--save", type=Path, metavar="MODEL", help="keep the model here")
    parser.add_argument("--load", type=Path, metavar="MODEL", help="use a model that was kept")
    asked = parser.parse_args()
    if len(asked.sentences) not in (0, 2):
        parser.error(f"two sentences are needed; got {len(asked.sentences)}. Put each in quotes.")
    if asked.sentences and asked.pairs:
        parser.error("give two sentences or --pairs, not both.")
    if asked.load and (asked.data or asked.save):
        parser.error("--load uses a model as it is; leave --data and --save out.")
    if asked.save and asked.save.exists():
        parser.error(f"{asked.save} exists already; choose another folder for --save.")
    try:
        # what is asked is read before minutes are spent on learning
        pairs = pairs_of(asked)
        if asked.load:
            model = SentenceModel.load(asked.load)
        elif asked.data:
            model = SentenceModel.learn(list(shared_texts(asked.data)), 200)
        else:
            texts = [f"{found.name} {found.text}" for found in standard_library_docstrings()]
            model = SentenceModel.learn(texts, 50)
        if asked.save:
            model.save(asked.save)
            print(f"The model is in {asked.save}.")
    except (OSError, ValueError) as error:
        sys.exit(f"score_sentences.py: {error}")
    if pairs:
        scores = model.score([first for first, _ in pairs], [second for _, second in pairs])
        for score, pair in zip(scores, pairs, strict=True):
            print(f"{score:.3f}", *pair, sep="\t")


if __name__ == "__main__":
    main()
