"""Joins streamed to Parquet: search results, in parts that are complete or missing."""

import json
import shutil
import sys

import numpy as np
import pytest

from cluster.stores import RECORDS, TEXTS, VECTORS, filled, record

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

from textkin import Index, WordMover  # noqa: E402
from textkin.index import ClusterRanking, TransportRanking, WeightedSum  # noqa: E402

QUERIES = [*TEXTS[3:20], "", "zyxxy", "river bank"]


pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture(params=["here", "threads", "client"])
def place(request):
    if request.param == "client":
        return {"executor": request.getfixturevalue("client")}
    return {"executor": "threads", "n_jobs": 2} if request.param == "threads" else {}


def rows(parts):
    return [tuple(row.values()) for row in parquet.read_table(parts.folder).to_pylist()]


def expected(store, queries, **options):
    return [
        (str(number), rank, hit.id, hit.score)
        for number, query in enumerate(queries)
        for rank, hit in enumerate(store.search(query, **options))
    ]


class TestNeighbours:
    @pytest.mark.parametrize("by", ["wmd", "bm25"])
    def test_join_equals_searches(self, store, tmp_path, place, by):
        told = []
        parts = store.join(
            QUERIES,
            tmp_path,
            4,
            ranking=by,
            part=8,
            progress=lambda *now: told.append(now),
            **place,
        )
        assert rows(parts) == expected(store, QUERIES, k=4, ranking=by)
        assert (parts.files, parts.made) == (3, 3)
        assert parts.rows == len(rows(parts))
        assert told == [(8, 20), (16, 20), (20, 20)]

    def test_join_with_filters_thresholds_and_ids(self, store, tmp_path, client):
        asked = [{"id": f"q{n}", "text": text} for n, text in enumerate(QUERIES)]
        options = {"ranking": "wmd", "where": "n < 50", "threshold": 3.5}
        parts = store.join(iter(asked), tmp_path, 4, executor=client, part=7, **options)
        found = expected(store, QUERIES, k=4, **options)
        assert rows(parts) == [(f"q{number}", *rest) for number, *rest in found]

    def test_join_resumes_after_existing_parts(self, store, tmp_path):
        class Enough(Exception):
            pass

        def stop(done, total):
            raise Enough

        with pytest.raises(Enough):
            store.join(QUERIES, tmp_path, part=8, progress=stop)
        left = tmp_path / ".part-00000001.parquet.0123.tmp"  # by a killed join
        left.touch()
        before = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("part*")}
        assert list(before) == ["part-00000000.parquet"]
        parts = store.join(QUERIES, tmp_path, part=8, n_jobs=2)
        assert rows(parts) == expected(store, QUERIES, ranking="wmd")
        assert (parts.files, parts.made) == (3, 2)
        assert (tmp_path / "part-00000000.parquet").stat().st_mtime_ns == before.popitem()[1]
        assert not left.exists()
        again = store.join(QUERIES, tmp_path, part=8)
        assert (again.files, again.made, again.rows) == (3, 0, parts.rows)

    def test_join_resumed_with_other_arguments_raises(self, store, tmp_path):
        store.join(QUERIES, tmp_path, part=8)
        with pytest.raises(ValueError, match="was begun with k = 10, but this call has 3"):
            store.join(QUERIES, tmp_path, 3, part=8)
        with pytest.raises(ValueError, match="was begun with ranking = "):
            store.join(QUERIES, tmp_path, ranking="bm25", part=8)
        with pytest.raises(ValueError, match="has the result of other queries"):
            store.join(QUERIES[::-1], tmp_path, part=8)
        store.join(
            QUERIES, tmp_path, part=8, ranking=TransportRanking("wmd", memory="1MB", n_jobs=2)
        )

    def test_hybrid_join_resumes_with_another_executor(self, store, tmp_path):
        """The stored request has no executors, but all masses."""
        masses = np.ones(len(VECTORS))

        def by(**place):
            parts = [ClusterRanking("bm25", **place), TransportRanking(word_weights=masses)]
            return WeightedSum({parts[0]: 0.8, parts[1]: 0.2})

        store.join(QUERIES, tmp_path, part=8, ranking=by(n_jobs=2))
        assert store.join(QUERIES, tmp_path, part=8, ranking=by(executor="joblib")).made == 0
        with np.printoptions(threshold=5):
            masses = np.where(np.arange(len(VECTORS)) == 9, 3.0, 1.0)
            with pytest.raises(ValueError, match="was begun with ranking = "):
                store.join(QUERIES, tmp_path, part=8, ranking=by())

    def test_join_resumed_with_another_snapshot_raises(self, tmp_path):
        with Index.create(tmp_path / "test.kin", vectors=VECTORS, language=None) as index:
            index.add(RECORDS[:5])
            index.join(["cats"], tmp_path / "found")
            index.add(RECORDS[5:6])
            with pytest.raises(ValueError, match="was begun with index = "):
                index.join(["cats"], tmp_path / "found")

    def test_join_resumed_with_recreated_index_raises(self, tmp_path):
        """The index has as many documents, words, and transactions, but other IDs."""
        for first in (0, 1):
            with Index.create(tmp_path / "test.kin", vectors=VECTORS, language=None) as index:
                index.add([{"id": f"{first + n}", "text": TEXTS[n]} for n in range(5)])
                if not first:
                    index.join(["cats"], tmp_path / "found")
                else:
                    with pytest.raises(ValueError, match="was begun with index = "):
                        index.join(["cats"], tmp_path / "found")
            shutil.rmtree(tmp_path / "test.kin")

    def test_join_resumed_with_fewer_queries_raises(self, store, tmp_path):
        """Readers of the folder would also find the results of the other queries."""
        store.join(QUERIES, tmp_path, part=8)
        with pytest.raises(ValueError, match=r"part-00000001.* has the result of more queries"):
            store.join(QUERIES[:8], tmp_path, part=8)

    @pytest.mark.parametrize("size", [0, 3, 100, -1])
    def test_corrupt_part_is_named(self, store, tmp_path, size):
        store.join(QUERIES, tmp_path, part=8)
        part = tmp_path / "part-00000001.parquet"
        whole = part.read_bytes()
        part.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"part-00000001\.parquet is not a valid .* Remove it"):
            store.join(QUERIES, tmp_path, part=8)
        part.unlink()
        parts = store.join(QUERIES, tmp_path, part=8)
        assert (parts.files, parts.made) == (3, 1)
        assert rows(parts) == expected(store, QUERIES, ranking="wmd")

    def test_files_that_look_like_parts_raise(self, store, tmp_path):
        store.join(QUERIES, tmp_path)
        (tmp_path / "_SUCCESS").touch()
        store.join(QUERIES, tmp_path)
        (tmp_path / "mine.parquet").touch()
        with pytest.raises(FileExistsError, match=r"mine\.parquet is not a file of a join"):
            store.join(QUERIES, tmp_path)

    @pytest.mark.parametrize(
        "written", ["[" * 100_000, "nothing", '{"format": "x"}', " " * (1 << 27)]
    )
    def test_untrusted_manifest_raises(self, store, tmp_path, written):
        (tmp_path / "_join.json").write_text(written)
        with pytest.raises(FileExistsError, match="not the manifest of a join"):
            store.join(QUERIES, tmp_path)

    def test_folder_of_another_call_raises(self, store, tmp_path):
        (tmp_path / "mine.txt").touch()
        with pytest.raises(FileExistsError, match="must be empty"):
            store.join(QUERIES, tmp_path)
        (tmp_path / "_join.json").write_text(json.dumps({"format": "other"}))
        with pytest.raises(FileExistsError, match="not the manifest of a join"):
            store.join(QUERIES, tmp_path)

    def test_join_of_no_queries(self, store, tmp_path):
        assert store.join([], tmp_path / "a").files == 0
        with Index.create(tmp_path / "test.kin", language=None) as index:
            assert index.join(["cats"], tmp_path / "b").rows == 0
            index.add(["cats"])
            parts = index.join(["cats", "cats"], tmp_path / "c", 5, n_jobs=2)
            assert rows(parts) == expected(index, ["cats", "cats"], ranking="wmd")

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [({"k": 0}, "k must be"), ({"part": 0}, "part must be"), ({"threshold": "x"}, "threshold")],
    )
    def test_invalid_arguments_raise(self, store, tmp_path, wrong, said):
        with pytest.raises((ValueError, TypeError), match=said):
            store.join(QUERIES, tmp_path / "new", **wrong)
        assert not (tmp_path / "new").exists()

    def test_query_that_is_not_a_text_raises(self, store, tmp_path):
        with pytest.raises(TypeError) as caught:
            store.join(["cats", 3], tmp_path)
        assert "Position of the query, from 0: 1." in caught.value.__notes__


def near(store, radius, **parameters):
    """Return all similar pairs of an index, by searches in memory."""
    documents = [one for one in store if {*one.text.split()} - {"zyxxy", "qwrtp"}]
    mover = WordMover(VECTORS, stop_words=None, **parameters)
    return [
        (documents[first].id, documents[second].id, distance)
        for block in mover.pairwise_below([one.text for one in documents], radius)
        for first, second, distance in zip(
            block.rows, block.columns, block.distances.tolist(), strict=True
        )
    ]


class TestPairs:
    def test_pairs_equal_one_process(self, store, tmp_path, place):
        by = TransportRanking(stop_words=None)
        told = []
        parts = store.near_pairs(
            3.0, tmp_path, ranking=by, progress=lambda *now: told.append(now), **place
        )
        found = near(store, 3.0)
        assert len(found) > 50
        assert rows(parts) == found
        assert parts.files > 5
        assert told[-1][0] == told[-1][1]

    def test_pairs_with_other_masses(self, store, tmp_path):
        by = TransportRanking(stop_words=None, word_weights="sif")
        parts = store.near_pairs(2.0, tmp_path, ranking=by, n_jobs=2)
        assert rows(parts) == near(store, 2.0, word_weights="sif")

    def test_pairs_of_equal_documents(self, store, tmp_path):
        parts = store.near_pairs(0.0, tmp_path)
        ids = {(first, second) for first, second, _ in rows(parts)}
        assert ids >= {("d5", "d11"), ("d5", "d52"), ("d5", "d81"), ("d52", "d81")}
        assert all(distance == 0 for *_, distance in rows(parts))

    def test_pairs_resume_after_existing_parts(self, store, tmp_path, client):
        class Enough(Exception):
            pass

        def stop(done, total):
            if done > 20:  # all of the first part, and some of the second
                raise Enough

        with pytest.raises(Enough):
            store.near_pairs(2.5, tmp_path / "one", executor=client, progress=stop)
        assert len([*(tmp_path / "one").glob("part*")]) == 1
        parts = store.near_pairs(2.5, tmp_path / "one")
        assert parts.made == parts.files - 1
        whole = store.near_pairs(2.5, tmp_path / "two")
        assert rows(parts) == rows(whole)
        with pytest.raises(ValueError, match=r"was begun with threshold = 2\.5"):
            store.near_pairs(1.0, tmp_path / "one")

    @pytest.mark.slow  # starts its own cluster; test_map_blocks.py has the fast case
    def test_killed_workers_are_replaced(self, store, tmp_path, mortal, kill_workers):
        killed = []

        def kill(done, total):
            if done == 3:
                killed.extend(kill_workers())

        parts = store.near_pairs(2.5, tmp_path / "one", executor=mortal, progress=kill)
        assert len(killed) == 2
        assert rows(parts) == rows(store.near_pairs(2.5, tmp_path / "two"))

    def test_pairs_during_writes(self, tmp_path):
        """Segments merged before they are opened are searched locally."""
        with filled(tmp_path / "test.kin") as writer, Index.open(writer.path) as reader:
            expected = near(reader, 2.5)
            writer.delete(["d5"])
            writer.add([record(n, f"new{n}") for n in range(200, 260)])
            writer.compact()
            by = TransportRanking(stop_words=None)
            assert rows(reader.near_pairs(2.5, tmp_path / "found", ranking=by)) == expected

    def test_pairs_invalid_arguments_raise(self, store, tmp_path):
        with pytest.raises(ValueError, match="ranking must be a distance"):
            store.near_pairs(1.0, tmp_path, ranking="bm25")
        with pytest.raises(ValueError, match="threshold must be"):
            store.near_pairs(-1.0, tmp_path)

    def test_pairs_that_exceed_memory(self, store, tmp_path):
        with pytest.raises(MemoryError, match=r"more than 20 pairs .* smaller threshold=, or more"):
            store.near_pairs(1000.0, tmp_path, memory=500)

    def test_pairs_of_an_empty_index(self, tmp_path):
        with Index.create(tmp_path / "test.kin", language=None) as index:
            assert index.near_pairs(1.0, tmp_path / "found").rows == 0


def test_missing_pyarrow_names_the_extra(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'textkin\[parquet\]'"):
        store.join(["x"], tmp_path)
