"""Readers see one snapshot, regardless of concurrent writes."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from textkin import Index
from textkin.exceptions import IndexLockedError, IndexWarning
from textkin.index.store import _snapshot, _writer
from textkin.index.store._segment import SegmentDamage, map_segment


def numbered(first: int, end: int) -> list[dict[str, str]]:
    return [{"id": f"d{i}", "text": f"word{i} shared"} for i in range(first, end)]


class TestOneState:
    def test_reader_keeps_its_snapshot_until_refresh(self, index: Index) -> None:
        index.add(numbered(0, 3))
        with Index.open(index.path) as reader:
            index.add(numbered(3, 6))
            index.delete("d0")
            index.compact()
            assert reader.ids == ["d0", "d1", "d2"]
            assert reader["d0"].text == "word0 shared"
            assert reader.bags().shape == (3, 4)
            assert reader.info().documents == 3
            reader.refresh()
            assert reader.ids == [f"d{i}" for i in range(1, 6)]

    def test_own_write_shows_the_latest_state(self, index: Index) -> None:
        with Index.open(index.path) as other:
            index.add(numbered(0, 1))
            other.add(numbered(1, 2))
            assert index.ids == ["d0"]
            assert other.ids == ["d0", "d1"]

    @pytest.mark.usefixtures("small_segments")
    def test_merged_segments_stay_readable(self, index: Index) -> None:
        for i in range(0, 40, 5):
            index.add(numbered(i, i + 5))
        with Index.open(index.path) as reader:
            before = set((index.path / "segments").iterdir())
            for i in range(40, 80, 5):
                index.add(numbered(i, i + 5))
            index.compact()
            assert not before & set((index.path / "segments").iterdir())
            assert reader.bags().shape[0] == 40
            assert reader.document_frequencies()[reader.vocabulary().index("shared")] == 40
            assert len(list(reader)) == 40

    def test_vanished_segment_means_a_newer_snapshot(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        index.add(numbered(0, 2))
        index.add(numbered(2, 4))
        tries = 0

        def vanishing(path: Path, record: object) -> object:
            nonlocal tries
            tries += 1
            if tries == 1:  # a writer merges between reading the catalog and mapping
                monkeypatch.setattr(_snapshot, "map_segment", map_segment)
                index.compact()
            return map_segment(path, record)  # type: ignore[arg-type]

        monkeypatch.setattr(_snapshot, "map_segment", vanishing)
        with Index.open(index.path) as reader:  # without a warning
            assert len(reader._session.snapshot().segments) == 1
            assert reader.ids == ["d0", "d1", "d2", "d3"]

    def test_index_without_segments_is_only_slower(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        index.add(numbered(0, 4))
        index.delete("d2")
        bags, words = index.bags(), index.vocabulary()

        def unreadable(path: Path, record: object) -> object:
            raise SegmentDamage("is missing")

        def locked(*args: object) -> object:
            raise IndexLockedError("busy")

        monkeypatch.setattr(_snapshot, "map_segment", unreadable)
        monkeypatch.setattr("textkin.index.store._session.writer_lock", locked)
        with pytest.warns(IndexWarning, match="read from the catalog, which is slower"):
            reader = Index.open(index.path)
        with reader:
            assert (reader.bags() != bags).nnz == 0
            assert reader.vocabulary() == words
            assert reader._session.snapshot().find(["word1", "nothing"]).tolist() == [1 + 1, -1]


class TestThreads:
    @pytest.mark.usefixtures("small_segments")
    def test_concurrent_readers_during_writes(self, index: Index) -> None:
        index.add(numbered(0, 10))
        failures: list[BaseException] = []
        done = threading.Event()

        def read() -> None:
            try:
                while not done.is_set():
                    snapshot = index._session.snapshot()
                    ids = snapshot.ids()
                    assert ids == [f"d{i}" for i in range(len(ids))]
                    assert snapshot.bags().shape[0] == len(ids) == len(snapshot)
                    number = snapshot.find(["shared"])[0]
                    assert snapshot.frequencies[number] == len(ids)
                    assert index[f"d{len(ids) - 1}"].text == f"word{len(ids) - 1} shared"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for i in range(10, 130, 4):
            index.add(numbered(i, i + 4))
        index.compact()
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        index.verify()

    def test_writers_of_one_process_take_turns(self, index: Index) -> None:
        failures: list[BaseException] = []

        def write(first: int) -> None:
            try:
                for i in range(first, first + 20):
                    index.add(numbered(i, i + 1))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(100 * k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(index) == 80
        index.verify()

    def test_writing_during_add_raises(self, tmp_path: Path) -> None:
        with Index.create(tmp_path / "x.kin", timeout=0, language=None) as index:

            def documents() -> object:
                yield "one"
                index.add(["two"])

            with pytest.raises(IndexLockedError, match="the iterable of documents itself"):
                index.add(documents())  # type: ignore[arg-type]
            assert len(index) == 0
            index.add(["three"])

    def test_close_waits_for_the_writer(self, index: Index) -> None:
        begun, closed = threading.Event(), threading.Event()
        told: list[object] = []

        def documents() -> Iterator[str]:
            yield "one"
            begun.set()
            closed.wait()
            yield "two"

        def write() -> None:
            told.append(index.add(documents()).added)

        thread = threading.Thread(target=write)
        thread.start()
        begun.wait()
        index.close()
        closed.set()
        thread.join()
        assert told == [2]
        with pytest.raises(ValueError, match="is closed"):
            index.add(["three"])
        with Index.open(index.path) as again:
            again.verify()
            assert len(again) == 2
        assert not (index.path / "catalogue.sqlite-wal").exists()

    def test_verify_keeps_the_snapshot_of_a_reader(self, index: Index) -> None:
        index.add(numbered(0, 1))
        with Index.open(index.path) as reader:
            index.add(numbered(1, 2))
            reader.verify()
            assert reader.ids == ["d0"]

    def test_second_writer_gets_an_error_with_the_first(self, tmp_path: Path) -> None:
        import os

        with (
            Index.create(tmp_path / "x.kin", language=None) as index,
            Index.open(index.path, timeout=0) as other,
            index._session.writing(),
            pytest.raises(IndexLockedError, match=f"process {os.getpid()}.*longer `timeout`"),
        ):
            other.add(["x"])


class TestFind:
    @pytest.mark.usefixtures("small_segments")
    def test_words_are_found_in_segments_and_recent_documents(self, index: Index) -> None:
        for i in range(0, 33, 3):
            index.add(numbered(i, i + 3))
        snapshot = index._session.snapshot()
        words = snapshot.words()
        assert len(set(words)) == len(words) == 34
        assert np.array_equal(snapshot.find(words), np.arange(34))
        assert snapshot.find(["", "Word1", "word33"]).tolist() == [-1, -1, -1]
