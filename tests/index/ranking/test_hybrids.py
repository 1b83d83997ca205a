"""Rankings made of rankings, against the obvious way over all documents."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import load_script
from textkin import Index
from textkin.index import Cascade, RankFusion, WeightedSum
from textkin.index.ranking import TermRanking
from textkin.index.ranking._choosing import ranking_of
from textkin.index.ranking._feedback import Rocchio
from textkin.weighting import BM25, TfIdf

scores = load_script("tests/index/ranking/given_scores.py")
TEXTS, Given, GivenRanker = scores.TEXTS, scores.Given, scores.GivenRanker


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    with Index.create(tmp_path_factory.mktemp("hybrids") / "test.kin") as made:
        made.add(TEXTS)
        yield made


@pytest.fixture(scope="module")
def view(index):
    return index._view()


def pairs(hits):
    return [
        (int(id), pytest.approx(score)) for id, score in zip(hits.ids, hits.scores, strict=True)
    ]


# ---------------------------------------------------------------- METHODS 18


def test_the_numbers_of_the_reference(view):
    nothing = [np.nan] * 6
    by = WeightedSum({Given([10, 6, 2, *nothing]): 0.8, Given([0.2, 0.8, 0.4, *nothing]): 0.2})
    ranked = by.on(view).best(by.on(view).of_text("any"), 10)
    assert ranked.rows.tolist() == [0, 1, 2]
    np.testing.assert_allclose(ranked.scores, [0.8, 0.6, 0.2 / 3])


def test_rank_fusion_sums_reciprocal_ranks(view):
    nothing = [np.nan] * 5
    by = RankFusion([Given([4, 3, 2, 1, *nothing]), Given([2, 1, 3, np.nan, *nothing], True)])
    ranked = by.on(view).best(("q", "q"), 10)
    expected = {0: 1 / 61 + 1 / 62, 1: 1 / 62 + 1 / 61, 2: 1 / 63 + 1 / 63, 3: 1 / 64}
    assert ranked.rows.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(ranked.scores, list(expected.values()))


def test_a_cascade_orders_the_candidates_of_its_first_stage(index):
    first = index.search("cat dog", 4, by="bm25")
    found = index.search("cat dog", 4, by=Cascade("bm25", "cosine", candidates=4))
    assert set(found.ids) == set(first.ids)
    every = index.search("cat dog", 9, by="cosine")
    assert pairs(found) == [(int(hit.id), hit.score) for hit in every if hit.id in first.ids]


# ---------------------------------------------------------------- the obvious way

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
    """The rows that a part finds, the best first, with their scores."""
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
    return sorted(total.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))


def obvious_fusion(parts, candidates, mask):
    total = {}
    for part, _ in parts:
        for rank, (row, _) in enumerate(found_by(part, mask)[:candidates], 1):
            total[row] = total.get(row, 0.0) + 1 / (60 + rank)
    return sorted(total.items(), key=lambda pair: (-round(pair[1], 12), pair[0]))


def agree(ranked, expected, near=1e-9):
    """The same rows in the same order, but for scores that differ by rounding alone."""
    assert sorted(ranked.rows.tolist()) == sorted(row for row, _ in expected)
    of_row = dict(expected)
    for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
        assert score == pytest.approx(of_row[row], abs=near)
    assert (np.diff(ranked.scores) <= 0).all()
    ties = np.flatnonzero(np.diff(ranked.scores) == 0)
    assert (ranked.rows[ties] < ranked.rows[ties + 1]).all()


@settings(max_examples=80)
@given(PARTS, st.sampled_from([1, 2, 4, 9, 50]), st.sampled_from(["first", "union"]), MASKS)
def test_a_weighted_sum_is_the_obvious_one(view, parts, candidates, pool, mask):
    by = WeightedSum(dict(parts), candidates=candidates, pool=pool)
    ranker = by.bind(view)
    same = list(zip(by.parts, by.weights, strict=True))
    expected = obvious_sum(same, candidates, pool, mask & view.live)
    ranked, _ = ranker._ranked(ranker.of_text("q"), mask)
    agree(ranked, expected)
    for row, score in expected:
        explained = ranker.explain_among(ranker.of_text("q"), row, mask)
        assert explained.score == pytest.approx(score, abs=1e-9)
        for part in explained.parts:
            if part.parts:
                inside = sum(inner.value for inner in part.parts)
                assert inside == pytest.approx(part.value, abs=1e-9)


@settings(max_examples=60)
@given(PARTS, st.sampled_from([1, 3, 9, 50]), MASKS)
def test_a_rank_fusion_is_the_obvious_one(view, parts, candidates, mask):
    by = RankFusion([part for part, _ in parts], candidates=candidates)
    ranker = by.bind(view)
    expected = obvious_fusion(parts, candidates, mask & view.live)
    ranked, _ = ranker._ranked(ranker.of_text("q"), mask)
    agree(ranked, expected, 1e-12)
    for row, score in expected:
        explained = ranker.explain_among(ranker.of_text("q"), row, mask)
        assert explained.score == pytest.approx(score)


@settings(max_examples=60)
@given(PARTS, st.sampled_from([1, 3, 9]), MASKS)
def test_a_cascade_is_the_obvious_one(view, parts, candidates, mask):
    by = Cascade(*(part for part, _ in parts), candidates=candidates)
    ranker = by.bind(view)
    among = mask & view.live
    for part, _ in parts[:-1]:
        kept = [row for row, _ in found_by(part, among)[:candidates]]
        among = np.isin(np.arange(len(among)), kept)
    expected = found_by(parts[-1][0], among)
    ranked, _ = ranker._ranked(ranker.of_text("q"), mask)
    assert list(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)) == expected
    assert ranker.ascending == parts[-1][0].ascending


@settings(max_examples=60)
@given(PARTS, MASKS, st.sampled_from([None, -1.0, 0.0, 0.5, 1.0]), st.integers(1, 12))
def test_limits_and_thresholds_cut_the_whole_list(view, parts, mask, threshold, limit):
    rankings = [part for part, _ in parts]
    for by in (WeightedSum(dict(parts)), RankFusion(rankings), Cascade(*rankings)):
        ranker = by.bind(view)
        query = ranker.of_text("q")
        every = ranker.best(query, 100, None, mask)
        some = ranker.best(query, limit, threshold, mask)
        near = np.ones(len(every.rows), np.bool_)
        if threshold is not None:
            near = every.scores <= threshold if ranker.ascending else every.scores >= threshold
        assert some.rows.tolist() == every.rows[near][:limit].tolist()
        assert some.scores.tolist() == every.scores[near][:limit].tolist()


# ---------------------------------------------------------------- in an index


@pytest.mark.parametrize("pool", ["first", "union"])
def test_word_rankings_in_an_index(index, pool):
    by = WeightedSum({"bm25": 0.7, "tfidf": 0.3}, pool=pool)
    lists = {name: index.search("cat song", 9, by=name) for name in ("bm25", "tfidf")}
    expected = {}
    for name, weight in (("bm25", 0.7), ("tfidf", 0.3)):
        scores = lists[name].scores
        for hit in lists[name]:
            up = (hit.score - scores.min()) / (scores.max() - scores.min())
            expected[hit.id] = expected.get(hit.id, 0) + weight * up
    found = index.search("cat song", 9, by=by)
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
    found = index.search("cat song", 9, by=outer)
    assert len(found) == len(index.search("cat song", 9, by="tfidf"))
    summed = WeightedSum({"tfidf": 0.5, inner: 0.5})
    for hit in index.search("cat song", 9, by=summed):
        explained = hit.explain()
        assert explained.score == pytest.approx(hit.score)
        assert all(
            sum(inside.value for inside in part.parts) == pytest.approx(part.value, abs=1e-9)
            for part in explained.parts
            if part.parts
        )


def test_paging_ends_with_the_candidates_and_says_so(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=4)
    every = index.search("cat dog", 4, by=by)
    pages = [index.search("cat dog", 2, by=by, offset=offset).ids for offset in (0, 2)]
    assert pages[0] + pages[1] == every.ids
    beyond = index.search("cat dog", 3, by=by, offset=3)
    assert beyond.ids == every.ids[3:]
    assert any("Only the best 4 documents" in note for note in beyond.notes)
    assert not any("Only the best" in note for note in every.notes)
    assert list(index.search("cat dog", 2, by=by, offset=4)) == []
    assert len(index.search("birds", 50, by=by)) == 1  # no more than one has the word
    for other in (Cascade("bm25", "tfidf", candidates=2), RankFusion(["bm25"] * 2, candidates=2)):
        hits = index.search("cat dog", 3, by=other)
        assert len(hits) == 2
        assert any("Only the best 2 documents" in note for note in hits.notes)


def test_all_pages_of_a_hybrid_can_be_turned(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5}, candidates=4)
    every = index.search("cat dog", 4, by=by).ids
    hits, seen = index.search("cat dog", 3, by=by), []
    while hits:
        seen += hits.ids
        hits = hits.next()
    assert seen == every


@pytest.mark.parametrize(
    "make", [lambda *p: WeightedSum(dict.fromkeys(p, 1.0)), lambda *p: RankFusion(p)]
)
def test_pages_and_explanations_search_once(view, make, monkeypatch):
    asked = []
    plain = GivenRanker.best
    monkeypatch.setattr(
        GivenRanker, "best", lambda self, *rest: asked.append(1) or plain(self, *rest)
    )
    by = make(Given(range(9)), Given(range(9), True))
    ranker = by.bind(view)
    query = ranker.of_text("q")
    whole = ranker.best(query, 9)
    assert len(asked) == 2
    assert ranker.best(query, 3).rows.tolist() == whole.rows[:3].tolist()
    scores = [ranker.explain_among(query, int(row), None).score for row in whole.rows]
    np.testing.assert_allclose(scores, whole.scores)
    assert len(asked) == 2
    ranker.best(query, 9, None, np.arange(9) < 4)
    ranker.best(ranker.of_text("q"), 9)
    assert len(asked) == 6


def test_nothing_found_is_an_empty_list(index):
    for by in (
        WeightedSum({"bm25": 1, "tfidf": 1}),
        WeightedSum({"bm25": 1, "tfidf": 1}, pool="union"),
        RankFusion(["bm25", "tfidf"]),
        Cascade("bm25", "tfidf", "binary"),
    ):
        assert len(index.search("zebra", by=by)) == 0
        assert len(index.search("", by=by)) == 0
        ranker = by.on(index._view())
        assert ranker.explain(ranker.of_text("zebra"), 0).score == 0


def test_one_candidate_scores_0_and_is_found(index):
    [hit] = index.search("birds", by=WeightedSum({"bm25": 1, "tfidf": 1}))
    assert hit.score == 0
    assert "all candidates have" in hit.explain().parts[0].note


def test_words_are_those_of_the_first_part_that_has_some(view):
    by = RankFusion([Given([1.0] * len(TEXTS)), "bm25"])
    ranker = by.on(view)
    assert list(ranker.words_of(ranker.of_text("cat"))) == ["cat"]
    with pytest.raises(ValueError, match="no words"):
        ranker.of_words({"cat": 1.0})
    wordless = RankFusion([Given([1.0] * len(TEXTS)), Given([2.0] * len(TEXTS))]).on(view)
    assert wordless.words_of(wordless.of_row(1)) is None
    both = RankFusion(["bm25", "tfidf"]).on(view)
    assert both.words_of(both.of_words({"cat": 2.0, "dog": 3.0})) == {"dog": 3.0, "cat": 2.0}


def test_every_part_moves_its_own_query(view):
    by = WeightedSum({"bm25": 1, Given([1.0] * len(TEXTS)): 1})
    ranker = by.on(view)
    query = ranker.of_text("cat")
    words, other = ranker.moved(query, [3], [2], Rocchio())
    bm25 = ranking_of("bm25").on(view)
    alone = bm25.moved(bm25.of_text("cat"), [3], [2], Rocchio())
    np.testing.assert_array_equal(words.words, alone.words)
    np.testing.assert_array_equal(words.weights, alone.weights)
    assert other == "cat moved to [3] from [2]"


def test_stats_name_the_parts(view):
    by = RankFusion([Given([1.0] * len(TEXTS)), "bm25"])
    stats = by.on(view).best(by.on(view).of_text("cat"), 3).stats
    assert stats["candidates"] == len(TEXTS)
    assert stats["Given(9): asked"] == 1


# ---------------------------------------------------------------- with transport


@pytest.mark.parametrize("method", ["wmd", "rwmd", "wcd"])
def test_distances_are_turned_and_explained(index, method):
    by = WeightedSum({"bm25": 0.5, method: 0.5})
    found = index.search("cat song", 9, by=by)
    near = index.search("cat song", 9, by=method)
    scores = [near.scores[near.ids.index(id)] for id in found.ids]
    words = index.search("cat song", 9, by="bm25")
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


def test_a_cascade_of_distances_is_ascending(index):
    by = Cascade("bm25", "rwmd", "wmd", candidates=[5, 3])
    found = index.search("cat song", 3, by=by)
    assert (np.diff(found.scores) >= 0).all()
    near = index.search("cat song", 9, by="wmd")
    assert [hit.score for hit in found] == [near.scores[near.ids.index(id)] for id in found.ids]
    radius = float(found.scores[1])
    assert index.search("cat song", 3, by=by, threshold=radius).ids == found.ids[:2]
    assert found[0].explain().distance == pytest.approx(found[0].score)


def test_a_query_without_vectors_is_ranked_by_words_alone(tmp_path):
    with Index.create(tmp_path / "codes.kin") as made:
        made.add(["xq17 xq17 manual", "xq17 part", "a cat"])
        found = made.search("xq17", by=WeightedSum({"bm25": 0.7, "wmd": 0.3}))
        assert found.ids == made.search("xq17", by="bm25").ids
        assert found[0].score == pytest.approx(0.7)
        assert len(made.search("xq17", by=Cascade("bm25", "wmd"))) == 0


def test_the_usual_hybrid(index):
    usual = ranking_of("hybrid")
    assert usual == WeightedSum({"bm25": 0.5, "tfidf": 0.2, "wmd": 0.3}, candidates=200)
    assert index.search("cat song", by="hybrid").ids == index.search("cat song", by=usual).ids
    nested = RankFusion(["hybrid", "tfidf"])
    assert repr(nested) == "RankFusion(['hybrid', 'tfidf'], c=60, candidates=1000)"
    assert len(index.search("cat song", by=nested)) > 0


# ---------------------------------------------------------------- values


def test_equal_hybrids_are_one_and_the_same(view):
    named = WeightedSum({"bm25": 0.8, "tfidf": 0.2})
    spelled = WeightedSum({BM25(): 0.8, TermRanking(TfIdf(), "cosine"): 0.2})
    assert named == spelled
    assert hash(named) == hash(spelled)
    assert named.on(view) is spelled.on(view)
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


def test_how_they_show_themselves():
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
        (lambda: WeightedSum({"bm25": 1}), ValueError, "two rankings or more; got 1"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": -1}), ValueError, "weight of 'tfidf' must be"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": np.nan}), ValueError, "weight of 'tfidf'"),
        (lambda: WeightedSum({"bm25": "1", "tfidf": 1}), TypeError, "weight of 'bm25'"),
        (lambda: WeightedSum({"bm25": 0, "tfidf": 0}), ValueError, "one above 0"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": 1}, pool="all"), ValueError, "pool must be"),
        (lambda: WeightedSum({"bm25": 1, "tfidf": 1}, candidates=0), ValueError, "candidates"),
        (lambda: RankFusion("bm25"), TypeError, "rankings must be a list"),
        (lambda: RankFusion(["bm25", 3]), TypeError, "by must be one of"),
        (lambda: RankFusion(["bm25", "tfidf"], c=-1), ValueError, "c must be"),
        (lambda: RankFusion([]), ValueError, "two rankings or more; got 0"),
        (lambda: Cascade("bm25"), ValueError, "two rankings or more; got 1"),
        (lambda: Cascade("bm25", "tfidf", candidates=[1, 2]), ValueError, "one number, or 1"),
        (lambda: Cascade("bm25", "tfidf", candidates=[0]), ValueError, "candidates must"),
        (lambda: Cascade("bm25", "tfidf", candidates="9"), TypeError, "candidates must be"),
    ],
)
def test_wrong_parameters_are_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()


def test_a_name_that_nobody_has_is_taken_for_a_model(index):
    by = WeightedSum({"bm25": 1, "nope": 1})
    assert repr(by) == "WeightedSum({'bm25': 1, 'nope': 1}, candidates=1000, pool='first')"
    with pytest.raises(ValueError, match="No model is called 'nope'"):
        index.search("cat", by=by)


def test_several_threads_at_once(index):
    by = WeightedSum({"bm25": 0.5, "tfidf": 0.5})
    expected = index.search("cat song", 9, by=by).ids
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(index.search("cat song", 9, by=by).ids))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
