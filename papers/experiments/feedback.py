"""Experiment ``feedback``: effect of relevance feedback, and postings read by an inverted index.

Rocchio's formula changes each query, and the experiment measures the new ranking. For the inverted
index, the lecture claims (METHODS 4.1) that a query reads B |V_q| postings, where B is the mean
length of a postings list, and a scan of every document reads |D| |V_q|. The experiment measures
the postings while a collection grows.
"""

import gzip
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from papers.cells import Task
from papers.figures import line_figure
from papers.judged_collections import Counted, counted, judged, judged_files
from papers.rankings import precisions
from papers.results import Results
from papers.runner import Aim, Experiment, Method, Reference
from papers.tables import Grid, by_dataset, by_measure
from textkin._base import Bags, Float64Array, Int64Array
from textkin.evaluate import paired_randomization, read_retrieval
from textkin.index import Index, rocchio
from textkin.text import BagOfWords
from textkin.weighting import BM25, TfIdf

__all__ = ["EXPERIMENT", "Searcher", "feedback", "growth", "postings", "postings_files", "texts_of"]

SHOWN = 10
ROUNDS = 2
_NOTHING: Int64Array = np.array([], dtype=np.int64)

Weighted: TypeAlias = tuple[Float64Array, Bags]
"""Queries as dense rows and documents as sparse rows; scores are their inner products."""


def _bm25(some: Counted) -> Weighted:
    weigh = BM25().fit(some.documents)
    queries = weigh.transform_queries(some.queries)
    return queries.toarray().astype(np.float64), weigh.transform(some.documents)


def _tfidf(some: Counted) -> Weighted:
    weigh = TfIdf().fit(some.documents)
    queries = weigh.transform(some.queries)
    return queries.toarray().astype(np.float64), weigh.transform(some.documents)


_RANKINGS: dict[str, Callable[[Counted], Weighted]] = {"bm25": _bm25, "tfidf": _tfidf}


class Searcher:
    """Documents of a collection under one ranking, with Rocchio's feedback on queries.

    Parameters
    ----------
    documents : csr_array
        Weighted document-term matrix.
    beta : float
        Weight of the mean of the relevant documents.
    max_terms : int or None
        Number of words that the new query keeps. If None, all.
    as_scored : bool
        If False, scale documents to the length of the query before they enter the formula.
    """

    def __init__(
        self,
        documents: Bags,
        beta: float = 0.75,
        max_terms: int | None = 50,
        as_scored: bool = False,
    ) -> None:
        self.documents: Any = documents.astype(np.float64).tocsr()
        self.beta, self.max_terms, self.as_scored = beta, max_terms, as_scored

    def scores(self, query: Float64Array) -> Float64Array:
        """Return the score of every document."""
        found: Float64Array = self.documents @ query
        return found

    def moved(
        self, query: Float64Array, right: Int64Array, wrong: Int64Array, gamma: float = 0.15
    ) -> Float64Array:
        """Return the query moved towards relevant documents and away from irrelevant ones."""
        rows = [self.documents[marked].toarray() for marked in (right, wrong)]
        if not self.as_scored:
            rows = [_as_long_as(query, each) for each in rows]
        return rocchio(query, *rows, beta=self.beta, gamma=gamma, max_terms=self.max_terms)

    def lists(self, query: Float64Array, relevant: Int64Array) -> dict[str, Float64Array]:
        """Return the scores before feedback, after pseudo-feedback, and after relevance marks.

        After two rounds of marks, documents that were shown keep their former ranks (*frozen*).
        *Residual* scores exclude the documents that were shown, before and after the first round.
        """
        before = self.scores(query)
        best = best_of(before, SHOWN)
        found = {
            "before": before,
            "pseudo": self.scores(self.moved(query, best, _NOTHING, gamma=0.0)),
            "residual before": _without(before, best),
        }
        shown = _NOTHING
        for number in range(1, ROUNDS + 1):
            new = best_of(_without(self.scores(query), shown), SHOWN)
            shown = np.concatenate([shown, new])
            right = np.isin(new, relevant)
            query = self.moved(query, new[right], new[~right])
            after = self.scores(query)
            if number == 1:
                found["residual after"] = _without(after, shown)
            frozen = after.copy()
            frozen[shown] = after.max() + np.arange(len(shown), 0, -1)
            found[f"marked {number}"] = frozen
        return found


def best_of(scores: Float64Array, k: int) -> Int64Array:
    """Return the positions of the k best documents; ties go to the lowest position."""
    return np.argsort(-scores, kind="stable")[:k].astype(np.int64)


def _without(scores: Float64Array, rows: Int64Array) -> Float64Array:
    left = scores.copy()
    left[rows] = -np.inf
    return left


def _as_long_as(query: Float64Array, rows: Float64Array) -> Float64Array:
    """Scale documents to the length of a query, as an index does; rows of zeros stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Float64Array = np.linalg.norm(query) * rows / np.where(lengths > 0, lengths, 1)
    return found


def feedback(
    task: Task,
    ranking: str,
    beta: float = 0.75,
    max_terms: int | None = 50,
    as_scored: bool = False,
) -> dict[str, Any]:
    """Compute a cell: average precision in percent, and numbers of better and worse queries."""
    some = counted(task, "porter")
    queries, documents = task.memo(f"weighted {ranking}", lambda: _RANKINGS[ranking](some))
    searcher = Searcher(documents, beta, max_terms, as_scored)
    return measured(searcher, queries, judged(task).relevant)


def measured(
    searcher: Searcher, queries: Float64Array, relevant: list[Int64Array]
) -> dict[str, Any]:
    """Return means over queries.

    Residual means include only queries with a relevant document that was not shown.
    """
    of: dict[str, list[float]] = {}
    for query, right in zip(queries, relevant, strict=True):
        lists = searcher.lists(query, right)
        left = np.setdiff1d(right, best_of(lists["before"], SHOWN))
        for name, scores in lists.items():
            wanted = left if name.startswith("residual") else right
            if len(wanted):
                of.setdefault(name, []).append(100 * precisions(scores, wanted)[0])
    found: dict[str, Any] = {name: float(np.mean(values)) for name, values in of.items()}
    found |= {"queries": len(queries), "residual queries": len(of.get("residual before", ()))}
    for name, first in (
        ("pseudo", "before"),
        *((f"marked {number}", "before") for number in range(1, ROUNDS + 1)),
        ("residual after", "residual before"),
    ):
        if name in of:
            change = np.array(of[name]) - np.array(of[first])
            found[f"{name}: better"] = int((change > 1e-9).sum())
            found[f"{name}: worse"] = int((change < -1e-9).sum())
            if len(change) > 1:
                found[f"{name}: p"] = paired_randomization(of[name], of[first]).p_value
    return found


SIZES = (500, 1000, 2000, 4000, 8000, 16000)
_ASKED = 200
_FOUND = 10


def postings_files(dataset: str) -> list[str]:
    """Return the files of a growing collection."""
    name = dataset.removesuffix(" grows")
    if name == "lisa":
        return [f"retrieval/{name}/{each}.jsonl.gz" for each in ("docs", "queries")] + [
            f"retrieval/{name}/qrels.tsv.gz"
        ]
    return [
        f"text/{name}.jsonl.gz" if name == "reuters21578" else f"classification/{name}.jsonl.gz"
    ]


def texts_of(task: Task) -> tuple[list[str], list[str]]:
    """Return documents in random order, and queries.

    LISA has its own queries. For other sets, 200 documents serve as queries and are not indexed:
    whole texts, as in a nearest-neighbor classifier.
    """
    first, *rest = postings_files(task.dataset)
    random = np.random.default_rng(0)
    if rest:
        data = read_retrieval(task.file(first).parent)
        documents, queries = data.documents, list(data.queries.values())
    else:
        with gzip.open(task.file(first), "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        documents = [f"{record.get('title', '')} {record['text']}".strip() for record in records]
        queries = []
    order = [documents[at] for at in random.permutation(len(documents)).tolist()]
    if not queries:
        n = min(_ASKED, len(order) // 4)
        queries, order = order[:n], order[n:]
    return (order[:150], queries[:10]) if task.quick else (order, queries)


def postings(task: Task) -> dict[str, Any]:
    """Compute a cell: means over queries for each size of the collection."""
    documents, queries = texts_of(task)
    sizes = [size for size in ((50, 100) if task.quick else SIZES) if size < len(documents)]
    rows = [_at(documents[:size], queries) for size in [*sizes, len(documents)]]
    found: dict[str, Any] = {"rows": rows}
    for name in ("B Vq", "postings", "touched"):
        slope = growth([row["documents"] for row in rows], [row[name] for row in rows])
        if slope is not None:
            found[f"{name}: exponent"] = slope
    return found | rows[-1]


def growth(sizes: Sequence[float], numbers: Sequence[float]) -> float | None:
    """Return the least-squares exponent a of the model ``number = c * size ** a``."""
    if len(sizes) < 2 or min(numbers) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(numbers), 1)[0])


def _at(documents: list[str], queries: list[str]) -> dict[str, float]:
    """Index some documents, search them, and return the mean search statistics."""
    counter = BagOfWords("smart")
    bags = counter.fit_transform(documents)
    asked = counter.transform(queries)
    words = float(np.diff(asked.indptr).mean())
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "growing.kin", stop_words="smart", language=None) as index,
    ):
        index.add(documents)
        stats = [hits.stats for hits in index.search_many(queries, _FOUND)]
    read, touched, scored = (
        float(np.mean([each.get(name, 0) for each in stats]))
        for name in ("postings", "touched", "scored")
    )
    mean = bags.nnz / bags.shape[1]
    return {
        "documents": len(documents),
        "B": mean,
        "Vq": words,
        "B Vq": mean * words,
        "D Vq": len(documents) * words,
        "postings": read,
        "touched": touched,
        "scored": scored,
    }


_COLLECTIONS = ("med", "cran", "cacm", "time", "lisa")
_GROWING = ("lisa grows", "reuters21578 grows", "20news grows")
_POSTINGS = "inverted index"
_COLUMNS = {
    "before": ".1f",
    "pseudo": ".1f",
    "marked 1": ".1f",
    "marked 2": ".1f",
    "residual before": ".1f",
    "residual after": ".1f",
}


def _grows(dataset: str) -> bool:
    return dataset.endswith(" grows")


def _judged(dataset: str) -> bool:
    return not _grows(dataset)


def _methods() -> dict[str, Method]:
    made = {}
    for name, ranking in (("BM25", "bm25"), ("TF-IDF", "tfidf")):
        for more, settings in (
            ("", {}),
            (", 20 words", {"max_terms": 20}),
            (", all words", {"max_terms": None}),
            (", beta 2", {"beta": 2.0}),
            (", as scored", {"as_scored": True}),
        ):
            if ranking == "bm25" or "as_scored" not in settings:  # tf-idf rows have unit length
                made[name + more] = Method(feedback, {"ranking": ranking, **settings}, on=_judged)
    made[_POSTINGS] = Method(postings, on=_grows)
    return made


_OTHERS = Reference(
    "unrecorded tools",
    "BM25 of public tools on the same files, with Snowball stems. Their treatment of stop words is "
    "not known.",
    {"BM25": {"med": 54.1, "cran": 30.6, "cacm": 34.7}},
    "before",
)


def _part(results: Results, which: Callable[[str], bool]) -> Results:
    cells = tuple(cell for cell in results.cells if which(cell.dataset))
    return Results(results.experiment, cells, results.quick, results.run)


def _tables(results: Results) -> list[Grid]:
    judged, made = _part(results, _judged), []
    for name in ("BM25", "TF-IDF"):
        if name in judged.methods:
            title = f"Average precision in percent, {name}"
            references = [_OTHERS] if name == "BM25" else []
            made.append(by_measure(judged, name, _COLUMNS, title, references=references))
            made.append(_queries(judged, name))
    for measure, title in (("pseudo", "pseudo-feedback"), ("residual after", "marks, residual")):
        if judged.cells:
            made.append(
                by_dataset(
                    judged,
                    measure,
                    f"Average precision in percent after {title}, other settings",
                    better="higher",
                )
            )
    if any(map(_grows, results.datasets)):
        made.append(_postings_table(results))
    return made


def _queries(results: Results, name: str) -> Grid:
    """Return a table with numbers of better and worse queries, and p-values."""
    steps = ("pseudo", "marked 1", "marked 2", "residual after")
    rows = []
    for dataset in results.datasets:
        for values in results.values(name, dataset):
            told = [
                f"{values[f'{step}: better']} / {values[f'{step}: worse']}, "
                f"{_chance(values[f'{step}: p'])}"
                if f"{step}: p" in values
                else "–"
                for step in steps
            ]
            numbers = [str(values["queries"]), str(values["residual queries"])]
            rows.append([dataset, *numbers, *told])
    return Grid(
        f"Number of queries that are better / worse than before, {name}",
        ["", "queries", "residual", *steps],
        rows,
        [
            "p: probability of a difference at least as large by chance, two-sided randomization "
            "test over queries."
        ],
    )


def _chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _postings_table(results: Results) -> Grid:
    rows = []
    for dataset in filter(_grows, results.datasets):
        for values in results.values(_POSTINGS, dataset):
            for row in values["rows"]:
                rows.append(
                    [
                        dataset.removesuffix(" grows"),
                        f"{row['documents']:,.0f}",
                        f"{row['Vq']:.1f}",
                        f"{row['B']:.1f}",
                        f"{row['D Vq']:,.0f}",
                        f"{row['B Vq']:,.0f}",
                        f"{row['postings']:,.0f}",
                        f"{row['touched']:,.0f}",
                        f"{100 * row['touched'] / row['D Vq']:.2f} %",
                    ]
                )
    header = ["", "documents", "|Vq|", "B", "|D| |Vq|", "B |Vq|", "postings", "touched", "share"]
    note = (
        "Means over queries. |Vq|: distinct words of a query that occur in a document. B: mean "
        "length of a postings list. postings: postings of the words of the query, all of which "
        "the lecture's search reads. touched: postings that our search, with upper bounds, adds "
        "up for the ten best. share: touched / (|D| |Vq|), the cost without an index."
    )
    return Grid("Postings by size of the collection", header, rows, [note])


def _figures(results: Results) -> dict[str, str]:
    lines = {}
    for dataset in filter(_grows, results.datasets):
        for values in results.values(_POSTINGS, dataset):
            name = dataset.removesuffix(" grows")
            for measure, shown in (("D Vq", "D·Vq"), ("postings", "lists"), ("B Vq", "B·Vq")):
                points = [(row["documents"], row[measure]) for row in values["rows"]]
                lines[f"{name}: {shown}"] = points
    if not lines:
        return {}
    return {
        "postings": line_figure(
            lines,
            title="Postings of a query by size of the collection",
            x_label="documents",
            y_label="postings",
            log_x=True,
            log_y=True,
            legend="lists: all postings of the words of a query; D, B, Vq as in the table",
        )
    }


def _findings(results: Results) -> str:
    parts = []
    for name in ("BM25", "TF-IDF"):
        for step, base, what in (
            (
                "residual after",
                "residual before",
                "One round of marks, measured on documents that were not shown,",
            ),
            ("pseudo", "before", "Pseudo-feedback"),
        ):
            told = _changes(results, name, step, base)
            if told:
                parts.append(f"{what} changes the average precision of {name}: {', '.join(told)}.")
    grown = [
        (dataset.removesuffix(" grows"), values)
        for dataset in filter(_grows, results.datasets)
        for values in results.values(_POSTINGS, dataset)
        if "postings: exponent" in values
    ]
    for name, values in grown:
        last = values["rows"][-1]
        parts.append(
            f"{name}: postings grow as the number of documents to the power of "
            f"{values['postings: exponent']:.2f}, and B |Vq| to the power of "
            f"{values['B Vq: exponent']:.2f}. With all {last['documents']:,.0f} documents, the "
            "postings lists of a query have "
            f"{last['postings'] / last['B Vq']:.0f} times B |Vq| postings, and "
            f"{100 * last['postings'] / last['D Vq']:.1f} % of |D| |Vq|."
        )
    if grown and all(values["postings"] > 2 * values["B Vq"] for _, values in grown):
        parts.append(
            "B |Vq| is therefore too low: the words of queries are not drawn uniformly from the "
            "vocabulary but by frequency, and frequent words have long lists. An inverted index "
            "saves a constant factor; the postings of a query still grow with the collection."
        )
    return "\n\n".join(parts)


def _changes(results: Results, name: str, step: str, base: str) -> list[str]:
    told = []
    for dataset in filter(_judged, results.datasets):
        after, before = (results.mean(name, dataset, each) for each in (step, base))
        chance = results.mean(name, dataset, f"{step}: p")
        if after is not None and before is not None and chance is not None:
            told.append(f"{dataset} {after - before:+.1f} ({_chance(chance)})")
    return told


def _marks_help(results: Results) -> tuple[bool, str] | None:
    told, reached = [], True
    for dataset in filter(_judged, results.datasets):
        after, before = (
            results.mean("BM25", dataset, f"residual {each}") for each in ("after", "before")
        )
        if after is not None and before is not None:
            told.append(f"{dataset} {before:.1f} to {after:.1f}")
            reached &= after > before
    return (reached, ", ".join(told)) if told else None


EXPERIMENT = Experiment(
    name="feedback",
    title="Relevance feedback, and postings of an inverted index",
    source=(
        "A lecture on vector-space classification (Rocchio, nearest neighbors with an inverted "
        'index); Rocchio, "Relevance Feedback in Information Retrieval", 1971. Neither has numbers '
        "for these collections."
    ),
    protocol=(
        "*Feedback*: Porter's stems, without SMART stop words. The ten best documents of a query "
        "are marked by the relevance judgments, and Rocchio's formula changes the query (alpha 1, "
        "beta 0.75, gamma 0.15, the 50 heaviest words; documents scaled to the length of the "
        "query, as in `hits.feedback`). *Marked 1, 2*: after one round, and after a second round "
        "with the ten best documents that were not shown before; documents that were shown keep "
        "their ranks. *Residual*: documents that were shown are excluded, before and after one "
        "round, so that ranking known documents again gains nothing; queries without remaining "
        "relevant documents are excluded. *Pseudo*: the ten best are treated as relevant (gamma "
        "0) without judgments, and all documents are ranked again. No setting is tuned; the "
        "tables show all other settings. Average precision covers all relevant documents, cut at "
        "rank 1000.\n\n"
        "*Postings*: the first 500, 1,000, ... documents of a set in random order are indexed "
        "without SMART stop words and searched for the ten best by BM25. LISA has its own "
        "queries; for other sets, the queries are 200 whole texts that are not in the index, as "
        "in nearest-neighbor classification."
    ),
    datasets=[*_COLLECTIONS, *_GROWING],
    methods=_methods(),
    files=lambda dataset: postings_files(dataset) if _grows(dataset) else judged_files(dataset),
    tables=_tables,
    figures=_figures,
    findings=_findings,
    references=[_OTHERS],
    aims=[
        Aim("one round of marks raises the residual precision of BM25 on every set", _marks_help)
    ],
)
