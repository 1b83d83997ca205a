"""Changed segments and other files are detected, reported, and rebuilt."""

import json
import os
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import ClassVar

import numpy as np
import pytest

from support import load_script
from textkin import LSI, Hybrid, Index, WordVectors
from textkin.exceptions import DamagedIndexError, IndexWarning
from textkin.index import RankingLike, TransportRanking
from textkin.index.store import _writer
from textkin.index.store._segment import _ARRAYS
from textkin.index.store._session import writer_lock
from textkin.reading import Document

helpers = load_script("tests/index/damaged_index.py")
template = helpers.template
path = helpers.path
documents = helpers.documents
segments = helpers.segments
everything = helpers.everything
verify = helpers.verify
assert_whole = helpers.assert_whole
read_all = helpers.read_all
model = helpers.model


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
    def test_corrupt_segment_is_found_and_rebuilt(
        self, path: Path, documents: dict[str, Document], damage: Callable[[Path], None]
    ) -> None:
        before = everything(path)
        damage(segments(path)[0])
        with pytest.warns(IndexWarning, match="00000000") as told, Index.open(path) as index:
            model.check(index, [documents])
        assert "rebuilt from the catalog; no data is lost" in str(told[0].message)
        assert_whole(path, documents)
        untouched = {name for name in before if name.startswith("vectors")}
        assert {name: everything(path)[name] for name in untouched} == {
            name: before[name] for name in untouched
        }
        moved = path.parent / "moved"  # target of a link
        assert not moved.exists() or moved.read_bytes() in before.values()

    def test_folder_in_place_of_a_segment(self, path: Path, documents: dict[str, Document]) -> None:
        made_a_folder(segments(path)[0])
        with pytest.warns(IndexWarning, match=r"00000000.*no data is lost"):
            Index.open(path).close()
        with Index.open(path) as index:
            index.verify()
            model.check(index, [documents])

    def test_unwritable_segment_is_read_from_the_catalog(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        segments(path)[0].unlink()
        told = pytest.warns(IndexWarning, match="read from the catalog")
        with writer_lock(path / "writer.lock", 0), told:
            index = Index.open(path, timeout=0)
        with index:
            model.check(index, [documents])
            with pytest.raises(DamagedIndexError, match=r"is missing.*No data is lost"):
                index.verify()
            index.verify(repair=True)
        assert_whole(path, documents)

    @pytest.mark.parametrize("bit", [0, 7])
    @pytest.mark.parametrize("name", _ARRAYS)
    def test_flipped_bit_of_an_array(
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
                # A merge does not copy the error.
        with Index.open(path) as index:
            index.compact()
        assert_whole(path, documents)

    def test_flipped_bit_of_the_header(
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
                    if not told:  # for example a space: the arrays are unchanged
                        with pytest.raises(DamagedIndexError, match="hash differs"):
                            index.verify()
                        index.verify(repair=True)
            assert_whole(path, documents)

    def test_repair_rebuilds_only_corrupt_segments(
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

    def test_missing_folder_is_recreated(self, path: Path, documents: dict[str, Document]) -> None:
        shutil.rmtree(path / "segments")
        with pytest.warns(IndexWarning, match="no data is lost"):
            Index.open(path).close()
        assert_whole(path, documents)

    def test_redirected_folder_is_unchanged(
        self, path: Path, documents: dict[str, Document], tmp_path: Path
    ) -> None:
        elsewhere = tmp_path / "precious"
        (path / "segments").rename(elsewhere)
        (elsewhere / "letter.txt").write_text("not an index")
        before = everything(elsewhere)
        (path / "segments").symlink_to(elsewhere)
        with pytest.warns(IndexWarning, match="no data is lost"), Index.open(path) as index:
            index.compact()
        assert everything(elsewhere) == before
        assert not (path / "segments").is_symlink()
        assert_whole(path, documents)

    @pytest.mark.parametrize("kind", ["file", "pipe", "broken link"])
    @pytest.mark.parametrize("how", ["open", "verify", "compact"])
    def test_file_in_place_of_the_folder_is_replaced(
        self, path: Path, documents: dict[str, Document], kind: str, how: str
    ) -> None:
        place = path / "segments"

        def damage() -> None:
            shutil.rmtree(place)
            if kind == "file":
                place.write_bytes(b"not a folder")
            elif kind == "pipe":
                os.mkfifo(place)
            else:
                place.symlink_to(path / "missing")

        if how == "open":
            damage()
            with pytest.warns(IndexWarning, match="no data is lost"):
                Index.open(path).close()
        else:
            with Index.open(path) as index:
                damage()
                with pytest.raises(DamagedIndexError, match=r"is missing.*No data is lost"):
                    index.verify()
                if how == "verify":
                    index.verify(repair=True)
                else:
                    index.compact()
        assert_whole(path, documents)

    def test_unreferenced_files_are_removed(
        self, path: Path, documents: dict[str, Document]
    ) -> None:
        (path / "segments" / ".00000009.safetensors.abc.tmp").write_bytes(b"half")
        (path / "segments" / "00000009.safetensors").write_bytes(b"never named")
        with Index.open(path) as index:
            index.verify()
            index.compact()
        assert_whole(path, documents)


class TestWordsOfSegments:
    """A flipped bit of "cat" makes it "bat", which another document has."""

    TEXTS: ClassVar = ["cat sleeps", "bat sleeps flies", "dog barks", "cow moos"]
    WORDS: ClassVar = ["cat", "bat", "dog", "cow", "sleeps", "flies", "barks", "moos"]

    @pytest.fixture(
        params=[b"bat", b"\xff\xff\xff", b"\xed\xa0\x80"], ids=["equal", "bytes", "half"]
    )
    def flipped(
        self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Path:
        monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 2)
        path = tmp_path / "test.kin"
        vectors = WordVectors(self.WORDS, np.eye(8, dtype=np.float32))
        with Index.create(path, vectors=vectors, language=None) as index:
            index.add(self.TEXTS)
        (file,) = segments(path)
        data = file.read_bytes()
        assert data.count(b"cat") == data.count(b"bat") == 1
        file.write_bytes(data.replace(b"cat", request.param))
        return path

    @pytest.mark.parametrize(
        "ranking",
        ["wmd", Hybrid(["bm25", "wmd"]), TransportRanking(stop_words=None)],
        ids=["wmd", "hybrid", "wmd without stop words"],
    )
    def test_equal_words_are_read_from_the_catalog(
        self, flipped: Path, ranking: RankingLike
    ) -> None:
        with Index.open(flipped) as index:
            with pytest.warns(IndexWarning, match="words of its segments are corrupt"):
                hits = index.search("bat flies", 1, ranking=ranking)
            assert [hit.id for hit in hits] == ["1"]
            words = ["cat", "sleeps", "bat", "flies", "dog", "barks", "cow", "moos"]
            assert list(index.vocabulary()) == words
            assert [hit.id for hit in index.search("cat")] == ["0"]
            index.verify(repair=True)
        with Index.open(flipped) as index:
            assert [hit.id for hit in index.search("cat", 1, ranking=ranking)] == ["0"]

    def test_words_missing_from_the_catalog_raise(self, flipped: Path) -> None:
        helpers.change(flipped, "UPDATE words SET word = 'rat' WHERE word = 'cow'")
        with (
            Index.open(flipped) as index,
            pytest.raises(DamagedIndexError, match="table 'words' has changed"),
        ):
            index.search("bat flies", ranking="wmd")


class TestWordsOfTheCatalog:
    """`compact` rebuilds segments whose words were changed."""

    @pytest.mark.parametrize("number", ["0", "max(number)"])
    @pytest.mark.parametrize("word", ["abc", "\0", "", "\U0010ffff", 3, b"\xff"])
    @pytest.mark.parametrize("deleted", [False, True])
    def test_changed_words_raise_only_public_errors(
        self, path: Path, number: str, word: str | int | bytes, deleted: bool
    ) -> None:
        with closing(sqlite3.connect(path / helpers.CATALOG)) as connection, connection:
            if word == "abc":
                (word,) = connection.execute("SELECT word FROM words WHERE number = 1").fetchone()
            connection.execute(
                f"UPDATE words SET word = ? WHERE number = (SELECT {number} FROM words)", (word,)
            )
        if deleted:
            for file in segments(path):
                file.unlink()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IndexWarning)
            for call in (
                lambda index: index.compact(),
                lambda index: index.add([{"id": f"n{n}", "text": "fed fee"} for n in range(12)]),
                lambda index: index.verify(repair=True),
                lambda index: index.vocabulary(),
                lambda index: index.search("abc"),
            ):
                with suppress(DamagedIndexError), Index.open(path) as index:
                    call(index)
            with pytest.raises(DamagedIndexError), Index.open(path) as index:
                index.verify()


@pytest.mark.parametrize("how", ["verify", "compact", "attach"])
def test_file_in_place_of_the_models_is_replaced(
    path: Path, documents: dict[str, Document], how: str
) -> None:
    with Index.open(path) as index:
        index.detach(model.MODEL)
        shutil.rmtree(path / "models")
        (path / "models").write_bytes(b"not a folder")
        if how == "verify":
            index.verify(repair=True)
        elif how == "compact":
            index.compact()
        index.attach(model.MODEL, LSI(2, random_state=0))
    assert_whole(path, documents)


def test_redirected_lock_is_unchanged(path: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("not a lock")
    (path / "writer.lock").unlink()
    (path / "writer.lock").symlink_to(letter)
    with Index.open(path) as index, pytest.raises(OSError, match=r"writer\.lock"):
        index.delete("d1")
    assert letter.read_text() == "not a lock"
