"""Errors of invalid calls of an index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from textkin import Index
from textkin.exceptions import AddError
from textkin.reading import Document

TEXTS = ["Obama speaks to the media in Illinois", "The president greets the press in Chicago"]
RECORDS = [
    {"id": "a", "text": TEXTS[0], "label": "news", "year": 2015, "tags": ["x", {"deep": None}]},
    {"id": "b", "text": TEXTS[1]},
]


def contents(index: Index) -> dict[str, tuple[str, object, object]]:
    return {d.id: (d.text, d.label, d.metadata) for d in index}


class TestErrors:
    def test_failed_list_adds_nothing(self, index: Index) -> None:
        index.add([{"id": "a", "text": "x"}])
        with pytest.raises(AddError, match=r"document 1 \(ID 'a'\): the ID is used.*Nothing") as e:
            index.add([{"id": "b", "text": "y"}, {"id": "a", "text": "z"}])
        assert (e.value.row, e.value.id, e.value.kept, e.value.last_id) == (1, "a", 0, None)
        assert contents(index) == {"a": ("x", None, {})}
        with pytest.raises(AddError, match=r"document 2 .*ID is used"):
            index.add([{"id": i, "text": "y"} for i in ("b", "c", "b")])
        assert len(index) == 1

    def test_failed_stream_keeps_earlier_batches(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("textkin.index.store._ingest._BATCH_DOCUMENTS", 2)

        def documents() -> Iterator[object]:
            yield from ({"id": str(i), "text": "x"} for i in range(5))
            yield {"id": "5"}

        with pytest.raises(
            AddError, match=r"document 5: .*'text'.*first 4 documents, up to ID '3'"
        ) as e:
            index.add(documents())
        assert (e.value.row, e.value.kept, e.value.last_id) == (5, 4, "3")
        assert index.ids == ["0", "1", "2", "3"]

    def test_stream_errors_report_kept_documents(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("textkin.index.store._ingest._BATCH_DOCUMENTS", 2)

        def documents() -> Iterator[object]:
            yield from ("x", "y", "z")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            index.add(documents())
        assert caught.value.__notes__ == ["Kept: the first 2 documents, up to ID '1'."]
        assert len(index) == 2
        index.verify()

    def test_failed_mirror_deletes_nothing(self, index: Index) -> None:
        index.add(RECORDS)
        with pytest.raises(AddError):
            index.mirror(iter([RECORDS[0], {"no": "text"}]))
        with pytest.raises(ValueError, match="at least one document to mirror"):
            index.mirror([])
        assert index.ids == ["a", "b"]

    @pytest.mark.parametrize(
        ("documents", "error", "message"),
        [
            ("a text", TypeError, "textkin.read"),
            (Document("a", "x"), TypeError, "Pass a list"),
            ({"id": "a", "text": "x"}, TypeError, "Pass a list"),
            ({"a", "b"}, TypeError, "no order"),
            (7, TypeError, "int"),
            ([7], AddError, "expected a text"),
            ([["tokens"]], AddError, "join tokens"),
            ([{"id": "", "text": "x"}], AddError, "id"),
            ([{"text": None}], AddError, "missing"),
            ([{"text": "\ud800"}], AddError, "surrogate"),
            ([{"text": "x", "m": float("inf")}], AddError, r"metadata\['m'\].*None"),
            ([{"text": "x", "m": {1: 2}}], AddError, "must be strings"),
            ([{"text": "x", "m": [object()]}], AddError, r"metadata\['m'\]\[0\] must be JSON"),
            ([{"text": "x", "m": "\ud800"}], AddError, "surrogate"),
        ],
    )
    def test_invalid_document_is_named(
        self, index: Index, documents: object, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            index.add(documents)  # type: ignore[arg-type]
        assert len(index) == 0
        assert index.info().words == 0

    @pytest.mark.parametrize("change", [Index.update, Index.mirror])
    def test_update_requires_an_id(
        self, index: Index, change: Callable[[Index, object], object]
    ) -> None:
        index.add([{"id": "1", "text": "mine"}])
        for documents in (["unnamed"], [{"id": "1", "text": "x"}, {"text": "unnamed"}]):
            with pytest.raises(AddError, match=r"update\(\) requires an ID"):
                change(index, documents)
        assert contents(index) == {"1": ("mine", None, {})}

    def test_deeply_nested_metadata_raises(self, index: Index) -> None:
        deep: object = None
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(AddError, match="nested deeper than 100"):
            index.add([{"text": "x", "m": deep}])

    def test_unknown_ids(self, index: Index) -> None:
        index.add(RECORDS)
        with pytest.raises(KeyError, match="no document has the ID 'c'"):
            index["c"]
        with pytest.raises(KeyError, match=r"'c', 'd', 'e' and 1 more; nothing was deleted"):
            index.delete(["a", "c", "d", "e", "f"])
        assert len(index) == 2
        with pytest.raises(TypeError, match="ids must be strings; got 7"):
            index.delete([7])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="id must be a str"):
            index.get(7)  # type: ignore[call-overload]
        for ids in (None, 5, [["a"]], index["a"], {"a": 1}):
            with pytest.raises(TypeError, match="ids must"):
                index.delete(ids)  # type: ignore[arg-type]
        assert "\ud800" not in index
        assert index.get("\ud800") is None
        with pytest.raises(KeyError):
            index.delete("\ud800")
        with pytest.raises(ValueError, match="missing"):
            index.delete("a", missing="no")  # type: ignore[arg-type]

    def test_closed_index_raises(self, index: Index) -> None:
        index.close()
        index.close()
        for use in (len, list, Index.bags, Index.info, Index.verify, Index.compact):
            with pytest.raises(ValueError, match="is closed; open it again"):
                use(index)  # type: ignore[operator]

    def test_iteration_outlives_its_index(self, index: Index) -> None:
        index.add(["x"] * 1000)
        documents = iter(index)
        next(documents)
        index.close()
        assert sum(1 for _ in documents) == 999

    @pytest.mark.parametrize(
        ("settings", "error", "message"),
        [
            ({"normalizer": str.lower}, ValueError, "impossible for your own function"),
            ({"normalizer": "soundex"}, ValueError, "normalizer must be one of"),
            ({"stop_words": "klingon"}, ValueError, "klingon"),
            ({"stop_words": 7}, TypeError, "stop_words"),
            ({"lowercase": 1}, TypeError, "lowercase"),
            ({"ngram_range": (2, 1)}, ValueError, "ngram_range"),
            ({"ngram_range": 2}, ValueError, "ngram_range"),
            ({"vectors": "glove.txt"}, TypeError, "WordVectors.load"),
            ({"timeout": -1}, ValueError, "timeout"),
        ],
    )
    def test_invalid_settings_create_no_folder(
        self, tmp_path: Path, settings: dict[str, object], error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            Index.create(tmp_path / "x.kin", **settings)  # type: ignore[arg-type]
        assert list(tmp_path.iterdir()) == []

    def test_existing_folder_is_not_overwritten(self, index: Index, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        for taken in (index.path, tmp_path, tmp_path / "file"):
            with pytest.raises(FileExistsError, match="exists already"):
                Index.create(taken, language=None)
            with pytest.raises(FileExistsError, match="exists already"):
                index.copy(taken)
        (tmp_path / "empty").mkdir()
        Index.create(tmp_path / "empty", language=None).close()

    def test_other_folders_raise(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"not an index.*Index.create"):
            Index.open(tmp_path)
        with pytest.raises(FileNotFoundError, match="is not an index"):
            Index.open(tmp_path / "nowhere")
