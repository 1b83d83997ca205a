"""Hybrid rankings, compared with reference implementations over all documents."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import load_script
from textkin import Index
from textkin.index import Cascade, RankFusion, TermRanking, WeightedSum
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._request import ranking_of
from textkin.weighting import BM25, TfIdf

scores = load_script("tests/index/search/given_scores.py")
TEXTS, Given, GivenScorer = scores.TEXTS, scores.Given, scores.GivenScorer


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("hybrids") / "test.kin", language=None) as made:
        made.add(TEXTS)
        yield made


@pytest.fixture(scope="module")
def searcher(index):
    return index._searcher()


def pairs(hits):
    return [
        (int(id), pytest.approx(score)) for id, score in zip(hits.ids, hits.scores, strict=True)
    ]


# ---------------------------------------------------------------- METHODS 18


def test_page_beyond_the_candidates_is_noted(tmp_path):
    ranking = WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=2)
    with Index.create(tmp_path / "pages.kin") as index:
        index.add([f"cats {n}" for n in range(9)])
        first, later = (index.search("cats", 2, ranking=ranking, offset=at) for at in (0, 4))
    assert len(first) == 2
    assert later.ids == []
    assert (first.notes, len(later.notes)) == ((), 1)
    assert "ranked only its 2 candidates" in later.notes[0]


def test_fusion_matches_the_reference(searcher):
    nothing = [np.nan] * 6
    by = WeightedSum({Given([10, 6, 2, *nothing]): 0.8, Given([0.2, 0.8, 0.4, *nothing]): 0.2})
    ranked = searcher.scorer(by).best(searcher.scorer(by).of_text("any"), 10)
    assert ranked.rows.tolist() == [0, 1, 2]
    np.testing.assert_allclose(ranked.scores, [0.8, 0.6, 0.2 / 3])


def test_rank_fusion_sums_reciprocal_ranks(searcher):
    nothing = [np.nan] * 5
    by = RankFusion([Given([4, 3, 2, 1, *nothing]), Given([2, 1, 3, np.nan, *nothing], True)])
    ranked = searcher.scorer(by).best(("q", "q"), 10)
    expected = {0: 1 / 61 + 1 / 62, 1: 1 / 62 + 1 / 61, 2: 1 / 63 + 1 / 63, 3: 1 / 64}
    assert ranked.rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(ranked.scores, list(expected.values()))


def test_cascade_reranks_candidates_of_the_first_stage(index):
    first = index.search("cat dog", 4, ranking="bm25")
    found = index.search("cat dog", 4, ranking=Cascade("bm25", "cosine", candidates=4))
    assert set(found.ids) == set(first.ids)
    every = index.search("cat dog", 9, ranking="cosine")
    assert pairs(found) == [(int(hit.id), hit.score) for hit in every if hit.id in first.ids]


# ---------------------------------------------------------------- reference

SCORES = st.lists(
    st.one_of(st.just(np.nan), st.integers(-3, 3).map(float)),
    min_size=len(TEXTS),
    max_size=len(TEXTS),
)
PARTS = st.lists(
    st.tuples(st.builds(Given, SCORES, st.booleans()), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    min_size=2,
    max_size=4,
).filter(lambda parts: len(dict(parts)) == len(parts) and any(weight for _, weight in parts))
MASKS = st.lists(st.booleans(), min_size=len(TEXTS), max_size=len(TEXTS)).map(np.array)


def found_by(part, mask):
    """Return the rows found by a part, best first, with their scores."""
    found = [
        (row, part.scores[row])
        for row in np.flatnonzero(mask)
        if part.scores[row] == part.scores[row]
    ]
    return sorted(found, key=lambda pair: (pair[1] if part.ascending else -pair[1], pair[0]))


def obvious_sum(parts, candidates, pool, mask):
    bringing = parts[:1] if pool == "first" else parts
    chosen = {row for part, _ in bringing for row, _ in found_by(part, mask)[:candidates]}
    total = dict.fromkeys(sorted(chosen), 0.0)
    for part, weight in parts:
        own = [(row, score) for row, score in found_by(part, mask) if row in chosen]
        values = [score for _, score in own]
        for row, score in own:
            if max(values) > min(values):
                up = score - min(values) if not part.ascending else max(values) - score
                total[row] += weight * up / (max(values) - min(values))
            else:
                total[row] += weight
    return sorted(total.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))


def obvious_fusion(parts, candidates, mask):
    total = {}
    for part, _ in parts:
        for rank, (row, _) in enumerate(found_by(part, mask)[:candidates], 1):
            total[row] = total.get(row, 0.0) + 1 / (60 + rank)
    return sorted(total.items(), key=lambda pair: (-round(pair[1], 12), pair[0]))


def agree(ranked, expected, near=1e-9):
    """Check that rows and their order are equal, except for ties within rounding."""
    assert sorted(ranked.rows.tolist()) == sorted(row for row, _ in expected)
    of_row = dict(expected)
    for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
        assert score == pytest.approx(of_row[row], abs=near)
    assert (np.diff(ranked.scores) <= 0).all()
    ties = np.flatnonzero(np.diff(ranked.scores) == 0)
    assert (ranked.rows[ties] < ranked.rows[ties + 1]).all()


@settings(max_examples=80)
@given(PARTS, st.sampled_from([1, 2, 4, 9, 50]), st.sampled_from(["first", "union"]), MASKS)
def test_weighted_sum_matches_the_reference(searcher, parts, candidates, pool, mask):
    by = WeightedSum(dict(parts), candidates=candidates, pool=pool)
    scorer = by.bind(searcher.state, searcher.scorer)
    same = list(zip(by.parts, by.weights, strict=True))
    expected = obvious_sum(same, candidates, pool, mask & searcher.state.live)
    ranked, _ = scorer._ranked(scorer.of_text("q"), mask)
    agree(ranked, expected)
    for row, score in expected:
        explained = scorer.explain_among(scorer.of_text("q"), row, mask)
        assert explained.score == pytest.approx(score, abs=1e-9)
        for part in explained.parts:
            if part.parts:
                inside = sum(inner.value for inner in part.parts)
                assert inside == pytest.approx(part.value, abs=1e-9)


@settings(max_examples=60)
@given(PARTS, st.sampled_from([1, 3, 9, 50]), MASKS)
def test_rank_fusion_matches_the_reference(searcher, parts, candidates, mask):
    by = RankFusion([part for part, _ in parts], candidates=candidates)
    scorer = by.bind(searcher.state, searcher.scorer)
    expected = obvious_fusion(parts, candidates, mask & searcher.state.live)
    ranked, _ = scorer._ranked(scorer.of_text("q"), mask)
    agree(ranked, expected, 1e-12)
    for row, score in expected:
        explained = scorer.explain_among(scorer.of_text("q"), row, mask)
        assert explained.score == pytest.approx(score)


@settings(max_examples=60)
@given(PARTS, st.sampled_from([1, 3, 9]), MASKS)
def test_cascade_matches_the_reference(searcher, parts, candidates, mask):
    by = Cascade(*(part for part, _ in parts), candidates=candidates)
    scorer = by.bind(searcher.state, searcher.scorer)
    among = mask & searcher.state.live
    for part, _ in parts[:-1]:
        kept = [row for row, _ in found_by(part, among)[:candidates]]
        among = np.isin(np.arange(len(among)), kept)
    expected = found_by(parts[-1][0], among)
    ranked, _ = scorer._ranked(scorer.of_text("q"), mask)
    assert list(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)) == expected
    assert scorer.ascending == parts[-1][0].ascending


@settings(max_examples=60)
@given(PARTS, MASKS, st.sampled_from([None, -1.0, 0.0, 0.5, 1.0]), st.integers(1, 12))
def test_limits_and_thresholds_truncate_the_list(searcher, parts, mask, threshold, limit):
    rankings = [part for part, _ in parts]
    for by in (WeightedSum(dict(parts)), RankFusion(rankings), Cascade(*rankings)):
        scorer = by.bind(searcher.state, searcher.scorer)
        query = scorer.of_text("q")
        every = scorer.best(query, 100, None, mask)
        some = scorer.best(query, limit, threshold, mask)
        near = np.ones(len(every.rows), np.bool_)
        if threshold is not None:
            near = every.scores <= threshold if scorer.ascending else every.scores >= threshold
        assert some.rows.tolist() == every.rows[near][:limit].tolist()
        assert some.scores.tolist() == every.scores[near][:limit].tolist()


# ---------------------------------------------------------------- in an index


@pytest.mark.parametrize("pool", ["first", "union"])
def test_word_rankings_in_an_index(index, pool):
    by = WeightedSum({"bm25": 0.7, "tfidf": 0.3}, pool=pool)
    lists = {name: index.search("cat song", 9, ranking=name) for name in ("bm25", "tfidf")}
    expected = {}
    for name, weight in (("bm25", 0.7), ("tfidf", 0.3)):
        scores = lists[name].scores
        for hit in lists[name]:
            up = (hit.score - scores.min()) / (scores.max() - scores.min())
            expected[hit.id] = expected.get(hit.id, 0) + weight * up
    found = index.search("cat song", 9, ranking=by)
    assert {hit.id: pytest.approx(hit.score) for hit in found} == expected
    for hit in found:
        explained = hit.explain()
        assert explained.score == pytest.approx(hit.score)
        assert {part.name for part in explained.parts} == {"bm25", "tfidf"}
    words = {part.name for part in found[0].explain().parts[0].parts}
    assert words & {"cat", "song"}


def test_hybrids_nest(index):
    inner = WeightedSum({"bm25": 0.5, "cosine": 0.5}, candidates=3)
    outer = RankFusion([inner, "tfidf", Cascade("bm25", "binary", candidates=2)])
    found = index.search("cat song", 9, ranking=outer)
    assert len(found) == len(index.search("cat song", 9, ranking="tfidf"))
    summed = WeightedSum({"tfidf": 0.5, inner: 0.5})
    for hit in index.search("cat song", 9, ranking=summed):
        explained = hit.explain()
        assert explained.score == pytest.approx(hit.score)
        assert all(
            sum(inside.value for inside in part.parts) == pytest.approx(part.value, abs=1e-9)
            for part in explained.parts
            if part.parts
        )


def test_paging_ends_with_the_candidates(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=4)
    every = index.search("cat dog", 4, ranking=by)
    pages = [index.search("cat dog", 2, ranking=by, offset=offset).ids for offset in (0, 2)]
    assert pages[0] + pages[1] == every.ids
    beyond = index.search("cat dog", 3, ranking=by, offset=3)
    assert beyond.ids == every.ids[3:]
    assert any("ranked only its 4 candidates" in note for note in beyond.notes)
    assert not any("ranked only its" in note for note in every.notes)
    assert list(index.search("cat dog", 2, ranking=by, offset=4)) == []
    assert len(index.search("birds", 50, ranking=by)) == 1  # only one has the word
    for other in (Cascade("bm25", "tfidf", candidates=2), RankFusion(["bm25"] * 2, candidates=2)):
        hits = index.search("cat dog", 3, ranking=other)
        assert len(hits) == 2
        assert any("ranked only its 2 candidates" in note for note in hits.notes)


def test_paging_returns_all_hits(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=4)
    every = index.search("cat dog", 4, ranking=by).ids
    hits, seen = index.search("cat dog", 3, ranking=by), []
    while hits:
        seen += hits.ids
        hits = hits.next()
    assert seen == every


@pytest.mark.parametrize(
    "make", [lambda *p: WeightedSum(dict.fromkeys(p, 1.0)), lambda *p: RankFusion(p)]
)
def test_pages_and_explanations_search_once(searcher, make, monkeypatch):
    asked = []
    plain = GivenScorer.best
    monkeypatch.setattr(
        GivenScorer, "best", lambda self, *rest: asked.append(1) or plain(self, *rest)
    )
    by = make(Given(range(9)), Given(range(9), True))
    scorer = by.bind(searcher.state, searcher.scorer)
    query = scorer.of_text("q")
    whole = scorer.best(query, 9)
    assert len(asked) == 2
    assert scorer.best(query, 3).rows.tolist() == whole.rows[:3].tolist()
    scores = [scorer.explain_among(query, int(row), None).score for row in whole.rows]
    np.testing.assert_allclose(scores, whole.scores)
    assert len(asked) == 2
    scorer.best(query, 9, None, np.arange(9) < 4)
    scorer.best(scorer.of_text("q"), 9)
    assert len(asked) == 6


def test_no_hits(index):
    for by in (
        WeightedSum({"bm25": 1, "tfidf": 1}),
        WeightedSum({"bm25": 1, "tfidf": 1}, pool="union"),
        RankFusion(["bm25", "tfidf"]),
        Cascade("bm25", "tfidf", "binary"),
    ):
        assert len(index.search("zebra", ranking=by)) == 0
        assert len(index.search("", ranking=by)) == 0
        scorer = index._searcher().scorer(by)
        assert scorer.explain(scorer.of_text("zebra"), 0).score == 0


def test_single_candidate_scores_the_sum_of_the_weights(index):
    [hit] = index.search("birds", ranking=WeightedSum({"bm25": 1, "tfidf": 0.5}))
    assert hit.score == 1.5
    explained = hit.explain()
    assert explained.score == 1.5
    assert [part.value for part in explained.parts] == [1, 0.5]
    assert "all candidates have" in explained.parts[0].note
    for part in explained.parts:
        assert [inner.name for inner in part.parts] == ["birds"]
        assert part.parts[0].value == pytest.approx(part.value)
    [hit] = index.search("birds", ranking="hybrid")
    assert hit.score == pytest.approx(1)
    assert sum(part.value for part in hit.explain().parts) == pytest.approx(1)


def test_single_hit_of_one_ranking_counts_among_hits_of_the_others(searcher):
    nothing = [np.nan] * 7
    by = WeightedSum({Given([5.0, np.nan, *nothing]): 1, Given([0.5, 0.9, *nothing]): 1},
                     pool="union")  # fmt: skip
    ranked = searcher.scorer(by).best(("q", "q"), 10)
    assert dict(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)) == {0: 1, 1: 1}


def test_single_candidate_of_distances_scores_1(searcher):
    nothing = [np.nan] * 8
    by = WeightedSum({Given([7.0, *nothing], True): 1, Given([0.0, *nothing]): 1})
    scorer = searcher.scorer(by)
    assert scorer.best(("q", "q"), 10).scores.tolist() == [2]
    explained = scorer.explain(("q", "q"), 0)
    assert [(part.value, part.parts) for part in explained.parts] == [(1, ()), (1, ())]


def test_words_come_from_the_first_part_with_words(searcher):
    by = RankFusion([Given([1.0] * len(TEXTS)), "bm25"])
    scorer = searcher.scorer(by)
    assert list(scorer.words_of(scorer.of_text("cat"))) == ["cat"]
    with pytest.raises(ValueError, match="no words"):
        scorer.of_words({"cat": 1.0})
    wordless = searcher.scorer(RankFusion([Given([1.0] * len(TEXTS)), Given([2.0] * len(TEXTS))]))
    assert wordless.words_of(wordless.of_row(1)) is None
    both = searcher.scorer(RankFusion(["bm25", "tfidf"]))
    assert both.words_of(both.of_words({"cat": 2.0, "dog": 3.0})) == {"dog": 3.0, "cat": 2.0}


def test_feedback_refines_each_part(searcher):
    by = WeightedSum({"bm25": 1, Given([1.0] * len(TEXTS)): 1})
    scorer = searcher.scorer(by)
    query = scorer.of_text("cat")
    words, other = scorer.moved(query, [3], [2], FeedbackRound())
    bm25 = searcher.scorer(ranking_of("bm25"))
    alone = bm25.moved(bm25.of_text("cat"), [3], [2], FeedbackRound())
    np.testing.assert_array_equal(words.words, alone.words)
    np.testing.assert_array_equal(words.weights, alone.weights)
    assert other == "cat moved to [3] from [2]"


def test_stats_name_the_parts(searcher):
    by = RankFusion([Given([1.0] * len(TEXTS)), "bm25"])
    stats = searcher.scorer(by).best(searcher.scorer(by).of_text("cat"), 3).stats
    assert stats["candidates"] == len(TEXTS)
    assert stats["Given(9): asked"] == 1


# ---------------------------------------------------------------- with transport


@pytest.mark.parametrize("method", ["wmd", "rwmd", "wcd"])
def test_distances_are_negated_and_explained(index, method):
    by = WeightedSum({"bm25": 0.5, method: 0.5})
    found = index.search("cat song", 9, ranking=by)
    near = index.search("cat song", 9, ranking=method)
    scores = [near.scores[near.ids.index(id)] for id in found.ids]
    words = index.search("cat song", 9, ranking="bm25")
    for hit, far in zip(found, scores, strict=True):
        turned = (max(scores) - far) / (max(scores) - min(scores))
        score = words.scores[words.ids.index(hit.id)]
        up = (score - words.scores.min()) / (words.scores.max() - words.scores.min())
        assert hit.score == pytest.approx(0.5 * up + 0.5 * turned)
        explained = hit.explain()
        assert explained.score == pytest.approx(hit.score)
        for part in explained.parts:
            if part.parts:
                inside = sum(inner.value for inner in part.parts)
                assert inside == pytest.approx(part.value, abs=1e-6)


def test_cascade_of_distances_is_ascending(index):
    by = Cascade("bm25", "rwmd", "wmd", candidates=[5, 3])
    found = index.search("cat song", 3, ranking=by)
    assert (np.diff(found.scores) >= 0).all()
    near = index.search("cat song", 9, ranking="wmd")
    assert [hit.score for hit in found] == [near.scores[near.ids.index(id)] for id in found.ids]
    radius = float(found.scores[1])
    assert index.search("cat song", 3, ranking=by, threshold=radius).ids == found.ids[:2]
    assert found[0].explain().distance == pytest.approx(found[0].score)


def test_query_without_vectors_is_ranked_by_words(tmp_path):
    with Index.create(tmp_path / "codes.kin", language=None) as made:
        made.add(["xq17 xq17 manual", "xq17 part", "a cat"])
        found = made.search("xq17", ranking=WeightedSum({"bm25": 0.7, "wmd": 0.3}))
        assert found.ids == made.search("xq17", ranking="bm25").ids
        assert found[0].score == pytest.approx(0.7)
        assert len(made.search("xq17", ranking=Cascade("bm25", "wmd"))) == 0


def test_hybrids_in_hybrids_have_names(index):
    nested = RankFusion(["hybrid", "tfidf"])
    assert repr(nested) == "RankFusion(['hybrid', 'tfidf'], c=60, candidates=1000)"
    assert len(index.search("cat song", ranking=nested)) > 0


# ---------------------------------------------------------------- values


def test_equal_hybrids_are_equal_and_hashable(searcher):
    named = WeightedSum({"bm25": 0.8, "tfidf": 0.2})
    spelled = WeightedSum({TermRanking(): 0.8, TermRanking(TfIdf(), "cosine"): 0.2})
    assert named == spelled
    assert hash(named) == hash(spelled)
    assert searcher.scorer(named) is searcher.scorer(spelled)
    different = [
        named,
        WeightedSum({"bm25": 0.2, "tfidf": 0.8}),
        WeightedSum({"tfidf": 0.2, "bm25": 0.8}),
        WeightedSum({"bm25": 0.8, "tfidf": 0.2}, candidates=10),
        WeightedSum({"bm25": 0.8, "tfidf": 0.2}, pool="union"),
        RankFusion(["bm25", "tfidf"]),
        RankFusion(["bm25", "tfidf"], c=1),
        Cascade("bm25", "tfidf"),
        Cascade("bm25", "tfidf", candidates=10),
    ]
    assert len(set(different)) == len(different)


def test_repr():
    inner = RankFusion(["bm25", BM25(b=0.5)], c=10)
    assert (
        repr(inner)
        == "RankFusion(['bm25', TermRanking(BM25(b=0.5), 'inner')], c=10, candidates=1000)"
    )
    assert repr(Cascade(inner, "tfidf", "bm25", candidates=[50, 5])) == (
        f"Cascade({inner!r}, 'tfidf', 'bm25', candidates=[50, 5])"
    )


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: WeightedSum(["bm25"]), TypeError, "weights must be a mapping"),
        (lambda: WeightedSum({"bm25": 1}), ValueError, "at least two rankings; got 1"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": -1}), ValueError, "weight of 'tfidf' must be"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": np.nan}), ValueError, "weight of 'tfidf'"),
        (lambda: WeightedSum({"bm25": "1", "tfidf": 1}), TypeError, "weight of 'bm25'"),
        (lambda: WeightedSum({"bm25": 0, "tfidf": 0}), ValueError, "at least one value above 0"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": 1}, pool="all"), ValueError, "pool must be"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": 1}, candidates=0), ValueError, "candidates"),
        (lambda: RankFusion("bm25"), TypeError, "rankings must be a list"),
        (lambda: RankFusion(["bm25", 3]), TypeError, "ranking must be one of"),
        (lambda: RankFusion(["bm25", "tfidf"], c=-1), ValueError, "c must be"),
        (lambda: RankFusion([]), ValueError, "at least two rankings; got 0"),
        (lambda: Cascade("bm25"), ValueError, "at least two rankings; got 1"),
        (lambda: Cascade("bm25", "tfidf", candidates=[1, 2]), ValueError, "one number, or 1"),
        (lambda: Cascade("bm25", "tfidf", candidates=[0]), ValueError, "candidates must"),
        (lambda: Cascade("bm25", "tfidf", candidates="9"), TypeError, "candidates must be"),
    ],
)
def test_invalid_parameters_raise(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_unknown_name_is_a_model(index):
    by = WeightedSum({"bm25": 1, "nope": 1})
    assert repr(by) == "WeightedSum({'bm25': 1, 'nope': 1}, candidates=1000, pool='first')"
    with pytest.raises(ValueError, match="must name an attached model; got 'nope'"):
        index.search("cat", ranking=by)


def test_concurrent_threads(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5})
    expected = index.search("cat song", 9, ranking=by).ids
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(index.search("cat song", 9, ranking=by).ids))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
