"""Segments: content, creation, and merging, without effects on results."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textkin import BagOfWords, Index
from textkin.index.store import _merge, _writer
from textkin.index.store._catalog import SegmentRecord
from textkin.index.store._merge import LARGEST, run_to_merge
from textkin.index.store._segment import Segment, SegmentDamage, map_segment

IDS = [f"d{i}" for i in range(12)]
WORDS = [f"w{i}" for i in range(15)]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
DOCUMENTS = st.dictionaries(st.sampled_from(IDS), TEXT, min_size=1, max_size=6)
STEP = st.one_of(
    st.tuples(st.just("update"), DOCUMENTS),
    st.tuples(st.just("stream"), DOCUMENTS),
    st.tuples(st.just("mirror"), DOCUMENTS),
    st.tuples(st.just("delete"), st.sets(st.sampled_from(IDS))),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("reopen"), st.none()),
    st.tuples(st.just("verify"), st.none()),
)


def records(documents: dict[str, str]) -> list[dict[str, str]]:
    return [{"id": id, "text": text} for id, text in documents.items()]


class Model:
    """Reference of the documents of an index, where an update moves a document to the end."""

    def __init__(self) -> None:
        self.documents: dict[str, str] = {}

    def update(self, documents: dict[str, str]) -> None:
        for id, text in documents.items():
            if self.documents.get(id) != text:
                self.documents.pop(id, None)
                self.documents[id] = text

    def keep(self, ids: set[str]) -> None:
        self.documents = {id: text for id, text in self.documents.items() if id in ids}

    def check(self, index: Index) -> None:
        assert [(d.id, d.text) for d in index] == list(self.documents.items())
        assert len(index) == len(self.documents)
        bags = index.bags()
        bag_of_words = BagOfWords(stop_words=None, vocabulary=index.vocabulary())
        expected = bag_of_words.transform(list(self.documents.values()))
        assert (bags != expected).nnz == 0
        assert np.array_equal(index.document_frequencies(), np.diff(expected.tocsc().indptr))
        assert index.info().tokens == expected.sum()


def apply(index: Index, model: Model, kind: str, what: object) -> Index:
    if kind in ("update", "stream", "mirror"):
        assert isinstance(what, dict)
        given_ = records(what)
        if kind == "mirror":
            index.mirror(given_)
            model.update(what)
            model.keep(set(what))
        else:
            index.update(given_ if kind == "update" else iter(given_))
            model.update(what)
    elif kind == "delete":
        assert isinstance(what, set)
        index.delete(sorted(what), missing="ignore")
        model.keep(set(IDS) - what)
    elif kind == "compact":
        index.compact()
    elif kind == "verify":
        index.verify()
    else:
        index.close()
        return Index.open(index.path)
    return index


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(STEP, max_size=25))
def test_any_changes_match_the_reference(
    small_segments: None, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    index = Index.create(tmp_path_factory.mktemp("any") / "x.kin", language=None)
    model = Model()
    for kind, what in steps:
        index = apply(index, model, kind, what)
        model.check(index)
    index.verify()
    index.close()


class TestWhenSegmentsAreMade:
    def test_recent_documents_have_no_segment(self, index: Index) -> None:
        index.add(["x"] * 100)
        info = index.info()
        assert (info.segments, info.recent) == (0, 100)

    def test_enough_documents_create_a_segment(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 3)
        index.add(["x", "y"])
        assert index.info().segments == 0
        index.add(["z"])
        assert (index.info().segments, index.info().recent) == (1, 0)
        index.add(["z"])
        assert (index.info().segments, index.info().recent) == (1, 1)

    def test_enough_words_create_a_segment(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_BYTES", 100)
        index.add([" ".join(f"w{i}" for i in range(200))])
        assert index.info().segments == 1

    def test_many_small_segments_are_merged(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        counts = []
        for i in range(17):
            index.add([f"word{i}"])
            counts.append(index.info().segments)
        assert counts == [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3]
        index.verify()
        files = list((index.path / "segments").iterdir())
        assert len(files) == 3

    def test_mostly_deleted_segment_is_rebuilt(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        monkeypatch.setattr(_merge, "_DEAD_ROWS", 4)
        index.add(["x"] * 10)
        index.delete(["0", "1", "2"])
        assert index.info().deleted == 3
        index.delete("3")
        assert index.info().deleted == 0
        index.verify()

    def test_compact_leaves_one_segment_without_deletions(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 4)
        for i in range(5):
            index.add([f"text {i} {j}" for j in range(4)])
        index.add(["in no segment"])
        index.delete(["3", "19", "20"])
        before = index.bags()
        index.compact()
        info = index.info()
        assert (info.segments, info.recent, info.deleted) == (1, 0, 0)
        assert (index.bags() != before).nnz == 0
        assert len(list((index.path / "segments").iterdir())) == 1
        index.verify()

    def test_compact_frees_space(self, index: Index) -> None:
        index.add([f"{i} " * 2000 for i in range(300)])
        index.delete(index.ids[10:])
        index.compact()
        assert index.info().bytes["catalog"] < 300_000


class TestRunToMerge:
    @given(st.lists(st.integers(1, LARGEST // 4), max_size=300))
    def test_merges_are_bounded_and_few_segments_remain(self, sizes: list[int]) -> None:
        held: list[int] = []
        for size in sizes:
            held.append(size)
            while (run := run_to_merge(held)) is not None:
                assert len(held[run]) >= 2
                assert sum(held[run]) < LARGEST
                held[run] = [sum(held[run])]
            tiny = 0  # consecutive, at the end
            while tiny < len(held) and held[-1 - tiny] < _merge._SMALLEST:
                tiny += 1
            assert tiny < 8

    @pytest.mark.parametrize("size", [1, 1000, _merge._SMALLEST // 2, _merge._SMALLEST])
    def test_document_is_copied_a_few_times(self, size: int) -> None:
        held: list[int] = []
        copied = most = 0
        for _ in range(4096):
            held.append(size)
            while (run := run_to_merge(held)) is not None:
                if sum(held[run]) >= _merge._SMALLEST:  # below that, copying is cheap
                    copied += sum(held[run])
                held[run] = [sum(held[run])]
            most = max(most, len(held))
        assert copied <= 3 * 4096 * size
        assert most <= 24 + 4096 * size // (LARGEST // _merge._GROWTH)

    def test_very_many_documents_become_several_segments(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_merge, "_PIECE", 50)
        monkeypatch.setattr(_merge, "LARGEST", 1)  # nothing is merged
        index.add([f"word{i} other" for i in range(100)])
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        index.add([{"id": "last", "text": "word0"}])
        assert index.info().segments > 2
        assert index.info().recent == 0
        index.verify()
        assert index.bags().sum() == 201


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, SegmentRecord]:
    """Return a segment file and its catalog record."""
    monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
    with Index.create(tmp_path / "x.kin", language=None) as index:
        index.add(["b a b", "", "c a"])
        ((record, _),) = index._session.snapshot().segments
    return index.path / "segments" / record.file, record


class TestFile:
    def test_arrays_match_the_documents(self, written: tuple[Path, SegmentRecord]) -> None:
        segment = map_segment(*written)
        arrays = {name: array.tolist() for name, array in segment.arrays.items()}
        assert arrays["positions"] == [0, 1, 2]
        assert arrays["lengths"] == [3, 0, 2]
        assert arrays["indptr"] == [0, 2, 2, 4]
        assert arrays["indices"] == [0, 1, 1, 2]  # b, a, c
        assert arrays["counts"] == [2, 1, 1, 1]
        assert arrays["terms"] == [0, 1, 2]
        assert arrays["term_offsets"] == [0, 1, 3, 4]
        assert arrays["posting_rows"] == [0, 0, 2, 2]
        assert arrays["posting_tf"] == [2, 1, 1, 1]
        assert arrays["block_offsets"] == [0, 1, 2, 3]
        assert arrays["block_tf"] == [2, 1, 1]
        assert arrays["block_length"] == [3, 2, 2]
        assert segment.words.words(0, 3) == ["b", "a", "c"]
        assert segment.words.find(["c", "z"]).tolist() == [2, -1]

    def test_other_programs_can_read_segments(self, written: tuple[Path, SegmentRecord]) -> None:
        from safetensors.numpy import load_file

        assert load_file(written[0])["indices"].tolist() == [0, 1, 1, 2]

    def test_segments_are_read_only(self, written: tuple[Path, SegmentRecord]) -> None:
        segment = map_segment(*written)
        with pytest.raises(ValueError, match="read-only"):
            segment.positions[0] = 7

    def test_live_rows(self, written: tuple[Path, SegmentRecord]) -> None:
        segment: Segment = map_segment(*written)
        assert segment.live_rows([]).tolist() == [True, True, True]
        assert segment.live_rows([1, 7]).tolist() == [True, False, True]

    def test_truncated_file_is_not_mapped(self, written: tuple[Path, SegmentRecord]) -> None:
        path, record = written
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(SegmentDamage, match=r"must have .* bytes; got"):
            map_segment(path, record)
