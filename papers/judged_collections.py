"""Retrieval collections with relevance judgments, and their split into queries for validation.

A collection is a folder ``retrieval/NAME/`` with documents, queries, and judgments, see
`read_retrieval`. If queries have the parts "train" and "test", settings are chosen on "train" and
measured on "test". Otherwise each half of the queries chooses for the other half.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from papers.cells import Task
from textkin._base import Bags, Int64Array
from textkin.evaluate import RetrievalData, read_retrieval
from textkin.text import BagOfWords, Stemmer

__all__ = ["Counted", "Judged", "Round", "counted", "judged", "judged_files"]

_QUICK_QUERIES, _QUICK_DOCUMENTS = 16, 150


class Round(NamedTuple):
    """Rows of the queries that choose settings, and of the queries measured with these settings."""

    choose: Int64Array
    measure: Int64Array


@dataclass(frozen=True, eq=False)
class Judged:
    """Documents, and the queries with at least one relevant document.

    Attributes
    ----------
    data : RetrievalData
        The complete collection.
    queries : list of str
        IDs of the judged queries, in the order of the rows of scores.
    relevant : list of ndarray
        Positions of the relevant documents of each query, in ascending order.
    rounds : list of Round
        Splits of the queries. A query is measured at most once, and never with settings that it
        helped to choose.
    """

    data: RetrievalData
    queries: list[str]
    relevant: list[Int64Array]
    rounds: list[Round]

    @classmethod
    def of(cls, data: RetrievalData) -> "Judged":
        """Find the relevant documents, and split the queries."""
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
        """Texts of the judged queries."""
        return [self.data.queries[query] for query in self.queries]


def judged_files(dataset: str) -> list[str]:
    """Return the files of a collection."""
    return [
        f"retrieval/{dataset}/{name}"
        for name in ("docs.jsonl.gz", "queries.jsonl.gz", "qrels.tsv.gz")
    ]


def judged(task: Task) -> Judged:
    """Return the collection of a task; when quick, few queries and few hundred documents."""

    def read() -> Judged:
        data = read_retrieval(task.file(judged_files(task.dataset)[0]).parent)
        return Judged.of(_few(data) if task.quick else data)

    return task.memo("judged", read, "dataset")


def _few(data: RetrievalData) -> RetrievalData:
    """Return evenly spaced queries, their relevant documents, and the first other documents."""
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
"""Name of a Snowball stemmer, or None for whole words."""


class Counted(NamedTuple):
    """Counts of the judged queries and of the documents, over the words of the documents."""

    queries: Bags
    documents: Bags


def counted(task: Task, stems: Stems) -> Counted:
    """Count the words of a collection, without SMART stop words."""

    def count() -> Counted:
        collection = judged(task)
        normalize = None if stems is None else Stemmer(stems)
        counter = BagOfWords("smart", normalizer=normalize, n_jobs=task.n_jobs)
        documents = counter.fit_transform(collection.data.documents)
        return Counted(counter.transform(collection.texts), documents)

    return task.memo(f"counted, {stems}", count, "dataset")
