"""Malformed, truncated, or huge archives, arrays, and tensors raise clear errors."""

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from support import VECTOR_FORMATS, change_manifest, vector_files
from textkin.vectors import WordVectors

ROW = np.array([1, 2], dtype="<f4").tobytes()


def refused(tmp_path, content, message, name="file", **options):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(path, **options)
    return path


# ---------------------------------------------------------------------- gzip and zip


def test_a_gzip_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 2**20)
    packed = gzip.compress(b"a 1 2\n" + b"b 1 2\n" * 10**6)
    refused(tmp_path, packed, "more than 100 times its .* If you trust it, unpack it", "bomb.gz")
    packed = gzip.compress(np.lib.format.magic(1, 0) + bytes(10**7))
    refused(tmp_path, packed, "more than 100 times", "bomb.npy.gz")


@pytest.mark.parametrize("name", [name for name in VECTOR_FORMATS if "gzipped" in name])
def test_corrupt_gzip(tmp_path, name):
    path = vector_files(tmp_path)[name]
    data = path.read_bytes()
    for damaged in (data[:-12], data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="its gzip data are truncated or invalid"):
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
    """Return a version 1 header with any text."""
    raw = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw


HEADER = "{{'descr': '{}', 'fortran_order': False, 'shape': {}}}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npz(words__npy=npy(["a"])), "arrays named 'words' and 'vectors'"),
        (
            npz(glove__txt=b"a 1 2"),
            "a zip archive with 'glove.txt', which is not a NumPy file; unpack it",
        ),
        (npz(words__npy=b"junk", vectors__npy=b"junk"), "invalid NumPy header"),
        (npz(words__npy=npy(["a", "b"]), vectors__npy=npy([[1.0]])), "got 2 words and 1 vectors"),
        (npz(words__npy=npy([["a"]]), vectors__npy=npy([[1.0]])), "must be 1-D"),
        (npz(words__npy=npy([1.5]), vectors__npy=npy([[1.0]])), "must be an array of strings"),
        (npz(words__npy=npy([b"\xff"]), vectors__npy=npy([[1.0]])), "must be valid text"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([1.0])), "must contain a 2-D table"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([["x"]])), "must contain real numbers"),
        (npz(words__npy=npy(["a"]), vectors__npy=npy([[1.0, 2.0]])[:-3]), "ends after 13 of 16"),
        (
            npz(
                words__npy=npy(np.array([{}], dtype=object), allow_pickle=True),
                vectors__npy=npy([[1.0]]),
            ),
            "Objects would be pickles",
        ),
        (
            npz(
                words__npy=npy(["a"]),
                vectors__npy=header(HEADER.format("<f4", (2**40, 300))) + ROW,
            ),
            "bytes for its shape",
        ),
        (
            npz(words__npy=npy(["a"]), vectors__npy=npy([[1.0]]))[:-30],
            "corrupt, or not a supported zip",
        ),
    ],
)
def test_malformed_npz_raises(tmp_path, content, message):
    refused(tmp_path, content, message, "x.npz")


def test_a_zip_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 2**20)
    content = npz(words__npy=npy(["a"]), vectors__npy=npy(np.zeros((1, 2**20))))
    refused(tmp_path, content, "vectors.npy of .* more than 100 times", "x.npz")


def test_zip_member_with_wrong_size_raises(tmp_path):
    honest = npz(words__npy=npy(["a", "b"]), vectors__npy=npy(np.eye(2)))
    size = len(npy(np.eye(2))).to_bytes(4, "little")
    assert size in honest
    lying = honest.replace(size, (10**9).to_bytes(4, "little"))
    refused(tmp_path, lying, "more than 100 times|damaged", "x.npz")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(HEADER.format("<f4", (10**9, 10**9))) + ROW, "bytes for its shape"),
        (header(HEADER.format("<f4", (-1, 2))) + ROW, "bytes for its shape|invalid NumPy header"),
        (header(HEADER.format("<f4", (0, 2))), "bytes for its shape"),
        (header(HEADER.format("|O", (1, 2))) + ROW, "Objects would be pickles"),
        (header(HEADER.format("|V8", (1,))) + ROW, "must have numbers"),
        (header("__import__('os').system('touch hacked')"), "invalid NumPy header"),
        (header("(" * 9000), "invalid NumPy header"),
        (header("[]"), "invalid NumPy header"),
        (b"\x93NUMPY\x09\x00", "invalid NumPy header"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "invalid NumPy header"),
        (npy(np.eye(2))[:-1], "bytes for its shape"),
        (npy(np.ones(2)), "must contain a 2-D table"),
        (npy(np.ones((2, 2), dtype=complex)), "must have numbers"),
    ],
)
def test_malformed_npy_raises(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("a\nb")
    refused(tmp_path, content, message, "x.npy")
    assert not (tmp_path / "hacked").exists()


# ------------------------------------------------------------ safetensors and lists of words


def tensors(entries, data=ROW * 2, length=None):
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def table(shape=(2, 2), offsets=(0, 16), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


WORDS = {"__metadata__": {"words": '["a", "b"]'}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tensors({"x": table(), **WORDS}, length=2**39), "header exceeds the file"),
        (tensors({"x": table(), **WORDS}, data=ROW), "offsets 0 to 16 in a file"),
        (tensors({"x": table(offsets=(0, 12)), **WORDS}), "has shape"),
        (tensors({"x": table(offsets=(16, 0)), **WORDS}), "has shape"),
        (tensors({"x": table(offsets=(-8, 8)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(shape=(2**61, 2**61)), **WORDS}), "has shape"),
        (tensors({"x": table(shape=(2.0, 2)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(shape=(True, 4)), **WORDS}), "a shape and offsets"),
        (tensors({"x": table(dtype="F33"), **WORDS}), "must have a supported dtype"),
        (tensors({"x": table(dtype=["F32"]), **WORDS}), "must have a supported dtype"),
        (tensors({"x": [], **WORDS}), "must have a supported dtype"),
        (tensors({"x": table(), "y": table(), **WORDS}), "two tensors overlap"),
        (
            tensors({"x": table((2, 1), (0, 8)), "y": table((2, 1), (8, 16)), **WORDS}),
            "must have one 2-D tensor",
        ),
        (tensors({"x": table((4,)), **WORDS}), "must have one 2-D tensor"),
        (tensors({"x": table(), "__metadata__": {"words": 3}}), "metadata must be strings"),
        (tensors({"x": table(), "__metadata__": {"words": "[1]"}}), "must be a list of words"),
        (tensors({"x": table(), "__metadata__": {"words": '["a"]'}}), "1 words and 2 vectors"),
        (tensors({"x": table(), "__metadata__": {"words": "["}}), "not valid JSON"),
        (tensors({"x": table()}), "has no words; save them next to it"),
        (tensors(b"{nonsense}"), "not valid JSON"),
        (tensors(b"{" * 100_000), "not valid JSON"),
        (tensors({"words": table((16,), (0, 16), "U8"), **WORDS}), "must have one 2-D tensor"),
    ],
)
def test_malformed_safetensors_raises(tmp_path, content, message):
    refused(tmp_path, content, message, "x.safetensors")


@pytest.mark.parametrize("ends", [[5, 1], [-3, 9], [1, 2**62], [1, 1]])
def test_words_split_inside_a_character_raise(tmp_path, ends):
    save_file(
        {
            "vectors": np.eye(2, dtype=np.float32),
            "words": np.frombuffer(b"a\n\nb\n", dtype=np.uint8),
            "word_ends": np.array(ends),
        },
        tmp_path / "x.safetensors",
    )
    with pytest.raises(ValueError, match="are corrupt"):
        WordVectors.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("words.json", '{"a": 0, "b": 5}', "map each word to its row"),
        ("words.json", '{"a": 0, "b": true}', "map each word to its row"),
        ("words.json", '"ab"', "a list of words"),
        ("words.json", '["a", 3]', "a list of words"),
        ("words.json", "[" * 100_000, "not valid JSON"),
        ("words.txt", "a", "1 words and 2 vectors"),
    ],
)
def test_malformed_word_list_raises(tmp_path, name, content, message):
    np.save(tmp_path / "x.npy", np.eye(2))
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        WordVectors.load(tmp_path / "x.npy")


def test_zip_member_with_wrong_packed_size_raises(tmp_path, monkeypatch):
    """The limit is a multiple of the actual size, regardless of the directory."""
    monkeypatch.setattr("textkin.vectors._formats._source._FREE", 1000)
    packed = io.BytesIO()
    np.savez_compressed(packed, words=np.array(["a"]), vectors=np.zeros((1, 90_000), np.float32))
    data = bytearray(packed.getvalue())
    for entry in range(2):  # both in the central directory: the packed size at offset 20
        at = [found.start() for found in re.finditer(rb"PK\x01\x02", data)][entry]
        data[at + 20 : at + 24] = (2**31).to_bytes(4, "little")
    # Some Python versions detect that members of such sizes would overlap.
    refused(tmp_path, bytes(data), "more than 100 times|Overlapped entries", "x.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_zip_compression_raises(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", method) as archive:
        archive.writestr("words.npy", npy(np.array(["a"])))
        archive.writestr("vectors.npy", npy(np.ones((1, 2), np.float32)))
    with pytest.raises(ValueError, match=r"words.npy of .* has an unsupported compression"):
        WordVectors.load(tmp_path / "x.npz")


def test_header_of_nearly_the_whole_file(tmp_path):
    many = {f"{k}": table((0, 2), (0, 0)) for k in range(30_000)}
    refused(tmp_path, tensors(many), "has a header of .* bytes", "x.safetensors")


@pytest.mark.parametrize("name", ["a.words.txt", "words.json", "tokenizer.json"])
def test_huge_word_lists_are_not_read(tmp_path, name):
    np.save(tmp_path / "a.npy", np.eye(2))
    with (tmp_path / name).open("wb") as file:
        file.truncate(2**40)  # sparse
    with pytest.raises(ValueError, match=r"must have at most .* bytes; got 1,099,511,627,776"):
        WordVectors.load(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["manifest.json", "words.json"])
def test_huge_files_in_a_folder_are_not_read(tmp_path, monkeypatch, name):
    folder = tmp_path / "saved"
    WordVectors(["a"], [[1, 2]]).save(folder)
    with (folder / name).open("ab") as file:
        file.write(b" " * 2**21)
    if name == "words.json":
        data = (folder / name).read_bytes()
        record = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        change_manifest(folder, lambda manifest: manifest["files"].update({name: record}))
    monkeypatch.setattr("textkin.vectors._storage.max_words_size", lambda _: 2**20)
    with pytest.raises(ValueError, match=rf"{name} must have at most .* bytes; got 2,\d+,\d+"):
        WordVectors.load(folder)


@pytest.mark.parametrize("name", ["a.txt", "vocab.txt"])
@pytest.mark.parametrize("content", ["the 0.5 1e-3\nof 1 -2\n", "the\t100\nof\t99\n"])
def test_vectors_and_counts_are_not_word_lists(tmp_path, name, content):
    np.save(tmp_path / "a.npy", np.eye(2))
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=r"end in a number.* Write only the words to a\.words"):
        WordVectors.load(tmp_path / "a.npy")
    (tmp_path / "a.words.txt").write_text("world war 2\n1984\n")
    assert WordVectors.load(tmp_path / "a.npy").words == ("world war 2", "1984")


def test_word_list_that_links_elsewhere_raises(tmp_path):
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "a.npy", np.eye(2))
    (tmp_path / "list").write_text("a\nb\n")
    (tmp_path / "in" / "words.txt").symlink_to(tmp_path / "list")
    with pytest.raises(ValueError, match=r"words\.txt is a link out of the folder"):
        WordVectors.load(tmp_path / "in" / "a.npy")


CLAIMS = {
    "binary": b"400000000 100000\na " + ROW,
    "gzipped binary": gzip.compress(b"400000000 100000\na " + ROW),
    "text": b"400000000 300\n" + b"\n" * 10**6 + b"a 1\n",
    "npy": header(HEADER.format("<f4", (2**33, 300))),
    "npz": npz(words__npy=npy(["a"]), vectors__npy=header(HEADER.format("<f4", (2**33, 300)))),
    "safetensors": tensors({"x": table((2**33, 300), (0, 4 * 300 * 2**33))}),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_huge_header_allocates_no_memory(tmp_path, name):
    """Run in a process with at most 256 MB of additional address space."""
    path = tmp_path / "claims"
    path.write_bytes(CLAIMS[name])
    (tmp_path / "words.txt").write_text("a")
    code = (
        "import sys, resource; from textkin.vectors import WordVectors\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)\n"
        "try: WordVectors.load(sys.argv[1])\n"
        "except ValueError as error: print('rejected:', error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("rejected:"), done.stderr
