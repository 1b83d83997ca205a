"""Malformed and truncated text and word2vec files: a clear error, or a counted repair."""

import os

import numpy as np
import pytest
from safetensors.numpy import save_file

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
    """Return the remaining words with errors="skip"."""
    with pytest.warns(VectorFileWarning):
        vectors = WordVectors.load(path, errors="skip")
    assert vectors.words == tuple(words)
    assert vectors.repairs == repairs


# ---------------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("content", "message", "words", "repairs"),
    [
        (b"3 2\na 1 2\nb 3 4\n", "has 2 entries, but its header says 3", "ab", {"miscounted": 1}),
        (b"1 2\na 1 2\nb 3 4\n", "has 2 entries, but its header says 1", "ab", {"miscounted": 1}),
        (b"a 1 2\nb 3\nc 4 5\n", "line 2: is not a word and 2 numbers", "ac", {"malformed": 1}),
        (b"a 1 2\nb 3 4\nc 4.5 5 6\n", "line 3: is not a word", "ab", {"malformed": 1}),
        (b"a 1 2\nb 3 x\nc 4 5\n", "line 2: has a field that is not", "ac", {"malformed": 1}),
        (b"2 2\na 1 2\nb 3", "line 3: is not a word", "a", {"malformed": 1}),
        (b"a 1 2\nb 1e39 1\nc 1 1\n", "line 2: .*too large", "ac", {"not_finite": 1}),
        (b"a 1 2\n\xff\xfe 1 3\n", "line 2: .*not UTF-8", "a", {"undecodable": 1}),
    ],
)
def test_malformed_text_raises(tmp_path, content, message, words, repairs):
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


def test_years_with_one_number_are_not_a_header(tmp_path):
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
def test_other_texts_raise(tmp_path, content, message):
    refused(tmp_path, content, message)


def test_very_long_line(tmp_path):
    refused(tmp_path, b"a 1 2\n" + b"x" * (33 * 2**20), "line 2 must have at most 33,554,432 bytes")


# ---------------------------------------------------------------------- word2vec binary


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"2 2\na " + ROW + b"b " + ROW[:-1], "has 1 entries, but its header says 2"),
        (b"3 2\na " + ROW + b"b " + ROW, "has 2 entries, but its header says 3"),
        (b"1 2\na " + ROW + b"b " + ROW, "continues after the 1 rows"),
        (b"999999999999999999 2\na " + ROW, "its header says 999,999,999,999,999,999"),
        (b"1 999999\na " + ROW, "its vectors have 999,999 dimensions"),
        (b"1 90000\na " + ROW, "has 0 entries, but its header says 1"),
    ],
)
def test_malformed_binary_raises(tmp_path, content, message):
    refused(tmp_path, content, message, format="word2vec")


def test_truncated_binary_is_read_up_to_the_error(tmp_path):
    path = tmp_path / "cut.bin"
    path.write_bytes(b"9 2\na " + ROW + b"b " + ROW[:-1])
    taken(path, "a", Repairs(miscounted=8))
    path.write_bytes(b"1 2\na " + ROW + b"b " + ROW)
    assert WordVectors.load(path, errors="skip").words == ("a",)
    path.write_bytes(b"3 2\na " + ROW + b"\xff " + ROW + b"a " + ROW)
    taken(path, "a", Repairs(undecodable=1, duplicate=1))


def test_endless_word_raises(tmp_path):
    content = b"1 2\n" + b"\x01" * (33 * 2**20)
    refused(tmp_path, content, "no word ends within 33,554,432 bytes", format="word2vec")


# ---------------------------------------------------------------------- other files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04\x95junk", "is a pickle, which could run code"),
        ((793712314).to_bytes(4, "little") + bytes(50), "fastText model with n-grams"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"\xff\xfea\0 \x001\0", "UTF-16"),
        (b"BZh91AY" + bytes(50), "bzip2; unpack it first"),
        (bytes(range(256)) * 4, "has an unsupported format"),
    ],
)
def test_unsupported_formats_are_named(tmp_path, content, message):
    refused(tmp_path, content, message)


def test_pipe_raises(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="must be a regular file"):
        WordVectors.load(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors", "long.txt"])
def test_too_many_dimensions_raise(tmp_path, name):
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


def test_invalid_numbers_in_half_of_the_lines_do_not_set_the_dimension(tmp_path):
    refused(tmp_path, b"a 1 2 3\nb 1 x 3\n", "line 2: .* not a number")


@pytest.mark.parametrize(
    "line", [b"cat 1 2 3", b"cat 1e-05 0.5 3", b"cat 0.5 2 3", b"cat 5. 2 3", b"cat -1 2 3"]
)
def test_additional_number_is_not_a_part_of_the_word(tmp_path, line):
    refused(tmp_path, b"2 2\ndog 1 2\n" + line + b"\n", "line 3: is not a word and 2 numbers")


def test_integer_before_decimals_is_a_part_of_the_word(tmp_path):
    (tmp_path / "x.txt").write_text("2 2\nwindows 10 0.5 2\nto inf 1 2\n")
    assert WordVectors.load(tmp_path / "x.txt").words == ("windows 10", "to inf")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 2\n", "has no word vectors after its header"),
        (b"a 1 2\rb 3 4\r", "carriage returns only; convert them"),
        (b"2 2\ra 1 2\rb 3 4\r", "carriage returns only; convert them"),
        (b"a 0 0\n", "no word vectors left: 1 zero vector omitted"),
    ],
)
def test_errors_name_the_entry(tmp_path, content, message):
    refused(tmp_path, content, message)


@pytest.mark.parametrize("format", ["text", "npz"])
def test_first_of_many_duplicates_is_named(tmp_path, format):
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
