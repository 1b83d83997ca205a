"""Files that lie, break off or try to be huge: a clear error or a counted repair, each time."""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from support import VECTOR_FORMATS, vector_files
from textkin.exceptions import VectorFileWarning
from textkin.vectors import Repairs, WordVectors

ROW = np.array([1, 2], dtype="<f4").tobytes()


def refused(tmp_path, content, message, name="file", **options):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(path, **options)
    return path


def taken(path, words, repairs):
    """What is left with errors="skip"."""
    with pytest.warns(VectorFileWarning):
        vectors = WordVectors.load(path, errors="skip")
    assert vectors.words == tuple(words)
    assert vectors.repairs == repairs


# ---------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("content", "message", "words", "repairs"),
    [
        (b"3 2\na 1 2\nb 3 4\n", "says that it has 3 entries, but has 2", "ab", {"miscounted": 1}),
        (b"1 2\na 1 2\nb 3 4\n", "says that it has 1 entries, but has 2", "ab", {"miscounted": 1}),
        (b"a 1 2\nb 3\nc 4 5\n", "line 2: is not a word and 2 numbers", "ac", {"malformed": 1}),
        (b"a 1 2\nb 3 4\nc 4.5 5 6\n", "line 3: is not a word", "ab", {"malformed": 1}),
        (b"a 1 2\nb 3 x\nc 4 5\n", "line 2: has a field that is not", "ac", {"malformed": 1}),
        (b"2 2\na 1 2\nb 3", "line 3: is not a word", "a", {"malformed": 1}),
        (b"a 1 2\nb 1e39 1\nc 1 1\n", "line 2: .*too large", "ac", {"not_finite": 1}),
        (b"a 1 2\n\xff\xfe 1 3\n", "line 2: .*not UTF-8", "a", {"undecodable": 1}),
    ],
)
def test_text_that_is_wrong_somewhere(tmp_path, content, message, words, repairs):
    path = refused(tmp_path, content, message)
    taken(path, words, Repairs(**repairs))


def test_words_with_spaces_and_without_letters(tmp_path):
    path = tmp_path / "spaces.txt"
    path.write_bytes(
        b". . . 1 2\nat name@domain.com 3 4\nwindows 7 5.5 6\n1.5 7 8\nlast 9 9\n 1 1\n"
    )
    with pytest.warns(VectorFileWarning, match="1 empty word"):
        vectors = WordVectors.load(path)
    assert vectors.words == (". . .", "at name@domain.com", "windows 7", "1.5", "last")
    assert vectors["windows 7"].tolist() == [5.5, 6]


def test_separators_and_line_ends(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_bytes(b"\xef\xbb\xbf2 2 \r\na\t1\t2\t\r\n\r\nb   3  4\r\n\n\n")
    vectors = WordVectors.load(path)
    assert vectors.words == ("a", "b")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]
    path.write_bytes("nbsp\u00a0inside 1 2\n".encode())
    assert WordVectors.load(path).words == ("nbsp\u00a0inside",)


def test_years_with_one_number_are_no_header(tmp_path):
    path = tmp_path / "years.txt"
    path.write_bytes(b"1990 3\n1991 4\n")
    assert WordVectors.load(path).words == ("1990", "1991")
    path.write_bytes(b"2 1\n1991 4\n1992 5\n")
    assert WordVectors.load(path).words == ("1991", "1992")
    assert WordVectors.load(path, format="glove").words == ("2", "1991", "1992")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "no lines of words and numbers"),
        (b"just some text\nand more of it\n", "do not end in numbers"),
        (b"word\nother\n", "do not end in numbers"),
        (b"3 99999999999\na 1 2\n", "its vectors have 99,999,999,999 dimensions"),
        (b"3 0\na\n", "its vectors have 0 dimensions"),
        (b"x" * (2**20 + 5), r"first line does not end within 1,048,576 bytes"),
    ],
)
def test_what_is_no_vector_text(tmp_path, content, message):
    refused(tmp_path, content, message)


def test_a_gigantic_line(tmp_path):
    refused(tmp_path, b"a 1 2\n" + b"x" * (33 * 2**20), "line 2 is longer than 33,554,432 bytes")


# ---------------------------------------------------------------------- word2vec binary


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\na " + ROW + b"b " + ROW[:-1], "says that it has 2 entries, but has 1"),
        (b"3 2\na " + ROW + b"b " + ROW, "says that it has 3 entries, but has 2"),
        (b"1 2\na " + ROW + b"b " + ROW, "goes on after the 1 rows"),
        (b"999999999999999999 2\na " + ROW, "says that it has 999,999,999,999,999,999 entries"),
        (b"1 999999\na " + ROW, "its vectors have 999,999 dimensions"),
        (b"1 90000\na " + ROW, "says that it has 1 entries, but has 0"),
    ],
)
def test_binary_that_is_wrong_somewhere(tmp_path, content, message):
    refused(tmp_path, content, message, format="word2vec")


def test_binary_is_taken_as_far_as_it_goes(tmp_path):
    path = tmp_path / "cut.bin"
    path.write_bytes(b"9 2\na " + ROW + b"b " + ROW[:-1])
    taken(path, "a", Repairs(miscounted=8))
    path.write_bytes(b"1 2\na " + ROW + b"b " + ROW)
    assert WordVectors.load(path, errors="skip").words == ("a",)
    path.write_bytes(b"3 2\na " + ROW + b"\xff " + ROW + b"a " + ROW)
    taken(path, "a", Repairs(undecodable=1, duplicate=1))


def test_a_word_without_end(tmp_path):
    content = b"1 2\n" + b"\x01" * (33 * 2**20)
    refused(tmp_path, content, "no word ends within 33,554,432 bytes", format="word2vec")


# ---------------------------------------------------------------------- gzip and zip


def test_a_gzip_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 2**20)
    packed = gzip.compress(b"a 1 2\n" + b"b 1 2\n" * 10**6)
    refused(tmp_path, packed, "more than 100 times its .* If you trust it, unpack it", "bomb.gz")
    packed = gzip.compress(np.lib.format.magic(1, 0) + bytes(10**7))
    refused(tmp_path, packed, "more than 100 times", "bomb.npy.gz")


@pytest.mark.parametrize("name", [name for name in VECTOR_FORMATS if "gzipped" in name])
def test_damaged_gzip(tmp_path, name):
    path = vector_files(tmp_path)[name]
    data = path.read_bytes()
    for damaged in (data[:-12], data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="its gzip data end too early or are not sound"):
            WordVectors.load(path)


def test_gzip_in_gzip(tmp_path):
    refused(tmp_path, gzip.compress(gzip.compress(b"a 1 2\n")), "gzipped twice")


def npz(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


def npy(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), **options)
    return out.getvalue()


def header(text):
    """A version 1 header with any text."""
    raw = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw


HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}}}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npz(words__npy=npy(["a"])), "arrays named 'words' and 'vectors'"),
        (
            npz(glove__txt=b"a 1 2"),
            "a zip archive that holds 'glove.txt', no NumPy file; unpack it",
        ),
        (npz(words__npy=b"junk", vectors__npy=b"junk"), "no sound NumPy header"),
        (npz(words__npy=npy(["a", "b"]), vectors__npy=npy([[1.0]])), "got 2 words and 1 vectors"),
        (npz(words__npy=npy([["a"]]), vectors__npy=npy([[1.0]])), "must be 1-D"),
        (npz(words__npy=npy([1.5]), vectors__npy=npy([[1.0]])), "must be an array of strings"),
        (npz(words__npy=npy([b"\xff"]), vectors__npy=npy([[1.0]])), "not sound text"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([1.0])), "must hold a 2-D table"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([["x"]])), "must hold real numbers"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([[1.0, 2.0]])[:-3]), "ends after 13 of 16"),
        (
            npz(
                words__npy=npy(np.array([{}], dtype=object), allow_pickle=True),
                vectors__npy=npy([[1.0]]),
            ),
            "objects would be pickles",
        ),
        (
            npz(
                words__npy=npy(["a"]),
                vectors__npy=header(HEADER.format("<f4", (2**40, 300))) + ROW,
            ),
            "says that it has the shape",
        ),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([[1.0]]))[:-30], "damaged, or no zip"),
    ],
)
def test_npz_that_is_wrong(tmp_path, content, message):
    refused(tmp_path, content, message, "x.npz")


def test_a_zip_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 2**20)
    content = npz(words__npy=npy(["a"]), vectors__npy=npy(np.zeros((1, 2**20))))
    refused(tmp_path, content, "vectors.npy of .* more than 100 times", "x.npz")


def test_a_zip_member_that_lies_about_its_size(tmp_path):
    honest = npz(words__npy=npy(["a", "b"]), vectors__npy=npy(np.eye(2)))
    size = len(npy(np.eye(2))).to_bytes(4, "little")
    assert size in honest
    lying = honest.replace(size, (10**9).to_bytes(4, "little"))
    refused(tmp_path, lying, "more than 100 times|damaged", "x.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(HEADER.format("<f4", (10**9, 10**9))) + ROW, "says that it has the shape"),
        (header(HEADER.format("<f4", (-1, 2))) + ROW, "says that it has the shape|no sound"),
        (header(HEADER.format("<f4", (0, 2))), "says that it has the shape"),
        (header(HEADER.format("|O", (1, 2))) + ROW, "objects would be pickles"),
        (header(HEADER.format("|V8", (1,))) + ROW, "must hold numbers"),
        (header("__import__('os').system('touch hacked')"), "no sound NumPy header"),
        (header("(" * 9000), "no sound NumPy header"),
        (header("[]"), "no sound NumPy header"),
        (b"\x93NUMPY\x09\x00", "no sound NumPy header"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "no sound NumPy header"),
        (npy(np.eye(2))[:-1], "says that it has the shape"),
        (npy(np.ones(2)), "must hold a 2-D table"),
        (npy(np.ones((2, 2), dtype=complex)), "must hold numbers"),
    ],
)
def test_npy_that_is_wrong(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("a\nb")
    refused(tmp_path, content, message, "x.npy")
    assert not (tmp_path / "hacked").exists()


# ---------------------------------------------------------------------- safetensors


def tensors(entries, data=ROW * 2, length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def table(shape=(2, 2), offsets=(0, 16), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


WORDS = {"__metadata__": {"words": '["a", "b"]'}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tensors({"x": table(), **WORDS}, length=2**39), "header does not fit"),
        (tensors({"x": table(), **WORDS}, data=ROW), "offsets 0 to 16 in a file"),
        (tensors({"x": table(offsets=(0, 12)), **WORDS}), "has the shape"),
        (tensors({"x": table(offsets=(16, 0)), **WORDS}), "has the shape"),
        (tensors({"x": table(offsets=(-8, 8)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(shape=(2**61, 2**61)), **WORDS}), "has the shape"),
        (tensors({"x": table(shape=(2.0, 2)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(shape=(True, 4)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(dtype="F33"), **WORDS}), "must have a dtype"),
        (tensors({"x": table(dtype=["F32"]), **WORDS}), "must have a dtype"),
        (tensors({"x": [], **WORDS}), "must have a dtype"),
        (tensors({"x": table(), "y": table(), **WORDS}), "two tensors overlap"),
        (
            tensors({"x": table((2, 1), (0, 8)), "y": table((2, 1), (8, 16)), **WORDS}),
            "must hold one 2-D tensor",
        ),
        (tensors({"x": table((4,)), **WORDS}), "must hold one 2-D tensor"),
        (tensors({"x": table(), "__metadata__": {"words": 3}}), "metadata must be strings"),
        (tensors({"x": table(), "__metadata__": {"words": "[1]"}}), "must hold a list of words"),
        (tensors({"x": table(), "__metadata__": {"words": '["a"]'}}), "1 words and 2 vectors"),
        (tensors({"x": table(), "__metadata__": {"words": "["}}), "not JSON"),
        (tensors({"x": table()}), "holds no words; put them beside it"),
        (tensors(b"{nonsense}"), "not JSON"),
        (tensors(b"{" * 100_000), "not JSON"),
        (tensors({"words": table((16,), (0, 16), "U8"), **WORDS}), "must hold one 2-D tensor"),
    ],
)
def test_safetensors_that_are_wrong(tmp_path, content, message):
    refused(tmp_path, content, message, "x.safetensors")


@pytest.mark.parametrize("ends", [[5, 1], [-3, 9], [1, 2**62], [1, 1]])
def test_words_cut_in_the_wrong_places(tmp_path, ends):
    save_file(
        {
            "vectors": np.eye(2, dtype=np.float32),
            "words": np.frombuffer(b"a\n\nb\n", dtype=np.uint8),
            "word_ends": np.array(ends),
        },
        tmp_path / "x.safetensors",
    )
    with pytest.raises(ValueError, match="are damaged"):
        WordVectors.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("words.json", '{"a": 0, "b": 5}', "say the row of each word"),
        ("words.json", '{"a": 0, "b": true}', "say the row of each word"),
        ("words.json", '"ab"', "a list of words"),
        ("words.json", '["a", 3]', "a list of words"),
        ("words.json", "[" * 100_000, "not JSON"),
        ("words.txt", "a", "1 words and 2 vectors"),
    ],
)
def test_word_lists_that_are_wrong(tmp_path, name, content, message):
    np.save(tmp_path / "x.npy", np.eye(2))
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(tmp_path / "x.npy")


# ---------------------------------------------------------------------- other things


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04\x95junk", "is a pickle, which could run code"),
        ((793712314).to_bytes(4, "little") + bytes(50), "fastText model with its n-grams"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"\xff\xfea\0 \x001\0", "UTF-16"),
        (b"BZh91AY" + bytes(50), "bzip2; unpack it first"),
        (bytes(range(256)) * 4, "in no format that is read here"),
    ],
)
def test_formats_that_are_not_read_are_named(tmp_path, content, message):
    refused(tmp_path, content, message)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no ordinary file"):
        WordVectors.load(tmp_path / "pipe")


CLAIMS = {
    "binary": b"400000000 100000\na " + ROW,
    "gzipped binary": gzip.compress(b"400000000 100000\na " + ROW),
    "text": b"400000000 300\n" + b"\n" * 10**6 + b"a 1\n",
    "npy": header(HEADER.format("<f4", (2**33, 300))),
    "npz": npz(words__npy=npy(["a"]), vectors__npy=header(HEADER.format("<f4", (2**33, 300)))),
    "safetensors": tensors({"x": table((2**33, 300), (0, 4 * 300 * 2**33))}),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_header_alone_allocates_nothing(tmp_path, name):
    """In a process that may have 256 MB of address space more than it begins with."""
    path = tmp_path / "claims"
    path.write_bytes(CLAIMS[name])
    (tmp_path / "words.txt").write_text("a")
    code = (
        "import sys, resource; from textkin.vectors import WordVectors\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)\n"
        "try: WordVectors.load(sys.argv[1])\n"
        "except ValueError as error: print('refused:', error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("refused:"), done.stderr


def test_a_zip_member_that_lies_about_its_packed_size(tmp_path, monkeypatch):
    """The limit is a multiple of what lies there, whatever the directory says."""
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 1000)
    packed = io.BytesIO()
    np.savez_compressed(packed, words=np.array(["a"]), vectors=np.zeros((1, 90_000), np.float32))
    data = bytearray(packed.getvalue())
    for entry in range(2):  # both in the central directory: the packed size at offset 20
        at = [found.start() for found in re.finditer(rb"PK\x01\x02", data)][entry]
        data[at + 20 : at + 24] = (2**31).to_bytes(4, "little")
    refused(tmp_path, bytes(data), "more than 100 times", "x.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_in_an_archive(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
        archive.writestr("words.npy", npy(np.array(["a"])))
        archive.writestr("vectors.npy", npy(np.ones((1, 2), np.float32)))
    with pytest.raises(ValueError, match=r"words.npy of .* NumPy does not use"):
        WordVectors.load(tmp_path / "x.npz")


def test_a_header_that_is_nearly_the_whole_file(tmp_path):
    many = {f"{k}": table((0, 2), (0, 0)) for k in range(30_000)}
    refused(tmp_path, tensors(many), "has a header of .* bytes", "x.safetensors")


@pytest.mark.parametrize("name", ["a.words.txt", "words.json", "tokenizer.json"])
def test_word_lists_that_are_far_too_long_are_not_read(tmp_path, name):
    np.save(tmp_path / "a.npy", np.eye(2))
    with (tmp_path / name).open("wb") as file:
        file.truncate(2**40)  # sparse
    with pytest.raises(ValueError, match=r"has 1,099,511,627,776 bytes; what it is for takes"):
        WordVectors.load(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["manifest.json", "words.json"])
def test_files_of_a_folder_that_are_far_too_long_are_not_read(tmp_path, monkeypatch, name):
    folder = tmp_path / "saved"
    WordVectors(["a"], [[1, 2]]).save(folder)
    with (folder / name).open("ab") as file:
        file.write(b" " * 2**21)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["words.json"] = {
        "bytes": (folder / "words.json").stat().st_size,
        "sha256": hashlib.sha256((folder / "words.json").read_bytes()).hexdigest(),
    }
    if name == "words.json":
        (folder / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr("textkin.vectors._store.room_for_words", lambda _: 2**20)
    with pytest.raises(ValueError, match=rf"{name} has 2,\d+,\d+ bytes; what it is for"):
        WordVectors.load(folder)


@pytest.mark.parametrize("name", ["a.txt", "vocab.txt"])
@pytest.mark.parametrize("content", ["the 0.5 1e-3\nof 1 -2\n", "the\t100\nof\t99\n"])
def test_vectors_and_counts_are_no_list_of_words(tmp_path, name, content):
    np.save(tmp_path / "a.npy", np.eye(2))
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=r"end in a number.* Write the words alone to a\.words"):
        WordVectors.load(tmp_path / "a.npy")
    (tmp_path / "a.words.txt").write_text("world war 2\n1984\n")
    assert WordVectors.load(tmp_path / "a.npy").words == ("world war 2", "1984")


def test_a_list_that_links_elsewhere_is_named(tmp_path):
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "a.npy", np.eye(2))
    (tmp_path / "list").write_text("a\nb\n")
    (tmp_path / "in" / "words.txt").symlink_to(tmp_path / "list")
    with pytest.raises(ValueError, match=r"words\.txt is a link that leaves the folder"):
        WordVectors.load(tmp_path / "in" / "a.npy")


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors", "long.txt"])
def test_no_format_has_more_dimensions_than_the_limit(tmp_path, name):
    matrix = np.ones((1, 100_001), np.float32)
    (tmp_path / "words.txt").write_text("a\n")
    np.save(tmp_path / "x.npy", matrix)
    np.savez(tmp_path / "x.npz", words=np.array(["a"]), vectors=matrix)
    save_file({"vectors": matrix}, tmp_path / "x.safetensors")
    (tmp_path / "long.txt").write_text("a" + " 1" * 100_001 + "\n")
    with pytest.raises(ValueError, match=r"have 100,001 dimensions \(expected 1 to 100,000\)"):
        WordVectors.load(tmp_path / name)


def test_most_words_may_have_spaces(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("new york 1 0.5\nlos angeles 2 0.5\nrome 3 0.5\nsan jose 4 0.5\n")
    vectors = WordVectors.load(path)
    assert vectors.words == ("new york", "los angeles", "rome", "san jose")
    assert vectors.dimension == 2


def test_a_bad_number_in_half_of_the_lines_does_not_decide(tmp_path):
    refused(tmp_path, b"a 1 2 3\nb 1 x 3\n", "line 2: .* not a number")


@pytest.mark.parametrize(
    "line", [b"cat 1 2 3", b"cat 1e-05 0.5 3", b"cat 0.5 2 3", b"cat 5. 2 3", b"cat -1 2 3"]
)
def test_a_number_too_many_is_no_part_of_the_word(tmp_path, line):
    refused(tmp_path, b"2 2\ndog 1 2\n" + line + b"\n", "line 3: is not a word and 2 numbers")


def test_a_whole_number_before_decimals_is_a_part_of_the_word(tmp_path):
    (tmp_path / "x.txt").write_text("2 2\nwindows 10 0.5 2\nto inf 1 2\n")
    assert WordVectors.load(tmp_path / "x.txt").words == ("windows 10", "to inf")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 2\n", "has no word vectors after its header"),
        (b"a 1 2\rb 3 4\r", "carriage returns alone; convert them"),
        (b"2 2\ra 1 2\rb 3 4\r", "carriage returns alone; convert them"),
        (b"a 0 0\n", "no word vectors left: 1 zero vector left out"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, content, message):
    refused(tmp_path, content, message)


@pytest.mark.parametrize("format", ["text", "npz"])
def test_the_first_of_many_duplicates_is_named(tmp_path, format):
    words = ["a", "b", "b", "a", "b"]
    path = tmp_path / "x"
    if format == "text":
        path.write_text("".join(f"{word} 1 2\n" for word in words))
    else:
        path = tmp_path / "x.npz"
        np.savez(path, words=np.array(words), vectors=np.ones((5, 2)))
    with pytest.warns(VectorFileWarning, match="3 repeated words"):
        assert WordVectors.load(path).words == ("a", "b")
    with pytest.raises(ValueError, match=r"(line|row) 3: repeats the word 'b'"):
        WordVectors.load(path, duplicates="error")
