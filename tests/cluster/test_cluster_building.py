"""Indexes built by workers equal indexes built by one process."""

import gzip
import json
import shutil
import sqlite3
import threading
from contextlib import closing

import pytest

import textkin as tk
from cluster.stores import TEXTS
from textkin.exceptions import AddError
from textkin.index.store import _counted_files, _ingest
from textkin.index.store._catalog import CATALOG


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(_counted_files, "_BLOCK_FILES", 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Create files of several formats, with one or many documents."""
    root = tmp_path_factory.mktemp("papers")
    for number, text in enumerate(TEXTS[:20]):
        path = root / f"{number % 4}" / f"{number:02}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{text}\nThe {number}th, the one with the word w{number}")
    with (root / "more.jsonl").open("w") as file:
        for number, text in enumerate(TEXTS[20:50]):
            record = {"id": f"more{number}", "text": text, "year": 2000 + number}
            file.write(json.dumps(record) + "\n")
    (root / ".hidden.txt").write_text("not this one")
    return root


def kept(path):
    """Return all documents and words in the catalog, which is the source of truth."""
    with closing(sqlite3.connect(path / CATALOG)) as catalog:
        return [
            catalog.execute(wanted).fetchall()
            for wanted in (
                "SELECT * FROM documents ORDER BY position",
                "SELECT * FROM words ORDER BY number",
                "SELECT documents, tokens, words, words_checksum FROM state",
            )
        ]


def read(folder):
    return tk.read(folder, pattern=["**/*.txt", "*.jsonl"])


@pytest.mark.parametrize(
    "settings",
    [{}, {"stop_words": "smart"}, {"normalizer": "stem"}, {"ngram_range": (1, 2)}],
    ids=["plain", "stop words", "stems", "runs"],
)
def test_built_index_equals_local_index(folder, tmp_path, settings):
    with tk.Index.create(tmp_path / "one.kin", **settings) as one:
        one.add(["first of all"])
        expected = one.add(read(folder))
    with tk.Index.create(tmp_path / "two.kin", **settings) as two:
        two.add(["first of all"])
        assert two.add(read(folder), executor="threads", n_jobs=3) == expected
        two.verify()
    assert kept(tmp_path / "two.kin") == kept(tmp_path / "one.kin")


def test_on_a_cluster(folder, tmp_path, client):
    told = []
    documents = read(folder)
    with (
        tk.Index.create(tmp_path / "one.kin", language=None) as one,
        tk.Index.create(tmp_path / "two.kin", language=None) as two,
    ):
        one.add(read(folder))
        two.add(documents, executor=client, progress=lambda *now: told.append(now))
        two.verify()
    assert kept(two.path) == kept(one.path)
    assert told[-1] == (50, 0)
    assert len(told) == 8
    assert (documents.skipped.count, documents.skipped.hidden) == (0, 1)


def test_a_list_of_paths_and_a_single_file(folder, tmp_path):
    paths = sorted(folder.glob("0/*.txt"))
    with (
        tk.Index.create(tmp_path / "one.kin", language=None) as one,
        tk.Index.create(tmp_path / "two.kin", language=None) as two,
    ):
        for index, on in ((one, None), (two, "threads")):
            index.add(tk.read(paths), executor=on)
            index.add(tk.read(folder / "more.jsonl"), executor=on)
    assert kept(two.path) == kept(one.path)


def test_invalid_document_keeps_earlier_blocks(folder, tmp_path):
    (root := tmp_path / "papers").mkdir()
    for number in range(6):
        (root / f"{number}.txt").write_text("cats")
    (root / "7.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "b"}\n')
    with tk.Index.create(tmp_path / "test.kin", language=None) as index:
        with pytest.raises(AddError, match=r"document 7: .*line 2: .*Kept: the first 6") as caught:
            index.add(tk.read(root, pattern="*"), executor="threads")
        assert (caught.value.row, caught.value.kept, len(index)) == (7, 6, 6)
        with pytest.raises(AddError, match="the ID is used"):
            index.add(tk.read(root, pattern="*.txt"), executor="threads")


@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_file_missing_on_a_worker_raises(folder, tmp_path, monkeypatch, errors):
    """The file is not skipped, because another worker would have read it."""
    shutil.copytree(folder, root := tmp_path / "papers")
    original = _ingest.file_blocks

    def blocks(documents):
        found = original(documents)
        found[1][0].path.unlink()
        return found

    monkeypatch.setattr(_ingest, "file_blocks", blocks)
    with (
        tk.Index.create(tmp_path / "test.kin", language=None) as index,
        pytest.raises(FileNotFoundError, match="the same path on every worker"),
    ):
        index.add(tk.read(root, pattern="**/*.txt", errors=errors), executor="threads")


def test_file_with_too_much_text_raises(tmp_path, monkeypatch):
    """An untrusted compressed file must not end a worker."""
    monkeypatch.setattr(_counted_files, "_MOST_CHARACTERS", 1000)
    with gzip.open(tmp_path / "much.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"id": str(n), "text": "cats " * 50}) + "\n" for n in range(9))
    with tk.Index.create(tmp_path / "test.kin", language=None) as index:
        with pytest.raises(
            MemoryError, match=r"exceeded at the document '4'. Split the file, or add it without"
        ):
            index.add(tk.read(tmp_path / "much.jsonl.gz"), executor="threads")
        assert index.add(tk.read(tmp_path / "much.jsonl.gz")).added == 9


def test_error_stops_running_blocks(folder, tmp_path):
    """Also while the caller holds the exception, whose frames reference data."""
    before = set(threading.enumerate())  # threads of other tests may end meanwhile

    def fail(done, total):
        raise OSError("no more")

    with tk.Index.create(tmp_path / "test.kin", language=None) as index:
        with pytest.raises(OSError, match="no more") as _held:
            index.add(read(folder), executor="threads", n_jobs=2, progress=fail)
        assert set(threading.enumerate()) <= before


def test_skipped_records_are_reported(tmp_path):
    (root := tmp_path / "papers").mkdir()
    for number in range(4):
        (root / f"{number}.jsonl").write_text(f'{{"id": "{number}", "text": "x"}}\nbroken\n')
    (root / "8.jsonl").write_text("nothing\n")
    with tk.Index.create(tmp_path / "test.kin", language=None) as index:
        documents = tk.read(root, pattern="*", errors="skip")
        assert index.add(documents, executor="threads").added == 4
        assert documents.skipped.count == 5
        (root / "9").mkdir()
        (root / "9" / "a.jsonl").write_text("nothing\n")
        with pytest.raises(AddError, match="all were skipped"):
            index.add(tk.read(root / "9", pattern="*", errors="skip"), executor="threads")
        with pytest.raises(AddError, match="No file of the folder"):
            index.add(tk.read(root, pattern="*.nothing"), executor="threads")


@pytest.mark.parametrize("documents", [["a text"], [{"text": "x"}], tk.read(["a text"])])
def test_documents_without_files_raise(tmp_path, documents):
    with (
        tk.Index.create(tmp_path / "test.kin", language=None) as index,
        pytest.raises(ValueError, match="executor= requires documents in files"),
    ):
        index.add(documents, executor="threads")


@pytest.mark.slow  # starts its own cluster; test_map_blocks.py has the fast case
def test_killed_workers_are_replaced(folder, tmp_path, mortal, kill_workers):
    """After the first block, both workers are killed: new workers read the files again."""
    killed = []

    def kill(done, total):
        killed.extend(kill_workers() if not killed else [])

    with (
        tk.Index.create(tmp_path / "one.kin", language=None) as one,
        tk.Index.create(tmp_path / "two.kin", language=None) as two,
    ):
        one.add(read(folder))
        two.add(read(folder), executor=mortal, progress=kill)
        two.verify()
    assert len(killed) == 2
    assert kept(two.path) == kept(one.path)
