"""Score the similarity of sentences with WTMF, trained on definitions.

Without arguments, it trains on the docstrings of the standard library, in some seconds::

    python examples/score_sentences.py
    python examples/score_sentences.py "Remove a folder." "Delete a directory tree."

With the shared data sets, it trains on WordNet, GCIDE, the Brown corpus, and the training pairs of
STS 2012 (some minutes). It can save the model in a folder, and score a file of pairs, two sentences
per line with a tab between them (each score is printed before its pair)::

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
from textkin.reading import standard_library_docstrings

PAIRS = [
    ("Delete a file.", "Remove the file."),
    ("Delete a file.", "Erase a directory."),
    ("Delete a file.", "Return the mean of the numbers."),
    ("Open a connection to the server.", "Connect the socket to the host."),
    ("Open a connection to the server.", "Compute the median of the data."),
]
REGULARIZATION = 20  # the value of Guo and Diab, for weights of about 5 to 10 and many texts
WORD_CLASSES = {"n", "v", "a", "adj", "adv"}


@dataclass
class SentenceModel:
    """Pipeline from text to lemmas, tf-idf weights, and WTMF vectors."""

    counter: tk.BagOfWords
    weighting: tk.TfIdf
    wtmf: tk.WTMF

    @classmethod
    def learn(cls, texts: Sequence[str], n_components: int) -> "SentenceModel":
        """Train on texts, with the recipe of Guo and Diab; docs/sentences.md explains it."""
        # Stop words are kept, words that occur once are dropped; weights are not normalized.
        counter = tk.BagOfWords(None, normalizer="wordnet", min_count=2)
        weighting = tk.TfIdf("wtmf", norm=None, keep_zeros=True)
        weights = weighting.fit_transform(counter.fit_transform(texts))
        wtmf = tk.WTMF(n_components, regularization=REGULARIZATION, max_iter=10, random_state=0)
        print(f"Training on {len(texts):,} texts, {weights.shape[1]:,} words ", end="", flush=True)
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
        """Write the words, the weighting, and the model into a new folder."""
        folder.mkdir(parents=True)
        words = "\n".join(self.counter.vocabulary_)
        (folder / "words.txt").write_text(words + "\n", encoding="utf-8")
        self.weighting.save(folder / "weighting")
        self.wtmf.save(folder / "wtmf")

    @classmethod
    def load(cls, folder: Path) -> "SentenceModel":
        """Load a model that `save` wrote."""
        words = (folder / "words.txt").read_text(encoding="utf-8").splitlines()
        with warnings.catch_warnings():
            # A lemma can have another lemma; as a word of texts, it is then rare.
            warnings.simplefilter("ignore", VocabularyWarning)
            counter = tk.BagOfWords(None, normalizer="wordnet", vocabulary=words)
        weighting, wtmf = tk.TfIdf.load(folder / "weighting"), tk.WTMF.load(folder / "wtmf")
        return cls(counter, weighting, wtmf)


def shared_texts(data: Path) -> Iterator[str]:
    """Yield definitions with their words and examples, and sentences."""
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
    """Return the pairs to score: the given ones, otherwise examples (none if a model is saved)."""
    if asked.pairs:
        return read_pairs(asked.pairs)
    if asked.sentences:
        first, second = asked.sentences
        return [(first, second)]
    return [] if asked.save else PAIRS


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read pairs from a file; errors name the line."""
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
    """Train or load, save if requested, and print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sentences", nargs="*", metavar="SENTENCE", help="two sentences")
    parser.add_argument(
        "--pairs", type=Path, metavar="FILE", help="file with two sentences per line"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="folder of data sets to train on"
    )
    parser.add_argument("--save", type=Path, metavar="MODEL", help="folder to save the model in")
    parser.add_argument("--load", type=Path, metavar="MODEL", help="folder of a saved model")
    asked = parser.parse_args()
    if len(asked.sentences) not in (0, 2):
        parser.error(f"two sentences required; got {len(asked.sentences)}. Put each in quotes.")
    if asked.sentences and asked.pairs:
        parser.error("pass two sentences or --pairs, not both.")
    if asked.load and (asked.data or asked.save):
        parser.error("--load cannot be combined with --data or --save.")
    if asked.save and asked.save.exists():
        parser.error(f"{asked.save} already exists; choose another folder for --save.")
    try:
        # Read the pairs before spending minutes on training.
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
