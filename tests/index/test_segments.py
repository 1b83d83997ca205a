"""Segments: what they hold, when they are made and merged, and that nobody can tell they exist."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textkin import BagOfWords, Index
from textkin.index import _merging, _writer
from textkin.index._catalogue import SegmentRecord
from textkin.index._merging import LARGEST, run_to_merge
from textkin.index._segment import Segment, SegmentDamage, map_segment

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
    """What an index should hold: documents in order, where an update goes to the end."""

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
        bag_of_words = BagOfWords(stop_words=None, vocabulary=index.vocabulary)
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
def test_any_changes_give_what_the_documents_say(
    small_segments: None, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    index = Index.create(tmp_path_factory.mktemp("any") / "x.kin")
    model = Model()
    for kind, what in steps:
        index = apply(index, model, kind, what)
        model.check(index)
    index.verify()
    index.close()


class TestWhenSegmentsAreMade:
    def test_recent_documents_are_in_none(self, index: Index) -> None:
        index.add(["x"] * 100)
        info = index.info()
        assert (info.segments, info.recent) == (0, 100)

    def test_enough_documents_make_one(self, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 3)
        index.add(["x", "y"])
        assert index.info().segments == 0
        index.add(["z"])
        assert (index.info().segments, index.info().recent) == (1, 0)
        index.add(["z"])
        assert (index.info().segments, index.info().recent) == (1, 1)

    def test_enough_words_make_one(self, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_writer, "_TAIL_BYTES", 100)
        index.add([" ".join(f"w{i}" for i in range(200))])
        assert index.info().segments == 1

    def test_many_small_ones_are_merged(
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

    def test_one_that_is_mostly_dead_is_made_again(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        monkeypatch.setattr(_merging, "_DEAD_ROWS", 4)
        index.add(["x"] * 10)
        index.delete(["0", "1", "2"])
        assert index.info().deleted == 3
        index.delete("3")
        assert index.info().deleted == 0
        index.verify()

    def test_compact_leaves_one_and_nothing_dead(
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

    def test_compact_gives_space_back(self, index: Index) -> None:
        index.add([f"{i} " * 2000 for i in range(300)])
        index.delete(index.ids()[10:])
        index.compact()
        assert index.info().bytes["catalogue"] < 300_000


class TestRunToMerge:
    @given(st.lists(st.integers(1, LARGEST // 4), max_size=300))
    def test_what_is_merged_is_never_large_and_few_are_left(self, sizes: list[int]) -> None:
        held: list[int] = []
        for size in sizes:
            held.append(size)
            while (run := run_to_merge(held)) is not None:
                assert len(held[run]) >= 2
                assert sum(held[run]) < LARGEST
                held[run] = [sum(held[run])]
            tiny = 0  # in a row, at the end
            while tiny < len(held) and held[-1 - tiny] < _merging._SMALLEST:
                tiny += 1
            assert tiny < 8

    @pytest.mark.parametrize("size", [1, 1000, _merging._SMALLEST // 2, _merging._SMALLEST])
    def test_a_document_is_copied_a_few_times(self, size: int) -> None:
        held: list[int] = []
        copied = most = 0
        for _ in range(4096):
            held.append(size)
            while (run := run_to_merge(held)) is not None:
                if sum(held[run]) >= _merging._SMALLEST:  # below that, copying costs nothing
                    copied += sum(held[run])
                held[run] = [sum(held[run])]
            most = max(most, len(held))
        assert copied <= 3 * 4096 * size
        assert most <= 24 + 4096 * size // (LARGEST // _merging._GROWTH)

    def test_very_many_documents_become_several_segments(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_merging, "_PIECE", 50)
        monkeypatch.setattr(_merging, "LARGEST", 1)  # nothing is merged
        index.add([f"word{i} other" for i in range(100)])
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
        index.add([{"id": "last", "text": "word0"}])
        assert index.info().segments > 2
        assert index.info().recent == 0
        index.verify()
        assert index.bags().sum() == 201


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, SegmentRecord]:
    """A file of a segment and what the catalogue says of it."""
    monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 1)
    with Index.create(tmp_path / "x.kin") as index:
        index.add(["b a b", "", "c a"])
        ((record, _),) = index._snapshot().segments
    return index.path / "segments" / record.file, record


class TestFile:
    def test_arrays_are_what_the_documents_say(self, written: tuple[Path, SegmentRecord]) -> None:
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

    def test_other_programs_can_read_it(self, written: tuple[Path, SegmentRecord]) -> None:
        from safetensors.numpy import load_file

        assert load_file(written[0])["indices"].tolist() == [0, 1, 1, 2]

    def test_it_cannot_be_written_to(self, written: tuple[Path, SegmentRecord]) -> None:
        segment = map_segment(*written)
        with pytest.raises(ValueError, match="read-only"):
            segment.positions[0] = 7

    def test_live_rows(self, written: tuple[Path, SegmentRecord]) -> None:
        segment: Segment = map_segment(*written)
        assert segment.live_rows([]).tolist() == [True, True, True]
        assert segment.live_rows([1, 7]).tolist() == [True, False, True]

    def test_a_cut_file_is_not_mapped(self, written: tuple[Path, SegmentRecord]) -> None:
        path, record = written
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(SegmentDamage, match="bytes and must have"):
            map_segment(path, record)
