"""Cache of converted large files: used while valid, and ignored otherwise."""

import gzip
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from textkin.exceptions import VectorFileWarning
from textkin.vectors import Repairs, WordVectors, _cache
from textkin.vectors._table import Names, pack_words

CACHED = [
    "glove",
    "word2vec-text",
    "word2vec",
    "npz of strings",
    "npz of bytes, gzipped",
    "glove, gzipped",
]

pytestmark = pytest.mark.usefixtures("small_files_count")


def beside(path):
    return path.with_name(path.name + ".textkin")


def leftovers(folder):
    return [file.name for file in folder.iterdir() if file.name.endswith(".tmp")]


@pytest.mark.parametrize("name", CACHED)
def test_second_load_uses_the_cache(files, unread, name):
    first = WordVectors.load(files[name])
    assert beside(files[name]).is_file()
    assert leftovers(files[name].parent) == []
    unread()
    second = WordVectors.load(files[name])
    for vectors in (first, second):
        assert vectors.words == ("the", "naïve", "New_York")
        assert vectors.lookup(["THE", "x"]).tolist() == [0, -1]
        assert not vectors.matrix.flags.writeable
        assert isinstance(vectors.matrix.base, np.memmap)
    assert first.matrix.tobytes() == second.matrix.tobytes()
    assert pickle.loads(pickle.dumps(second)).words == second.words
    assert WordVectors.load(files[name], max_words=1).words == ("the",)
    assert WordVectors.load(files[name], words=["New_York"]).matrix.shape == (1, 3)


@pytest.mark.parametrize("name", ["npy", "safetensors, words in metadata", "npy, gzipped"])
def test_mappable_files_are_not_cached(files, name):
    WordVectors.load(files[name])
    assert not beside(files[name]).exists()


def test_small_files_and_opt_out_are_not_cached(files, monkeypatch):
    WordVectors.load(files["glove"], cache=False)
    WordVectors.load(files["glove"], max_words=1)
    monkeypatch.undo()
    WordVectors.load(files["glove"])
    assert not beside(files["glove"]).exists()


def test_words_are_decoded_on_access(files):
    WordVectors.load(files["glove"])
    vectors = WordVectors.load(files["glove"])
    assert len(vectors) == 3
    assert vectors.dimension == 3
    assert "words" not in vars(vectors._names)
    assert "the" in vectors
    assert "words" in vars(vectors._names)


def test_repairs_are_reported_each_time(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("a 1 2\na 3 4\nb 0 0\nc 5 6\n")
    for _ in range(2):
        with pytest.warns(VectorFileWarning, match="1 repeated word, 1 zero vector"):
            vectors = WordVectors.load(path)
        assert vectors.words == ("a", "c")
        assert vectors.repairs == Repairs(duplicate=1, zero=1)


def test_part_of_a_cache_reports_repairs_of_the_whole_file(tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("a 1 2\nb 5 6\na 3 4\n")
    assert WordVectors.load(path, max_words=1).repairs == Repairs()
    with pytest.warns(VectorFileWarning):
        WordVectors.load(path)
    with pytest.warns(VectorFileWarning):
        assert WordVectors.load(path, max_words=1).repairs == Repairs(duplicate=1)


def test_other_options_create_another_cache(tmp_path):
    path = tmp_path / "r.txt"
    path.write_bytes(b"a 1 2\n\xff 3 4\n")
    with pytest.warns(VectorFileWarning):
        assert WordVectors.load(path, errors="skip").words == ("a",)
    assert WordVectors.load(path, encoding_errors="replace").words == ("a", "\ufffd")
    with pytest.raises(ValueError, match="not UTF-8"):
        WordVectors.load(path)
    assert WordVectors.load(path, encoding_errors="replace").words == ("a", "\ufffd")


def test_changed_file_is_read_again(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    assert WordVectors.load(path)["a"].tolist() == [1, 2]
    before = path.stat()
    path.write_text("a 3 4\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # with the old modification time
    assert WordVectors.load(path)["a"].tolist() == [3, 4]
    other = tmp_path / "other.txt"
    other.write_text("a 5 6\n")
    other.replace(path)
    assert WordVectors.load(path)["a"].tolist() == [5, 6]


def test_samples_detect_changes_without_new_times(tmp_path, monkeypatch):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path)
    fixed = path.stat()
    path.write_text("a 3 4\n")
    monkeypatch.setattr(_cache.os, "fstat", lambda _: fixed)
    assert WordVectors.load(path)["a"].tolist() == [3, 4]


def test_without_a_home_directory(files, monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    WordVectors.load(files["glove"])
    assert _cache.cache_of(files["glove"]) == beside(files["glove"])
    assert _cache.cached_files() == []
    with pytest.raises(FileNotFoundError, match="set XDG_CACHE_HOME"):
        _cache.user_cache_folder()


def test_detected_format_and_named_format_share_a_cache(files, unread):
    WordVectors.load(files["glove"], format="glove")
    unread()
    assert len(WordVectors.load(files["glove"])) == 3
    assert len(WordVectors.load(files["glove"], format="glove")) == 3


def test_cache_of_another_named_format_is_not_used(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("2 2\na 1 2\nb 3 4\n")
    with pytest.warns(VectorFileWarning):
        forced = WordVectors.load(path, format="glove", errors="skip")
    assert WordVectors.load(path, errors="skip").words == ("a", "b")
    assert forced.repairs.malformed == 1


def test_corrupt_words_suggest_a_fix():
    raw, ends = np.frombuffer(b"\xff\n", dtype=np.uint8), np.array([2])
    with pytest.raises(ValueError, match=r"words of here are corrupt .*NAME.textkin\), delete it"):
        _ = Names.packed(raw, ends, "here").words


def test_file_changed_during_reading_is_not_cached(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path, progress=lambda *_: path.write_text("a 1 2\nb 3 4\n"))
    assert not beside(path).exists()
    assert leftovers(tmp_path) == []


def test_unwritable_folder(files, monkeypatch, tmp_path, unread):
    real = _cache._create

    def refuse(path, like):
        if path.parent == files["glove"].parent:
            raise PermissionError(13, "Permission denied")
        return real(path, like)

    monkeypatch.setattr(_cache, "_create", refuse)
    WordVectors.load(files["glove"])
    assert not beside(files["glove"]).exists()
    [cache] = _cache.cached_files()
    assert cache.parent == tmp_path / "home" / "textkin" / "vectors"
    unread()
    assert WordVectors.load(files["glove"]).words == ("the", "naïve", "New_York")


def test_no_cache_folder_is_not_an_error(files, monkeypatch):
    monkeypatch.setattr(_cache, "_places", lambda _: (Path("/proc/a"), Path("/proc/b")))
    assert len(WordVectors.load(files["glove"])) == 3


def test_full_disk_is_not_an_error(files):
    code = (
        "import resource, sys; from textkin.vectors import WordVectors, _cache\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "_cache.SMALLEST = 0\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65540, 65540))\n"
        "print(len(WordVectors.load(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(files["glove"])], capture_output=True, text=True
    )
    assert done.stdout.strip() == "3", done.stderr
    assert not beside(files["glove"]).exists()
    assert leftovers(files["glove"].parent) == []


def test_interrupted_conversion_leaves_nothing(files):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        WordVectors.load(files["glove"], progress=interrupt)
    assert not beside(files["glove"]).exists()
    assert leftovers(files["glove"].parent) == []


def test_old_unfinished_files_are_removed(files):
    folder = files["glove"].parent
    old, young, foreign = (
        folder / f".{name}.tmp" for name in ("glove.txt.textkin.1", "glove.txt.textkin.2", "other")
    )
    for file in (old, young, foreign):
        file.write_text("")
    long_ago = time.time() - 10**6
    os.utime(old, (long_ago, long_ago))
    os.utime(foreign, (long_ago, long_ago))
    WordVectors.load(files["glove"])
    assert not old.exists()
    assert young.exists()
    assert foreign.exists()


def test_concurrent_processes(tmp_path):
    path = tmp_path / "v.txt"
    rows = np.random.default_rng(1).normal(size=(3000, 20)).round(4)
    path.write_text(
        "".join(f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows.tolist()))
    )
    code = (
        "import sys; from textkin.vectors import WordVectors, _cache\n"
        "_cache.SMALLEST = 0\n"
        "for _ in range(20): v = WordVectors.load(sys.argv[1])\n"
        "print(len(v.words), float(v.matrix.sum()))"
    )
    team = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    expected = WordVectors.load(path, cache=False).matrix
    said = {process.communicate(timeout=60)[0] for process in team}
    assert said == {f"3000 {float(expected.sum())}\n"}
    assert sorted(os.listdir(tmp_path)) == ["v.txt", "v.txt.textkin"]


def test_open_cache_stays_readable(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n")
    WordVectors.load(path)
    opened = WordVectors.load(path)
    path.write_text("b 3 4\nc 5 6\n")
    WordVectors.load(path)
    beside(path).unlink()
    assert opened.words == ("a",)
    assert opened["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "words", [["a", "b"], ["new\nline", "", "ß", "单词", "\ud800", "\n"], ["\n"]]
)
def test_packed_words_are_restored(words):
    raw, ends = pack_words(words)
    names = Names.packed(np.frombuffer(raw, dtype=np.uint8), ends, "here")
    assert names.first(1).words == (words[0],)
    assert names.words == tuple(words)
    assert names.rows == {word: row for row, word in enumerate(words)}
    assert names.first(1).words == (words[0],)
    assert names.take([len(words) - 1]).words == (words[-1],)


def test_duplicate_packed_words_raise():
    raw, ends = pack_words(["a", "a"])
    with pytest.raises(ValueError, match="words of here are corrupt"):
        _ = Names.packed(np.frombuffer(raw, dtype=np.uint8), ends, "here").rows


def test_ctrl_c_stops_reading_text(tmp_path):
    """Also within a block, while the core is working."""
    path = tmp_path / "long.gz"
    line = b"w" + b" 0.123456" * 300 + b"\n"
    path.write_bytes(gzip.compress(line * 20_000, 1))
    code = (
        "import sys, signal; from textkin.vectors import WordVectors\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\n"
        "while True: WordVectors.load(sys.argv[1], cache=False)"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    for _ in range(5):  # a finalizer of Python may swallow one of them
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=10)
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        process.kill()
        process.communicate()
        pytest.fail("Ctrl-C was not seen")
    assert "KeyboardInterrupt" in said
    assert process.returncode != 0


def test_user_cache_folder(monkeypatch, tmp_path):
    assert _cache.user_cache_folder() == tmp_path / "home" / "textkin" / "vectors"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says to ignore it
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _cache.user_cache_folder() == tmp_path / ".cache" / "textkin" / "vectors"
    assert _cache.cached_files() == []
