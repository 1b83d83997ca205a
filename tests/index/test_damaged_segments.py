"""Segments and other files that something else has changed: found, named, and made again."""

import json
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from support import load_script
from textkin import DamagedIndexError, Index, IndexWarning
from textkin.index._files import writer_lock
from textkin.index._segment import _ARRAYS
from textkin.text import Document

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
