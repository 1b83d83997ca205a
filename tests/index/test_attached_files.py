"""Files of attached models: storage, copies, corruption, and older formats."""

import errno
import os
import re
import shutil
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from support import load_script
from textkin import LSI, Index, TfIdf
from textkin.exceptions import DamagedIndexError
from textkin.index import ModelRanking
from textkin.index.store import _session

helpers = load_script("tests/index/attached_models.py")
model, RECORDS, MORE = helpers.model, helpers.RECORDS, helpers.MORE
lengths, vectors, change = helpers.lengths, helpers.vectors, helpers.change
Encoder, Other = helpers.Encoder, helpers.Other


class TestFolder:
    """Model files that are corrupt or untrusted."""

    @pytest.fixture
    def path(self, filled: Index) -> Path:
        filled.attach("lsi", make_pipeline(TfIdf(), LSI(2, random_state=0)))
        filled.close()
        return filled.path

    def place(self, path: Path) -> Path:
        return path / "models" / model.model_files(path)[0]

    def assert_told(self, path: Path) -> None:
        """A corrupt model is reported, blocks adding, and can be attached again."""
        with Index.open(path) as index:
            near = index.similar("d1", ranking="lsi").ids
            before = index.ids
            for use in (
                lambda: index.search("abc", ranking="lsi"),
                lambda: index.add(MORE),
                lambda: index.copy(path.with_name("copy.kin")),
                index.verify,
            ):
                with pytest.raises(DamagedIndexError, match=r"lsi.*attach it again") as told:
                    use()
                assert "models/" in told.value.problems[0]
            assert index.ids == before
            assert not path.with_name("copy.kin").exists()
            assert index.search("abc def").ids
            index.delete("d1")
            index.detach("lsi")
            index.verify()
            index.attach("lsi", make_pipeline(TfIdf(), LSI(2, random_state=0)))
            index.add(MORE)
            index.verify()
            assert near

    @pytest.mark.parametrize("file", ["manifest.json", "arrays.safetensors"])
    @pytest.mark.parametrize("how", ["removed", "flipped", "cut", "linked", "pipe"])
    def test_file(self, path: Path, file: str, how: str, tmp_path: Path) -> None:
        damaged = self.place(path) / "1" / file
        data = bytearray(damaged.read_bytes())
        damaged.unlink()
        data[-2] ^= 1
        if how == "flipped":
            damaged.write_bytes(data)
        elif how == "cut":
            damaged.write_bytes(data[:-9])
        elif how == "pipe":  # a reader of the pipe would wait forever
            os.mkfifo(damaged)
        elif how == "linked":
            data[-2] ^= 1
            (tmp_path / "elsewhere").write_bytes(data)
            damaged.symlink_to(tmp_path / "elsewhere")
        self.assert_told(path)

    @pytest.mark.parametrize("what", ["step", "model", "models"])
    def test_missing_or_redirected_folder(self, path: Path, what: str, tmp_path: Path) -> None:
        place = {"step": self.place(path) / "0", "model": self.place(path)}.get(
            what, path / "models"
        )
        elsewhere = Path(shutil.move(place, tmp_path / "elsewhere"))
        before = sorted(file.name for file in elsewhere.rglob("*"))
        place.symlink_to(elsewhere)
        self.assert_told(path)
        assert sorted(file.name for file in elsewhere.rglob("*")) == before

    def test_replaced_model(self, path: Path) -> None:
        arrays = self.place(path) / "1"
        shutil.rmtree(arrays)
        LSI(2).fit(np.eye(4)).save(arrays)
        self.assert_told(path)

    def test_remains_of_a_crash_are_removed(self, path: Path) -> None:
        named = model.model_files(path)
        (path / "models" / ".abc.tmp").mkdir()
        (path / "models" / "00000999" / "0").mkdir(parents=True)
        (path / "models" / "letter.txt").write_text("x")
        with Index.open(path) as index:
            index.compact()
            index.verify()
        assert model.model_files(path) == named

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE vectors SET vector = x'00' WHERE position = 5", "position 5 is corrupt"),
            ("UPDATE vectors SET vector = zeroblob(8) WHERE position = 5", "position 5 is corrupt"),
            ("UPDATE vectors SET checksum = 7 WHERE position = 5", "position 5 is corrupt"),
            ("UPDATE vectors SET vector = 7 WHERE position = 5", "position 5 is corrupt"),
            ("DELETE FROM vectors WHERE position = 5", "documents without a vector"),
            ("UPDATE vectors SET position = 3 WHERE position = 5", "vectors without a document"),
            (
                "INSERT INTO vectors SELECT model, 3, checksum, vector FROM vectors LIMIT 1",
                "vectors without a document",
            ),
            (
                "INSERT INTO vectors SELECT model, 999, checksum, vector FROM vectors LIMIT 1",
                "vectors without a document",
            ),
        ],
    )
    def test_vectors(self, path: Path, statement: str, told: str) -> None:
        change(path, statement)
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError, match=told):
                index.search("abc", ranking="lsi")
            with pytest.raises(DamagedIndexError, match=rf"{told}.*attach it again"):
                index.verify()
            index.detach("lsi")
            index.verify()

    def test_invalid_vectors(self, path: Path) -> None:
        blob = np.array([np.nan, 1], "<f4").tobytes()
        change(
            path,
            "UPDATE vectors SET vector = ?, checksum = ? WHERE position = 5",
            blob,
            zlib.crc32(blob),
        )
        with Index.open(path) as index, pytest.raises(DamagedIndexError, match="NaN or infinity"):
            index.similar("d1", ranking="lsi")

    def test_vectors_without_model(self, path: Path) -> None:
        change(path, "UPDATE vectors SET model = 99 WHERE position = 5")
        with Index.open(path) as index, pytest.raises(DamagedIndexError, match="no model"):
            index.verify()

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE models SET dimensions = 1 << 40",
            "UPDATE models SET name = '../x'",
            "UPDATE models SET columns = columns + 1000",
            "UPDATE models SET metric = 'l2'",
            "UPDATE models SET takes = 'x'",
            "UPDATE models SET steps = 1000",
            "UPDATE models SET description = 'other'",
            "UPDATE models SET description = CAST(x'ff' AS TEXT)",
            "UPDATE models SET number = -1",
            "UPDATE models SET name = x'ff'",
            "UPDATE models SET name = CAST(x'ff' AS TEXT)",
            "UPDATE models SET name = 'bm25'",
            "UPDATE models SET checksum = 'x'",
        ],
    )
    def test_invalid_catalog_rows(self, path: Path, statement: str) -> None:
        with Index.open(path) as index:
            found = index.search("abc def").ids
            near = index.search("abc def", ranking="lsi").ids
        change(path, statement)
        row = r"its row in the table 'models' has changed \(its checksum differs\)"
        with Index.open(path) as index:
            assert index.search("abc def").ids == found != []
            ((name, told),) = index.models().items()
            assert re.fullmatch(f"corrupt: {row}", told)
            named = "SET name" not in statement
            assert name == ("lsi" if named else "bm25" if "bm25" in statement else name)
            with pytest.raises(DamagedIndexError, match=f"model '{name}' of the index is .*{row}"):
                index.search("abc def", ranking=ModelRanking(name))
            with pytest.raises(DamagedIndexError, match=f"'{name}': {row}.*attach it again"):
                index.verify()
            with pytest.raises(DamagedIndexError, match=row):
                index.verify(repair=True)
            with pytest.raises(DamagedIndexError, match=rf"{row}.*detach\('{name}'\)"):
                index.add(MORE)
            index.compact()
            if named and "checksum" not in statement:
                index.attach("lsi", make_pipeline(TfIdf(), LSI(2, random_state=0)))
                assert index.search("abc def", ranking="lsi").ids == near
            else:
                index.detach(name)
                assert not index.models()
            index.verify()
            index.delete("d1")
            index.add(MORE)
            index.verify()
            assert len(os.listdir(path / "models")) == len(index.models())

    def test_one_corrupt_row_keeps_the_other_models(self, path: Path) -> None:
        with Index.open(path) as index:
            index.attach("damaged.0", LSI(2, random_state=0))
            expected = index.search("abc def", ranking="damaged.0").ids
        change(path, "UPDATE models SET number = 0, name = x'ff' WHERE name = 'lsi'")
        with Index.open(path) as index:
            assert list(index.models()) == ["damaged.0", "damaged.0_"]
            assert index.search("abc def", ranking="damaged.0").ids == expected
            index.detach("damaged.0_")
            index.verify()

    def test_model_given_for_a_corrupt_row_is_ignored(self, filled: Index) -> None:
        filled.attach("own", Encoder())
        filled.close()
        change(filled.path, "UPDATE models SET dimensions = 1")
        with Index.open(filled.path, models={"own": Encoder()}) as index:
            with pytest.raises(DamagedIndexError, match="its row in the table"):
                index.similar("d1", ranking="own")
            with pytest.raises(DamagedIndexError, match="its row in the table"):
                index.copy(filled.path.with_name("copy.kin"))
            index.attach("own", Encoder())
            assert index.search("abc", ranking="own").ids
            index.verify()

    def test_control_characters_in_a_description(self, path: Path) -> None:
        with Index.open(path) as index:
            record = index._session.snapshot().models["lsi"]
        record = replace(record, description="\x1b[31mred\x1b]0;title\x07")
        change(
            path,
            "UPDATE models SET description = ?, checksum = ?",
            record.description,
            record.checksum(),
        )
        with Index.open(path) as index:
            assert index.models()["lsi"].startswith("corrupt: ")

    def test_control_characters_in_a_name(self, filled: Index) -> None:
        made = Encoder()
        made.__name__ = "a\x1b[31m \ud800\nb"  # type: ignore[attr-defined]
        filled.attach("own", made)
        assert filled.models()["own"].startswith("a?[31m ? b:")
        Index.open(filled.path).close()


NEWER_TABLES = (
    *("models", "vectors", "embeddings", "vector_files", "missing_vectors"),
    *("analyzers", "terms", "word_terms"),
)


def convert_to_format_1(path: Path) -> None:
    for table in NEWER_TABLES:
        change(path, f"DROP TABLE {table}")
    change(path, "ALTER TABLE documents DROP COLUMN field_lengths")
    change(path, "PRAGMA user_version = 1")


def test_index_of_format_1_is_upgraded(filled: Index) -> None:
    ids = filled.ids
    filled.close()
    convert_to_format_1(filled.path)
    with Index.open(filled.path) as index:
        assert (index.ids, index.info().format) == (ids, 3)
        index.verify()
        index.attach("lsi", LSI(2))
        index.verify()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_read_only_index_of_format_1(
    filled: Index, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    filled.close()
    convert_to_format_1(filled.path)

    def refused(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number), "writer.lock")

    with monkeypatch.context() as patch:
        patch.setattr(_session, "writer_lock", refused)
        with pytest.raises(
            ValueError, match=r"has format 1, which must be upgraded to 3.*is writable"
        ):
            Index.open(filled.path)
        number = errno.EIO
        with pytest.raises(OSError, match="Input/output error"):
            Index.open(filled.path)
    Index.open(filled.path).close()


def test_copy_has_the_models(filled: Index, tmp_path: Path) -> None:
    filled.attach("lsi", LSI(2))
    with filled.copy(tmp_path / "copy.kin") as copy:
        copy.verify()
        copy.add(MORE)
        assert copy.models() == filled.models()
        assert copy.info().bytes["models"] == filled.info().bytes["models"] > 0
        assert copy.info().to_dict()["models"] == copy.models()
    shutil.rmtree(filled.path / "models")
    with pytest.raises(DamagedIndexError, match="models is missing"):
        filled.copy(tmp_path / "other.kin")
    assert not os.path.exists(tmp_path / "other.kin")


@pytest.mark.parametrize("when", ["before", "during"])
def test_copy_of_a_snapshot_with_a_detached_model(
    filled: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    filled.attach("lsi", LSI(2, random_state=0))
    copyfile = shutil.copyfile

    def detached(source: Path, target: Path) -> None:
        copyfile(source, target)
        if source.parent.parent.parent.name == "models" and source.exists() and filled.models():
            filled.detach("lsi")

    with Index.open(filled.path) as reader:
        if when == "before":
            filled.detach("lsi")
        else:
            monkeypatch.setattr(shutil, "copyfile", detached)
        with pytest.raises(
            ValueError, match=r"'lsi' was detached by another process.*refresh\(\)"
        ) as told:
            reader.copy(tmp_path / "copy.kin")
        assert not isinstance(told.value, DamagedIndexError)
        assert not (tmp_path / "copy.kin").exists()
        reader.refresh()
        with reader.copy(tmp_path / "copy.kin") as copy:
            assert copy.models() == {}


def test_copy_does_not_follow_links_to_word_vectors(filled: Index, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("x")
    (filled.path / "vectors").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DamagedIndexError, match="vectors is a link"):
        filled.copy(tmp_path / "copy.kin")
    assert not (tmp_path / "copy.kin").exists()


def test_info_while_another_process_detaches(
    filled: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.attach("lsi", LSI(2))
    folder, scandir = filled.path / "models" / model.model_files(filled.path)[0], os.scandir

    def vanishing(path: str | Path) -> object:
        if Path(path).parent == folder:  # listed a moment ago
            monkeypatch.setattr(os, "scandir", scandir)
            shutil.rmtree(folder)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert filled.info().bytes["models"] == 0
    assert not folder.exists()
