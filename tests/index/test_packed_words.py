"""Words in arrays, compared with reference implementations of table and hash."""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textkin import _core

SEED, PRIME = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
LOW = 2**64 - 1

any_words = st.lists(
    st.text(max_size=20) | st.sampled_from(["\ud800", "a\udfff", "\0", "straße"]), unique=True
)


def arrays_of(words):
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def packed(words):
    arrays = arrays_of(words)
    return _core.PackedWords(*arrays, _core.PackedWords.slots_of(*arrays))


def mix(value):
    for _ in range(2):
        value ^= value >> 32
        value = value * PRIME & LOW
    return value ^ value >> 32


def slow_hash(word):
    """Hash eight bytes at a time, with zero padding."""
    value = SEED + len(word) & LOW
    parts = [word[i : i + 8] for i in range(0, len(word), 8)] or [b""]
    for part in parts:
        value = mix(value ^ int.from_bytes(part, "little"))
    return value


def slow_slots(words):
    size = 1
    while size < 2 * len(words):
        size *= 2
    slots = [-1] * size
    for number, word in enumerate(words):
        at = slow_hash(word.encode("utf-8", "surrogatepass")) % size
        while slots[at] >= 0:
            at = (at + 1) % size
        slots[at] = number
    return slots


@given(any_words)
def test_table_matches_the_format(words):
    slots = _core.PackedWords.slots_of(*arrays_of(words))
    assert slots.dtype == np.int32
    assert slots.tolist() == slow_slots(words)


@given(any_words, st.lists(st.text(max_size=3)))
def test_words_are_found(words, others):
    found = packed(words)
    asked = words + others
    numbers = found.find(asked)
    assert numbers.dtype == np.int32
    assert numbers.tolist() == [words.index(w) if w in words else -1 for w in asked]
    assert len(found) == len(words)
    assert found.words(0, len(words)) == words
    assert found.words(1, 3) == words[1:3]
    assert found.words(2, 1) == []
    assert found.words(len(words), 2**40) == []


@given(any_words, any_words, st.integers(0, 10))
def test_table_from_and_to_packed_words(first, then, start):
    then = [word for word in then if word not in first]
    table = _core.WordTable()
    table.read_words([first])
    table.extend(*arrays_of(then))
    assert table.words(0) == first + then
    bytes_, offsets = table.packed(start)
    assert (bytes_.dtype, offsets.dtype) == (np.uint8, np.int64)
    expected_bytes, expected_offsets = arrays_of((first + then)[start:])
    assert bytes_.tobytes() == expected_bytes.tobytes()
    assert offsets.tolist() == expected_offsets.tolist()
    assert table.read_words([first + then]).arrays()[0].tolist() == list(range(len(table)))


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["new", "old"], r"word 1 is the same as word 1 of the table"),
        (["x", "y", "x"], r"word 2 is the same as word 0\."),
    ],
)
def test_known_or_duplicate_words_raise_and_change_nothing(words, match):
    table = _core.WordTable()
    table.read_words([["older", "old"]])
    with pytest.raises(ValueError, match=match):
        table.extend(*arrays_of(words))
    assert table.words(0) == ["older", "old"]
    assert table.read_words([["x", "old", "new"]]).arrays()[0].tolist() == [2, 1, 3]


DAMAGED = [
    (b"abc", [], r"offsets must begin with 0 and end with the number of bytes, 3; got none"),
    (b"abc", [1, 3], r"got 1 and 3"),
    (b"abc", [0, 2], r"got 0 and 2"),
    (b"abc", [0, 2, 1, 3], r"Word 1 is damaged: its offsets decrease"),
    (b"abc", [0, 1, 9, 3], r"Word 1 is damaged: .*outside of the bytes"),
    (b"abc", [0, -9, 3], r"Word 0 is damaged"),
    (b"a\xff", [0, 1, 2], r"Word 1 is damaged: it is not UTF-8"),
    (b"\xc3\xa9", [0, 1, 2], r"Word 0 is damaged: it is not UTF-8"),
    (b"\xf4\x90\x80\x80", [0, 4], r"Word 0 is damaged: it is not UTF-8"),
    (b"\xc0\xaf", [0, 2], r"Word 0 is damaged: it is not UTF-8"),
]


@pytest.mark.parametrize(("content", "offsets", "match"), DAMAGED)
def test_corrupt_arrays_raise(content, offsets, match):
    arrays = np.frombuffer(content, dtype=np.uint8), np.array(offsets, dtype=np.int64)
    with pytest.raises(ValueError, match=match):
        _core.PackedWords.slots_of(*arrays)
    table = _core.WordTable()
    with pytest.raises(ValueError, match=match):
        table.extend(*arrays)
    assert len(table) == 0
    with pytest.raises(ValueError, match=match):
        _core.PackedWords(*arrays, np.full(8, -1, dtype=np.int32)).words(0, 9)


def test_duplicate_words_raise():
    with pytest.raises(ValueError, match=r"distinct; word 3 is the same as word 1\."):
        _core.PackedWords.slots_of(*arrays_of(["a", "b", "c", "b"]))


@pytest.mark.parametrize("slots", [0, 2, 3, 6])
def test_wrong_table_size_raises(slots):
    with pytest.raises(ValueError, match=rf"power of two, at least twice .* 2 words; got {slots}"):
        _core.PackedWords(*arrays_of(["a", "b"]), np.full(slots, -1, dtype=np.int32))


@given(st.data())
def test_lookup_returns_only_stored_words_for_any_arrays(data):
    words = ["the", "cat", "sat", "on", "a", "mat"]
    content, offsets = arrays_of(words)
    anywhere = st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 20)
    offsets[1:-1] = data.draw(st.lists(anywhere, min_size=5, max_size=5))
    number = st.integers(-(2**31), 2**31 - 1) | st.integers(-1, 7)
    slots = data.draw(st.lists(number, min_size=16, max_size=16))
    found = _core.PackedWords(content, offsets, np.array(slots, dtype=np.int32))
    for word, at in zip(words, found.find(words).tolist(), strict=True):
        assert at < len(words)
        if at >= 0:
            assert content[offsets[at] : offsets[at + 1]].tobytes().decode() == word
    for at in range(len(words)):
        start, end = offsets[at : at + 2].tolist()
        if 0 <= start <= end <= len(content):
            assert found.words(at, at + 1) == [content[start:end].tobytes().decode()]
        else:
            with pytest.raises(ValueError, match=f"Word {at} is damaged"):
                found.words(at, at + 1)


def test_memory_maps_are_read_in_place(tmp_path):
    words = [f"word{i}" for i in range(1000)]
    content, offsets = arrays_of(words)
    names = {"bytes": content, "offsets": offsets}
    names["slots"] = _core.PackedWords.slots_of(content, offsets)
    mapped = []
    for name, array in names.items():
        array.tofile(tmp_path / name)
        mapped.append(np.memmap(tmp_path / name, dtype=array.dtype, mode="r"))
    assert _core.PackedWords.slots_of(*mapped[:2]).tolist() == names["slots"].tolist()
    found = _core.PackedWords(*mapped)
    alive = weakref.ref(mapped[0])
    del mapped
    gc.collect()
    assert alive() is not None
    assert found.find(words).tolist() == list(range(1000))
    table = _core.WordTable()
    table.extend(np.memmap(tmp_path / "bytes", mode="r"), offsets)
    assert table.words(0) == words


def test_other_types_raise():
    content, offsets = arrays_of(["a"])
    with pytest.raises(TypeError):
        _core.PackedWords(content, offsets.astype(np.int32), np.full(2, -1, dtype=np.int32))
    with pytest.raises(TypeError, match=r"words must hold str; position 1 holds bytes"):
        packed(["a"]).find(["a", b"a"])
