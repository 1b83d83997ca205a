"""Main operations of an index."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from textkin import BagOfWords, Index, WordVectors, read
from textkin.exceptions import AddError
from textkin.reading import Document
from textkin.text import Stemmer

TEXTS = ["Obama speaks to the media in Illinois", "The president greets the press in Chicago"]
RECORDS = [
    {"id": "a", "text": TEXTS[0], "label": "news", "year": 2015, "tags": ["x", {"deep": None}]},
    {"id": "b", "text": TEXTS[1]},
]


def contents(index: Index) -> dict[str, tuple[str, object, object]]:
    return {d.id: (d.text, d.label, d.metadata) for d in index}


class TestReadingAndWriting:
    def test_document_is_returned_as_added(self, index: Index) -> None:
        changes = index.add(RECORDS)
        assert (changes.added, changes.updated, changes.unchanged, changes.deleted) == (2, 0, 0, 0)
        found = index["a"]
        assert found == Document(
            "a", TEXTS[0], "news", {"year": 2015, "tags": ["x", {"deep": None}]}
        )
        assert index.get("b") == Document("b", TEXTS[1])
        assert index.get("c") is None
        assert index.get("c", 7) == 7
        assert "a" in index
        assert "c" not in index
        assert 3 not in index
        assert len(index) == 2
        assert index.ids == ["a", "b"]
        assert [document.id for document in index] == ["a", "b"]

    def test_documents_persist_after_reopening(self, index: Index) -> None:
        index.add(RECORDS)
        before = contents(index)
        index.close()
        with Index.open(index.path) as again:
            assert contents(again) == before
            assert repr(again) == f"Index({str(index.path)!r}, 2 documents)"
        assert repr(again) == f"Index({str(index.path)!r}, closed)"

    def test_empty_index(self, index: Index) -> None:
        assert len(index) == 0
        assert list(index) == []
        assert index.bags().shape == (0, 0)
        assert len(index.vocabulary()) == 0
        assert index.document_frequencies().shape == (0,)
        assert index.info().documents == 0
        assert str(index.add([])) == "nothing changed"
        assert str(index.update(iter([]))) == "nothing changed"
        index.delete([])
        index.verify()
        index.compact()
        index.verify()

    def test_texts_without_ids_are_numbered(self, index: Index) -> None:
        index.add(["one", "two"])
        index.delete("0")
        index.add(iter(["three", Document("x", "four"), "five"]))
        assert index.ids == ["1", "2", "x", "4"]

    def test_documents_of_read_can_be_added(self, index: Index, tmp_path: Path) -> None:
        path = tmp_path / "texts.jsonl"
        path.write_text("\n".join(json.dumps(record) for record in RECORDS))
        index.add(read(path))
        assert index["a"].label == "news"
        index.add(read([{"id": "c", "body": "A text"}], text="body"))
        assert index["c"].text == "A text"

    def test_data_frames_can_be_added(self, index: Index) -> None:
        pandas = pytest.importorskip("pandas")
        index.add(pandas.DataFrame({"id": [1, 2], "text": ["a b", "c d"], "n": [0.5, 1.5]}))
        assert index["1"].metadata == {"n": 0.5}

    def test_update_replaces_inserts_and_keeps_unchanged(self, index: Index) -> None:
        index.add(RECORDS)
        changes = index.update(
            [RECORDS[0], {"id": "b", "text": TEXTS[1], "year": 2016}, {"id": "c", "text": "new"}]
        )
        assert (changes.added, changes.updated, changes.unchanged) == (1, 1, 1)
        assert str(changes) == "1 added, 1 updated, 1 unchanged"
        assert index["b"].metadata == {"year": 2016}
        assert index.ids == ["a", "b", "c"]
        index.update([{"id": "a", "text": "moved to the end"}])
        assert index.ids == ["b", "c", "a"]

    def test_update_of_the_label_is_a_change(self, index: Index) -> None:
        index.add([{"id": "a", "text": "x", "label": "1"}])
        assert index.update([{"id": "a", "text": "x", "label": 1}]).updated == 1
        assert index["a"].label == 1

    def test_last_of_several_updates_wins(self, index: Index) -> None:
        index.update([{"id": "a", "text": "first"}, {"id": "a", "text": "second"}])
        assert contents(index) == {"a": ("second", None, {})}

    def test_delete_takes_one_or_many_ids(self, index: Index) -> None:
        index.add(["x"] * 4)
        assert index.delete("0").deleted == 1
        assert index.delete(str(i) for i in (1, 2, 2)).deleted == 2
        assert index.ids == ["3"]
        assert index.delete(["3", "nowhere"], missing="ignore").deleted == 1

    def test_mirror_leaves_exactly_these_documents(self, index: Index) -> None:
        index.add(RECORDS)
        changes = index.mirror([RECORDS[1], {"id": "c", "text": "new"}])
        assert str(changes) == "1 added, 1 unchanged, 1 deleted"
        assert index.ids == ["b", "c"]

    def test_iteration_continues_in_its_snapshot(self, index: Index) -> None:
        index.add(["x"] * 1500)
        seen = 0
        for document in index:
            seen += 1
            index.delete(document.id) if seen % 500 == 0 else None
        assert seen == 1500
        assert len(index) == 1497

    def test_documents_can_be_derived_from_existing_ones(self, index: Index) -> None:
        index.add(TEXTS)
        index.update({"id": d.id, "text": d.text.upper()} for d in index)
        assert index["0"].text == TEXTS[0].upper()

    def test_progress(self, index: Index) -> None:
        told: list[tuple[int, int]] = []
        index.add(["x"] * 3, progress=lambda *args: told.append(args))
        index.add(iter(["y"] * 2), progress=lambda *args: told.append(args))
        assert told == [(3, 3), (2, 0)]


class TestCounts:
    def test_bags_match_bag_of_words(self, index: Index) -> None:
        index.add(TEXTS)
        bags, vocabulary = index.bags(), index.vocabulary()
        expected = BagOfWords(stop_words=None, vocabulary=vocabulary).transform(TEXTS)
        assert (bags != expected).nnz == 0
        assert bags.dtype == np.float32
        assert bags.indices.dtype == bags.indptr.dtype == np.int32
        assert "(0, 0)" in str(bags)
        assert bags.tocoo().nnz == bags.nnz
        assert vocabulary.words[:3] == ("obama", "speaks", "to")
        assert index.document_frequencies()[vocabulary.index("the")] == 2
        assert index.info().tokens == 14

    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"stop_words": "smart"}, {"obama", "speaks", "media", "illinois"}),
            ({"stop_words": ["Obama", "to"]}, {"speaks", "the", "media", "in", "illinois"}),
            ({"lowercase": False, "stop_words": "smart"}, {"Obama", "speaks", "media", "Illinois"}),
            ({"ngram_range": (2, 2)}, {"obama speaks", "speaks to", "to the", "the media",
                                       "media in", "in illinois"}),
            ({"normalizer": "wordnet", "stop_words": "smart"}, {"obama", "speak", "medium",
                                                               "illinois"}),
        ],
    )  # fmt: skip
    def test_text_settings_are_used(
        self, tmp_path: Path, settings: dict[str, object], words: set[str]
    ) -> None:
        Index.create(tmp_path / "x.kin", **settings).close()  # type: ignore[arg-type]
        with Index.open(tmp_path / "x.kin") as index:
            index.add([TEXTS[0]])
            frequencies = index.document_frequencies()
            assert {w for w, n in zip(index.vocabulary(), frequencies, strict=True) if n} == words
            assert index.info().tokens == len(words)
            index.verify()

    def test_stemmer_language_is_stored(self, tmp_path: Path) -> None:
        pytest.importorskip("Stemmer")
        Index.create(tmp_path / "x.kin", normalizer=Stemmer("german")).close()
        with Index.open(tmp_path / "x.kin") as index:
            index.add(["Häuser laufend"])
            assert index.vocabulary().words == tuple(map(Stemmer("german"), ("häuser", "laufend")))
            assert (index.info().normalizer, index.info().language) == ("stem", "german")

    def test_stop_list_is_stored_with_its_version(self, tmp_path: Path) -> None:
        file = tmp_path / "stop.txt"
        file.write_text("press\n")
        with Index.create(tmp_path / "a.kin", stop_words="smart", language=None) as a:
            assert a.info().stop_words == "smart:1"
        with Index.create(tmp_path / "b.kin", stop_words=file, language=None) as b:
            file.unlink()
        with Index.open(b.path) as b:
            assert b.info().stop_words == ("press",)

    def test_threads_do_not_change_counts(self, tmp_path: Path) -> None:
        texts = [f"{a} {b} word{a * b % 97}" for a in range(60) for b in range(60)]
        with (
            Index.create(tmp_path / "a", language=None) as a,
            Index.create(tmp_path / "b", language=None) as b,
        ):
            a.add(texts)
            b.add(texts, n_jobs=3)
            assert a.vocabulary() == b.vocabulary()
            assert (a.bags() != b.bags()).nnz == 0

    def test_words_of_other_writers_keep_their_ids(self, index: Index) -> None:
        other = Index.open(index.path)
        index.add(["a b"])
        other.add(["b c"])
        index.add(["c d"])
        other.close()
        assert index.vocabulary().words == ("a", "b", "c", "d")
        index.verify()

    def test_failed_add_leaves_no_words(self, index: Index) -> None:
        index.add([{"id": "a", "text": "old"}])
        with pytest.raises(AddError):
            index.add([{"id": "b", "text": "never"}, {"id": "a", "text": "seen"}])
        index.add([{"id": "c", "text": "new"}])
        assert index.vocabulary().words == ("old", "new")
        index.verify()


class TestUnusualText:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            " \n",
            "...",
            "日本語のテキスト",
            "ไทย",
            "🙂 emoji",
            "a\0b",
            "e\u0301",
            "\u202eabc",
            "x" * 10_000,
        ],
    )
    def test_any_text_is_stored(self, index: Index, text: str) -> None:
        index.add([{"id": "é 'quoted' \"id\"; DROP TABLE", "text": text, "ключ": "значение"}])
        assert next(iter(index)).text == text
        assert next(iter(index)).metadata == {"ключ": "значение"}
        index.verify()
        assert index.bags().shape[0] == 1

    def test_empty_documents_are_counted(self, index: Index) -> None:
        index.add(["", "word", ""])
        assert index.bags().sum(axis=1).tolist() == [0, 1, 0]
        assert index.info().tokens == 1

    def test_huge_document(self, index: Index) -> None:
        index.add(["word other " * 500_000])
        assert index.bags().toarray().tolist() == [[500_000, 500_000]]
        index.verify()


class TestFolder:
    def test_index_can_be_moved(self, index: Index, tmp_path: Path) -> None:
        index.add(RECORDS)
        index.close()
        (tmp_path / "deep").mkdir()
        moved = index.path.rename(tmp_path / "deep" / "other.kin")
        with Index.open(moved) as again:
            again.verify()
            assert again.ids == ["a", "b"]

    def test_copy_is_the_current_snapshot(self, index: Index, tmp_path: Path) -> None:
        index.add(RECORDS)
        with Index.open(index.path) as other:
            other.add([{"id": "c", "text": "later"}])
        told: list[tuple[int, int]] = []
        with index.copy(tmp_path / "copy.kin", progress=lambda *a: told.append(a)) as copy:
            copy.verify()
            assert copy.ids == ["a", "b"]
            copy.add([{"id": "d", "text": "only here"}])
        assert "d" not in index
        assert told
        assert told[-1][0] == told[-1][1]

    def test_custom_vectors_are_in_the_folder(self, tmp_path: Path) -> None:
        vectors = WordVectors(["king", "queen"], np.eye(2, 3))
        with Index.create(tmp_path / "a.kin", vectors=vectors, language=None) as index:
            copy = index.copy(tmp_path / "b.kin")
        with copy:
            assert copy.vectors.words == ("king", "queen")
            assert np.array_equal(copy.vectors.matrix, vectors.matrix)
            assert copy.info().vectors == "own"
            assert copy.info().bytes["vectors"] > 0
            copy.verify()

    def test_built_in_vectors_are_stored_by_name_and_hash(
        self, index: Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        assert index.vectors is WordVectors.builtin()
        assert index.info().vectors == "built-in"
        other = tmp_path / "other.npz"
        other.write_bytes(b"another release")
        monkeypatch.setattr("textkin.index.store._settings.BUILTIN_PATH", other)
        with Index.open(index.path) as again, pytest.raises(ValueError, match="hashes differ"):
            again.vectors  # noqa: B018

    def test_info_has_all_numbers_and_settings(self, index: Index) -> None:
        index.add(RECORDS)
        index.delete("a")
        info = index.info()
        assert (info.documents, info.tokens, info.words) == (1, 7, 11)
        assert (info.segments, info.recent, info.deleted, info.format) == (0, 1, 0, 3)
        assert info.bytes["total"] == sum(
            info.bytes[k] for k in ("catalog", "segments", "vectors", "models")
        )
        assert json.loads(json.dumps(info.to_dict()))["ngram_range"] == [1, 1]

    def test_current_folder_is_irrelevant(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            Index.create("x.kin", language=None).close()
        with Index.open("x.kin") as index:
            monkeypatch.chdir(tmp_path / "a")
            index.add(RECORDS)
            index.compact()
            assert index.ids == ["a", "b"]
        with Index.open(tmp_path / "b" / "x.kin") as index:
            index.verify()
            assert len(index) == 2
        with Index.open("x.kin") as index:
            assert len(index) == 0

    def test_replaced_folder_is_not_written(self, index: Index) -> None:
        index.add(RECORDS)
        index.path.rename(index.path.with_name("moved.kin"))
        with Index.create(index.path, language=None) as other:
            with pytest.raises(OSError, match="not the folder that was opened"):
                index.add(["x"])
            assert len(other) == 0

    @pytest.mark.parametrize("name", ["a b#c?d%e.kin", os.fsdecode(b"\xe9\xe8.kin"), "x" * 250])
    def test_any_folder_name(self, tmp_path: Path, name: str) -> None:
        with Index.create(tmp_path / name, language=None) as index:
            index.add(RECORDS)
        with Index.open(tmp_path / name) as index:
            assert len(index) == 2

    def test_copy_into_itself_raises(self, index: Index) -> None:
        for inner in ("inner", "segments/inner"):
            with pytest.raises(ValueError, match="must be outside the index"):
                index.copy(index.path / inner)

    def test_index_is_pickled_by_its_path(self, index: Index) -> None:
        index.add(RECORDS)
        with pickle.loads(pickle.dumps(index)) as again:
            assert again.ids == ["a", "b"]

    def test_other_processes_can_open_the_index(self, index: Index) -> None:
        index.add(RECORDS)
        code = "import sys, textkin; print(textkin.Index.open(sys.argv[1]).ids)"
        done = subprocess.run(
            [sys.executable, "-c", code, str(index.path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "['a', 'b']"


def test_create_with_exist_ok_opens_an_index_with_the_same_settings(tmp_path):
    path = tmp_path / "index.kin"
    with Index.create(path, exist_ok=True, normalizer="stem") as index:
        index.add(["Cats purr"])
    with Index.create(path, exist_ok=True, normalizer="stem", vectors="glove") as index:
        assert index.ids == ["0"]
    with pytest.raises(ValueError, match="normalizer must be the same as in the existing index"):
        Index.create(path, exist_ok=True, language=None)
    with pytest.raises(ValueError, match="vectors must be the same as in the existing index"):
        Index.create(path, exist_ok=True, normalizer="stem", vectors="distilled")
    with pytest.raises(FileExistsError):
        Index.create(path, normalizer="stem")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.raises(FileExistsError):
        Index.create(tmp_path / "other", exist_ok=True, language=None)


def test_open_with_create_makes_a_new_index(tmp_path):
    path = tmp_path / "index.kin"
    with pytest.raises(FileNotFoundError):
        Index.open(path)
    with Index.open(path, create=True) as index:
        index.add(["Cats purr"])
    with Index.open(path, create=True) as index:
        assert len(index) == 1


def test_ids_of_an_index_and_of_hits_are_attributes(tmp_path):
    with Index.create(tmp_path / "index.kin", language=None) as index:
        index.add([{"id": "a", "text": "Cats purr"}])
        assert index.ids == index.search("cats").ids == ["a"]
        index.ids.append("b")  # a new list each time
        assert index.ids == ["a"]


def test_add_without_a_text_field_names_a_remedy_that_works(tmp_path):
    records = [{"id": "a", "body": "Cats purr"}]
    with Index.create(tmp_path / "index.kin", language=None) as index:
        with pytest.raises(AddError, match="such as `text='body'`"):
            index.add(records)
        index.add(records, text="body")
        index.add(read([{"id": "b", "body": "Dogs bark"}], text="body"))
        assert [document.text for document in index] == ["Cats purr", "Dogs bark"]


def test_a_mapping_called_metadata_is_the_metadata(tmp_path):
    record = {"id": "a", "text": "Cats purr", "year": 2015, "metadata": {"n": 1, "tags": ["x"]}}
    with Index.create(tmp_path / "index.kin", language=None) as index:
        index.add([record])
        assert index["a"].metadata == {"year": 2015, "n": 1, "tags": ["x"]}
        assert index.search("cats", where={"n": 1}).ids == ["a"]
        with pytest.raises(AddError, match="the field 'year' is in the record and in its mapping"):
            index.add([{"id": "b", "text": "x", "year": 1, "metadata": {"year": 2}}])
        index.add([{"id": "c", "text": "x", "metadata": "a string"}])
        assert index["c"].metadata == {"metadata": "a string"}
