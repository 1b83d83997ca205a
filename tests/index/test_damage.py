"""Changed catalogs, vectors, and formats are detected and reported."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from support import change_manifest, load_script
from textkin import Index
from textkin.exceptions import DamagedIndexError, IndexWarning
from textkin.index.store import _schema, _session
from textkin.index.store._session import writer_lock
from textkin.reading import Document

helpers = load_script("tests/index/damaged_index.py")
template = helpers.template
path = helpers.path
documents = helpers.documents
segments = helpers.segments
everything = helpers.everything
change = helpers.change
verify = helpers.verify
assert_whole = helpers.assert_whole
read_all = helpers.read_all
model = helpers.model
CATALOG = helpers.CATALOG
FLIPS = helpers.FLIPS


class TestCatalog:
    @pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.6, 0.999])
    def test_truncated_catalog(self, path: Path, share: float) -> None:
        file = path / CATALOG
        os.truncate(file, int(share * file.stat().st_size))
        before = everything(path)
        with pytest.raises(ValueError, match=r"catalogue\.sqlite") as told:
            verify(path)
        assert share == 0 or isinstance(told.value, DamagedIndexError)
        assert everything(path) == before

    @pytest.mark.parametrize(
        ("content", "kind"),
        [
            (b"not a database" * 100, DamagedIndexError),
            (b"SQLite format 3\0" + b"\xff" * 5000, DamagedIndexError),
        ],
    )
    def test_replaced_catalog(self, path: Path, content: bytes, kind: type[Exception]) -> None:
        (path / CATALOG).write_bytes(content)
        before = everything(path)
        with pytest.raises(kind, match=r"catalogue\.sqlite is corrupt.*backup"):
            Index.open(path)
        assert everything(path) == before

    def test_database_of_another_program(self, path: Path) -> None:
        (path / CATALOG).unlink()
        change(path, "CREATE TABLE mine (number)")
        before = everything(path)
        with pytest.raises(ValueError, match="database of another program"):
            Index.open(path)
        assert everything(path) == before

    def test_missing_catalog(self, path: Path) -> None:
        (path / CATALOG).unlink()
        before = everything(path)
        with pytest.raises(FileNotFoundError, match="is not an index"):
            Index.open(path)
        assert everything(path) == before

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE more (number)",
            "CREATE INDEX more ON documents (length)",
            "CREATE VIEW more AS SELECT * FROM documents",
            "CREATE TRIGGER more AFTER INSERT ON documents BEGIN DELETE FROM documents; END",
            "ALTER TABLE words ADD COLUMN more",
            "DROP TABLE deleted",
        ],
    )
    def test_other_tables_raise(self, path: Path, statement: str) -> None:
        change(path, statement)
        with pytest.raises(DamagedIndexError, match="its tables are not the tables of an index"):
            Index.open(path)

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE documents SET text = text || 'x' WHERE id = 'd3'", "d3' has changed since"),
            ("UPDATE documents SET text = x'ff00' WHERE id = 'd3'", "wrong types"),
            ("UPDATE documents SET text = CAST(x'ff41' AS TEXT) WHERE id = 'd3'", "UTF-8"),
            ("UPDATE documents SET label = '[' WHERE id = 'd3'", "d3' has changed since"),
            ("UPDATE documents SET metadata = '{}' WHERE id = 'd3'", "d3' has changed since"),
            ("UPDATE documents SET digest = x'00' WHERE id = 'd3'", "d3' has changed since"),
            ("UPDATE documents SET counts = x'' WHERE id = 'd3'", "'d3' has counts that changed"),
            ("UPDATE documents SET counts = 7 WHERE id = 'd3'", "wrong types"),
            ("UPDATE documents SET checksum = 1 WHERE id = 'd3'", "'d3' has counts that changed"),
            ("UPDATE documents SET length = 99 WHERE id = 'd3'", "'d3' has a wrong length"),
            ("UPDATE documents SET length = 'long' WHERE id = 'd3'", "TEXT value|wrong types"),
            ("DELETE FROM documents WHERE id = 'd3'", "there are 11 documents"),
            ("UPDATE state SET documents = 7", "'state' has 7"),
            ("UPDATE state SET tokens = tokens + 1", "there are 12 documents with"),
            ("UPDATE words SET word = 'xyz' WHERE number = 3", "'words' has changed"),
            (
                "UPDATE words SET word = x'ff' WHERE number = 3",
                "words with IDs between .* are missing",
            ),
            ("DELETE FROM words WHERE number = 3", "words with IDs between .* are missing"),
            ("INSERT INTO deleted VALUES (3)", "position 3 is not a deleted document"),
        ],
    )
    def test_verify_names_changed_parts(
        self, path: Path, statement: str, told: str, documents: dict[str, Document]
    ) -> None:
        change(path, statement)
        before = everything(path)
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError, match=told) as found:
                index.verify()
            assert all(CATALOG in problem for problem in found.value.problems)
            with pytest.raises(DamagedIndexError, match="backup"):
                index.verify(repair=True)
            assert index["d4"] == documents["d4"]
        assert everything(path) == before

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE state SET words = 1 << 40", "'words' has fewer rows than recorded"),
            ("UPDATE state SET words = words - 1", "'words' has more rows than recorded"),
            ("UPDATE state SET next_position = 3", "'documents' has more rows than recorded"),
            ("UPDATE state SET next_segment = 0", "'segments' has more rows than recorded"),
            ("UPDATE state SET documents = 1 << 40", "fewer documents than recorded"),
            (
                "UPDATE state SET documents = 1 << 40, next_position = 1 << 40",
                "fewer documents than recorded",
            ),
            ("UPDATE state SET tail_position = 3", "its segments do not end"),
            ("UPDATE state SET tail_word = -1", "one row of counts"),
            ("UPDATE state SET number = 'x'", "one row of counts"),
            ("DELETE FROM state", "one row of counts"),
            ("INSERT INTO words VALUES (1 << 40, 'far')", "'words' has more rows than recorded"),
            ("INSERT INTO words VALUES (-1, 'far')", "'words' has more rows than recorded"),
            (
                "UPDATE segments SET end_position = 1 << 40 WHERE number = 0",
                "does not continue the previous one",
            ),
            (
                "UPDATE segments SET first_word = 1 WHERE number = 0",
                "does not continue the previous one",
            ),
            ("UPDATE segments SET rows = -1", "counts and hashes"),
            ("UPDATE segments SET sha256 = 1.5 WHERE number = 0", None),
            ("DELETE FROM segments", "its segments do not end"),
            ("DELETE FROM settings WHERE name = 'reading'", "settings have changed"),
            ("UPDATE settings SET value = '{}'", "settings have changed"),
            ("DELETE FROM settings", "settings have changed"),
        ],
    )
    def test_impossible_numbers_raise_immediately(
        self, path: Path, statement: str, told: str | None
    ) -> None:
        change(path, statement)
        before = everything(path)
        if told is None:  # a text column converts the number: the segment is rebuilt
            with Index.open(path) as index, pytest.raises(DamagedIndexError, match="hash differs"):
                index.verify()
            return
        with pytest.raises(DamagedIndexError, match=told):
            Index.open(path)
        assert everything(path) == before

    @pytest.mark.parametrize("length", ["x'00ff'", "'long'", "2.5", "-1", "1 << 50"])
    def test_invalid_length_stops_update_and_delete(
        self, path: Path, documents: dict[str, Document], length: str
    ) -> None:
        change(path, f"UPDATE documents SET length = {length} WHERE id = 'd3'")
        told = pytest.raises(DamagedIndexError, match="position 3 has an invalid length")
        with Index.open(path) as index:
            with told:
                index.delete("d3")
            with told:
                index.update([{"id": "d3", "text": "new"}])
            model.check(index, [documents])
            with told:
                index.mirror([{"id": "d4", "text": documents["d4"].text}])
            index.delete("d4")
            assert "d3" in index
            assert "d4" not in index

    def test_missing_deletions_are_found(self, path: Path, documents: dict[str, Document]) -> None:
        change(path, "DELETE FROM deleted")
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError, match="disagrees with the catalog"):
                index.verify()
            index.verify(repair=True)
        assert_whole(path, documents)

    def test_any_flipped_bit(self, path: Path, documents: dict[str, Document]) -> None:
        """A flipped bit causes a public error or has no effect on results."""
        file = path / CATALOG
        data = file.read_bytes()
        used = [place for place, byte in enumerate(data) if byte]
        rng = Random(11)
        refused = 0
        for flip in range(FLIPS):
            damaged = bytearray(data)
            place = rng.choice(used) if flip % 4 else rng.randrange(len(data))
            bit = rng.randrange(8)
            damaged[place] ^= 1 << bit
            file.write_bytes(damaged)
            told = f"flip {flip}: byte {place}, bit {bit}"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", IndexWarning)
                    with Index.open(path) as index:
                        read_all(index)
                        index.verify()
                        model.check(index, [documents], told)
            except Exception as error:
                if not isinstance(error, ValueError | OSError) or str(path) not in str(error):
                    error.add_note(told)
                    raise
                refused += 1
            for left in ("-wal", "-shm"):
                (path / f"{CATALOG}{left}").unlink(missing_ok=True)
        assert refused > FLIPS // 2
        file.write_bytes(data)
        for old in segments(path):  # some flips cause a rebuild
            old.unlink()
        with pytest.warns(IndexWarning):
            Index.open(path).close()
        assert_whole(path, documents)


class TestVectors:
    def test_corrupt_vectors_are_reported_and_documents_are_readable(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        file = max((path / "vectors").iterdir(), key=lambda file: file.suffix == ".safetensors")
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
        with Index.open(path) as index:
            model.check(index, [documents])
            with pytest.raises(DamagedIndexError, match="vectors"):
                index.verify()
            with pytest.raises(DamagedIndexError, match="vectors"):
                index.vectors  # noqa: B018

    def test_number_among_signed_words_is_reported_by_verify_and_by_a_search(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        file = path / "vectors" / "words.json"
        words = json.loads(file.read_text())
        words[0] = 7
        file.write_text(json.dumps(words))
        data = file.read_bytes()
        record = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        change_manifest(
            path / "vectors", lambda manifest: manifest["files"].update({"words.json": record})
        )
        change(path, "UPDATE state SET tokens = tokens + 1")
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError) as told:
                index.verify()
            assert len(told.value.problems) == 2
            assert "words.json must hold distinct words" in told.value.problems[1]
            with pytest.raises(DamagedIndexError, match=r"words\.json must hold distinct words"):
                index.search("abc", ranking="wmd")


class TestFormats:
    def test_newer_format_raises(self, path: Path) -> None:
        change(path, f"PRAGMA user_version = {_schema.FORMAT + 1}")
        before = everything(path)
        with pytest.raises(ValueError, match="Install a newer version"):
            Index.open(path)
        assert everything(path) == before

    def test_unknown_format_raises(self, path: Path) -> None:
        change(path, "PRAGMA user_version = 0")
        with pytest.raises(DamagedIndexError, match="format is 0, which does not exist"):
            Index.open(path)

    @pytest.fixture
    def next_format(self, monkeypatch: pytest.MonkeyPatch) -> str:
        """Simulate a newer format, which has an additional table."""
        table = "CREATE TABLE more (number INTEGER PRIMARY KEY)"
        for module in (_schema, _session):
            monkeypatch.setattr(module, "FORMAT", _schema.FORMAT + 1)
        monkeypatch.setattr(_schema, "_SCHEMA", (*_schema._SCHEMA, table))
        return table

    def test_older_format_is_upgraded(
        self,
        path: Path,
        documents: dict[str, Document],
        next_format: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def step(connection: sqlite3.Connection) -> None:
            assert connection.in_transaction
            connection.execute(next_format)

        monkeypatch.setitem(_schema._UPGRADES, _schema.FORMAT - 1, step)
        assert_whole(path, documents)
        monkeypatch.setitem(
            _schema._UPGRADES, _schema.FORMAT - 1, None
        )  # the upgrade must not run again
        assert_whole(path, documents)

    def test_failed_upgrade_changes_nothing(
        self, path: Path, documents: dict[str, Document], next_format: str
    ) -> None:
        def step(connection: sqlite3.Connection) -> None:
            connection.execute(next_format)
            connection.execute("DELETE FROM documents")
            raise sqlite3.OperationalError("cannot continue")

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(_schema._UPGRADES, _schema.FORMAT - 1, step)
            with pytest.raises(sqlite3.OperationalError, match="cannot continue"):
                Index.open(path)
        with pytest.MonkeyPatch.context() as patch:
            for module in (_schema, _session):
                patch.setattr(module, "FORMAT", _schema.FORMAT - 1)
            patch.setattr(_schema, "_SCHEMA", _schema._SCHEMA[:-1])
            assert_whole(path, documents)

    def test_upgrade_waits_for_the_writer(self, path: Path, next_format: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(
                _schema._UPGRADES,
                _schema.FORMAT - 1,
                lambda connection: connection.execute(next_format),
            )
            told = pytest.raises(TimeoutError, match=f"process {os.getpid()}")
            with writer_lock(path / "writer.lock", 0), told:
                Index.open(path, timeout=0)
            Index.open(path).close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_read_only_folder(open_folder: Path) -> None:
    script = Path(__file__).with_name("unprivileged.py")
    done = subprocess.run(
        [sys.executable, script, open_folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0] == "12 documents"
    assert all("Permission denied" in line and "writer.lock" in line for line in told[1:4])
    assert "Open the index once where its folder is writable" in told[4]
    assert len(told) == 5


class TestStrangersBesideTheCatalog:
    """SQLite follows files next to its database, which an attacker may have created."""

    def test_journal_cannot_remove_a_file(self, index: Index, tmp_path: Path) -> None:
        index.close()
        mine = tmp_path / "thesis.txt"
        mine.write_text("mine")
        name = str(mine).encode()
        magic = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
        header = magic + b"".join(n.to_bytes(4, "big") for n in (0, 0, 1, 512, 4096))
        page = ((1 << 30) // 4096 + 1).to_bytes(4, "big")
        end = len(name).to_bytes(4, "big") + sum(name).to_bytes(4, "big") + magic
        journal = index.path / "catalogue.sqlite-journal"
        journal.write_bytes(header.ljust(512, b"\0") + page + name + end)
        with pytest.raises(DamagedIndexError, match="which textkin never creates"):
            Index.open(index.path)
        assert mine.read_text() == "mine"

    @pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
    def test_pipes_and_links_raise(self, index: Index, tmp_path: Path, ending: str) -> None:
        index.close()
        beside = index.path / f"catalogue.sqlite{ending}"
        os.mkfifo(beside)
        with pytest.raises(DamagedIndexError, match=r"catalogue\.sqlite"):
            Index.open(index.path)
        beside.unlink()
        beside.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(DamagedIndexError, match=r"catalogue\.sqlite"):
            Index.open(index.path)
        assert not (tmp_path / "elsewhere").exists()

    def test_catalog_outside_the_folder_raises(self, index: Index, tmp_path: Path) -> None:
        index.close()
        there = (index.path / "catalogue.sqlite").rename(tmp_path / "there.sqlite")
        (index.path / "catalogue.sqlite").symlink_to(there)
        with pytest.raises(DamagedIndexError, match="not a regular file"):
            Index.open(index.path)

    def test_pipe_as_lock_raises(self, index: Index) -> None:
        os.mkfifo(index.path / "writer.lock")
        with pytest.raises(OSError, match="not a regular file"):
            index.add(["x"])
