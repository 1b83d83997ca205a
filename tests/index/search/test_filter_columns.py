"""Field values for filters: read once, and only as needed."""

import threading
from pathlib import Path
from typing import Any

import pytest

from support import load_script
from textkin import Index
from textkin.exceptions import DamagedIndexError
from textkin.index import parse_filter
from textkin.index.search import _columns
from textkin.index.search._columns import Columns

PAPERS = load_script("tests/index/search/paper_records.py").PAPERS


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[str]]]:
    """Record reads from the catalog: start position and fields."""
    told: list[tuple[int, list[str]]] = []
    original = _columns._read

    def read(state: Any, first: int, fields: Any) -> None:
        told.append((first, [field.name for field in fields]))
        original(state, first, fields)

    monkeypatch.setattr(_columns, "_read", read)
    return told


def test_values_are_read_once(index: Index, reads: list[tuple[int, list[str]]]) -> None:
    index.add(PAPERS)
    index.search("x", where={"year": 2015, "lang": "en"})
    index.search("x", where={"year": {">": 2012}, "lang": "de"})
    index.search("x", where={"tags": "new", "year": 2015})
    assert reads == [(0, ["year", "lang"]), (0, ["tags"])]
    columns = Columns(index._searcher().state)
    assert columns.passed(parse_filter("year=1")) is columns.passed(parse_filter({"year": 1.0}))


def test_later_snapshots_read_only_new_values(
    index: Index, reads: list[tuple[int, list[str]]]
) -> None:
    index.add(PAPERS)
    before = index._searcher().state
    assert index.search("x", where={"year": {">=": 2010}}).ids == ["a", "b"]
    index.add([{"id": "e", "text": "x", "year": 2014}])
    index.update([{"id": "b", "text": "x", "year": 1999}])
    assert index.search("x", where={"year": {">=": 2010}}).ids == ["a", "e"]
    index.delete("a")
    assert index.search("x", where={"year": {">=": 1999}, "id": {"<": "e"}}).ids == ["b"]
    index.compact()
    assert index.search("x", where={"year": 2014}).ids == ["e"]
    assert [first for first, fields in reads if "year" in fields][:3] == [0, 4, 6]
    # An older snapshot has the documents deleted since.
    passed = Columns(before).passed(parse_filter("year >= 2010"))
    assert passed.rows.tolist() == [True, True, False, False]
    assert index.search("x", where={"year": {">=": 1999}}).ids == ["e", "b"]


def test_deleted_values_are_dropped(index: Index, reads: list[tuple[int, list[str]]]) -> None:
    index.add([{"id": f"{n}", "text": "x", "n": n} for n in range(10)])
    assert len(index.search("x", where="n >= 0")) == 10
    index.delete([f"{n}" for n in range(8)])
    assert index.search("x", where="n >= 0").ids == ["8", "9"]
    index.delete("8")
    assert index.search("x", where="n >= 0").ids == ["9"]
    assert [first for first, _ in reads] == [0, 10, 0]


def test_canceled_read_leaves_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add(PAPERS)
    original = _columns.Field.add

    def stopped(self: Any, position: int, *given: Any) -> None:
        original(self, position, *given)
        if position == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_columns.Field, "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            index.search("x", where="exists(year)")
    assert index.search("x", where="exists(year)").ids == ["a", "b", "c"]
    index.add([{"id": f"new{n}", "text": "x", "year": 1} for n in range(3)])
    with monkeypatch.context() as patch:
        patch.setattr(_columns.Field, "add", lambda *given: (original(*given), 1 / 0))
        with pytest.raises(ZeroDivisionError):
            index.search("x", where="year = 1")
    column = _columns.Field("year").column(index._searcher().state)
    assert len(column.rows) == 0
    assert index.search("x", where="exists(year)").stats["searched"] == 6
    assert len(index._searcher()._columns._columns.get("year").rows) == 6


def test_cache_is_bounded(papers: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("_COLUMN_BYTES", 1), ("_VALUE_BYTES", 1), ("_MASK_BYTES", 5000)):
        monkeypatch.setattr(_columns, name, most)
    state = papers._searcher().state
    columns = Columns(state)
    columns._values = _columns._Values()
    for year in range(2010, 2020):
        columns.passed(parse_filter({"year": year, "lang": "en"}))
    assert len(columns._passed._kept) == 2
    assert len(columns._columns._kept) == 1
    assert len(columns._values._kept._kept) == 1


def test_unknown_names_are_not_cached_forever(
    papers: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_columns, "_MOST_KEPT", 20)
    columns = Columns(papers._searcher().state)
    columns._values = _columns._Values()
    for number in range(50):
        columns.passed(parse_filter(f"absent{number} = 1"))
    for kept in (columns._columns, columns._passed, columns._values._kept):
        assert len(kept._kept) == 20


def test_cached_keys_count_as_memory() -> None:
    kept: _columns.Recent[str, _columns.Field] = _columns.Recent(200_000)
    for number in range(50):
        kept.put(f"{number:1000}", _columns.Field("x"))
    assert len(kept._kept) == 3
    for _ in range(50):
        kept.put("again", _columns.Field("x"))
    assert len(kept._kept) == 4


def test_masks_are_read_only(papers: Index) -> None:
    passed = Columns(papers._searcher().state).passed(parse_filter("year=2015"))
    with pytest.raises(ValueError, match="read-only"):
        passed.rows[0] = True
    assert papers.similar("a", where="year=2015").ids == []
    assert passed.rows.tolist() == [True, False, False, False]


def test_threads_get_the_same_masks(papers: Index) -> None:
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(papers.search("x", where="year>2000").ids))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["a", "b"]] * 8


def test_metadata_that_is_not_json_is_corruption(tmp_path: Path) -> None:
    path = tmp_path / "test.kin"
    with Index.create(path, language=None) as index:
        index.add([{"id": "a", "text": "x", "year": 1}])
        state = index._searcher().state
        with state.snapshot.catalog() as catalog:
            catalog.execute("COMMIT")
            catalog.execute("UPDATE documents SET metadata = '[[1'")
        with pytest.raises(DamagedIndexError, match="document 'a' is corrupt"):
            index.search("x", where={"year": 1})
        with state.snapshot.catalog() as catalog:
            catalog.execute(
                "UPDATE documents SET metadata = ?", ('{"year": ' + "[" * 990 + "]" * 990 + "}",)
            )
        with pytest.raises(DamagedIndexError, match="document 'a' is corrupt"):
            index.search("x", where={"year": 1})
