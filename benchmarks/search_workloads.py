"""Collections to search: synthetic ones of any size, labeled real ones, and a large real one.

The synthetic ones are made by workloads.py. Their queries are not in the collection, and have about
the mean length, so that a few long queries do not dominate the mean.
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

NEAR_THE_MEAN = 0.1  # relative deviation of the lengths of queries from the mean
COLLECTIONS = ("brown", "wordnet_glosses", "gcide_definitions", "reuters21578", "20news")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents to search, and queries.

    Attributes
    ----------
    name : str
        Workload.
    words : sequence of str
        Word of each column.
    vectors : ndarray of shape (n_words, d), float32
        One vector per column.
    documents, queries : csr_array of shape (n, n_words), float64
        Counts of words; no row is empty.
    labels, query_labels : ndarray of str, optional
        Classes, if there are any.
    """

    name: str
    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    documents: sparse.csr_array
    queries: sparse.csr_array
    labels: NDArray[np.str_] | None = None
    query_labels: NDArray[np.str_] | None = None

    def tokens(self, bags: sparse.csr_array) -> list[list[str]]:
        """Return documents as lists of words, repeated by their counts."""
        return [
            np.repeat([self.words[i] for i in columns], counts.astype(int)).tolist()
            for columns, counts in documents(bags)
        ]


def unique_words(bags: sparse.csr_array) -> dict[str, float]:
    """Return the number of distinct words of each document."""
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
    """Return a synthetic collection, which depends only on the arguments.

    Parameters
    ----------
    name : {"news", "reut", "twit"}
        Length of the documents.
    n_documents, n_queries : int
        Numbers of documents and queries.
    seed : int, default=7
        Random seed.
    language : Language, optional
        Words made earlier with the same seed.
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
    """Return the training documents of a labeled set, and its test documents as queries.

    SMART stop words are removed, the vectors are the built-in ones (GloVe, 100 dimensions, not
    normalized), and documents without a word that has a vector are excluded.

    Parameters
    ----------
    name : str
        File of ``classification/`` in the shared data.
    n_documents, n_queries : int, optional
        Sizes of random samples. If None, all documents.
    seed : int, default=7
        Random seed.

    Returns
    -------
    Corpus or None
        None, with a reason on standard error, if the data set is not next to the checkout.
    """
    path = DATA / "classification" / f"{name}.jsonl.gz"
    if not path.is_file():
        print(f"{name} is skipped: the shared data sets are missing.", file=sys.stderr)
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
    """Return texts of several collections in one random order, without the queries.

    The texts are sentences of the Brown corpus, glosses of WordNet, definitions of GCIDE, Reuters
    news,
    and messages of 20news, without SMART stop words; built-in vectors. The first n documents are a
    random sample for every n. Return None if the data are not next to the checkout.

    Parameters
    ----------
    n_queries : int
        Number of texts to use as queries.
    most : int, optional
        Maximum number of documents, which is faster than all.
    collections : sequence of str
        Names of collections; all five by default.
    seed : int, default=7
        Random seed.
    """
    if not (DATA / "text").is_dir():
        print("The shared data sets are missing.", file=sys.stderr)
        return None
    texts = [text for name in collections for text in read_collection(name)]
    order = np.random.default_rng([seed, 31]).permutation(len(texts))
    if most is not None:  # some texts have no word with a vector
        order = order[: most + n_queries + (most + n_queries) // 10 + 100]
    vectors = WordVectors.builtin()
    bags = _bags([texts[i] for i in order], vectors)
    bags = bags[np.flatnonzero(np.diff(bags.indptr) > 0)]
    kept = bags[n_queries:] if most is None else bags[n_queries : n_queries + most]
    return Corpus("mixed", vectors.words, vectors.matrix, kept, bags[:n_queries])


def read_collection(name: str) -> Iterator[str]:
    """Yield the texts of one of `COLLECTIONS`."""
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
