"""Tests of folders: pattern matching, order, and excluded files."""

import errno
import inspect
import os
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import textkin as tk
from textkin.reading._folder import _match


@pytest.fixture
def folder(tmp_path):
    """Return a folder with files that were created in arbitrary order."""
    root = tmp_path / "papers"
    for name in ["b.txt", "a/z.txt", "a/b/c.TXT", "a.txt", "notes.md", "data.csv", "a/x.pdf"]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def reference_match(parts, pattern):
    """Match recursively, with every possible length for each ``**``."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(reference_match(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and pattern[0] in (parts[0], "*") and reference_match(parts[1:], pattern[1:])


@given(
    st.lists(st.sampled_from("ab"), max_size=6),
    st.lists(st.sampled_from(["a", "b", "*", "**"]), max_size=6),
)
def test_patterns_equal_reference(parts, pattern):
    assert _match(parts, pattern) == reference_match(parts, pattern)


def test_default_pattern_reads_text_and_markdown_sorted_by_path(folder):
    documents = list(tk.read(folder))
    assert [d.id for d in documents] == ["a/b/c.TXT", "a/z.txt", "a.txt", "b.txt", "notes.md"]
    assert [d.text for d in documents] == [d.id for d in documents]


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("*.txt", ["a.txt", "b.txt"]),
        ("a/*.txt", ["a/z.txt"]),
        ("a/**/*.txt", ["a/b/c.TXT", "a/z.txt"]),
        ("**/[bc].txt", ["a/b/c.TXT", "b.txt"]),
        (["b.*", "notes.??"], ["b.txt", "notes.md"]),
    ],
)
def test_patterns_select_files(folder, pattern, ids):
    assert tk.read(str(folder), pattern=pattern).ids == ids


def test_files_in_a_folder_are_read_like_single_files(folder):
    (folder / "data.csv").write_text("text\none\ntwo\n")
    (folder / "more.jsonl").write_text('"three"\n{"id": "x", "text": "four"}\n')
    found = tk.read(folder, pattern=["*.csv", "*.jsonl"])
    assert found.ids == ["data.csv:2", "data.csv:3", "more.jsonl:1", "x"]


def test_duplicate_id_in_two_files_names_both(folder):
    for name in ("1.jsonl", "2.jsonl"):
        (folder / name).write_text('\n{"id": 7, "text": "t"}\n')
    with pytest.raises(ValueError, match=r"2.jsonl, line 2: the ID '7' is used by .*1.jsonl, lin"):
        list(tk.read(folder, pattern="*.jsonl"))


def test_no_match_error_lists_existing_files(folder):
    with pytest.raises(ValueError, match=r"No file .* matches the pattern '\*.doc'; .*4 .txt"):
        list(tk.read(folder, pattern="*.doc"))
    (folder / "empty").mkdir()
    with pytest.raises(ValueError, match="it contains no other files"):
        list(tk.read(folder / "empty"))


@pytest.mark.parametrize("pattern", ["/etc/*", "../*.txt", "a/../../*", "", []])
def test_pattern_outside_the_folder_raises(folder, pattern):
    with pytest.raises(ValueError, match="pattern must"):
        tk.read(folder, pattern=pattern)


def test_pattern_without_folder_or_of_invalid_type_raises(folder):
    with pytest.raises(ValueError, match="pattern selects files of a folder"):
        tk.read(folder / "a.txt", pattern="*.txt")
    with pytest.raises(ValueError, match="pattern selects files of a folder"):
        tk.read(["a text"], pattern="*.txt")
    with pytest.raises(TypeError, match="pattern must be a string or a sequence of strings; got 3"):
        tk.read(folder, pattern=[3])


def test_hidden_files_and_folders_are_excluded_and_counted(folder):
    (folder / ".draft.txt").write_text("hidden")
    (folder / ".DS_Store").write_text("matches no pattern")
    (folder / ".git").mkdir()
    (folder / ".git" / "a.txt").write_text("hidden")
    documents = tk.read(folder)
    assert len(documents.ids) == 5
    assert documents.skipped == tk.reading.Skipped(count=0, reasons=(), hidden=2)


def test_links_out_of_the_folder_are_skipped(folder, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "papers2").mkdir()
    (tmp_path / "papers2" / "near.txt").write_text("a folder whose name only begins alike")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "near.txt").symlink_to(tmp_path / "papers2" / "near.txt")
    (folder / "in.txt").symlink_to("a.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "itself.txt").symlink_to("itself.txt")
    documents = tk.read(folder, errors="skip")
    assert documents.ids == ["a/b/c.TXT", "a/z.txt", "a.txt", "b.txt", "in.txt", "notes.md"]
    reasons = {
        r.split(": ")[0].rsplit("/")[-1]: r.split(": ")[1] for r in documents.skipped.reasons
    }
    assert reasons == {
        "itself.txt": "cannot be read",
        "loop": "is a link to a folder, which is not followed",
        "near.txt": "is a link out of the folder",
        "out.txt": "is a link out of the folder",
    }
    with pytest.raises(OSError, match=r"itself.txt"):
        list(tk.read(folder))


def test_folder_with_only_outside_links_raises(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "a.txt").write_text("outside")
    (tmp_path / "papers" / "a.txt").symlink_to(tmp_path / "a.txt")
    with pytest.raises(ValueError, match=r"No file .* \(1 hidden, special or linked one was left"):
        list(tk.read(tmp_path / "papers"))


def test_control_characters_in_file_names_are_escaped(folder):
    (folder / "\x1b[31m.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="is not valid utf-8") as caught:
        list(tk.read(folder))
    assert str(caught.value).isprintable()


def test_link_to_a_folder_is_followed(folder, tmp_path):
    (folder / "in.txt").symlink_to("a.txt")
    (tmp_path / "link").symlink_to(folder)
    assert len(tk.read(tmp_path / "link").ids) == 6


def test_pipes_in_a_folder_are_skipped(folder):
    os.mkfifo(folder / "pipe.txt")
    documents = tk.read(folder)
    assert len(documents.texts) == 5
    assert documents.skipped.reasons == (f"{folder}/pipe.txt: is not a regular file",)


def test_files_without_permission_raise_or_are_skipped(folder, monkeypatch):
    """Simulate the permission errors, because root, who may run the tests, can read every file."""

    def with_permission_error(original):
        def call(path, *arguments):
            if os.path.basename(path) in ("a", "b.txt"):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return original(path, *arguments)

        return call

    monkeypatch.setattr(os, "scandir", with_permission_error(os.scandir))
    monkeypatch.setattr(os, "open", with_permission_error(os.open))
    with pytest.raises(PermissionError, match="papers/a"):
        list(tk.read(folder))
    documents = tk.read(folder, errors="skip")
    assert documents.ids == ["a.txt", "notes.md"]
    assert documents.skipped.reasons == (
        f"{folder}/a: cannot be listed: Permission denied",
        f"{folder}/b.txt: cannot be read: Permission denied",
    )


def test_file_name_that_is_not_utf8_is_escaped(tmp_path):
    name = os.fsdecode(b"na\xefve.txt")
    for path in (tmp_path / "na\u00efve.txt", tmp_path / name):
        path.write_text("text")
    escaped = "na\\xefve.txt"
    assert tk.read(tmp_path).ids == ["na\u00efve.txt", escaped]
    assert tk.read(tmp_path / name).ids == tk.read(str(tmp_path / name)).ids == [escaped]
    assert tk.read([tmp_path / name]).ids == [f"{tmp_path.as_posix()}/{escaped}"]
    assert tk.read(tmp_path / name, reader=lambda path: [path.read_text()]).ids == [f"{escaped}:1"]


def test_folders_deeper_than_the_recursion_limit_are_read(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 150)
    deep.mkdir(parents=True)
    (deep / "a.txt").write_text("deep")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        assert tk.read(tmp_path).texts == ["deep"]
    finally:
        sys.setrecursionlimit(before)


def test_reader_for_a_folder_requires_a_pattern(folder):
    with pytest.raises(ValueError, match="reader= for a folder requires pattern="):
        tk.read(folder, reader=str)
    assert tk.read(folder, reader=lambda p: p.name, pattern="**/*.pdf").texts == ["x.pdf"]


def test_progress_reports_each_file(folder):
    seen = []
    list(tk.read(folder, progress=lambda done, total: seen.append((done, total))))
    size = sum(len(name) for name in ["a/b/c.TXT", "a/z.txt", "a.txt", "b.txt", "notes.md"])
    assert len(seen) == 6  # one report per file, and one at the end
    assert seen == sorted(seen)
    assert seen[-1] == (size, size)


def test_paths_in_a_list_are_files(folder, monkeypatch):
    monkeypatch.chdir(folder)
    paths = [folder / "b.txt", folder.relative_to(folder) / "a" / "z.txt"]
    assert tk.read(paths).ids == [(folder / "b.txt").as_posix(), "a/z.txt"]
    with pytest.raises(ValueError, match="papers/a: is a folder"):
        list(tk.read([folder / "a"]))


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, pl.Series])
def test_file_names_as_strings_in_a_list_raise(folder, kind):
    """Such names used to be read silently as texts."""
    names = [str(folder / "a.txt"), str(folder / "b.txt")]
    with pytest.raises(ValueError, match=r"names of files, such as .*\[Path\(p\) for p in paths\]"):
        tk.read(kind(names))
    for others in ([*names, "A text."], [names[0], str(folder / "a")], ["A text.", *names]):
        assert tk.read(kind(others)).texts == others
    assert tk.read([{"text": name} for name in names]).texts == names
    assert tk.read(name for name in names).texts == names


def test_first_hundred_strings_are_checked_for_file_names(folder):
    name = str(folder / "a.txt")
    with pytest.raises(ValueError, match="names of files"):
        tk.read([name] * 100 + ["A text."])
    assert len(tk.read([name] * 99 + ["A text."]).texts) == 100
    assert tk.read([""]).texts == [""]
    assert tk.read([]).texts == []
