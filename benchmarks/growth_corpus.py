"""Collections of any size: the first n documents of a collection are the same for every n.

Two are synthetic, from the words of workloads.py with generated spelling, in blocks that follow
from a seed and their number, so that ten million documents need the memory of one block. In
addition to words with vectors, they have names without vectors, and new names keep appearing: the
number of distinct names grows with the collection, as in real texts. The third is real: the texts
of search_scaling.py in one random order. The fourth is like the documents of cluster.py, so that
its measurements can be compared with the model. Documents without a word that has a vector are
excluded.

A collection is written to a folder once, and every process that measures reads it from there.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from environment import DATA
from index_adding import word_of
from numpy.typing import NDArray
from scipy import sparse
from search_workloads import COLLECTIONS, NEAR_THE_MEAN, read_collection
from workloads import (
    N_SECTIONS,
    N_WORDS,
    SEED,
    SHARES,
    SYNTHETIC,
    TOPICS_PER_DOCUMENT,
    TOPICS_PER_SECTION,
    Draw,
    Generator,
    Language,
)

from textkin import BagOfWords, WordVectors, read
from textkin.reading import Document

BLOCK = 10_000  # documents per block
NAMES = 0.04  # fraction of tokens without a vector
HEAPS = 0.75  # n such tokens have about n ** HEAPS distinct words
TOO_MANY = 1.6  # sampled tokens per requested word, because many repeat
KINDS = ("twit", "news", "real", "zipf")
# documents: all available ones, and the size of cluster.py
MOST = {"real": 390_000, "zipf": 200_000}
BUILTIN = ("real", "zipf")  # collections with the built-in vectors
DRAWN = 40  # words per document of cluster.py
OFTEN, FIRST = 60_000, 10  # number of words to sample from; the r-th has weight 1 / (r + FIRST)

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Block:
    """A block of documents.

    Attributes
    ----------
    bags : csr_array of shape (n, n_words), float32
        Counts of the words with vectors; no row is empty.
    texts : list of str
        The same documents as texts, including names or stop words.
    """

    bags: sparse.csr_array
    texts: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def first(self, n: int) -> "Block":
        """Return the first n documents."""
        return self if n >= len(self) else Block(self.bags[:n], self.texts[:n])


# ---------------------------------------------------------------------- synthetic


def spelled(number: int) -> str:
    """Return the spelling of a word ID; no stop word has this form."""
    return f"{word_of(number)}x"


class Groups:
    """Sampler of one word per group, for many groups at once.

    Parameters
    ----------
    draws : list of Draw
        Sampler of each group.
    """

    def __init__(self, draws: list[Draw]) -> None:
        self._words = np.concatenate([draw.words for draw in draws])
        # The cumulative weights of group g are between g and g + 1: one search finds group and
        # word.
        self._places = np.concatenate([g + draw.cumulated for g, draw in enumerate(draws)])
        self._last = np.cumsum([len(draw.words) for draw in draws]) - 1

    def __call__(self, rng: Generator, groups: Ints) -> Ints:
        """Return a word of each of the groups."""
        found = np.searchsorted(self._places, groups + rng.random(len(groups)))
        return self._words[np.minimum(found, self._last[groups])]


class Synthetic:
    """Synthetic documents, block by block.

    Parameters
    ----------
    kind : {"twit", "news"}
        Documents of about 10, or about 71 distinct words.
    """

    def __init__(self, kind: str) -> None:
        self._lengths = SYNTHETIC[kind]
        self._seed = [SEED, 61 + list(SYNTHETIC).index(kind)]
        language = Language()
        self._draws = [
            Groups([language.anything]),
            *map(Groups, (language.sections, language.topics)),
        ]
        self._spelled = np.array([spelled(number) for number in range(N_WORDS)], dtype=object)
        self.vectors = WordVectors(self._spelled.tolist(), language.vectors)

    def blocks(self) -> Iterator[Block]:
        """Yield documents without end."""
        number = 0
        while True:
            rng = np.random.default_rng([*self._seed, 0, number])
            yield self._block(rng, self._lengths.draw(rng, BLOCK))
            number += 1

    def queries(self, count: int) -> Block:
        """Return query documents of about mean length, which are not in any block."""
        rng = np.random.default_rng([*self._seed, 1])
        mean = round(self._lengths.mean)
        spread = max(1, round(NEAR_THE_MEAN * mean))
        return self._block(rng, mean + rng.integers(-spread, spread + 1, count))

    def _block(self, rng: Generator, lengths: Ints) -> Block:
        """Return documents with about the given numbers of distinct words."""
        documents = np.repeat(np.arange(len(lengths)), np.ceil(TOO_MANY * lengths).astype(int) + 4)
        words = self._tokens(rng, len(lengths), documents)
        known = np.full(len(words), fill_value=False)
        known[np.unique(documents * N_WORDS + words, return_index=True)[1]] = True
        met = np.cumsum(known)  # distinct words up to a token, over all documents
        before = np.searchsorted(documents, np.arange(len(lengths)))
        met -= (met[before] - known[before])[documents]
        kept = met <= lengths[documents]
        documents, words = documents[kept], words[kept]
        entries, counts = np.unique(documents * N_WORDS + words, return_counts=True)
        rows = np.searchsorted(entries, N_WORDS * np.arange(len(lengths) + 1))
        bags = sparse.csr_array(
            (
                counts.astype(np.float32),
                (entries % N_WORDS).astype(np.int32),
                rows.astype(np.int32),
            ),
            shape=(len(lengths), N_WORDS),
        )
        return Block(bags, self._texts(rng, documents, words, len(lengths)))

    def _tokens(self, rng: Generator, n: int, documents: Ints) -> Ints:
        """Sample the tokens of n documents, in part from their section and their topics."""
        section = rng.integers(N_SECTIONS, size=n)
        topics = section[:, np.newaxis] * TOPICS_PER_SECTION + rng.integers(
            TOPICS_PER_SECTION, size=(n, TOPICS_PER_DOCUMENT)
        )
        source = np.searchsorted(np.cumsum(SHARES)[:-1], rng.random(len(documents)), "right")
        chosen = rng.integers(TOPICS_PER_DOCUMENT, size=len(documents))
        groups = (
            np.zeros_like(documents),
            section[documents],
            topics[documents, chosen],
        )
        words = np.empty(len(documents), dtype=np.int64)
        for at, (draw, group) in enumerate(zip(self._draws, groups, strict=True)):
            words[source == at] = draw(rng, group[source == at])
        return words

    def _texts(self, rng: Generator, documents: Ints, words: Ints, n: int) -> list[str]:
        """Return tokens as texts, with some names at the end of each."""
        ends = np.searchsorted(documents, np.arange(n + 1))
        names = rng.poisson(NAMES * np.diff(ends))
        numbers = name_numbers(rng, int(names.sum()))
        tokens = self._spelled[words].tolist()
        found, stop = [], 0
        for row in range(n):
            start, stop = stop, stop + int(names[row])
            own = [spelled(number) for number in numbers[start:stop].tolist()]
            found.append(" ".join([*tokens[ends[row] : ends[row + 1]], *own]))
        return found


def name_numbers(rng: Generator, count: int) -> Ints:
    """Sample names; the r-th has a share of about r ** (-1 / HEAPS).

    By Heaps' law, which follows from Zipf's law, n of them have about n ** HEAPS distinct ones.
    """
    tail = 1 / HEAPS - 1
    return N_WORDS + (rng.random(count).clip(1e-6) ** (-1 / tail)).astype(np.int64)


# ---------------------------------------------------------------------- real


class Counted:
    """Texts whose words are looked up in the built-in vectors."""

    def __init__(self) -> None:
        self.vectors = WordVectors.builtin()
        self._counter = BagOfWords(vocabulary=self.vectors, lowercase=False)

    def _counted(self, texts: list[str]) -> Block:
        bags = self._counter.transform(texts)
        rows = np.flatnonzero(np.diff(bags.indptr) > 0)
        return Block(bags[rows], [texts[row] for row in rows])


class Zipf(Counted):
    """Texts as in cluster.py: common words of the built-in vectors, sampled by Zipf's law."""

    def __init__(self) -> None:
        super().__init__()
        self._spelled = np.array(self.vectors.words[:OFTEN], dtype=object)
        self._draw = Draw(np.arange(OFTEN), 1 / np.arange(FIRST, FIRST + OFTEN))

    def queries(self, count: int) -> Block:
        """Return documents that are in no block."""
        return self._drawn(np.random.default_rng([SEED, 71]), count)

    def blocks(self) -> Iterator[Block]:
        """Yield documents without end."""
        number = 0
        while True:
            yield self._drawn(np.random.default_rng([SEED, 72, number]), BLOCK)
            number += 1

    def _drawn(self, rng: Generator, count: int) -> Block:
        words = self._spelled[self._draw(rng, count * DRAWN)].reshape(count, DRAWN)
        return self._counted([" ".join(row) for row in words.tolist()])


class Real(Counted):
    """Texts of five collections in one random order, without the queries."""

    def __init__(self) -> None:
        super().__init__()
        texts = [text for name in COLLECTIONS for text in read_collection(name)]
        order = np.random.default_rng([SEED, 31]).permutation(len(texts))
        self._texts = [texts[i] for i in order]
        self._held_out = 0

    def queries(self, count: int) -> Block:
        """Return the first texts with words, which are not in any block."""
        found = self._counted(self._texts[: 2 * count + 100]).first(count)
        if len(found) < count:
            raise ValueError(f"{count} queries requested; got {len(found)}")
        self._held_out = self._texts.index(found.texts[-1]) + 1
        return found

    def blocks(self) -> Iterator[Block]:
        """Yield all texts after the queries."""
        for at in range(self._held_out, len(self._texts), BLOCK):
            yield self._counted(self._texts[at : at + BLOCK])


def is_here(kind: str) -> bool:
    """Return True if a collection can be made: the real one needs the shared data."""
    return kind != "real" or (DATA / "text").is_dir()


def collection(kind: str) -> Synthetic | Zipf | Real:
    """Return the source of a collection."""
    if kind in BUILTIN:
        return Real() if kind == "real" else Zipf()
    return Synthetic(kind)


# ---------------------------------------------------------------------- in a folder


@dataclass(frozen=True)
class Stored:
    """Collection in a folder: its vectors, its queries, and blocks of documents.

    Attributes
    ----------
    folder : Path
        Folder of the collection.
    kind : str
        One of `KINDS`.
    """

    folder: Path
    kind: str

    @classmethod
    def written(cls, folder: Path, kind: str, documents: int, queries: int) -> "Stored":
        """Write a collection; an existing one with the same number of documents stays unchanged.

        Raises
        ------
        ValueError
            If the source has fewer documents.
        """
        stored = cls(folder / kind, kind)
        told = stored.folder / "told.json"
        wanted = {"documents": documents, "queries": queries, "seed": SEED}
        if told.is_file():
            there = json.loads(told.read_text(encoding="utf-8"))
            if {**there, "documents": documents} == wanted and there["documents"] >= documents:
                return stored
            told.unlink()
        source = collection(kind)
        stored.folder.mkdir(parents=True, exist_ok=True)
        if kind not in BUILTIN:
            source.vectors.save(stored.folder / "vectors")
        stored._write("queries", source.queries(queries), 0)
        done = 0
        for number, block in enumerate(source.blocks()):
            kept = block.first(documents - done)
            stored._write(f"block-{number:05}", kept, done)
            done += len(kept)
            if done == documents:
                break
        if done < documents:
            raise ValueError(f"{documents:,} documents requested; {kind} has {done:,}")
        told.write_text(json.dumps(wanted), encoding="utf-8")
        return stored

    def vectors(self) -> WordVectors:
        """Return the vectors; the words of the bags are their rows."""
        if self.kind in BUILTIN:
            return WordVectors.builtin()
        return WordVectors.load(self.folder / "vectors")

    def queries(self) -> Block:
        """Return the queries."""
        return Block(self._bags("queries"), list(self._texts("queries")))

    def blocks(self, documents: int) -> Iterator[Block]:
        """Yield the first documents, block by block."""
        left = documents
        for name in self._names():
            if left <= 0:
                return
            block = Block(self._bags(name), list(self._texts(name))).first(left)
            left -= len(block)
            yield block

    def bags(self, documents: int) -> sparse.csr_array:
        """Return the bags of the first documents."""
        found, left = [], documents
        for name in self._names():
            if left <= 0:
                break
            found.append(self._bags(name)[:left])
            left -= found[-1].shape[0]
        return sparse.vstack(found, format="csr")

    def documents(self, documents: int) -> Iterator[Document]:
        """Yield the first documents as records for an index; their IDs are their positions."""
        return islice(read(self.folder, pattern="block-*.jsonl"), documents)

    def _names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("block-*.npz"))

    def _write(self, name: str, block: Block, first: int) -> None:
        sparse.save_npz(self.folder / f"{name}.npz", block.bags, compressed=False)
        with (self.folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for position, text in enumerate(block.texts, start=first):
                record = {"id": str(position), "text": text}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def _bags(self, name: str) -> sparse.csr_array:
        return sparse.csr_array(sparse.load_npz(self.folder / f"{name}.npz"))

    def _texts(self, name: str) -> Iterator[str]:
        with (self.folder / f"{name}.jsonl").open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["text"]
