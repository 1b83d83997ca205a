"""Tests of searches with bounds: rankings by a bound, and prefetch and prune."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from textkin import _core
from textkin.transport import WordMover

COSTS = ["euclidean", "cosine", "sqeuclidean"]
RANKINGS = ["wcd", "rwmd", "rwmd-query", "rwmd-document"]


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request):
    usual = _core.instruction_set()
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(usual)


class CoreResult:
    """Result of a search of the core, with named fields."""

    def __init__(self, answer):
        starts, self.rows, self.distances, counts, _seconds, verdicts, self.values = answer
        self.starts = starts
        self.counts = [dict(zip((*_core.VERDICTS, "refined"), row, strict=True)) for row in counts]
        self.verdicts = np.array(_core.VERDICTS)[verdicts] if verdicts.size else verdicts

    def __getitem__(self, q):
        part = slice(self.starts[q], self.starts[q + 1])
        return self.rows[part].tolist(), self.distances[part].tolist()

    def same(self, other):
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("starts", "rows", "distances")
        )


class Corpus:
    """Bags over vectors, searched in the core as `WordMover` does."""

    def __init__(self, table, bags, cost="euclidean", *, blocks=1, live=None, columns=None):
        self.mover = WordMover(np.asarray(table), cost=cost, empty="inf")
        self.table = self.mover._vector_table().vectors
        self.bags = sparse.csr_array(bags)
        parts, start = [], 0
        for part in np.array_split(np.arange(self.bags.shape[0]), blocks):
            rows = self.bags[start : start + len(part)]
            alive = None if live is None else live[start : start + len(part)].astype(np.uint8)
            data = rows.data.astype(np.float32 if len(parts) % 2 else np.float64)
            parts.append((rows.indptr.astype(np.int64), rows.indices.astype(np.int32), data, alive))
            start += len(part)
        words, weights = columns or (None, None)
        self.parts = parts
        self.searcher = _core.Searcher(self.table, cost, parts, self.bags.shape[1], words, weights)

    def queries(self, bags):
        return self.mover._document_rows(
            sparse.csr_array(bags), "queries", self.mover._vector_table()
        ).documents()

    def search(self, queries, algorithm, k=None, **options):
        options = {
            "points": None,
            "k": k,
            "radius": np.inf,
            "m": None,
            "mask": None,
            "without": None,
            "from_row": None,
            "table_memory": 1 << 24,
            "memory": 0,
            "threads": 1,
            "record": True,
            "progress": None,
            **options,
        }
        if not isinstance(queries, _core.Documents):
            queries = self.queries(queries)
        return CoreResult(self.searcher.search(queries, algorithm=algorithm, **options))


@st.composite
def corpora(draw):
    """Draw small corpora with duplicates, almost equal words, and empty documents."""
    words, dimension = draw(st.integers(3, 40)), draw(st.sampled_from([1, 2, 10, 60]))
    n = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.normal(size=(words, dimension)).astype(np.float32)
    if draw(st.booleans()):  # distances on a grid have ties
        table = np.rint(2 * table) + np.float32(9)
    tiny = draw(st.sampled_from([0.0, 1e-7, 1e-6]))
    table[words // 2 :] = table[: words - words // 2] * np.float32(1 + tiny)
    bags = rng.integers(1, 4, (n, words)) * (rng.random((n, words)) < 0.15)
    if draw(st.booleans()):
        bags = (bags * rng.random(words)).astype(np.float32)  # float32, like some blocks
    bags[rng.integers(n, size=n // 4)] = bags[rng.integers(n, size=n // 4)]
    queries = (rng.random((3, words)) < 0.2) * 1.0
    queries[0] = bags[0]
    return table, bags, queries


def bound(mover, name, queries, bags):
    return mover.pairwise(queries, bags, metric=name)


@pytest.mark.parametrize("cost", COSTS)
@given(corpus=corpora(), k=st.integers(1, 12), blocks=st.integers(1, 3))
@settings(max_examples=15)
def test_rankings_are_sorted_bounds(cost, corpus, k, blocks):
    table, bags, queries = corpus
    inside = Corpus(table, bags, cost, blocks=blocks)
    for algorithm in RANKINGS:
        values = bound(inside.mover, algorithm, queries, bags)
        found = inside.search(queries, algorithm, k)
        threaded = inside.search(queries, algorithm, k, threads=3, table_memory=1000)
        assert found.same(threaded), algorithm
        for q, row in enumerate(values):
            order = [i for i in np.argsort(row, kind="stable") if np.isfinite(row[i])]
            assert found[q] == (order[:k], row[order[:k]].tolist()), algorithm
            if np.any(queries[q]):
                assert found.counts[q]["solved"] == len(order)
                assert np.array_equal(found.values[q], row)
                radius = np.median(row[order]) if order else 1.0
                near = inside.search(queries[[q]], algorithm, radius=radius)
                assert near[0][0] == [i for i in order if row[i] <= radius]


@pytest.mark.parametrize("cost", COSTS)
def test_prefetch_equals_brute_force(cost, instruction_set):
    @given(corpora(), st.integers(1, 12), st.integers(1, 3))
    @settings(max_examples=20)
    def check(corpus, k, blocks):
        table, bags, queries = corpus
        inside = Corpus(table, bags, cost, blocks=blocks)
        exact = inside.search(queries, "brute", k)
        found = inside.search(queries, "prefetch", k)
        assert found.same(exact)
        for options in ({"threads": 2}, {"threads": 4, "table_memory": 1}, {"m": len(bags)}):
            again = inside.search(queries, "prefetch", k, **options)
            assert again.same(exact), options
            assert np.array_equal(again.verdicts, found.verdicts)
            assert np.array_equal(again.values, found.values)
        for q in range(len(queries)):
            if np.any(queries[q]):
                assert sum(found.counts[q].values()) == len(bags)
            bounds = np.isin(found.verdicts[q], ["relaxed", "centroid", "not_reached"])
            limit = exact.values[q][bounds] * (1 + 2e-6) + 1e-9
            assert np.all(found.values[q][bounds] <= limit)
        for radius in {0.0, *exact.distances[:2].tolist()}:
            for some in (None, k):
                near = inside.search(queries, "prefetch", some, radius=radius)
                assert near.same(inside.search(queries, "brute", some, radius=radius))

    check()


@given(corpora(), st.integers(1, 6), st.integers(0, 30))
@settings(max_examples=30)
def test_prefetch_compares_the_first_m_by_centroid(corpus, k, more):
    table, bags, queries = corpus
    inside = Corpus(table, bags)
    exact, wcd = inside.search(queries, "brute"), inside.search(queries, "wcd")
    found = inside.search(queries, "prefetch", k, m=k + more)
    for q in range(len(queries)):
        first = wcd[q][0][: k + more]
        distances = exact.values[q]
        best = sorted(first, key=lambda row: (distances[row], row))[:k]
        assert found[q] == (best, distances[best].tolist())
        if not np.any(queries[q]):
            continue
        assert found.counts[q]["not_reached"] == max(0, len(wcd[q][0]) - k - more)
        if more == 0:  # the ranking by centroids, with exact distances
            assert sorted(found[q][0]) == sorted(first)
            assert found.counts[q]["solved"] == len(first)
    near = inside.search(queries, "prefetch", radius=1.0, m=k + more)
    for q in range(len(queries)):
        first = wcd[q][0][: k + more]
        assert sorted(near[q][0]) == sorted(row for row in first if exact.values[q][row] <= 1.0)


def test_prefetch_solves_only_documents_within_bounds(rng):
    centres = rng.normal(size=(6, 30)) * 4
    table = np.repeat(centres, 20, axis=0) + rng.normal(size=(120, 30)) / 4
    bags = np.zeros((300, 120))
    for row, bag in enumerate(bags):
        bag[20 * (row % 6) + rng.integers(20, size=5)] += 1
    inside = Corpus(table, bags)
    found = inside.search(bags[:4], "prefetch", 5)
    assert found.same(inside.search(bags[:4], "brute", 5))
    for counts in found.counts:
        assert counts["solved"] < 100
        assert counts["centroid"] + counts["relaxed"] + counts["solved"] == 300
        assert counts["centroid"] > 150


@pytest.mark.parametrize("algorithm", ["prefetch", *RANKINGS])
def test_masked_and_deleted_rows_are_never_found(algorithm, rng):
    table = rng.normal(size=(25, 4))
    bags = rng.integers(0, 2, (40, 25)) * (rng.random((40, 25)) < 0.4)
    bags[7] = 0
    live = rng.random(40) < 0.8
    mask = (rng.random(40) < 0.7).astype(np.uint8)
    whole = Corpus(table, bags)
    some = Corpus(table, bags, blocks=4, live=live)
    queries = np.arange(3)
    options = {
        "mask": mask,
        "without": np.array([0, -1, 2]),
        "from_row": np.array([0, 10, 0]),
    }
    found = some.search(bags[queries], algorithm, 10, **options)
    everything = whole.search(bags[queries], algorithm)
    for q in range(3):
        rows, distances = everything[q]
        kept = [
            (row, distance)
            for row, distance in zip(rows, distances, strict=True)
            if live[row]
            and mask[row]
            and row != options["without"][q]
            and row >= options["from_row"][q]
        ]
        assert found[q] == ([row for row, _ in kept[:10]], [d for _, d in kept[:10]])
        assert found.counts[q]["left_out"] + found.counts[q]["empty"] == 40 - len(kept)


@pytest.mark.parametrize("algorithm", ["prefetch", *RANKINGS])
def test_columns_map_to_words_in_any_order_with_weights(algorithm, rng):
    table = rng.normal(size=(20, 4)).astype(np.float32)
    words = np.array([7, -1, 3, 3, 19, 0, 12, -1, 5, 5, 1, 2], dtype=np.int32)
    weights = rng.random(12)
    bags = rng.integers(0, 3, (30, 12))
    meant = np.zeros((30, 20))
    for column, (word, weight) in enumerate(zip(words, weights, strict=True)):
        if word >= 0:
            meant[:, word] += bags[:, column] * weight
    queries = rng.integers(0, 2, (4, 20)) + np.eye(4, 20, dtype=int)
    mapped = Corpus(table, bags, blocks=2, columns=(words, weights))
    # float32 blocks hold the counts exactly; the products with weights need float64
    plain = Corpus(table, meant)
    assert mapped.search(queries, algorithm, 9).same(plain.search(queries, algorithm, 9))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("algorithm", ["prefetch", *RANKINGS])
def test_queries_can_have_their_own_points(algorithm, cost, rng):
    bags = rng.integers(0, 3, (30, 20))
    joined = Corpus(rng.normal(size=(23, 6)), np.pad(bags, ((0, 0), (0, 3))), cost)
    table, points = joined.table[:20].copy(), joined.table[20:].copy()
    indices = np.array([4, 20, 21, 3, 22], dtype=np.int32)
    queries = _core.Documents(np.array([0, 3, 5]), indices, np.array([1.0, 2, 1, 1, 3]), 23)
    inside = Corpus(table, bags, "euclidean" if cost == "cosine" else cost)
    inside.searcher = _core.Searcher(table, cost, [inside.parts[0]], 20, None, None)
    found = inside.search(queries, algorithm, 7, points=points, threads=2)
    assert found.same(joined.search(queries, algorithm, 7))


@pytest.mark.parametrize("algorithm", ["prefetch", *RANKINGS])
def test_exception_in_progress_stops_the_search(algorithm, rng):
    table = rng.normal(size=(3000, 50)).astype(np.float32)
    bags = sparse.random_array((3000, 3000), density=0.02, rng=rng, format="csr")
    inside = Corpus(table, bags)

    class StopRequest(Exception):
        pass

    def stop(_done, _total):
        raise StopRequest

    with pytest.raises(StopRequest):
        inside.search(bags[:300], algorithm, 5, progress=stop, record=False)
    assert inside.search(bags[:1], "wcd", 1)[0][0] == [0]
