"""A catalogue, vectors and formats that something else has changed: found, and named."""

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

from support import load_script
from textkin import DamagedIndexError, Index, IndexWarning
from textkin.index import _life, _opening
from textkin.index._files import writer_lock
from textkin.text import Document

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
CATALOGUE = helpers.CATALOGUE
FLIPS = helpers.FLIPS


class TestCatalogue:
    @pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.6, 0.999])
    def test_cut(self, path: Path, share: float) -> None:
        file = path / CATALOGUE
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
    def test_something_else(self, path: Path, content: bytes, kind: type[Exception]) -> None:
        (path / CATALOGUE).write_bytes(content)
        before = everything(path)
        with pytest.raises(kind, match=r"catalogue\.sqlite is damaged.*backup"):
            Index.open(path)
        assert everything(path) == before

    def test_a_database_of_something_else(self, path: Path) -> None:
        (path / CATALOGUE).unlink()
        change(path, "CREATE TABLE mine (number)")
        before = everything(path)
        with pytest.raises(ValueError, match="database of something else"):
            Index.open(path)
        assert everything(path) == before

    def test_none(self, path: Path) -> None:
        (path / CATALOGUE).unlink()
        before = everything(path)
        with pytest.raises(FileNotFoundError, match="no index"):
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
    def test_other_tables_are_refused(self, path: Path, statement: str) -> None:
        change(path, statement)
        with pytest.raises(DamagedIndexError, match="its tables are not those"):
            Index.open(path)

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE documents SET text = text || 'x' WHERE id = 'd3'", "'d3' is not what it was"),
            ("UPDATE documents SET text = x'ff00' WHERE id = 'd3'", "wrong types"),
            ("UPDATE documents SET text = CAST(x'ff41' AS TEXT) WHERE id = 'd3'", "UTF-8"),
            ("UPDATE documents SET label = '[' WHERE id = 'd3'", "'d3' is not what it was"),
            ("UPDATE documents SET metadata = '{}' WHERE id = 'd3'", "'d3' is not what it was"),
            ("UPDATE documents SET digest = x'00' WHERE id = 'd3'", "'d3' is not what it was"),
            ("UPDATE documents SET counts = x'' WHERE id = 'd3'", "'d3' has counts that are not"),
            ("UPDATE documents SET counts = 7 WHERE id = 'd3'", "wrong types"),
            ("UPDATE documents SET checksum = 1 WHERE id = 'd3'", "'d3' has counts that are not"),
            ("UPDATE documents SET length = 99 WHERE id = 'd3'", "'d3' has another length"),
            ("UPDATE documents SET length = 'long' WHERE id = 'd3'", "TEXT value|wrong types"),
            ("DELETE FROM documents WHERE id = 'd3'", "there are 11 documents"),
            ("UPDATE state SET documents = 7", "it says 7"),
            ("UPDATE state SET tokens = tokens + 1", "there are 12 documents of"),
            ("UPDATE words SET word = 'xyz' WHERE number = 3", "'words' is not what it was"),
            ("UPDATE words SET word = x'ff' WHERE number = 3", "words are missing"),
            ("DELETE FROM words WHERE number = 3", "words are missing"),
            ("INSERT INTO deleted VALUES (3)", "position 3 is no deleted one"),
        ],
    )
    def test_verify_names_what_was_changed(
        self, path: Path, statement: str, told: str, documents: dict[str, Document]
    ) -> None:
        change(path, statement)
        before = everything(path)
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError, match=told) as found:
                index.verify()
            assert all(CATALOGUE in problem for problem in found.value.problems)
            with pytest.raises(DamagedIndexError, match="backup"):
                index.verify(repair=True)
            assert index["d4"] == documents["d4"]
        assert everything(path) == before

    @pytest.mark.parametrize(
        ("statement", "told"),
        [
            ("UPDATE state SET words = 1 << 40", "'words' does not end"),
            ("UPDATE state SET words = words - 1", "'words' goes beyond"),
            ("UPDATE state SET next_position = 3", "'documents' goes beyond"),
            ("UPDATE state SET next_segment = 0", "'segments' goes beyond"),
            ("UPDATE state SET tail_position = 3", "its segments do not end"),
            ("UPDATE state SET tail_word = -1", "one row of counts"),
            ("UPDATE state SET number = 'x'", "one row of counts"),
            ("DELETE FROM state", "one row of counts"),
            ("INSERT INTO words VALUES (1 << 40, 'far')", "'words' goes beyond"),
            ("INSERT INTO words VALUES (-1, 'far')", "'words' goes beyond"),
            ("UPDATE segments SET end_position = 1 << 40 WHERE number = 0", "does not follow"),
            ("UPDATE segments SET first_word = 1 WHERE number = 0", "does not follow"),
            ("UPDATE segments SET rows = -1", "counts and hashes"),
            ("UPDATE segments SET sha256 = 1.5 WHERE number = 0", None),
            ("DELETE FROM segments", "its segments do not end"),
            ("DELETE FROM settings WHERE name = 'reading'", "settings are not what they were"),
            ("UPDATE settings SET value = '{}'", "settings are not what they were"),
            ("DELETE FROM settings", "settings are not what they were"),
        ],
    )
    def test_numbers_that_cannot_be_are_refused_at_once(
        self, path: Path, statement: str, told: str | None
    ) -> None:
        change(path, statement)
        before = everything(path)
        if told is None:  # a column of text turns the number into one: the segment is made again
            with Index.open(path) as index, pytest.raises(DamagedIndexError, match="hash differs"):
                index.verify()
            return
        with pytest.raises(DamagedIndexError, match=told):
            Index.open(path)
        assert everything(path) == before

    def test_dead_rows_that_were_forgotten_are_found(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        change(path, "DELETE FROM deleted")
        with Index.open(path) as index:
            with pytest.raises(DamagedIndexError, match="does not agree with the catalogue"):
                index.verify()
            index.verify(repair=True)
        assert_whole(path, documents)

    def test_any_bit(self, path: Path, documents: dict[str, Document]) -> None:
        """Whatever is flipped: an error that is known, or nothing that matters has changed."""
        file = path / CATALOGUE
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
                (path / f"{CATALOGUE}{left}").unlink(missing_ok=True)
        assert refused > FLIPS // 2
        file.write_bytes(data)
        for old in segments(path):  # some of the flips had them made again
            old.unlink()
        with pytest.warns(IndexWarning):
            Index.open(path).close()
        assert_whole(path, documents)


class TestVectors:
    def test_damaged_ones_are_named_and_the_documents_can_be_read(
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


class TestFormats:
    def test_a_newer_one_is_refused(self, path: Path) -> None:
        change(path, f"PRAGMA user_version = {_opening.FORMAT + 1}")
        before = everything(path)
        with pytest.raises(ValueError, match="Install a newer textkin"):
            Index.open(path)
        assert everything(path) == before

    def test_one_that_there_never_was_is_refused(self, path: Path) -> None:
        change(path, "PRAGMA user_version = 0")
        with pytest.raises(DamagedIndexError, match="format 0, which there never was"):
            Index.open(path)

    @pytest.fixture
    def next_format(self, monkeypatch: pytest.MonkeyPatch) -> str:
        """Let textkin be of the next format, which has a table more."""
        table = "CREATE TABLE more (number INTEGER PRIMARY KEY)"
        for module in (_opening, _life):
            monkeypatch.setattr(module, "FORMAT", _opening.FORMAT + 1)
        monkeypatch.setattr(_opening, "_SCHEMA", (*_opening._SCHEMA, table))
        return table

    def test_an_older_one_is_upgraded(
        self,
        path: Path,
        documents: dict[str, Document],
        next_format: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def step(connection: sqlite3.Connection) -> None:
            assert connection.in_transaction
            connection.execute(next_format)

        monkeypatch.setitem(_opening._UPGRADES, _opening.FORMAT - 1, step)
        assert_whole(path, documents)
        monkeypatch.setitem(_opening._UPGRADES, _opening.FORMAT - 1, None)  # not again
        assert_whole(path, documents)

    def test_a_step_that_fails_changes_nothing(
        self, path: Path, documents: dict[str, Document], next_format: str
    ) -> None:
        def step(connection: sqlite3.Connection) -> None:
            connection.execute(next_format)
            connection.execute("DELETE FROM documents")
            raise sqlite3.OperationalError("cannot go on")

        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(_opening._UPGRADES, _opening.FORMAT - 1, step)
            with pytest.raises(sqlite3.OperationalError, match="cannot go on"):
                Index.open(path)
        with pytest.MonkeyPatch.context() as patch:
            for module in (_opening, _life):
                patch.setattr(module, "FORMAT", _opening.FORMAT - 1)
            patch.setattr(_opening, "_SCHEMA", _opening._SCHEMA[:-1])
            assert_whole(path, documents)

    def test_an_upgrade_waits_for_the_writer(self, path: Path, next_format: str) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(
                _opening._UPGRADES,
                _opening.FORMAT - 1,
                lambda connection: connection.execute(next_format),
            )
            told = pytest.raises(TimeoutError, match=f"process {os.getpid()}")
            with writer_lock(path / "writer.lock", 0), told:
                Index.open(path, timeout=0)
            Index.open(path).close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def test_without_the_right_to_write(open_folder: Path) -> None:
    script = Path(__file__).with_name("unprivileged.py")
    done = subprocess.run(
        [sys.executable, script, open_folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told[0] == "12 documents"
    assert all("Permission denied" in line and "writer.lock" in line for line in told[1:4])
    assert "Open it once where it can be written" in told[4]
    assert len(told) == 5


class TestStrangersBesideTheCatalogue:
    """SQLite follows what lies beside its file; a stranger may have put it there."""

    def test_a_journal_cannot_remove_a_file(self, index: Index, tmp_path: Path) -> None:
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
        with pytest.raises(DamagedIndexError, match="which textkin never makes"):
            Index.open(index.path)
        assert mine.read_text() == "mine"

    @pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
    def test_pipes_and_links_are_refused(self, index: Index, tmp_path: Path, ending: str) -> None:
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

    def test_a_catalogue_elsewhere_is_refused(self, index: Index, tmp_path: Path) -> None:
        index.close()
        there = (index.path / "catalogue.sqlite").rename(tmp_path / "there.sqlite")
        (index.path / "catalogue.sqlite").symlink_to(there)
        with pytest.raises(DamagedIndexError, match="no ordinary file"):
            Index.open(index.path)

    def test_a_pipe_as_lock_is_refused(self, index: Index) -> None:
        os.mkfifo(index.path / "writer.lock")
        with pytest.raises(OSError, match="no ordinary file"):
            index.add(["x"])
