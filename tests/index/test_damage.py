"""Files of an index that something else has changed: found, named, and made again if possible."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from support import load_script
from textkin import LSI, DamagedIndexError, Index, IndexWarning
from textkin.index import _life, _opening, _writer
from textkin.index._files import writer_lock
from textkin.index._segment import _ARRAYS
from textkin.text import Document

model = load_script("tests/index/store_model.py")

CATALOGUE = "catalogue.sqlite"
FLIPS = 150

RECORDS = model.records(Random(3), [f"d{number}" for number in range(14)])


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed index of two segments with dead rows, of documents in none, and with a model."""
    path = tmp_path_factory.mktemp("template") / "test.kin"
    with pytest.MonkeyPatch.context() as patch, model.create(path) as index:
        patch.setattr(_writer, "_TAIL_DOCUMENTS", 5)
        index.add(RECORDS[:6])
        index.add(RECORDS[6:12])
        index.delete(["d2", "d7"])
        index.add(RECORDS[12:])
        index.attach(model.MODEL, LSI(2, random_state=0))
        info = index.info()
        assert (info.segments, info.deleted, info.recent) == (2, 2, 2)
    return path


@pytest.fixture
def path(template: Path, tmp_path: Path) -> Path:
    """A copy of the template, to be damaged."""
    return Path(shutil.copytree(template, tmp_path / "test.kin"))


@pytest.fixture
def documents() -> dict[str, Document]:
    """What the index of `path` holds."""
    made = {record["id"]: model.document(record) for record in RECORDS}
    left = {id: document for id, document in made.items() if id not in ("d2", "d7")}
    return model.Documents(left).with_model(True)


def segments(path: Path) -> list[Path]:
    return sorted((path / "segments").iterdir())


def everything(path: Path) -> dict[str, bytes]:
    """All files but for those that come and go: the lock, SQLite's log and its index."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and not file.name.endswith((".lock", "-wal", "-shm"))
    }


def change(path: Path, *statements: str) -> None:
    """Write to the catalogue what textkin would not."""
    with closing(sqlite3.connect(path / CATALOGUE, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def verify(path: Path) -> None:
    with Index.open(path) as index:
        index.verify()


def assert_whole(path: Path, documents: dict[str, Document]) -> None:
    """Nothing is lost, and nothing is left to warn of."""
    with Index.open(path) as index:
        index.verify()
        model.check(index, [documents])
        assert len(segments(path)) == index.info().segments


def read_all(index: Index) -> None:
    """Read what rests on segments; what is in them may be wrong, but must do no harm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndexWarning)
        index.bags()
        index.document_frequencies()
        index.vocabulary  # noqa: B018
        index._snapshot().find(["abc", "fff"])
        index._snapshot().lengths()


def removed(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def cut_to_the_header(file: Path) -> None:
    os.truncate(file, 100)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def longer(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def swapped(file: Path) -> None:
    other = segments(file.parents[1])[1]
    both = file.read_bytes(), other.read_bytes()
    other.write_bytes(both[0])
    file.write_bytes(both[1])


def made_a_link(file: Path) -> None:
    moved = file.rename(file.parents[2] / "moved")
    file.symlink_to(moved)


def made_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def without_an_array(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"terms"', b'"trems"'))


def with_a_huge_array(file: Path) -> None:
    data = file.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["positions"]["shape"] = [10**6]
    file.write_bytes(data[:8] + json.dumps(header).encode()[:size].ljust(size) + data[8 + size :])


def with_a_huge_header(file: Path) -> None:
    file.write_bytes(b"\xff" * 8 + file.read_bytes()[8:])


def in_another_format(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"textkin.segment", b"textkin.fragmen"))


class TestSegments:
    @pytest.mark.parametrize(
        "damage",
        [
            removed,
            cut,
            cut_to_the_header,
            emptied,
            longer,
            swapped,
            made_a_link,
            without_an_array,
            with_a_huge_array,
            with_a_huge_header,
            in_another_format,
        ],
    )
    def test_is_found_and_made_again(
        self, path: Path, documents: dict[str, Document], damage: Callable[[Path], None]
    ) -> None:
        before = everything(path)
        damage(segments(path)[0])
        with pytest.warns(IndexWarning, match="00000000") as told, Index.open(path) as index:
            model.check(index, [documents])
        assert "made again from the catalogue; nothing is lost" in str(told[0].message)
        assert_whole(path, documents)
        untouched = {name for name in before if name.startswith("vectors")}
        assert {name: everything(path)[name] for name in untouched} == {
            name: before[name] for name in untouched
        }
        moved = path.parent / "moved"  # where a link led to
        assert not moved.exists() or moved.read_bytes() in before.values()

    def test_a_folder_in_the_place_of_one(self, path: Path, documents: dict[str, Document]) -> None:
        made_a_folder(segments(path)[0])
        with pytest.warns(IndexWarning, match=r"00000000.*nothing is lost"):
            Index.open(path).close()
        with Index.open(path) as index:
            index.verify()
            model.check(index, [documents])

    def test_that_cannot_be_written_is_read_from_the_catalogue(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        segments(path)[0].unlink()
        told = pytest.warns(IndexWarning, match="read from the catalogue")
        with writer_lock(path / "writer.lock", 0), told:
            index = Index.open(path, timeout=0)
        with index:
            model.check(index, [documents])
            with pytest.raises(DamagedIndexError, match=r"is missing.*Nothing is lost"):
                index.verify()
            index.verify(repair=True)
        assert_whole(path, documents)

    @pytest.mark.parametrize("bit", [0, 7])
    @pytest.mark.parametrize("name", _ARRAYS)
    def test_one_bit_of_an_array(
        self, path: Path, documents: dict[str, Document], name: str, bit: int
    ) -> None:
        file = segments(path)[1]
        data = bytearray(file.read_bytes())
        size = int.from_bytes(data[:8], "little")
        start, end = json.loads(data[8 : 8 + size])[name]["data_offsets"]
        for place in (start, (start + end) // 2, end - 1):
            damaged = data.copy()
            damaged[8 + size + place] ^= 1 << bit
            file.write_bytes(damaged)
            with Index.open(path) as index:
                assert list(index) == list(documents.values())
                read_all(index)
                with pytest.raises(DamagedIndexError, match="hash differs") as told:
                    index.verify()
                assert len(told.value.problems) == 1
                assert told.value.problems[0].startswith(f"segments/{file.name} ")
                # A merge does not carry it on.
        with Index.open(path) as index:
            index.compact()
        assert_whole(path, documents)

    def test_any_bit_of_the_header(
        self, template: Path, documents: dict[str, Document], tmp_path: Path
    ) -> None:
        data = segments(template)[0].read_bytes()
        size = int.from_bytes(data[:8], "little")
        rng = Random(8)
        for place in [*range(8), *rng.sample(range(8, 8 + size), 30)]:
            path = Path(shutil.copytree(template, tmp_path / str(place)))
            damaged = bytearray(data)
            damaged[place] ^= 1 << rng.randrange(8)
            segments(path)[0].write_bytes(damaged)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                with Index.open(path) as index:
                    model.check(index, [documents], f"byte {place}")
                    if not told:  # a space or so: the arrays are where they were
                        with pytest.raises(DamagedIndexError, match="hash differs"):
                            index.verify()
                        index.verify(repair=True)
            assert_whole(path, documents)

    def test_repair_makes_only_those_again_that_need_it(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        first, second = segments(path)
        kept = second.read_bytes(), second.stat().st_ino
        data = bytearray(first.read_bytes())
        data[-1] ^= 1
        first.write_bytes(data)
        with Index.open(path) as index:
            index.verify(repair=True)
            index.verify()
        assert (second.read_bytes(), second.stat().st_ino) == kept
        assert not first.exists()
        assert_whole(path, documents)

    def test_a_missing_folder_is_made_again(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        shutil.rmtree(path / "segments")
        with pytest.warns(IndexWarning, match="nothing is lost"):
            Index.open(path).close()
        assert_whole(path, documents)

    def test_a_folder_that_leads_elsewhere_is_left_alone(
        self, path: Path, documents: dict[str, Document], tmp_path: Path
    ) -> None:
        elsewhere = tmp_path / "precious"
        (path / "segments").rename(elsewhere)
        (elsewhere / "letter.txt").write_text("not an index")
        before = everything(elsewhere)
        (path / "segments").symlink_to(elsewhere)
        with pytest.warns(IndexWarning, match="nothing is lost"), Index.open(path) as index:
            index.compact()
        assert everything(elsewhere) == before
        assert not (path / "segments").is_symlink()
        assert_whole(path, documents)

    def test_files_that_nobody_names_are_swept_up(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        (path / "segments" / ".00000009.safetensors.abc.tmp").write_bytes(b"half")
        (path / "segments" / "00000009.safetensors").write_bytes(b"never named")
        with Index.open(path) as index:
            index.verify()
            index.compact()
        assert_whole(path, documents)


def test_a_lock_that_leads_elsewhere_is_left_alone(path: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("not a lock")
    (path / "writer.lock").unlink()
    (path / "writer.lock").symlink_to(letter)
    with Index.open(path) as index, pytest.raises(OSError, match=r"writer\.lock"):
        index.delete("d1")
    assert letter.read_text() == "not a lock"


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
