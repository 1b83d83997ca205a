"""Rankings by words, compared with scores of every document."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from textkin import BM25, Index, TfIdf
from textkin.exceptions import IndexWarning
from textkin.index import TermRanking
from textkin.index.search.rankings._terms import TermScorer

WORDS = [f"w{i}" for i in range(9)]
TEXT = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)
VARIANTS = ["gensim", "lecture", "wmd", "sklearn", "sklearn-unsmoothed", "wtmf"]
IDF = ["one", "log", "log2", "inverse", "smooth", "unsmoothed", "wtmf", "lucene", "okapi"]
NORM = st.sampled_from(["l1", "l2", None])
TFIDF = st.one_of(
    st.builds(TfIdf, st.sampled_from(VARIANTS), norm=NORM, sublinear=st.booleans()),
    st.builds(
        TfIdf,
        tf=st.sampled_from(["count", "binary", "log", "max"]),
        idf=st.sampled_from(IDF),
        norm=NORM,
    ),
)
OKAPI = st.builds(
    BM25,
    st.sampled_from([0.0, 0.9, 1.2, 50.0]),
    st.sampled_from([0.0, 0.4, 0.75, 1.0]),
    idf=st.sampled_from(["lucene", "okapi"]),
    k3=st.sampled_from([None, 0.0, 2.0]),
    norm=NORM,
)
RANKING = st.builds(
    TermRanking,
    st.one_of(st.sampled_from(["counts", "binary"]), TFIDF, OKAPI),
    st.sampled_from(["inner", "cosine"]),
)
EPS = 1e-12


def unit(bags: Any) -> Any:
    lengths = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ bags)


def scores_of(index: Index, ranking: TermRanking, words: list[str]) -> tuple[Any, Any]:
    """Score every document by the estimators; return scores and their rounding errors."""
    bags = index.bags().astype(np.float64)
    weighting: Any = ranking.weighting
    if isinstance(weighting, str):
        weighting = TfIdf(tf="count" if weighting == "counts" else "binary", idf="one", norm=None)
    weighting.fit(bags)
    query = np.zeros((1, bags.shape[1]))
    names = list(index.vocabulary())
    for word in words:
        if word in names:
            query[0, names.index(word)] += 1
    asks = getattr(weighting, "transform_queries", weighting.transform)
    asked = asks(sparse.csr_array(query))
    if isinstance(weighting, BM25):  # words with weight 0 are not query words
        asked = sparse.csr_array(asked.multiply((weighting.idf_ != 0)[None, :]))
    documents = weighting.transform(bags)
    if ranking.metric == "cosine":
        asked, documents = unit(asked), unit(documents)
    rounding = EPS * (abs(documents) @ abs(asked).T).toarray().ravel()
    return (documents @ asked.T).toarray().ravel(), rounding


def made(folder: Path, texts: list[str], changes: list[tuple[int, str | None]]) -> Index:
    """Return an index of several segments, with deleted and changed documents."""
    index = Index.create(folder / "x.kin", stop_words=None, language=None)
    for at in range(0, len(texts), 6):
        index.add([{"id": f"d{at + i}", "text": text} for i, text in enumerate(texts[at : at + 6])])
    for which, text in changes:
        id = f"d{which % len(texts)}"
        if text is None:
            index.delete([id], missing="ignore")
        else:
            index.update([{"id": id, "text": text}])
    return index


def check(
    index: Index,
    ranking: TermRanking,
    words: list[str],
    k: int,
    threshold: float | None,
    mask: list[bool] | None,
) -> None:
    scores, rounding = scores_of(index, ranking, words)
    state = index._searcher().state
    scorer = index._searcher().scorer(ranking)
    assert isinstance(scorer, TermScorer)
    query = scorer.of_text(" ".join(words))
    rows = None
    positions = np.flatnonzero(state.live)
    if mask is not None:
        rows = np.array([*itertools.islice(itertools.cycle(mask), state.n_rows)], np.bool_)
    answers = [
        scorer.best(query, k, threshold, rows, algorithm=algorithm)
        for algorithm in ("auto", "pruned", "dense")
    ]
    for other in answers[1:]:
        assert other.rows.tolist() == answers[0].rows.tolist()
        assert other.scores.tolist() == answers[0].scores.tolist()
    found = answers[0]
    score_of = dict(zip(positions.tolist(), scores, strict=True))
    slack_of = dict(zip(positions.tolist(), rounding, strict=True))
    for row, score in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
        assert abs(score - score_of[row]) <= slack_of[row]
        assert rows is None or rows[row]
        parts = scorer.explain(query, row)
        assert parts.score == score
        assert sum(part.value for part in parts.parts) == pytest.approx(score, rel=EPS, abs=EPS)
    keys = [*zip((-found.scores).tolist(), found.rows.tolist(), strict=True)]
    assert keys == sorted(keys)
    # Omitted documents are no better than the last hit, or have a reason for omission.
    least = max(0.0, -np.inf if threshold is None else threshold)
    last = found.scores[-1] if len(found.rows) == k else least
    for row in set(score_of) - set(found.rows.tolist()):
        if rows is None or rows[row]:
            assert score_of[row] <= max(last, least) + slack_of[row]
    assert (found.scores > 0).all()
    assert len(found.rows) <= k
    if threshold is not None:
        assert (found.scores >= threshold).all()


@settings(
    max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.lists(TEXT, min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 40), st.none() | TEXT), max_size=6),
    st.lists(
        st.tuples(
            RANKING,
            st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=8),
            st.integers(1, 12),
            st.none() | st.floats(-1, 5),
            st.none() | st.lists(st.booleans(), min_size=1, max_size=7),
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_hits_are_the_best_of_all_scores(
    small_segments: None,
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    changes: list[tuple[int, str | None]],
    asked: list[tuple[TermRanking, list[str], int, float | None, list[bool] | None]],
) -> None:
    with made(tmp_path_factory.mktemp("terms"), texts, changes) as index:
        if not len(index) or not len(index.vocabulary()):
            return  # the estimators cannot be fitted
        for ranking, words, k, threshold, mask in asked:
            check(index, ranking, words, k, threshold, mask)


@pytest.mark.parametrize("measure", ["inner", "cosine"])
@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_every_weighting_by_name_and_by_object(
    small_segments: None, tmp_path: Path, measure: Any, norm: Any
) -> None:
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(WORDS, random.integers(0, 12))) for _ in range(40)]
    changes = [(3, None), (11, None), (20, "w1 w1 w2"), (39, None)]
    with made(tmp_path, texts, changes) as index:
        assert index.info().segments > 1
        weightings: list[Any] = ["counts", "binary"]
        weightings += [TfIdf(variant, norm=norm) for variant in VARIANTS]
        weightings += [
            TfIdf(tf=tf, idf=idf, norm=norm)
            for tf in ("count", "binary", "log", "max")
            for idf in IDF
        ]
        weightings += [
            BM25(k1, b, idf=idf, k3=k3, norm=norm)
            for k1, b, k3 in ((1.2, 0.75, None), (0.0, 0.5, 3.0), (2.0, 0.0, 0.0))
            for idf in ("lucene", "okapi")
        ]
        for weighting in weightings:
            ranking = TermRanking(weighting, measure)
            check(index, ranking, ["w0", "w3", "w3", "w7", "never"], 5, None, None)
            check(index, ranking, ["w1", "w2"], 100, None, [True, False, True])


def found(index: Index, query: Any, **how: Any) -> dict[str, float]:
    hits = index.search(query, **how)
    return dict(zip(hits.ids, hits.scores.tolist(), strict=True))


def index_of(tmp_path: Path, *texts: str) -> Index:
    index = Index.create(tmp_path / "x.kin", stop_words=None, language=None)
    index.add([{"id": f"d{i + 1}", "text": text} for i, text in enumerate(texts)])
    return index


CATS = ("cat sat mat", "cat cat dog", "dog barked", "bird sang song loud")


class TestNumbersOfTheLiterature:
    def test_bm25(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            cats = found(index, "cat")
            assert list(cats) == ["d2", "d1"]
            assert cats == pytest.approx({"d1": 0.6931472, "d2": 0.9530774}, abs=1e-7)
            assert found(index, "bird") == pytest.approx({"d4": 1.0594961}, abs=1e-7)
            assert found(index, "cat", ranking=BM25(idf="okapi")) == {}
            bird = found(index, "bird", ranking=BM25(idf="okapi"))
            assert bird == pytest.approx({"d4": 0.8472979 * 0.88}, abs=1e-7)

    def test_inner_product_and_cosine(self, tmp_path: Path) -> None:
        documents = ("x x y y y z z z z z", "x x x y y y y y y y z")
        with index_of(tmp_path, *documents) as index:
            assert found(index, "z z", ranking="inner") == {"d1": 10.0, "d2": 2.0}
            cosines = {"d1": 0.8111071, "d2": 0.1301889}
            assert found(index, "z z", ranking="cosine") == pytest.approx(cosines, abs=1e-7)

    def test_binary(self, tmp_path: Path) -> None:
        with index_of(tmp_path, "a b c e f f f") as index:
            assert found(index, "a c f g c", ranking="binary") == {"d1": 3.0}

    def test_tfidf_of_the_lecture(self, tmp_path: Path) -> None:
        # 1, 2, and 4 of 4 documents have a, b, and c: idf 2, 1, and 0.
        with index_of(tmp_path, "a a a b b c", "b c", "c", "c") as index:
            by = TermRanking(TfIdf("lecture", norm=None))
            assert found(index, "a", ranking=by) == {"d1": 4.0}
            assert found(index, "b", ranking=by) == pytest.approx({"d1": 2 / 3, "d2": 1.0})
            assert found(index, "c", ranking=by) == {}

    def test_idf_of_scikit_learn(self, tmp_path: Path) -> None:
        with index_of(tmp_path, "a b", "a c", "b d", "e f") as index:
            smooth = TermRanking(TfIdf("sklearn", norm=None))
            assert found(index, "a", ranking=smooth)["d1"] == pytest.approx(1.5108256**2, abs=1e-6)
            plain = TermRanking(TfIdf("sklearn-unsmoothed", norm=None))
            assert found(index, "a", ranking=plain)["d1"] == pytest.approx(1.6931472**2, abs=1e-6)

    def test_documents_without_a_shared_word_are_not_hits(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            assert list(found(index, "dog", k=100)) == ["d3", "d2"]


class TestStatistics:
    def test_deleted_documents_do_not_affect_statistics(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS, "cat cat cat", "cat") as index:
            index.delete(["d5", "d6"])
            assert found(index, "cat") == pytest.approx(
                {"d2": 0.9530774, "d1": 0.6931472}, abs=1e-7
            )

    def test_stats(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            scorer = index._searcher().scorer(TermRanking())
            assert isinstance(scorer, TermScorer)
            dense = scorer.best(scorer.of_text("cat dog"), 1, algorithm="dense").stats
            assert dense == {"postings": 4, "touched": 4, "scored": 3}
            pruned = scorer.best(scorer.of_text("cat dog"), 1, algorithm="pruned").stats
            assert pruned["postings"] == 4
            assert pruned["scored"] < 3

    def test_ranking_is_prepared_once(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            searcher = index._searcher()
            assert searcher.scorer(TermRanking(BM25())) is searcher.scorer(TermRanking(BM25()))
            assert searcher.scorer(TermRanking()) is searcher.scorer(TermRanking())
            index.add(["cat"])
            assert index._searcher().scorer(TermRanking()) is not searcher.scorer(TermRanking())


class TestQueriesOutOfTheOrdinary:
    def test_empty_query(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            assert found(index, "") == found(index, "xyzzy") == found(index, {}) == {}

    def test_empty_index(self, index: Index) -> None:
        assert found(index, "cat") == found(index, "cat", ranking="tfidf") == {}

    def test_documents_without_words(self, tmp_path: Path) -> None:
        with index_of(tmp_path, "", "...", "") as index:
            assert found(index, "cat") == {}

    def test_weights_of_any_sign_and_size(self, tmp_path: Path) -> None:
        with index_of(tmp_path, *CATS) as index:
            assert list(found(index, {"cat": 1.0, "dog": -1.0})) == ["d1", "d2"]
            for size in (1e-300, 1e-30, 1e30, 1e300):
                assert list(found(index, {"cat": size, "dog": size})) == ["d2", "d3", "d1"]

    @pytest.mark.parametrize("weight", [float("nan"), float("inf")])
    def test_invalid_weights_raise(self, tmp_path: Path, weight: float) -> None:
        with (
            index_of(tmp_path, *CATS) as index,
            pytest.raises(ValueError, match="must be a finite number"),
        ):
            index.search({"cat": weight})


def damaged(tmp_path: Path, name: str, value: int) -> Path:
    """Return an index with one wrong number in a segment."""
    with Index.create(tmp_path / "x.kin", stop_words=None, language=None) as index:
        for at in range(4):
            index.add([{"id": f"d{4 * at + i}", "text": text} for i, text in enumerate(CATS)])
        (segment, *_) = (part.segment for part in index._searcher().state.parts)
        assert segment.mapped is not None
        array = segment.arrays[name]
        place = (
            array.__array_interface__["data"][0]
            - np.frombuffer(segment.mapped, np.uint8).__array_interface__["data"][0]
        )
    (path, *_) = sorted((tmp_path / "x.kin" / "segments").iterdir())
    with path.open("r+b") as file:
        file.seek(place + array.itemsize)
        file.write(np.array([value], array.dtype).tobytes())
    return tmp_path / "x.kin"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("posting_rows", 10**6),
        ("posting_rows", -5),
        ("posting_tf", 0),
        ("term_offsets", 10**9),
        ("term_offsets", 0),
        ("counts", 0),
    ],
)
def test_corrupt_postings_are_rebuilt(
    small_segments: None, tmp_path: Path, name: str, value: int
) -> None:
    with Index.open(damaged(tmp_path, name, value)) as index:
        with pytest.warns(IndexWarning, match="is corrupt"):
            cats = found(index, "cat")
        expected = {f"d{4 * at + i}": (0.6931472, 0.9530774)[i] for at in range(4) for i in (0, 1)}
        assert cats == pytest.approx(expected, abs=1e-7)
