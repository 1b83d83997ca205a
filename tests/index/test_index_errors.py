"""What happens when an index is used wrongly."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from textkin import AddError, Index
from textkin.text import Document

TEXTS = ["Obama speaks to the media in Illinois", "The president greets the press in Chicago"]
RECORDS = [
    {"id": "a", "text": TEXTS[0], "label": "news", "year": 2015, "tags": ["x", {"deep": None}]},
    {"id": "b", "text": TEXTS[1]},
]


def contents(index: Index) -> dict[str, tuple[str, object, object]]:
    return {d.id: (d.text, d.label, d.metadata) for d in index}


class TestErrors:
    def test_a_list_is_added_whole_or_not_at_all(self, index: Index) -> None:
        index.add([{"id": "a", "text": "x"}])
        with pytest.raises(AddError, match=r"document 1 \(id 'a'\): the id is taken.*Nothing") as e:
            index.add([{"id": "b", "text": "y"}, {"id": "a", "text": "z"}])
        assert (e.value.row, e.value.id, e.value.kept, e.value.last_id) == (1, "a", 0, None)
        assert contents(index) == {"a": ("x", None, {})}
        with pytest.raises(AddError, match=r"document 2 .*taken"):
            index.add([{"id": i, "text": "y"} for i in ("b", "c", "b")])
        assert len(index) == 1

    def test_a_stream_keeps_the_batches_before(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("textkin.index._adding._BATCH_DOCUMENTS", 2)

        def documents() -> Iterator[object]:
            yield from ({"id": str(i), "text": "x"} for i in range(5))
            yield {"id": "5"}

        with pytest.raises(
            AddError, match=r"document 5: .*'text'.*first 4 documents, up to id '3'"
        ) as e:
            index.add(documents())
        assert (e.value.row, e.value.kept, e.value.last_id) == (5, 4, "3")
        assert index.ids() == ["0", "1", "2", "3"]

    def test_whatever_a_stream_raises_says_what_was_kept(
        self, index: Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("textkin.index._adding._BATCH_DOCUMENTS", 2)

        def documents() -> Iterator[object]:
            yield from ("x", "y", "z")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt) as caught:
            index.add(documents())
        assert caught.value.__notes__ == ["Kept: the first 2 documents, up to id '1'."]
        assert len(index) == 2
        index.verify()

    def test_a_failed_mirror_deletes_nothing(self, index: Index) -> None:
        index.add(RECORDS)
        with pytest.raises(AddError):
            index.mirror(iter([RECORDS[0], {"no": "text"}]))
        with pytest.raises(ValueError, match="no documents to mirror"):
            index.mirror([])
        assert index.ids() == ["a", "b"]

    @pytest.mark.parametrize(
        ("documents", "error", "message"),
        [
            ("a text", TypeError, "textkin.read"),
            (Document("a", "x"), TypeError, "Put it into a list"),
            ({"id": "a", "text": "x"}, TypeError, "Put it into a list"),
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
    def test_what_is_no_document_is_named(
        self, index: Index, documents: object, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            index.add(documents)  # type: ignore[arg-type]
        assert len(index) == 0
        assert index.info().words == 0

    @pytest.mark.parametrize("change", [Index.update, Index.mirror])
    def test_what_replaces_needs_an_id(
        self, index: Index, change: Callable[[Index, object], object]
    ) -> None:
        index.add([{"id": "1", "text": "mine"}])
        for documents in (["unnamed"], [{"id": "1", "text": "x"}, {"text": "unnamed"}]):
            with pytest.raises(AddError, match="it has no id"):
                change(index, documents)
        assert contents(index) == {"1": ("mine", None, {})}

    def test_metadata_may_be_nested_only_so_deep(self, index: Index) -> None:
        deep: object = None
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(AddError, match="nested deeper than 100"):
            index.add([{"text": "x", "m": deep}])

    def test_unknown_ids(self, index: Index) -> None:
        index.add(RECORDS)
        with pytest.raises(KeyError, match="no document has the id 'c'"):
            index["c"]
        with pytest.raises(KeyError, match=r"'c', 'd', 'e' and 1 more; nothing was deleted"):
            index.delete(["a", "c", "d", "e", "f"])
        assert len(index) == 2
        with pytest.raises(TypeError, match="ids must hold str; got 7"):
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

    def test_a_closed_index_says_so(self, index: Index) -> None:
        index.close()
        index.close()
        for use in (len, list, Index.bags, Index.info, Index.verify, Index.compact):
            with pytest.raises(ValueError, match="is closed; open it again"):
                use(index)  # type: ignore[operator]

    def test_an_iteration_outlives_its_index(self, index: Index) -> None:
        index.add(["x"] * 1000)
        documents = iter(index)
        next(documents)
        index.close()
        assert sum(1 for _ in documents) == 999

    @pytest.mark.parametrize(
        ("settings", "error", "message"),
        [
            ({"normalize": str.lower}, ValueError, "cannot be kept"),
            ({"normalize": "soundex"}, ValueError, "normalize must be one of"),
            ({"stop_words": "klingon"}, ValueError, "klingon"),
            ({"stop_words": 7}, TypeError, "stop_words"),
            ({"lowercase": 1}, TypeError, "lowercase"),
            ({"ngram_range": (2, 1)}, ValueError, "ngram_range"),
            ({"ngram_range": 2}, ValueError, "ngram_range"),
            ({"vectors": "glove.txt"}, TypeError, "WordVectors.load"),
            ({"timeout": -1}, ValueError, "timeout"),
        ],
    )
    def test_settings_that_make_no_sense_make_no_folder(
        self, tmp_path: Path, settings: dict[str, object], error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            Index.create(tmp_path / "x.kin", **settings)  # type: ignore[arg-type]
        assert list(tmp_path.iterdir()) == []

    def test_nothing_is_overwritten(self, index: Index, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        for taken in (index.path, tmp_path, tmp_path / "file"):
            with pytest.raises(FileExistsError, match="exists already"):
                Index.create(taken)
            with pytest.raises(FileExistsError, match="exists already"):
                index.copy(taken)
        (tmp_path / "empty").mkdir()
        Index.create(tmp_path / "empty").close()

    def test_what_is_no_index_is_not_opened(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"no index.*Index.create"):
            Index.open(tmp_path)
        with pytest.raises(FileNotFoundError, match="no index"):
            Index.open(tmp_path / "nowhere")
