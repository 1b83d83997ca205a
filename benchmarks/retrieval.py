"""Average precision on MED, CRAN and CACM of the models here, beside the paper's Table 1.

Each scorer gives the score of every document for every query, under one or several settings
(dimensions, mixing weights). Where there are several, the one that does best on half of the
queries is used for the other half, and the other way round: no query has a part in its own
setting. Run in the repository root, where textkin is installed with the extra ``stem``::

    python benchmarks/retrieval.py
"""

import gzip
import json
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from environment import RESULTS, asked, describe, write

from textkin.distance import similarities
from textkin.models import LSI, PLSA, FisherKernel
from textkin.text import BagOfWords, Stemmer
from textkin.weighting import BM25, TfIdf

RESULT = RESULTS / "retrieval.json"
SETS = ("med", "cran", "cacm")
# Hofmann, "Learning the Similarity of Documents", NIPS 1999, Table 1; LSI and PLSI, from his paper
# of SIGIR 1999, are recalled and were not read again. In percent.
PAPER = {
    "VSM, raw tf": {"med": 44.3, "cran": 29.9, "cacm": 17.9},
    "LSI (recalled)": {"med": 51.7, "cran": 28.7, "cacm": 16.0},
    "PLSI (recalled)": {"med": 63.9, "cran": 35.1, "cacm": 22.9},
    "VSM + Fisher kernel": {"med": 67.2, "cran": 37.9, "cacm": 27.5},
}
FACTORS = [1, 32, 48, 64, 80, 128]
DIMENSIONS = (25, 50, 75, 100, 150, 200, 300)
WEIGHTS = tuple(round(0.1 * step, 1) for step in range(1, 10))
CUT = 1000
RECALL_LEVELS = np.arange(1, 10) / 10

Scores = np.ndarray  # (n_queries, n_documents)
Scorer = Callable[["Collection"], dict[str, Scores]]


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents and judged queries as counts over the words of the documents."""

    name: str
    documents: object
    queries: object
    relevant: list[frozenset[int]]

    @property
    def cosine(self) -> Scores:
        """The score of the vector-space model with raw counts, which mixtures start from."""
        return similarities(self.queries, self.documents)


def read_collection(data: Path, name: str) -> Collection:
    """Read a set, with SMART stop words left out and Porter's stems; unjudged queries too."""
    folder = data / "retrieval" / name
    documents, queries = (
        [json.loads(line) for line in _lines(folder / f"{kind}.jsonl.gz")]
        for kind in ("docs", "queries")
    )
    positions = {document["id"]: at for at, document in enumerate(documents)}
    relevant: dict[str, set[int]] = {}
    for line in _lines(folder / "qrels.tsv.gz"):
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, set()).add(positions[document])
    judged = [query for query in queries if query["id"] in relevant]
    counter = BagOfWords(stop_words="smart", normalize=Stemmer("porter"))
    texts = [f"{document['title']} {document['text']}" for document in documents]
    return Collection(
        name,
        counter.fit_transform(texts),
        counter.transform([query["text"] for query in judged]),
        [frozenset(relevant[query["id"]]) for query in judged],
    )


def raw_cosine(collection: Collection) -> dict[str, Scores]:
    """Cosine of counts."""
    return {"": collection.cosine}


def tfidf_cosine(collection: Collection) -> dict[str, Scores]:
    """Cosine of counts times log(N / df)."""
    weigh = TfIdf().fit(collection.documents)
    return {"": similarities(*(weigh.transform(b) for b in _sides(collection)))}


def bm25(collection: Collection) -> dict[str, Scores]:
    """BM25 with k1 = 1.2 and b = 0.75, not tuned."""
    weigh = BM25().fit(collection.documents)
    queries = weigh.transform_queries(collection.queries)
    return {"": similarities(queries, weigh.transform(collection.documents), "inner")}


@cache
def fitted_lsi(collection: Collection, weigh: str) -> dict[str, Scores]:
    """Return cosines in the space of LSI, by the number of dimensions."""
    weighting = WEIGHTINGS[weigh]().fit(collection.documents)
    queries, documents = (weighting.transform(bags) for bags in _sides(collection))
    lsi = LSI(max(DIMENSIONS), random_state=0).fit(documents)
    of_queries, of_documents = lsi.transform(queries), lsi.transform(documents)
    return {f"k={k}": similarities(of_queries[:, :k], of_documents[:, :k]) for k in DIMENSIONS}


def lsi_of(weigh: str) -> Scorer:
    """Cosine in the space of LSI."""
    return lambda collection: fitted_lsi(collection, weigh)


@cache
def fitted_kernel(collection: Collection) -> FisherKernel:
    """Return kernels with models of every number of factors, by tempered EM."""
    return FisherKernel(FACTORS, model=PLSA(tempered=True), normalize=True, random_state=0).fit(
        collection.documents
    )


def plsi(collection: Collection) -> dict[str, Scores]:
    """Cosine of the factors of queries, folded in, and of documents; and the mean over models."""
    scores = {
        f"K={model.n_components}": similarities(
            *(model.transform(bags) for bags in _sides(collection))
        )
        for model in fitted_kernel(collection).models_
        if model.n_components > 1
    }
    return {**scores, "all K": np.mean(list(scores.values()), axis=0)}


def fisher(collection: Collection) -> dict[str, Scores]:
    """Hofmann's kernel K1 + K2, normalised: of 1 and 64 factors as in his Table 2, and of all."""
    whole = fitted_kernel(collection)
    found = {}
    for name, numbers in {"K=1, 64": [1, 64], "all K": FACTORS}.items():
        kernel = copy(whole).set_params(n_components=numbers)
        kernel.models_ = [model for model in whole.models_ if model.n_components in numbers]
        found[name] = kernel.similarity(*_sides(collection))
    return found


def mixed(scorer: Scorer, base: Scorer = raw_cosine) -> Scorer:
    """Weigh the scores of a model against the cosine: (1 - w) cosine + w model."""

    def mixture(collection: Collection) -> dict[str, Scores]:
        [start] = base(collection).values()
        return {
            f"{setting}, w={weight}".removeprefix(", "): (1 - weight) * start + weight * scores
            for setting, scores in scorer(collection).items()
            for weight in WEIGHTS
        }

    return mixture


WEIGHTINGS = {"raw tf": lambda: TfIdf(idf="one", norm=None), "tf-idf": TfIdf}
SCORERS: dict[str, Scorer] = {
    "raw tf, cosine": raw_cosine,
    "tf-idf, cosine": tfidf_cosine,
    "BM25": bm25,
    "LSI of raw tf": lsi_of("raw tf"),
    "LSI of tf-idf": lsi_of("tf-idf"),
    "raw tf, cosine + LSI of raw tf": mixed(lsi_of("raw tf")),
    "raw tf, cosine + PLSI": mixed(plsi),
    "raw tf, cosine + Fisher kernel": mixed(fisher),
    "tf-idf, cosine + LSI of tf-idf": mixed(lsi_of("tf-idf"), tfidf_cosine),
    "tf-idf, cosine + Fisher kernel": mixed(fisher, tfidf_cosine),
}


def precisions(scores: np.ndarray, relevant: frozenset[int]) -> tuple[float, float]:
    """Return the average precision, and that interpolated at recall 10 % to 90 %.

    The first is over all relevant documents, cut at rank 1000; equal scores rank by position. The
    second is the mean over the nine levels of the best precision at that recall or beyond.
    """
    order = np.argsort(-scores, kind="stable")
    hits = np.isin(order, list(relevant))
    found = np.cumsum(hits)
    precision = found / np.arange(1, len(hits) + 1)
    average = float((precision * hits)[:CUT].sum() / len(relevant))
    best_from = np.maximum.accumulate(precision[::-1])[::-1]
    reached = np.searchsorted(found, np.ceil(RECALL_LEVELS * len(relevant) - 1e-9))
    return average, float(best_from[reached].mean())


def evaluate(scorer: Scorer, collection: Collection) -> dict[str, object]:
    """Return the mean precisions over all queries, each with a setting that it did not choose."""
    settings = scorer(collection)
    of_queries = {
        setting: np.array(list(map(precisions, scores, collection.relevant)))
        for setting, scores in settings.items()
    }
    halves = np.arange(len(collection.relevant)) % 2
    rows, chosen = np.empty((len(halves), 2)), []
    for half in (0, 1):
        best = max(of_queries, key=lambda s: of_queries[s][halves != half, 0].mean())
        rows[halves == half] = of_queries[best][halves == half]
        chosen.append(best)
    average, interpolated = 100 * rows.mean(axis=0)
    found: dict[str, object] = {
        "average_precision": round(average, 2),
        "interpolated_at_nine_levels": round(interpolated, 2),
    }
    if len(settings) > 1:
        found |= {"settings_tried": len(settings), "chosen_on_the_other_half": chosen}
    return found


def measure(data: Path, scorers: dict[str, Scorer]) -> list[dict[str, object]]:
    """Return one entry for each set and scorer."""
    rows: list[dict[str, object]] = []
    for name in SETS:
        collection = read_collection(data, name)
        facts = {"set": name, "documents": collection.documents.shape[0]}
        facts |= {"queries": len(collection.relevant), "words": collection.documents.shape[1]}
        for scorer, score in scorers.items():
            rows.append({**facts, "scorer": scorer, **evaluate(score, collection)})
            print(json.dumps(rows[-1]), flush=True)
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Return average precision and, behind it, the interpolated one, as a Markdown table."""
    lines = [f"| | {' | '.join(SETS)} |", f"| --- |{' ---: |' * len(SETS)}"]
    for scorer in dict.fromkeys(row["scorer"] for row in rows):
        cells = [
            f"{row['average_precision']:.1f} / {row['interpolated_at_nine_levels']:.1f}"
            for name in SETS
            for row in rows
            if (row["set"], row["scorer"]) == (name, scorer)
        ]
        lines.append(f"| {scorer} | {' | '.join(cells)} |")
    for row, numbers in PAPER.items():
        lines.append(f"| *paper: {row}* | {' | '.join(str(numbers[name]) for name in SETS)} |")
    return "\n".join(lines)


def _sides(collection: Collection) -> tuple[object, object]:
    return collection.queries, collection.documents


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as opened:
        return opened.read().splitlines()


def main() -> None:
    """Print the table; write the numbers, the machine and the versions."""
    arguments = asked(__doc__, RESULT, only=SCORERS)
    rows = measure(arguments.data, {name: SCORERS[name] for name in arguments.only})
    print(table(rows))
    report = {
        "command": "python benchmarks/retrieval.py",
        "measure": "average precision in percent, cut at rank 1000, and interpolated at recall "
        "10 % to 90 %; settings chosen on the other half of the queries",
        **describe("numpy", "scipy", "scikit-learn", "PyStemmer"),
        "paper": PAPER,
        "rows": rows,
    }
    write(arguments.result, report)


if __name__ == "__main__":
    main()
