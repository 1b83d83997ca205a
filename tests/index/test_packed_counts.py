"""Encoded counts, compared with a reference implementation of the format."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from textkin import _core

MOST_WORDS = 2**31 - 1
MOST = 2**32 - 1


def leb128(number):
    out = []
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def slow_pack(row):
    """Return the bytes of a dictionary from words to counts."""
    out, previous = b"", -1
    for key in sorted(row):
        count = row[key]
        out += leb128((key - previous - 1) << 1 | (count > 1))
        if count > 1:
            out += leb128(count - 2)
        previous = key
    return out


def slow_numbers(blob):
    numbers, number, shift = [], 0, 0
    for byte in blob:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            if shift > 70 or number >= 2**64:
                raise ValueError("more than 64 bits")
            numbers.append(number)
            number = shift = 0
    if shift:
        raise ValueError("more than 64 bits" if shift > 63 else "cut short")
    return iter(numbers)


def slow_unpack(blob, n_words):
    row, key, numbers = {}, -1, slow_numbers(blob)
    for number in numbers:
        key += (number >> 1) + 1
        count = 1 if number % 2 == 0 else next(numbers, None)
        if count is None or key >= n_words or count + 2 > MOST:
            raise ValueError("wrong")
        row[key] = count + 2 if number % 2 else 1
    return row


def unpack(blobs, n_words):
    """Return a dictionary per document, and the lengths."""
    indptr, indices, counts, lengths = _core.unpack_counts(blobs, n_words)
    dtypes = [x.dtype for x in (indptr, indices, counts, lengths)]
    assert dtypes == [np.int64, np.int32, np.float32, np.int64]
    rows = [
        dict(zip(indices[a:b].tolist(), counts[a:b].tolist(), strict=True))
        for a, b in pairwise(indptr.tolist())
    ]
    return rows, lengths.tolist()


some_rows = st.lists(
    st.dictionaries(
        st.integers(0, 200) | st.integers(0, MOST_WORDS - 1),
        st.integers(1, 3) | st.integers(1, 2**24),
        max_size=8,
    ),
    max_size=5,
)


@given(some_rows)
@example([{}])
@example([{0: 1}, {}, {MOST_WORDS - 1: 2**24}])
def test_decoding_matches_the_format(rows):
    blobs = [slow_pack(row) for row in rows]
    found, lengths = unpack(blobs, MOST_WORDS)
    assert found == rows
    assert lengths == [sum(row.values()) for row in rows]


@given(st.lists(st.lists(st.integers(0, 300), max_size=30), max_size=5))
def test_encoding_matches_the_format(documents):
    table = _core.WordTable()
    table.read_words([[str(word) for word in range(301)]])
    block = table.read_words([[str(word) for word in words] for words in documents])
    blobs, lengths = block.count(1).packed()
    rows = [{word: words.count(word) for word in words} for words in documents]
    assert blobs == [slow_pack(row) for row in rows]
    assert lengths.dtype == np.int64
    assert lengths.tolist() == [len(words) for words in documents]
    assert unpack(blobs, 301) == (rows, lengths.tolist())


@given(st.binary(max_size=30) | st.lists(st.sampled_from(b"\x00\x01\x7f\x80\xff")).map(bytes))
@example(b"\xff" * 9 + b"\x01")
@example(b"\xff" * 9 + b"\x02")
@example(b"\x80" * 10 + b"\x00")
@example(b"\x80" * 9 + b"\x00")
def test_any_bytes_are_read_or_rejected_by_the_format(blob):
    try:
        expected = slow_unpack(blob, 1000)
    except ValueError:
        with pytest.raises(ValueError, match=r"^The packed counts of row 1 are damaged: "):
            _core.unpack_counts([b"", blob], 1000)
    else:
        (_, found), _ = unpack([b"", blob], 1000)
        assert list(found) == list(expected)
        assert_array_equal(
            np.float32(list(found.values())),
            np.minimum(np.float32(list(expected.values())), np.float32(2**32 - 256)),
        )


@pytest.mark.parametrize(
    ("blob", "what"),
    [
        (b"\x80", "cut short"),
        (b"\x01", "cut short"),
        (b"\x01\x80", "cut short"),
        (b"\x80" * 10, "more than 64 bits"),
        (b"\xff" * 9 + b"\x02", "more than 64 bits"),
        (leb128(10 << 1), "they name word 10 of 10 words"),
        (leb128(9 << 1) + b"\x00", "they name word 10 of 10 words"),
        (leb128(2**64 - 2), f"they name word {2**63 - 1} of 10 words"),
        (b"\x01" + leb128(MOST - 1), r"a count is above 2\^32 - 1"),
        (b"\x01" + leb128(2**64 - 1), r"a count is above 2\^32 - 1"),
    ],
)
def test_corruption_is_reported_with_its_row(blob, what):
    with pytest.raises(ValueError, match=rf"row 2 are damaged: .*{what}\.$"):
        _core.unpack_counts([b"\x00", b"", blob], 10)


def test_largest_count_fits_postings():
    (row,), lengths = unpack([b"\x01" + leb128(MOST - 2)], 1)
    assert row == {0: 2**32 - 256}
    assert lengths == [MOST]


def test_no_documents():
    assert unpack([], 0) == ([], [])
    assert unpack([b"", b""], 0) == ([{}, {}], [0, 0])


@pytest.mark.parametrize("wrong", ["text", None, 3, bytearray(b"\x00")])
def test_other_types_raise(wrong):
    with pytest.raises(
        TypeError, match=rf"must hold bytes; position 1 holds {type(wrong).__name__}"
    ):
        _core.unpack_counts([b"", wrong], 10)


@pytest.mark.parametrize("wrong", [-1, 2**31])
def test_invalid_number_of_words_raises(wrong):
    with pytest.raises(
        ValueError, match=rf"n_words must be at least 0 and below 2\^31; got {wrong}"
    ):
        _core.unpack_counts([], wrong)


@given(
    st.lists(st.dictionaries(st.integers(0, 29), st.integers(1, MOST), max_size=9), max_size=5),
    st.permutations(range(1000, 1030)),
)
def test_words_can_be_renumbered(rows, numbers):
    packed = [slow_pack(row) for row in rows]
    expected = [slow_pack({numbers[key]: count for key, count in row.items()}) for row in rows]
    assert _core.renumber_counts(packed, np.array(numbers, np.int32)) == expected


def test_words_without_new_id_raise():
    packed = [slow_pack({0: 1}), slow_pack({2: 5})]
    with pytest.raises(ValueError, match="row 1 are damaged: they name word 2 of 2 words"):
        _core.renumber_counts(packed, np.array([4, 3], np.int32))
    with pytest.raises(ValueError, match="row 1 are damaged: word 2 has no other number"):
        _core.renumber_counts(packed, np.array([4, 3, -1], np.int32))
    with pytest.raises(TypeError, match="blobs must hold bytes"):
        _core.renumber_counts([1], np.array([4], np.int32))
