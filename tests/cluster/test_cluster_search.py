"""Searches on workers are bit-identical to searches in one process, including ties."""

import gc
import random
import shutil
import weakref
from unittest import mock

import numpy as np
import pytest

from cluster.stores import TEXTS, WORDS, filled, record
from textkin import BM25, Index, TfIdf, WordMover, WordVectors
from textkin.index import (
    ClusterRanking,
    RankFusion,
    TermRanking,
    TransportRanking,
)
from textkin.index.distributed import _cluster_ranking as _cluster
from textkin.index.distributed import _snapshot_description, _workers
from textkin.index.store import _writer
from textkin.index.store._segment import Segment, SegmentDamage

RANKINGS = {
    "wmd": "wmd",
    "wmd, few tables": TransportRanking("wmd", memory=4096),
    "wmd, tf-idf masses": TransportRanking("wmd", word_weights="tfidf"),
    "wmd, cosine cost": WordMover(cost="cosine"),
    "rwmd": "rwmd",
    "wcd": "wcd",
    "bm25": "bm25",
    "bm25, normed": BM25(norm="l2"),
    "tfidf": "tfidf",
    "tfidf, inner": TermRanking(TfIdf(), "inner"),
}
QUERIES = [TEXTS[3], TEXTS[40], "cats sleep", "zyxxy", "river bank money zyxxy", ""]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Return an index of several segments, with deleted, duplicate, and recent documents."""
    folder = tmp_path_factory.mktemp("store")
    with filled(folder / "test.kin") as index:
        yield index


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_cluster, "_ROWS", (4, 12))


def assert_same(found, expected):
    assert found.ids == expected.ids
    assert found.scores.tobytes() == expected.scores.tobytes()


@pytest.mark.parametrize("by", RANKINGS.values(), ids=RANKINGS)
def test_results_equal_one_process(store, client, by):
    spread = ClusterRanking(by, client)
    for query in QUERIES:
        assert_same(store.search(query, 7, ranking=spread), store.search(query, 7, ranking=by))
    assert_same(
        store.search(QUERIES[0], 500, ranking=spread), store.search(QUERIES[0], 500, ranking=by)
    )


@pytest.mark.parametrize(
    "place",
    [{}, {"n_jobs": 3}, {"executor": "joblib", "n_jobs": 2}],
    ids=["one thread", "threads", "joblib"],
)
def test_results_without_a_cluster(store, place):
    for by in ("wmd", "bm25"):
        spread = ClusterRanking(by, **place)
        for query in QUERIES[:3]:
            assert_same(store.search(query, ranking=spread), store.search(query, ranking=by))


@pytest.mark.parametrize("by", ["wmd", "bm25", "tfidf"])
def test_filters_pages_thresholds_and_neighbors(store, client, by):
    spread = ClusterRanking(by, client)
    query = TEXTS[5]
    for where in ("n < 30", "odd = true", "n >= 1000"):
        found, expected = (store.search(query, ranking=one, where=where) for one in (spread, by))
        assert_same(found, expected)
    page, expected = (store.search(query, 4, ranking=one, offset=3) for one in (spread, by))
    assert_same(page, expected)
    assert_same(page.next(), expected.next())
    middle = float(expected.scores[1])  # a score equal to the limit is sufficient
    assert_same(
        store.search(query, 50, ranking=spread, threshold=middle),
        store.search(query, 50, ranking=by, threshold=middle),
    )
    assert_same(store.similar("d17", ranking=spread), store.similar("d17", ranking=by))
    assert_same(
        store.search({"river": 2.0, "cats": 1.0}, ranking=spread),
        store.search({"river": 2.0, "cats": 1.0}, ranking=by),
    )


@pytest.mark.parametrize("by", ["wmd", "bm25"])
def test_hits_support_documents_and_explanations(store, client, by):
    found, expected = (
        store.search(TEXTS[5], ranking=one) for one in (ClusterRanking(by, client), by)
    )
    assert found.query == expected.query
    assert found.unknown_words == expected.unknown_words
    assert found.notes == expected.notes
    assert found[0].explain().to_dict() == expected[0].explain().to_dict()
    assert_same(found.feedback(["d3"], ["d8"]), expected.feedback(["d3"], ["d8"]))
    assert_same(found.pseudo_feedback(3), expected.pseudo_feedback(3))


def test_stats_add_up(store, client):
    found = store.search(TEXTS[5], ranking=ClusterRanking("wmd", client), where="n < 50")
    expected = store.search(TEXTS[5], ranking="wmd", where="n < 50")
    stats = found.stats
    assert set(stats) == set(expected.stats)
    removed = sum(number for name, number in stats.items() if name.startswith("removed_"))
    assert stats["documents"] == stats["empty"] + stats["left_out"] + removed + stats["solved"]
    for name in ("documents", "searched", "empty", "left_out", "query_known", "query_total"):
        assert stats[name] == expected.stats[name]


def test_hybrid_of_distributed_rankings(store, client):
    parts = [ClusterRanking("bm25", client), ClusterRanking("wmd", client)]
    assert_same(
        store.search(TEXTS[5], ranking=RankFusion(parts)),
        store.search(TEXTS[5], ranking=RankFusion(["bm25", "wmd"])),
    )


def test_later_blocks_use_the_limit_of_earlier_blocks(store, monkeypatch):
    """With one thread, blocks run in sequence, and each has the limit of the earlier blocks."""
    seen = []
    original = _workers.Search.__call__

    def watched(self, block, *, memory):
        seen.append(block.thresholds)
        return original(self, block, memory=memory)

    monkeypatch.setattr(_workers.Search, "__call__", watched)
    found = store.search(TEXTS[5], 3, ranking=ClusterRanking("wmd", memory="1MB"))
    # the first half reported that it is new
    limits = [limit for (limit,) in seen[len(seen) // 2 :]]
    assert len(limits) >= 3
    assert limits == sorted(limits, reverse=True)
    assert limits[-1] >= found.scores[-1]


def test_by_the_address_of_a_scheduler(store, cluster):
    spread = ClusterRanking("wmd", cluster.scheduler_address)
    assert_same(store.search(TEXTS[5], ranking=spread), store.search(TEXTS[5], ranking="wmd"))


@pytest.mark.slow  # starts its own cluster; test_map_blocks.py has the fast case
def test_killed_workers_are_replaced(store, mortal, kill_workers, monkeypatch):
    """After the first block, both workers are killed; new workers open their segments again."""
    spread = ClusterRanking("wmd", mortal, memory="32MB")
    store.search(TEXTS[40], ranking=spread)
    killed = []
    original = _cluster._take

    def take(best, found, start):
        original(best, found, start)
        if start == 0 and not killed:
            killed.extend(kill_workers())

    monkeypatch.setattr(_cluster, "_take", take)
    assert_same(store.search(TEXTS[5], ranking=spread), store.search(TEXTS[5], ranking="wmd"))
    assert len(killed) == 2


def test_an_empty_index_and_one_without_segments(tmp_path, client):
    spread = ClusterRanking("wmd", client)
    with Index.create(tmp_path / "test.kin", language=None) as index:
        assert index.search("cats", ranking=spread).ids == []
        index.add(["cats purr", "dogs bark"])
        assert_same(
            index.search("a kitten", ranking=spread), index.search("a kitten", ranking="wmd")
        )


def test_search_sees_one_snapshot_during_writes(tmp_path, client):
    """Despite deletions, merges, and compaction, a reader finds the documents of its snapshot."""
    with filled(tmp_path / "test.kin") as writer, Index.open(writer.path) as reader:
        spread = ClusterRanking("wmd", client)
        first = reader.search(TEXTS[5], ranking=spread)
        expected = reader.search(TEXTS[5], ranking="wmd")
        writer.delete(expected.ids[:3])
        writer.add([record(n, f"new{n}") for n in range(200, 260)])
        writer.compact()
        assert_same(first, expected)
        assert_same(reader.search(TEXTS[5], ranking=spread), expected)
        # its workers have not opened anything
        fresh = ClusterRanking("wmd", client, memory="64MB")
        assert_same(reader.search(TEXTS[5], ranking=fresh), expected)
        reader.refresh()
        assert reader.search(TEXTS[5], ranking="wmd").ids != expected.ids
        assert_same(reader.search(TEXTS[5], ranking=spread), reader.search(TEXTS[5], ranking="wmd"))


@pytest.mark.parametrize("seed", range(3))
def test_ties_at_the_last_rank_and_at_the_threshold(tmp_path, seed, monkeypatch):
    """With integer vectors and counts, many documents share most distances."""
    rng = random.Random(seed)
    monkeypatch.setattr(_cluster, "_ROWS", (rng.choice([1, 4]), rng.choice([2, 12])))
    points = np.random.default_rng(seed).choice([-1.0, 1.0], size=(6, 2)).astype(np.float32)
    texts = [" ".join(rng.choices(WORDS[:7], k=rng.randrange(4))) for _ in range(60)]
    with (
        mock.patch.multiple(_writer, _TAIL_DOCUMENTS=12),
        Index.create(
            tmp_path / "test.kin", vectors=WordVectors(WORDS[:6], points), language=None
        ) as index,
    ):
        for start in range(0, 60, 10):
            index.add([record(n, texts[n]) for n in range(start, start + 10)])
        index.delete([f"d{n}" for n in rng.sample(range(60), 9)])
        for by in ("wmd", "rwmd", "wcd", "bm25", "inner", "binary"):
            spread = ClusterRanking(by, n_jobs=rng.choice([None, 2]))
            for query in rng.sample(texts, 4):
                for k in (1, 3, 8, 500):
                    expected = index.search(query, k, ranking=by)
                    assert_same(index.search(query, k, ranking=spread), expected)
                    for threshold in {*expected.scores[-1:].tolist()}:
                        assert_same(
                            index.search(query, k, ranking=spread, threshold=threshold),
                            index.search(query, k, ranking=by, threshold=threshold),
                        )


@pytest.mark.parametrize("by", ["wmd", "bm25", "tfidf"])
def test_segments_merged_before_a_worker_opens_them(tmp_path, by):
    """Query words may be in any segment, even if the segment of the block exists."""
    with filled(tmp_path / "test.kin") as index:
        expected = index.search(TEXTS[5], ranking=by)
        files = sorted((index.path / "segments").iterdir())
        assert len(files) > 2
        files[1].unlink()
        assert_same(index.search(TEXTS[5], ranking=ClusterRanking(by)), expected)


def test_recreated_index_with_other_vectors(tmp_path):
    """Workers cache vectors by index, not by path."""
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        vectors = WordVectors(WORDS, rng.normal(size=(len(WORDS), 8)).astype(np.float32))
        with Index.create(tmp_path / "test.kin", vectors=vectors, language=None) as index:
            index.add(TEXTS)
            index.compact()
            found = index.search("river bank", ranking=ClusterRanking("wmd"))
            assert_same(found, index.search("river bank", ranking="wmd"))
        shutil.rmtree(tmp_path / "test.kin")


@pytest.mark.parametrize("by", ["wmd", "bm25"])
def test_old_snapshot_is_released(tmp_path, by):
    """Its files and read transaction are released immediately, not by garbage collection."""
    with filled(tmp_path / "test.kin") as index:
        sorted((index.path / "segments").iterdir())[1].unlink()  # some blocks are searched here
        states = []
        try:
            gc.disable()
            for number in range(8):
                index.search(TEXTS[5], ranking=ClusterRanking(by, memory=f"{number + 1}MB"))
                if by == "wmd":
                    index.near_pairs(1.0, tmp_path / f"near{number}", ranking=by)
                states.append(weakref.ref(index._searcher().state.snapshot))
                for one in _workers._states.values():
                    states += [weakref.ref(one), weakref.ref(one.opened)]
                index.add([record(200 + number, "cats")])
            there = {id(one()) for one in states if one() is not None}
            assert there <= {id(one) for one in _workers._states.values()} | {
                id(one.opened) for one in _workers._states.values()
            }
            assert len(_workers._states) == 4
        finally:
            gc.enable()


def test_query_document_is_not_cached(store):
    scorer = store._searcher().scorer(ClusterRanking("wmd", memory="3MB"))
    asked = scorer.of_row(3)
    scorer.best(asked, 5)
    words = weakref.ref(asked.bag.words)
    del asked
    scorer.best(scorer.of_row(7), 5)
    gc.collect()
    assert words() is None


def test_index_that_replaces_an_open_one(tmp_path):
    """Its segments may be byte-identical, but its vectors differ."""

    def create(seed):
        points = np.random.default_rng(seed).normal(size=(len(WORDS), 8)).astype(np.float32)
        index = Index.create(
            tmp_path / "test.kin", vectors=WordVectors(WORDS, points), language=None
        )
        index.add(TEXTS)
        index.compact()
        return index

    spread = ClusterRanking("wmd")
    with create(1) as index:
        expected = index.search("river bank", ranking="wmd")
        assert_same(index.search("river bank", ranking=spread), expected)
        (tmp_path / "test.kin").rename(tmp_path / "old.kin")
        create(2).close()
        assert_same(index.search("river bank", ranking=spread), expected)
        _workers._states.clear()  # as in a new worker
        with pytest.raises(ValueError, match="has other word vectors than when it was opened"):
            index.search("river bank", ranking=spread)


def test_rows_that_are_corrupt_for_a_worker(store):
    segment = store._searcher().state.parts[0].segment
    wrong = segment.arrays["indices"].copy()
    wrong[-1] = 1 << 30
    damaged = Segment(segment.extent, {**segment.arrays, "indices": wrong}, segment.mapped)
    live = np.ones(segment.rows, np.bool_)
    _snapshot_description.part_of(damaged, live, _snapshot_description.RowRange(0, 0, 2))
    with pytest.raises(SegmentDamage):
        _snapshot_description.part_of(
            damaged, live, _snapshot_description.RowRange(0, 2, segment.rows)
        )


def test_folder_that_workers_cannot_see(store, monkeypatch):
    def refuse(path, record):
        raise PermissionError(13, "not for you")

    monkeypatch.setattr(_workers, "map_segment", refuse)
    with pytest.raises(FileNotFoundError, match="under the same path on every worker"):
        store.search(TEXTS[5], ranking=ClusterRanking("wmd", memory="2MB"))


@pytest.mark.parametrize("by", ["hybrid", "nothing", 3])
def test_other_rankings_raise(by):
    with pytest.raises((ValueError, TypeError), match="ranking must be"):
        ClusterRanking(by)


def test_rankings_are_hashable(client):
    same = [ClusterRanking("wmd", client) for _ in range(2)]
    assert same[0] == same[1]
    assert hash(same[0]) == hash(same[1])
    assert same[0] != ClusterRanking("wmd")
    assert "TransportRanking('wmd')" in repr(same[0])


def test_blocks_of_rows():
    rng = random.Random(1)
    for _ in range(200):
        sizes = [rng.randrange(9) for _ in range(rng.randrange(5))]
        parts, least, whole = rng.randrange(1, 9), rng.randrange(1, 4), rng.random() < 0.5
        blocks = _snapshot_description.split_rows(sizes, parts, least=least, whole=whole)
        assert len(blocks) <= parts
        rows = [(p.segment, row) for b in blocks for p in b for row in range(p.first, p.end)]
        assert rows == [(at, row) for at, size in enumerate(sizes) for row in range(size)]
        assert all(blocks)
        if whole:
            assert all((p.first, p.end) == (0, sizes[p.segment]) for b in blocks for p in b)


def test_long_documents_are_compared_on_workers(tmp_path, client):
    """The memory of a worker limits its tables, and not the exact problems."""
    words = WordVectors.builtin().words[1000:4000]
    with Index.create(tmp_path / "long.kin", language=None) as index:
        index.add([" ".join(words[1::2])])
        query = " ".join(words[::2])  # one problem takes more than 40 MB
        expected = index.search(query, ranking="wmd")
        assert len(expected) == 1
        found = index.search(query, ranking=ClusterRanking("wmd", client, memory="16MB"))
        assert_same(found, expected)
        limited = ClusterRanking(TransportRanking(memory="34MB"), client)
        with pytest.raises(MemoryError, match=r"the limit is 34\.0 MiB"):
            index.search(query, ranking=limited)
