"""Judged queries of a data folder, their words, and which queries choose for which.

A set is ``retrieval/NAME/`` with documents, queries and judgements, see `read_retrieval`. Where
queries have the parts "train" and "test", the first choose and the second are measured; otherwise
each half of the queries chooses for the other.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from textkin._typing import Bags, Int64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._collections import RetrievalData, read_retrieval
from textkin.text import BagOfWords, Stemmer

__all__ = ["Counted", "Judged", "Round", "counted", "judged", "judged_files"]

_QUICK_QUERIES, _QUICK_DOCUMENTS = 16, 150


class Round(NamedTuple):
    """Rows of the queries that choose, and of those that are measured with what these chose."""

    choose: Int64Array
    measure: Int64Array


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents and the queries that have a relevant one.

    Attributes
    ----------
    data : RetrievalData
        All of it.
    queries : list of str
        Names of the judged queries: rows of scores.
    relevant : list of ndarray
        The positions of the relevant documents of each, ascending.
    rounds : list of Round
        Who chooses for whom; a query is measured once at most, and never chooses for itself.
    """

    data: RetrievalData
    queries: list[str]
    relevant: list[Int64Array]
    rounds: list[Round]

    @classmethod
    def of(cls, data: RetrievalData) -> "Judged":
        """Find the relevant documents, and who chooses for whom."""
        places = {name: at for at, name in enumerate(data.ids)}
        queries = data.judged
        relevant = [
            np.array(sorted(places[d] for d, grade in data.qrels[query].items() if grade > 0))
            for query in queries
        ]
        rows = np.arange(len(relevant))
        if {"train", "test"} <= data.splits.keys():
            parts = [set(data.splits[name]) for name in ("train", "test")]
            choose, measure = (
                np.array([row for row in rows if queries[row] in part], dtype=np.int64)
                for part in parts
            )
            return cls(data, queries, relevant, [Round(choose, measure)])
        even, odd = rows[0::2], rows[1::2]
        return cls(data, queries, relevant, [Round(even, odd), Round(odd, even)])

    @property
    def texts(self) -> list[str]:
        """The texts of the judged queries."""
        return [self.data.queries[query] for query in self.queries]


def judged_files(dataset: str) -> list[str]:
    """Return the files of a judged set."""
    return [
        f"retrieval/{dataset}/{name}"
        for name in ("docs.jsonl.gz", "queries.jsonl.gz", "qrels.tsv.gz")
    ]


def judged(task: Task) -> Judged:
    """Return the set of a task; when quick, a few queries and a few hundred documents."""

    def read() -> Judged:
        data = read_retrieval(task.file(judged_files(task.dataset)[0]).parent)
        return Judged.of(_few(data) if task.quick else data)

    return task.memo("judged", read, "dataset")


def _few(data: RetrievalData) -> RetrievalData:
    """Return every so many of the queries, with what is relevant to them and the first others."""
    asked = data.judged[:: max(len(data.judged) // _QUICK_QUERIES, 1)]
    needed = {document for query in asked for document in data.qrels[query]}
    rows = [row for row, name in enumerate(data.ids) if row < _QUICK_DOCUMENTS or name in needed]
    return RetrievalData(
        [data.ids[row] for row in rows],
        [data.titles[row] for row in rows],
        [data.texts[row] for row in rows],
        {query: data.queries[query] for query in asked},
        {query: data.qrels[query] for query in asked},
        {
            part: tuple(query for query in names if query in asked)
            for part, names in data.splits.items()
        },
    )


Stems: TypeAlias = Literal["english", "porter"] | None
"""Snowball's English ones, Porter's, or whole words."""


class Counted(NamedTuple):
    """Judged queries and documents as counts over the words of the documents."""

    queries: Bags
    documents: Bags


def counted(task: Task, stems: Stems) -> Counted:
    """Count the words of a set, SMART stop words left out."""

    def count() -> Counted:
        collection = judged(task)
        normalize = None if stems is None else Stemmer(stems)
        counter = BagOfWords("smart", normalize=normalize, n_jobs=task.n_jobs)
        documents = counter.fit_transform(collection.data.documents)
        return Counted(counter.transform(collection.texts), documents)

    return task.memo(f"counted, {stems}", count, "dataset")
