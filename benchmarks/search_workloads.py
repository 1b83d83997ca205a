"""Collections to search in: synthetic ones of any size, labelled real ones, and a large real one.

The synthetic ones are those of workloads.py; their queries are held out and about as long as the
mean document, so that the mean query is not made by a few long ones.
"""

import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from environment import DATA
from numpy.typing import NDArray
from scipy import sparse
from workloads import N_WORDS, SEED, SYNTHETIC, Language, documents

from textkin import BagOfWords, WordVectors

NEAR_THE_MEAN = 0.1  # lengths of queries: the mean, give or take this part of it
COLLECTIONS = ("brown", "wordnet_glosses", "gcide_definitions", "reuters21578", "20news")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents to search in, and queries.

    Attributes
    ----------
    name : str
        The workload.
    words : sequence of str
        The word of each column.
    vectors : ndarray of shape (n_words, d), float32
        One a column.
    documents, queries : csr_array of shape (n, n_words), float64
        Counts of words; none is empty.
    labels, query_labels : ndarray of str, optional
        Classes, where there are any.
    """

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    documents: sparse.csr_array
    queries: sparse.csr_array
    labels: NDArray[np.str_] | None = None
    query_labels: NDArray[np.str_] | None = None

    def tokens(self, bags: sparse.csr_array) -> list[list[str]]:
        """Return documents as lists of words, each as often as it counts."""
        return [
            np.repeat([self.words[i] for i in columns], counts.astype(int)).tolist()
            for columns, counts in documents(bags)
        ]


def unique_words(bags: sparse.csr_array) -> dict[str, float]:
    """Return how many different words documents have."""
    lengths = np.diff(bags.indptr)
    return {
        "mean": round(float(lengths.mean()), 1),
        "median": float(np.median(lengths)),
        "most": int(lengths.max()),
    }


# ---------------------------------------------------------------------- synthetic


def synthetic_corpus(
    name: str,
    n_documents: int,
    n_queries: int,
    *,
    seed: int = SEED,
    language: Language | None = None,
) -> Corpus:
    """Return a synthetic collection; it depends on nothing but the arguments.

    Parameters
    ----------
    name : {"news", "reut", "twit"}
        How long documents are.
    n_documents, n_queries : int
        How many.
    seed : int, default=7
        Where the random numbers start.
    language : Language, optional
        The words, if they were already made (of the same seed).
    """
    language = language or Language(seed)
    lengths = SYNTHETIC[name]
    rng = np.random.default_rng([seed, 11 + list(SYNTHETIC).index(name)])
    bags = language.bags(rng, lengths.draw(rng, n_documents))
    spread = max(1, round(NEAR_THE_MEAN * lengths.mean))
    asked = round(lengths.mean) + rng.integers(-spread, spread + 1, n_queries)
    queries = language.bags(rng, asked)
    words = tuple(f"w{number}" for number in range(N_WORDS))
    return Corpus(name, words, language.vectors, bags, queries)


# ---------------------------------------------------------------------- real


def classified_corpus(
    name: str, *, n_documents: int | None = None, n_queries: int | None = None, seed: int = SEED
) -> Corpus | None:
    """Return the training documents of a labelled set, and its test documents as queries.

    SMART stop words are removed, vectors are the built-in ones (GloVe, 100 dimensions, as they
    are), documents without a word that has a vector are left out.

    Parameters
    ----------
    name : str
        A file of ``classification/`` in the shared data.
    n_documents, n_queries : int, optional
        Take so many, drawn at random; all by default.
    seed : int, default=7
        Where the random numbers start.

    Returns
    -------
    Corpus or None
        None, with a line on stderr that says why, where the data set is not beside the checkout.
    """
    path = DATA / "classification" / f"{name}.jsonl.gz"
    if not path.is_file():
        print(f"{name} is left out: the shared data sets are not here.", file=sys.stderr)
        return None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    vectors = WordVectors.builtin()
    rng = np.random.default_rng([seed, 21])
    parts = []
    for split, most in (("train", n_documents), ("test", n_queries)):
        chosen = [record for record in records if record["split"] == split]
        bags = _bags([record["text"] for record in chosen], vectors)
        rows = rng.permutation(np.flatnonzero(np.diff(bags.indptr) > 0))[:most]
        rows.sort()
        parts += [bags[rows], np.array([chosen[row]["label"] for row in rows])]
    bags, labels, queries, query_labels = parts
    return Corpus(name, vectors.words, vectors.matrix, bags, queries, labels, query_labels)


def mixed_corpus(
    n_queries: int,
    *,
    most: int | None = None,
    collections: Sequence[str] = COLLECTIONS,
    seed: int = SEED,
) -> Corpus | None:
    """Return texts of several collections in one random order, the queries held out.

    Sentences of the Brown corpus, glosses of WordNet, definitions of GCIDE, Reuters news and
    messages of 20news, without SMART stop words; built-in vectors. The first n documents are a
    random sample for every n. None where the data are not beside the checkout.

    Parameters
    ----------
    n_queries : int
        How many texts to hold out.
    most : int, optional
        Take so many documents, which is quicker than all.
    collections : sequence of str
        Which ones; all five by default.
    seed : int, default=7
        Where the random numbers start.
    """
    if not (DATA / "text").is_dir():
        print("The shared data sets are not here.", file=sys.stderr)
        return None
    texts = [text for name in collections for text in read_collection(name)]
    order = np.random.default_rng([seed, 31]).permutation(len(texts))
    if most is not None:  # some have no word with a vector
        order = order[: most + n_queries + (most + n_queries) // 10 + 100]
    vectors = WordVectors.builtin()
    bags = _bags([texts[i] for i in order], vectors)
    bags = bags[np.flatnonzero(np.diff(bags.indptr) > 0)]
    kept = bags[n_queries:] if most is None else bags[n_queries : n_queries + most]
    return Corpus("mixed", vectors.words, vectors.matrix, kept, bags[:n_queries])


def read_collection(name: str) -> Iterator[str]:
    """Give the texts of one of `COLLECTIONS`."""
    if name == "20news":
        with gzip.open(DATA / "classification" / "20news.jsonl.gz", "rt", encoding="utf-8") as file:
            yield from (json.loads(line)["text"] for line in file)
    elif name == "reuters21578":
        with gzip.open(DATA / "text" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                yield f"{record['title'] or ''}\n{record['text'] or ''}"
    else:
        wanted = {"brown": ["sentence"], "wordnet_glosses": ["definition", "examples"]}
        with gzip.open(
            DATA / "text" / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="\n"
        ) as file:
            header = next(file).rstrip("\n").split("\t")
            places = [header.index(field) for field in wanted.get(name, ["definition"])]
            for line in file:
                fields = line.rstrip("\n").split("\t")
                yield "\n".join(fields[place] for place in places if place < len(fields))


def _bags(texts: list[str], vectors: WordVectors) -> sparse.csr_array:
    counter = BagOfWords(vocabulary=vectors, lowercase=False)
    return counter.transform(texts).astype(np.float64)
