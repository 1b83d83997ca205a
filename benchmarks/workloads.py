"""Pairs of documents: three synthetic corpora and three real ones.

The synthetic corpora share 30,000 words with unit vectors of 300 dimensions. The vectors have a
decaying spectrum and topics, like trained ones. Words are sampled by Zipf's law, in part from the
document's topics; the number of distinct words in a document is lognormal. Everything follows from
a seed. To print the sizes::

    python benchmarks/workloads.py
"""

import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from environment import DATA
from numpy.typing import NDArray
from scipy import sparse

from textkin import BagOfWords, WordVectors

SEED = 7
N_WORDS, DIMENSION = 30_000, 300
N_TOPICS, N_SECTIONS = 500, 20  # topics are divided into sections of equal size
TOPICS_PER_SECTION = N_TOPICS // N_SECTIONS
TOPICS_PER_DOCUMENT = 3
SHARES = (0.4, 0.3, 0.3)  # fractions of tokens: from all words, from the section, from a topic

Generator = np.random.Generator


@dataclass(frozen=True)
class Lengths:
    """Lognormal distribution of distinct words, clipped to `shortest` ... `longest`."""

    mean: float
    sigma: float
    longest: int
    shortest: int = 2

    def draw(self, rng: Generator, count: int) -> NDArray[np.int64]:
        """Sample the numbers of distinct words of `count` documents."""
        drawn = rng.lognormal(np.log(self.mean) - self.sigma**2 / 2, self.sigma, count)
        return np.clip(np.rint(drawn), self.shortest, self.longest).astype(np.int64)


SYNTHETIC = {
    "news": Lengths(mean=72, sigma=0.85, longest=500),
    "reut": Lengths(mean=37, sigma=0.75, longest=500),
    "twit": Lengths(mean=10, sigma=0.45, longest=60),
}
# Data set, and file of its vectors; None: the built-in ones, GloVe with 100 dimensions.
REAL = {
    "r8": ("r8", None),
    "20news": ("20news", None),
    "twitter": ("twitter", None),
    "r8-300d": ("r8", "googlenews-300d-26k"),
    "20news-300d": ("20news", "googlenews-300d-26k"),
    "twitter-300d": ("twitter", "googlenews-300d-26k"),
}
NAMES = (*SYNTHETIC, *REAL)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Documents to compare, row by row.

    Attributes
    ----------
    name : str
        Workload.
    words : tuple of str
        Word of each column.
    vectors : ndarray of shape (n_words, d), float32
        Unit vectors, one per column.
    first, second : csr_array of shape (n_pairs, n_words), float64
        Counts of words; no document is empty.
    """

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    first: sparse.csr_array
    second: sparse.csr_array

    def __len__(self) -> int:
        return self.first.shape[0]

    def unique_words(self) -> NDArray[np.int64]:
        """Return the number of distinct words of each document, both sides."""
        return np.concatenate([np.diff(self.first.indptr), np.diff(self.second.indptr)])

    def tokens(self, side: sparse.csr_array) -> list[list[str]]:
        """Return the documents of one side as lists of words, repeated by their counts."""
        return [
            np.repeat([self.words[i] for i in columns], counts.astype(int)).tolist()
            for columns, counts in documents(side)
        ]


def documents(bags: sparse.csr_array) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Yield the columns and the counts of each row."""
    for start, stop in zip(bags.indptr[:-1], bags.indptr[1:], strict=True):
        yield bags.indices[start:stop], bags.data[start:stop]


# ---------------------------------------------------------------------- synthetic words


class Draw:
    """Sampler of words with given weights.

    Attributes
    ----------
    words : ndarray of int64
        Words to sample from.
    cumulated : ndarray of float64
        Cumulative share of each word; the last one is 1.
    """

    def __init__(self, words: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        self.words = words
        self.cumulated = np.cumsum(weights) / weights.sum()

    def __call__(self, rng: Generator, count: int) -> NDArray[np.int64]:
        """Sample `count` words."""
        found = np.searchsorted(self.cumulated, rng.random(count))
        return self.words[np.minimum(found, len(self.words) - 1)]


class Language:
    """Words of the synthetic corpora: their vectors and their sampling."""

    def __init__(self, seed: int = SEED) -> None:
        rng = np.random.default_rng([seed, 0])
        topic = rng.integers(N_TOPICS, size=N_WORDS)  # topic of each word
        self.vectors = _vectors(rng, topic)
        frequency = 1 / (rng.permutation(N_WORDS) + 2.7)
        self.anything = Draw(np.arange(N_WORDS), frequency)
        self.sections = _draws(topic // TOPICS_PER_SECTION, N_SECTIONS, frequency**0.8)
        self.topics = _draws(topic, N_TOPICS, frequency**0.8)

    def bags(self, rng: Generator, lengths: NDArray[np.int64]) -> sparse.csr_array:
        """Return documents with the given numbers of distinct words."""
        drawn = [self._document(rng, length) for length in lengths]
        columns, counts = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        return sparse.csr_array(
            (counts.astype(np.float64), columns, indptr), shape=(len(lengths), N_WORDS)
        )

    def _document(self, rng: Generator, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sample tokens until the number of words is reached; return words and counts."""
        section = rng.integers(N_SECTIONS)
        topics = section * TOPICS_PER_SECTION + rng.integers(
            TOPICS_PER_SECTION, size=TOPICS_PER_DOCUMENT
        )
        tokens = np.empty(0, dtype=np.int64)
        known = 0
        while known < length:
            more = self._tokens(
                rng, section, rng.choice(topics), max(4, (length - known) * 13 // 10)
            )
            tokens = np.concatenate([tokens, more])
            first_places = np.sort(np.unique(tokens, return_index=True)[1])
            known = len(first_places)
        if known > length:
            tokens = tokens[: first_places[length]]
        return np.unique(tokens, return_counts=True)

    def _tokens(self, rng: Generator, section: int, topic: int, count: int) -> NDArray[np.int64]:
        draws = (self.anything, self.sections[section], self.topics[topic])
        counts = rng.multinomial(count, SHARES)
        tokens = np.concatenate([draw(rng, n) for draw, n in zip(draws, counts, strict=True)])
        return rng.permutation(tokens)


def _vectors(rng: Generator, topic: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return unit vectors: a common offset, the topic of the word, and the word's own part."""
    spectrum = (np.arange(DIMENSION) + 11.0) ** -0.5
    spectrum /= np.linalg.norm(spectrum)
    rotation = np.linalg.qr(rng.normal(size=(DIMENSION, DIMENSION)))[0].T

    def points(count: int) -> NDArray[np.float64]:
        return (rng.normal(size=(count, DIMENSION)) * spectrum) @ rotation

    offset = 0.25 * points(1)
    sections = np.repeat(points(N_SECTIONS), TOPICS_PER_SECTION, axis=0)
    topics = 0.6 * sections + 0.8 * points(N_TOPICS)
    topical = rng.beta(4, 5, size=(len(topic), 1))
    vectors = np.sqrt(topical) * topics[topic] + np.sqrt(1 - topical) * points(len(topic)) + offset
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def _draws(group: NDArray[np.int64], count: int, weights: NDArray[np.float64]) -> list[Draw]:
    """Return a sampler for each group of words."""
    members = [np.flatnonzero(group == number) for number in range(count)]
    return [Draw(words, weights[words]) for words in members]


def synthetic_pairs(
    name: str, n_pairs: int, *, seed: int = SEED, language: Language | None = None
) -> Pairs:
    """Return pairs of a synthetic corpus, which depend only on the arguments.

    Parameters
    ----------
    name : {"news", "reut", "twit"}
        Corpus.
    n_pairs : int
        Number of pairs; twice as many documents are made.
    seed : int, default=7
        Random seed.
    language : Language, optional
        Words made earlier with the same seed.
    """
    language = language or Language(seed)
    rng = np.random.default_rng([seed, 1 + list(SYNTHETIC).index(name)])
    bags = language.bags(rng, SYNTHETIC[name].draw(rng, 2 * n_pairs))
    words = tuple(f"w{number}" for number in range(N_WORDS))
    return Pairs(name, words, language.vectors, bags[:n_pairs], bags[n_pairs:])


# ---------------------------------------------------------------------- real documents


def real_pairs(name: str, n_pairs: int, *, seed: int = SEED) -> Pairs | None:
    """Return random pairs of real documents, without SMART stop words.

    Parameters
    ----------
    name : str
        Data set and its vectors: a key of `REAL`.
    n_pairs : int
        Number of pairs; no document is in two of them, so there may be fewer.
    seed : int, default=7
        Random seed.

    Returns
    -------
    Pairs or None
        None, with a reason on standard error, if the data set is not next to the checkout.
    """
    corpus, words = REAL[name]
    path = DATA / "classification" / f"{corpus}.jsonl.gz"
    if not path.is_file():
        print(f"{name} is skipped: the shared data sets are missing.", file=sys.stderr)
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    order = np.random.default_rng([seed, 0]).permutation(len(texts))
    vectors = (WordVectors.builtin() if words is None else _vector_store(words)).unit()
    counter = BagOfWords(vocabulary=vectors, lowercase=False)
    spare = 2 * n_pairs + 100  # some documents have no word with a vector
    bags = counter.transform([texts[i] for i in order[:spare]]).astype(np.float64)
    bags = bags[np.diff(bags.indptr) > 0]
    n_pairs = min(n_pairs, bags.shape[0] // 2)
    return Pairs(name, vectors.words, vectors.matrix, bags[:n_pairs], bags[n_pairs : 2 * n_pairs])


def _vector_store(name: str) -> WordVectors:
    with np.load(DATA / "vectors" / f"{name}.npz") as stored:
        words = stored["words"].tobytes().decode().split("\n")
        return WordVectors(words, stored["vectors"].astype(np.float32))


def load_pairs(name: str, n_pairs: int, language: Language | None = None) -> Pairs | None:
    """Return the pairs of any workload, or None if its data are missing."""
    if name in SYNTHETIC:
        return synthetic_pairs(name, n_pairs, language=language)
    return real_pairs(name, n_pairs)


def main() -> None:
    """Print the numbers of distinct words of the documents."""
    language = Language()
    for name in NAMES:
        pairs = load_pairs(name, 2000, language)
        if pairs is not None:
            unique = pairs.unique_words()
            print(
                f"{name}: {len(unique)} documents, different words: mean {unique.mean():.1f}, "
                f"median {np.median(unique):.0f}, 95 of 100 at most "
                f"{np.percentile(unique, 95):.0f}, most {unique.max()}"
            )


if __name__ == "__main__":
    main()
