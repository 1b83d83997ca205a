"""Comparison of methods on your own data: classifiers, rankings, or similarities.

`evaluate_labels`, `evaluate_search`, and `evaluate_pairs` read the data, run several methods of the
library, and return an `Evaluation`, which prints as a table.
"""

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score

from textkin._base import Float64Array, format_count, integer, one_of, real
from textkin.evaluate._collections import (
    JudgedQueries,
    RetrievalData,
    judged_queries,
    read_retrieval,
)
from textkin.evaluate._duplicate_counts import duplicate_counts
from textkin.evaluate._evaluation import (
    LabelEvaluation,
    MethodScores,
    PairEvaluation,
    SearchEvaluation,
    quoted,
)
from textkin.evaluate._labeled_data import LabeledData, Split, read_labeled
from textkin.evaluate._pairs import PairData, read_pairs
from textkin.evaluate._retrieval import (
    WithoutRelevant,
    average_precision,
    ndcg_at_k,
    recall_at_k,
    reciprocal_rank,
)
from textkin.evaluate._significance import paired_randomization
from textkin.evaluate._sts import pearson, spearman, sts_scores
from textkin.exceptions import EmptyDocumentError, ParameterError, ParameterTypeError
from textkin.index import Index, RankingLike, is_index, ranking_of
from textkin.learn import NearestNeighborClassifier, RocchioClassifier, hold_out
from textkin.models import Pooling
from textkin.reading import Document
from textkin.run import ProgressCallback
from textkin.text import BagOfWords, StopWords
from textkin.transport import WordMover
from textkin.vectors import WordVectors
from textkin.weighting import TfIdf

__all__ = [
    "LABEL_METHODS",
    "PAIR_METHODS",
    "RANKINGS",
    "evaluate_labels",
    "evaluate_pairs",
    "evaluate_search",
]

LABEL_METHODS = ("knn-wmd", "knn-tfidf", "rocchio", "svm-tfidf")
PAIR_METHODS = ("pooling", "wmd", "tfidf")
RANKINGS = ("bm25", "tfidf", "cosine", "inner", "binary", "wmd", "rwmd", "wcd", "hybrid")
_USUAL_RANKINGS = ("bm25", "tfidf", "wmd", "hybrid")

Similarity: TypeAlias = Callable[[list[str], list[str]], Any]
"""A function of two lists of texts that returns one similarity per pair."""

_COSTS = (1.0, 0.1, 10.0, 0.01, 100.0)  # values of C of the linear SVM; ties go to the first


# ------------------------------------------------------------------ labeled texts


def evaluate_labels(
    data: Any,  # noqa: ANN401 (any source of `read_labeled`)
    test: Any = None,  # noqa: ANN401
    *,
    methods: str | Sequence[str] | Mapping[str, Any] = LABEL_METHODS,
    test_size: float = 0.3,
    vectors: WordVectors | None = None,
    stop_words: StopWords = "smart",
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> LabelEvaluation:
    """Compare the accuracy of classifiers on labeled texts.

    Parameters
    ----------
    data : LabeledData, path, DataFrame, iterable of records, or Documents
        Texts with labels, see `read_labeled`.
    test : as for `data`, or None, default=None
        Texts to test on; `data` is then the training side. If None, the splits that `data` has.
        Without splits, a random part of `data` is held out.
    methods : str, sequence of str, or mapping of str to classifier
        - "knn-wmd": nearest neighbors by the exact Word Mover's Distance;
        - "knn-tfidf": nearest neighbors by the cosine of tf-idf vectors;
        - "rocchio": `RocchioClassifier` on tf-idf vectors;
        - "svm-tfidf": scikit-learn's ``LinearSVC`` on tf-idf vectors.

        The number of neighbors (1 to 19) and the C of the SVM are tuned on a fifth of the training
        texts. A mapping adds classifiers with ``fit(texts, labels)`` and ``predict(texts)``, such
        as a scikit-learn pipeline: ``{"mine": pipeline, "rocchio": "rocchio"}``.
    test_size : float, default=0.3
        Fraction of the texts that is held out.
    vectors : WordVectors or None, default=None
        Word vectors of "knn-wmd". If None, the built-in vectors.
    stop_words : str, None, path or collection of str, default="smart"
        Words that the methods ignore.
    random_state : int, default=0
        Seed of the held-out part and of the tuning.
    n_jobs : int or None, default=None
        Number of threads. If None, 1; -1 uses all cores. Results do not depend on it.
    progress : callable, default=None
        Called with (done, total).

    Returns
    -------
    LabelEvaluation
        Accuracy, error, and macro-F1 of each method, with a test against the first method on the
        same documents.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or a side of a split is empty.

    See Also
    --------
    textkin.NearestNeighborClassifier : The classifier behind the methods "knn-...".

    Examples
    --------
    >>> from textkin.evaluate import evaluate_labels
    >>> texts = ["Cats purr", "Dogs bark", "A puppy naps", "Stocks fell", "Banks sold shares",
    ...     "Markets rose", "The kitten purrs", "Shares fell"]
    >>> labels = ["pets", "pets", "pets", "money", "money", "money", "pets", "money"]
    >>> splits = ["train"] * 6 + ["test"] * 2
    >>> records = [{"text": text, "label": label, "split": split}
    ...     for text, label, split in zip(texts, labels, splits)]
    >>> found = evaluate_labels(records, methods=["knn-wmd", "rocchio"])
    >>> found["knn-wmd"].scores
    {'accuracy': 1.0, 'error': 0.0, 'macro_f1': 1.0}
    """
    real(0, 1).check("test_size", test_size)
    integer(low=0).check("random_state", random_state)
    chosen = _chosen("methods", methods, LABEL_METHODS, "classifiers")
    known, notes = _with_splits(data, test, test_size, random_state)
    _check_classes(known)
    for number, split in enumerate(known.splits):
        _check_split(known, number, split)
    notes += _repeated(known, stop_words)

    meter = _Meter(progress, len(chosen) * len(known.splits))
    predictions: dict[str, list[NDArray[Any]]] = {}
    settings: dict[str, dict[str, list[Any]]] = {}
    seconds: dict[str, float] = {}
    for name, method in chosen.items():
        started = time.perf_counter()
        predictions[name], settings[name] = [], {}
        for train, held in known.splits:
            texts = [known.texts[row] for row in train]
            labels = [known.labels[row] for row in train]
            asked = [known.texts[row] for row in held]
            classifier = _classifier(
                method, texts, labels, vectors, stop_words, random_state, n_jobs
            )
            if isinstance(classifier, NearestNeighborClassifier):
                classifier.fit(texts, labels, progress=meter.part(0.0, 0.5))
                said = classifier.predict(asked, progress=meter.part(0.5, 1.0))
            else:
                said = np.asarray(classifier.fit(texts, labels).predict(asked))
            predictions[name].append(said)
            for key, value in _tuned(classifier).items():
                settings[name].setdefault(key, []).append(value)
            meter.finish_step()
        seconds[name] = time.perf_counter() - started

    right = {name: _share_right(known, said) for name, said in predictions.items()}
    first = next(iter(right.values()))
    results = []
    for at, (name, answers) in enumerate(predictions.items()):
        true = [[known.labels[row] for row in held] for _, held in known.splits]
        sides = list(zip(true, (one.tolist() for one in answers), strict=True))
        right_shares = [accuracy_score(*side) for side in sides]
        scores = {
            "accuracy": float(np.mean(right_shares)),
            "error": float(np.mean([1 - share for share in right_shares])),
            "macro_f1": float(
                np.mean([f1_score(*side, average="macro", zero_division=0) for side in sides])
            ),
        }
        test_of = paired_randomization(right[name], first) if at and len(first) > 1 else None
        results.append(MethodScores(name, scores, settings[name], seconds[name], test_of))
    return LabelEvaluation(tuple(results), notes, known, predictions)


def _with_splits(
    data: Any,  # noqa: ANN401
    test: Any,  # noqa: ANN401
    test_size: float,
    random_state: int,
) -> tuple[LabeledData, tuple[str, ...]]:
    """Return labeled data with splits: existing ones, given test data, or random ones."""
    known = _of_one_type(data if isinstance(data, LabeledData) else read_labeled(data))
    if test is not None:
        other = test if isinstance(test, LabeledData) else read_labeled(test)
        size, total = len(known), len(known) + len(other)
        split = np.arange(size, dtype=np.intp), np.arange(size, total, dtype=np.intp)
        both = LabeledData(
            [*known.texts, *other.texts], [*known.labels, *other.labels], splits=[split]
        )
        return _of_one_type(both), ()
    if known.splits:
        return known, ()
    split = _held_out(known.labels, test_size, random_state)
    data = LabeledData(known.texts, known.labels, known.ids, [split])
    return data, (
        f"Held out {len(split[1])} of {len(data)} documents at random, class by class, with seed "
        f"{random_state}.",
    )


def _held_out(labels: list[Any], test_size: float, random_state: int) -> Split:
    """Return a random split, stratified by class, with `test_size` of the documents for testing.

    One document of every class stays on the training side.
    """
    numbers = np.unique(np.asarray(labels), return_inverse=True)[1]
    order = np.random.default_rng(random_state).permutation(len(labels))
    order = order[np.argsort(numbers[order], kind="stable")]
    free = order[1:][numbers[order[1:]] == numbers[order[:-1]]]  # all but the first of each class
    size = min(len(free), max(1, round(test_size * len(labels))))
    held = np.sort(free[(np.arange(size) * len(free)) // max(size, 1)])
    return np.setdiff1d(order, held).astype(np.intp), held.astype(np.intp)


def _of_one_type(data: LabeledData) -> LabeledData:
    """Convert all labels to strings if their types differ, such as 1 and "1"."""
    if len({type(label) for label in data.labels}) < 2:
        return data
    return LabeledData(data.texts, [str(label) for label in data.labels], data.ids, data.splits)


def _check_classes(data: LabeledData) -> None:
    classes = data.classes
    if len(classes) < 2:
        raise ValueError(
            f"The labels must have at least 2 classes; got 1, {classes[0]!r}. Add documents with "
            "another label."
        )
    if len(classes) == len(data):
        raise ValueError(
            "A class must have at least 2 documents; got "
            f"{len(data)} documents of {len(classes)} classes. Check that the labels are classes."
        )


def _check_split(data: LabeledData, number: int, split: Split) -> None:
    train, held = split
    where = f" in split {number + 1} of {len(data.splits)}" if len(data.splits) > 1 else ""
    if not len(train) or not len(held):
        raise ValueError(
            f"A split must have documents on both sides; got {len(train)} to train on and "
            f"{len(held)} to test on{where}. Change the splits of the data."
        )
    labels = [data.labels[row] for row in train]
    classes = set(labels)
    if not 2 <= len(classes) < len(labels):
        raise ValueError(
            "The training documents must have at least 2 classes, and a class with at least 2 "
            f"documents; got {format_count(len(labels), 'document')} of {len(classes)} "
            f"{'class' if len(classes) == 1 else 'classes'}{where}. Add training documents."
        )


def _repeated(data: LabeledData, stop_words: StopWords) -> tuple[str, ...]:
    """Return a note, in a tuple, if test documents repeat training documents."""
    splits = range(len(data.splits))
    found = sum(duplicate_counts(data, at, stop_words=stop_words).across for at in splits)
    if not found:
        return ()
    have = "test document has" if found == 1 else "test documents have"
    return (f"{found:,} {have} the same words as a training document.",)


def _classifier(
    method: Any,  # noqa: ANN401 (a name or a classifier)
    texts: list[str],
    labels: list[Any],
    vectors: WordVectors | None,
    stop_words: StopWords,
    random_state: int,
    n_jobs: int | None,
) -> Any:  # noqa: ANN401
    """Create the unfitted classifier for a method, given as a name or an estimator."""
    if not isinstance(method, str):
        from sklearn.base import clone

        return clone(method)
    if method == "rocchio":
        return RocchioClassifier(stop_words=stop_words, n_jobs=n_jobs)
    if method == "svm-tfidf":
        return _svm(texts, labels, stop_words, random_state, n_jobs)
    transport = method == "knn-wmd"
    return NearestNeighborClassifier(
        "wmd" if transport else "cosine",
        vectors=vectors if transport else None,
        tune=True,
        stop_words=stop_words,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _svm(
    texts: list[str],
    labels: list[Any],
    stop_words: StopWords,
    random_state: int,
    n_jobs: int | None,
) -> Any:  # noqa: ANN401
    """Create a linear SVM on tf-idf vectors that chooses C on a validation split."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    numbers = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
    held_out = hold_out(numbers, np.random.RandomState(random_state))
    model = make_pipeline(
        BagOfWords(stop_words=stop_words, n_jobs=n_jobs),
        TfIdf(),
        LinearSVC(random_state=0, max_iter=10_000),
    )
    return GridSearchCV(model, {"linearsvc__C": _COSTS}, cv=[held_out])


def _tuned(classifier: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(classifier, NearestNeighborClassifier) and classifier.tuning_ is not None:
        return {"k": int(classifier.n_neighbors_)}
    cost = getattr(classifier, "best_params_", {}).get("linearsvc__C")
    return {} if cost is None else {"C": cost}


def _share_right(data: LabeledData, said: list[NDArray[Any]]) -> Float64Array:
    """Return for each test document the fraction of splits with a correct prediction."""
    right, asked = np.zeros(len(data)), np.zeros(len(data))
    for (_, held), labels in zip(data.splits, said, strict=True):
        asked[held] += 1
        right[held] += [
            data.labels[row] == label for row, label in zip(held, labels.tolist(), strict=True)
        ]
    shares: Float64Array = right[asked > 0] / asked[asked > 0]
    return shares


# ------------------------------------------------------------------ judged queries


def evaluate_search(
    data: RetrievalData | Index | str | os.PathLike[str],
    queries: Any = None,  # noqa: ANN401 (a mapping, DataFrame, or path)
    qrels: Any = None,  # noqa: ANN401 (a mapping, DataFrame, or path)
    *,
    rankings: RankingLike | Sequence[RankingLike] | Mapping[str, RankingLike] = _USUAL_RANKINGS,
    part: str | None = None,
    k: int = 1000,
    unknown: Literal["error", "drop", "keep"] = "error",
    without_relevant: WithoutRelevant = "exclude",
    vectors: WordVectors | None = None,
    stop_words: StopWords = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> SearchEvaluation:
    """Compare rankings by retrieval measures, on queries with relevance judgments.

    Documents that are not in an index are added to a temporary one, which is deleted afterward.

    Parameters
    ----------
    data : Index, RetrievalData, or path
        Index of the documents, or its folder, with `queries` and `qrels`; folder in the format of
        BEIR, see `read_retrieval`; or, with `queries` and `qrels`, a file or folder of documents.
    queries : mapping of str to str, Series, DataFrame, path, or None, default=None
        Text of each query by its ID, for an index: a mapping; a DataFrame with the columns "id"
        (or "_id", "query_id", "qid") and "text" (or "query"); or a file, such as JSON Lines, a
        table, or TREC topics. For files of documents, a path. If None, the file in the folder.
    qrels : mapping, DataFrame, path, or None, default=None
        Judgments, for an index: ``{"q1": {"d7": 1, "d9": 0}}``, or relevant documents by query,
        ``{"q1": ["d7"]}``; a DataFrame with columns such as "query_id", "doc_id", and "grade"; or
        a file (TREC or BEIR). For files of documents, a path. If None, the file in the folder.
    rankings : str, ranking, sequence of these, or mapping of str to ranking
        Rankings of `Index.search`: "bm25", "tfidf", "cosine", "inner", "binary", "wmd", "rwmd",
        "wcd", "hybrid", names of attached models, or objects such as ``BM25(b=0.4)``. A mapping
        gives them names: ``{"short": BM25(b=0.4), "wmd": "wmd"}``.
    part : str or None, default=None
        Part of the queries, such as "test". If None, all judged queries.
    k : int, default=1000
        Number of documents per query that count, at least 100.
    unknown : {"error", "drop", "keep"}, default="error"
        Treatment of judgments of unknown documents or queries, see `read_retrieval`.
    without_relevant : {"exclude", "zero"}, default="exclude"
        Treatment of judged queries without a relevant document: exclude them, or count them with
        the value 0.
    vectors : WordVectors or None, default=None
        Word vectors of the temporary index. If None, the built-in vectors.
    stop_words : str, None, path or collection of str, default=None
        Words that the temporary index ignores; rankings by transport ignore the SMART list in any
        case.
    n_jobs : int or None, default=None
        Number of threads. If None, 1; -1 uses all cores. Results do not depend on it.
    progress : callable, default=None
        Called with (queries done, total), over all rankings.

    Returns
    -------
    SearchEvaluation
        MAP, nDCG@10, recall@100, and MRR of each ranking, with a test of the average precision
        against the first ranking.

    Raises
    ------
    ValueError
        If no query has a relevant document, or a ranking is unknown.

    Examples
    --------
    >>> from textkin.evaluate import RetrievalData, evaluate_search
    >>> data = RetrievalData(
    ...     ["a", "b", "c"], ["", "", ""], ["Cats purr", "Dogs bark", "Stocks fell"],
    ...     {"q1": "a kitten", "q2": "dogs bark"}, {"q1": {"a": 1}, "q2": {"b": 1}},
    ... )
    >>> found = evaluate_search(data, rankings=["bm25", "wmd"])
    >>> found["bm25"].scores["map"], found["wmd"].scores["map"]
    (0.5, 1.0)

    An index that exists, with queries and judgments as dictionaries:

    >>> import tempfile
    >>> from textkin import Index
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/pets.kin")
    >>> _ = index.add([{"id": "b", "text": "Dogs bark"}, {"id": "c", "text": "Stocks fell"}])
    >>> found = evaluate_search(index, {"q": "bark"}, {"q": ["b"]}, rankings=["bm25", "wmd"])
    >>> found["bm25"].scores["mrr"]
    1.0
    >>> index.close()
    >>> folder.cleanup()
    """
    integer(low=100).check("k", k)
    one_of("exclude", "zero").check("without_relevant", without_relevant)
    named = _named_rankings(rankings)
    opened = Index.open(data) if isinstance(data, str | os.PathLike) and is_index(data) else None
    if isinstance(data, Index) or opened is not None:
        with opened or nullcontext():
            index = data if isinstance(data, Index) else opened
            assert index is not None
            return _evaluate_index(
                index,
                queries,
                qrels,
                _chosen("rankings", named, (*RANKINGS, *index.models()), "rankings"),
                part,
                k,
                unknown,
                without_relevant,
                {"vectors": vectors, "stop_words": stop_words},
                n_jobs,
                progress,
            )
    chosen = _chosen("rankings", named, RANKINGS, "rankings")
    given = isinstance(data, RetrievalData)
    for name, value in (("queries", queries), ("qrels", qrels)):
        if value is not None and not isinstance(value, str | os.PathLike):
            raise ParameterTypeError(
                name,
                "a path unless data is an index",
                type(value).__name__,
                "Add the documents to an index, and pass the index.",
            )
    if given and (queries is not None or qrels is not None):
        raise ValueError(
            "queries and qrels must be None with RetrievalData; got files. Pass the path of the "
            "documents instead."
        )
    known = (
        data
        if isinstance(data, RetrievalData)
        else read_retrieval(data, queries=queries, qrels=qrels, unknown=unknown)
    )
    if part is not None:
        try:
            known = known.part(part)
        except ParameterError as error:  # raised by `RetrievalData.part`
            raise ParameterError("part", error.expected, error.got) from error
    _check_judged(known)
    with (
        tempfile.TemporaryDirectory(prefix="textkin-") as folder,
        Index.create(Path(folder) / "index.kin", stop_words=stop_words, vectors=vectors) as index,
    ):
        for ranking in chosen.values():  # invalid ones raise before the documents are added
            index.search("", ranking=ranking)
        index.add([Document(*pair) for pair in zip(known.ids, known.documents, strict=True)])
        return _compare_rankings(index, known, chosen, k, without_relevant, n_jobs, progress)


def _evaluate_index(
    index: Index,
    queries: Any,  # noqa: ANN401 (a mapping, DataFrame, or path)
    qrels: Any,  # noqa: ANN401
    chosen: Mapping[str, Any],
    part: str | None,
    k: int,
    unknown: Literal["error", "drop", "keep"],
    without_relevant: WithoutRelevant,
    of_new_index: Mapping[str, object],
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> SearchEvaluation:
    if queries is None or qrels is None:
        missing = "queries" if queries is None else "qrels"
        raise ValueError(f"{missing} must be given with an index, such as a dictionary; got None.")
    for name, value in {**of_new_index, "part": part}.items():
        if value is not None:
            raise ParameterError(name, "None with an index", repr(value))
    known = judged_queries(queries, qrels, index, len(index), unknown=unknown)
    _check_judged(known)
    for ranking in chosen.values():
        index.search("", ranking=ranking)
    return _compare_rankings(index, known, chosen, k, without_relevant, n_jobs, progress)


def _named_rankings(rankings: Any) -> dict[str, Any]:  # noqa: ANN401 (any argument)
    """Return rankings by name; the name of an object is its representation."""
    if isinstance(rankings, Mapping):
        return dict(rankings)
    listed = isinstance(rankings, Sequence) and not isinstance(rankings, str)
    each = list(rankings) if listed else [rankings]
    for one in each:
        if not isinstance(one, str):
            ranking_of(one)  # raises for other objects
    return {one if isinstance(one, str) else repr(one): one for one in each}


def _check_judged(known: RetrievalData | JudgedQueries) -> None:
    if not known.judged:
        raise ValueError(
            "A query must have a relevant document, of grade 1 or more; no query has one "
            f"({len(known.queries)} in all). Check that the judgments use the IDs of the queries "
            "and documents."
        )


def _compare_rankings(
    index: Index,
    known: RetrievalData | JudgedQueries,
    chosen: Mapping[str, Any],
    k: int,
    without_relevant: WithoutRelevant,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> SearchEvaluation:
    """Run all judged queries with each ranking, and compute the retrieval measures."""
    names = known.judged
    texts = [known.queries[name] for name in names]
    meter = _Meter(progress, len(chosen), unit=len(names))
    runs: dict[str, dict[str, list[str]]] = {}
    seconds: dict[str, float] = {}
    for name, ranking in chosen.items():
        started = time.perf_counter()
        found = index.search_many(
            texts,
            k,
            ranking=ranking,
            syntax="plain",
            n_jobs=n_jobs,
            progress=meter.part(0.0, 1.0),
        )
        seconds[name] = time.perf_counter() - started
        runs[name] = {
            query: [hit.id for hit in hits] for query, hits in zip(names, found, strict=True)
        }
        meter.finish_step()
    qrels = known.qrels
    how: dict[str, Any] = {"without_relevant": without_relevant}
    measured = {
        name: {
            "map": average_precision(qrels, run, k=k, **how),
            "ndcg@10": ndcg_at_k(qrels, run, 10, **how),
            "recall@100": recall_at_k(qrels, run, 100, **how),
            "mrr": reciprocal_rank(qrels, run, **how),
        }
        for name, run in runs.items()
    }
    first = next(iter(measured.values()))["map"]
    results = []
    for at, (name, of_measure) in enumerate(measured.items()):
        scores = {measure: values.mean for measure, values in of_measure.items()}
        test = paired_randomization(of_measure["map"], first) if at and len(first) > 1 else None
        results.append(MethodScores(name, scores, {}, seconds[name], test))
    notes = _notes_on(known, without_relevant)
    return SearchEvaluation(tuple(results), notes, known, measured, runs)


def _notes_on(
    data: RetrievalData | JudgedQueries, without_relevant: WithoutRelevant
) -> tuple[str, ...]:
    left = len(data.queries) - len(data.judged)
    if not left:
        return ()
    if without_relevant == "zero":
        zeros = sum(query in data.qrels for query in data.queries) - len(data.judged)
        some = "1 query has" if zeros == 1 else f"{zeros:,} queries have"
        said = f"{some} no relevant document and {'counts' if zeros == 1 else 'count'} as 0."
        return (said,) if zeros else ()
    some = "1 query has" if left == 1 else f"{left:,} queries have"
    return (f"{some} no relevant document and {'is' if left == 1 else 'are'} excluded.",)


# ------------------------------------------------------------------ pairs of texts


def evaluate_pairs(
    data: Any,  # noqa: ANN401 (any source of `read_pairs`)
    *,
    methods: str | Sequence[str] | Mapping[str, str | Similarity] = PAIR_METHODS,
    vectors: WordVectors | None = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> PairEvaluation:
    """Compare similarity methods by correlation with human scores of text pairs.

    Parameters
    ----------
    data : PairData, path, DataFrame, iterable of records, or Documents
        Pairs with gold scores, see `read_pairs`.
    methods : str, sequence of str, or mapping of str to callable
        - "pooling": cosine of the means of the word vectors;
        - "wmd": exact Word Mover's Distance, negated;
        - "tfidf": cosine of tf-idf vectors, with idf from the pairs.

        A mapping adds functions of two lists of texts that return one similarity per pair.
    vectors : WordVectors or None, default=None
        Word vectors of "pooling" and "wmd". If None, the built-in vectors.
    stop_words : str, None, path or collection of str, default="smart"
        Words that the methods ignore.
    n_jobs : int or None, default=None
        Number of threads. If None, 1; -1 uses all cores. Results do not depend on it.
    progress : callable, default=None
        Called with (done, total).

    Returns
    -------
    PairEvaluation
        Pearson's and Spearman's correlation of each method.

    Raises
    ------
    ValueError
        If there are fewer than two pairs, or all gold scores are equal.

    Examples
    --------
    >>> from textkin.evaluate import evaluate_pairs
    >>> rows = [("A cat sleeps", "A kitten sleeps", 4.5), ("A cat sleeps", "A dog barks", 2.0),
    ...     ("A cat sleeps", "Stocks fell", 0.0)]
    >>> records = [{"sentence1": a, "sentence2": b, "gold": gold} for a, b, gold in rows]
    >>> found = evaluate_pairs(records, methods=["wmd", "tfidf"])
    >>> round(found["wmd"].scores["spearman"], 4)
    1.0
    """
    chosen = _chosen("methods", methods, PAIR_METHODS, "functions of two lists of texts")
    pairs = data if isinstance(data, PairData) else read_pairs(data)
    if len(pairs) < 2:
        raise ValueError(f"The data must have at least 2 pairs; got {len(pairs)}. Add pairs.")
    if pairs.gold.min() == pairs.gold.max():
        raise ValueError(
            f"gold must have at least 2 different scores; got {pairs.gold[0]:g} for all "
            f"{len(pairs)} pairs. Check the column of the scores."
        )
    meter = _Meter(progress, len(chosen))
    similarities: dict[str, Float64Array] = {}
    seconds: dict[str, float] = {}
    notes: list[str] = []
    for name, method in chosen.items():
        started = time.perf_counter()
        if callable(method):
            similarities[name] = _similarities(name, method(pairs.first, pairs.second), len(pairs))
        elif method == "wmd":
            mover = WordMover(vectors, stop_words=stop_words, empty="inf", n_jobs=n_jobs)
            far = mover.paired(pairs.first, pairs.second, progress=meter.part(0.0, 1.0))
            similarities[name], without = _negated(far)
            if without:
                notes.append(
                    f"{name}: {format_count(without, 'pair')} with a text without known words, "
                    "scored as the least similar."
                )
        elif method == "pooling":
            pooling = Pooling(vectors, stop_words=stop_words, n_jobs=n_jobs)
            pooling.fit([*pairs.first, *pairs.second])
            similarities[name] = _cosines(*map(pooling.transform, (pairs.first, pairs.second)))
        else:
            counter = BagOfWords(stop_words=stop_words, n_jobs=n_jobs)
            weights = TfIdf().fit(counter.fit_transform([*pairs.first, *pairs.second]))
            one, other = (
                weights.transform(counter.transform(side)) for side in (pairs.first, pairs.second)
            )
            similarities[name] = np.asarray(one.multiply(other).sum(axis=1)).ravel()
        seconds[name] = time.perf_counter() - started
        meter.finish_step()

    results, sets = [], {}
    several = len(set(pairs.sets)) > 1
    for name, found in similarities.items():
        of_sets = sts_scores(pairs.sets, pairs.gold, found)
        sets[name] = of_sets.sets
        scores = {
            "pearson": pearson(pairs.gold, found),
            "spearman": spearman(pairs.gold, found),
            **({"mean": of_sets.mean} if several else {}),
        }
        results.append(MethodScores(name, scores, {}, seconds[name]))
    return PairEvaluation(tuple(results), tuple(notes), pairs, similarities, sets)


def _similarities(name: str, given: Any, n_pairs: int) -> Float64Array:  # noqa: ANN401
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (n_pairs,) or not np.isfinite(found).all():
        raise ValueError(
            f"The function {name!r} must return {n_pairs} finite numbers, one per pair; got shape "
            f"{found.shape}."
        )
    return found


def _negated(distances: Float64Array) -> tuple[Float64Array, int]:
    """Return negated distances as similarities, and the number of infinite distances."""
    known = np.isfinite(distances)
    if not known.any():
        raise EmptyDocumentError(
            "A pair must have known words in both texts; none of "
            f"{format_count(len(distances), 'pair')} has. Check the vectors and their language."
        )
    found: Float64Array = -np.where(known, distances, distances[known].max())
    return found, int((~known).sum())


def _cosines(first: Any, second: Any) -> Float64Array:  # noqa: ANN401 (rows of numbers)
    sides = [np.asarray(side, dtype=np.float64) for side in (first, second)]
    lengths = np.prod([np.linalg.norm(side, axis=1) for side in sides], axis=0)
    inner = np.einsum("ij,ij->i", *sides)
    found: Float64Array = np.divide(inner, lengths, out=np.zeros(len(inner)), where=lengths > 0)
    return found


# ------------------------------------------------------------------ helpers


class _Meter:
    """Progress over several steps of equal weight, reported to one callback.

    Parameters
    ----------
    progress : callable or None
        Called with (done, total).
    steps : int
        Number of steps.
    unit : int, default=100
        Weight of a step in `total`.
    """

    def __init__(self, progress: ProgressCallback | None, steps: int, *, unit: int = 100) -> None:
        self._progress = progress
        self._unit = unit
        self._total = steps * unit
        self._done = 0

    def part(self, start: float, end: float) -> ProgressCallback | None:
        """Return a callback for a fraction `start` to `end` of the current step."""
        if self._progress is None:
            return None
        progress = self._progress

        def tell(done: int, total: int) -> None:
            share = start + (end - start) * (done / total if total else 0.0)
            progress(self._done + int(share * self._unit), self._total)

        return tell

    def finish_step(self) -> None:
        """Report to the callback that the current step of the comparison is done."""
        self._done += self._unit
        if self._progress is not None:
            self._progress(self._done, self._total)


def _chosen(
    name: str,
    given: str | Sequence[str] | Mapping[str, Any],
    known: tuple[str, ...],
    others: str,
) -> dict[str, Any]:
    """Return the methods to compare by name, after validation of the names.

    Parameters
    ----------
    name : str
        Parameter.
    given : str, sequence of str, or mapping
        Its value.
    known : tuple of str
        Valid names.
    others : str
        Values that a mapping may have in addition to names, for messages.
    """
    if isinstance(given, str):
        given = [given]
    chosen = dict(given) if isinstance(given, Mapping) else {one: one for one in given}
    if not chosen:
        raise ValueError(f"{name} must have at least one name; got none.")
    for one, value in chosen.items():
        if not isinstance(one, str):
            raise ParameterTypeError(
                name,
                f"names, or a mapping of names to {others}",
                type(one).__name__,
                "Pass a mapping.",
            )
        if isinstance(value, str) and value not in known:
            raise ParameterError(
                name,
                f"among {quoted(known)}",
                repr(value),
                f"Pass a mapping of names to {others} for your own.",
            )
    return chosen
