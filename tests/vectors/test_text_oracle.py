"""The core's text parser, compared with a slow reference implementation of its rules."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textkin import _core
from textkin.vectors import WordVectors

NUMBER = re.compile(
    rb"(?:\+(?=[0-9.])|-)?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    rb"|-?(?:inf(?:inity)?|nan(?:\([A-Za-z0-9_]*\))?)",
    re.IGNORECASE,
)


def nearest_float(text):
    """Round once, in integer arithmetic: ties go to even."""
    number = float(text.split(b"(")[0])
    if not np.isfinite(number) and b"n" in text.lower():
        return np.float32(number)
    exact = Fraction(text.decode())
    largest = Fraction(float(np.finfo(np.float32).max))
    # half a unit in the last place beyond the largest float
    if abs(exact) >= largest + Fraction(2) ** 103:
        return np.float32(np.copysign(np.inf, float(number)))
    with np.errstate(all="ignore"):
        guess = np.clip(np.float32(number), -np.finfo(np.float32).max, np.finfo(np.float32).max)
        around = [np.nextafter(guess, np.float32(to)) for to in (-np.inf, np.inf)]
    candidates = [x for x in (guess, *around) if np.isfinite(x)]
    return min(
        candidates, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1)
    )


def is_surplus(field, values):
    """Return True if a token is a number; an integer before decimals belongs to the word."""
    if not NUMBER.fullmatch(field) or field[-1:] not in b"0123456789.":
        return False
    decimal = re.compile(rb"[.eE]")
    return decimal.search(field) is not None or not any(map(decimal.search, values))


def slow_parse(block, dimension, final):
    """Return words, rows, lines, and errors of a block."""
    lines = block.split(b"\n")
    last = lines.pop()
    if final and last:
        lines.append(last)
    words, rows, numbers, faults = [], [], [], {}
    for number, line in enumerate(lines):
        line = line.removesuffix(b"\r").rstrip(b" \t")
        fields = [field for field in re.split(rb"[ \t]+", line) if field]
        if not fields:
            continue
        values, before = fields[-dimension:], fields[:-dimension]
        fault = None
        if len(fields) < dimension or (not before and line[:1] not in b" \t"):
            fault = "fields"
        elif not before:
            fault = "empty"
        elif not all(NUMBER.fullmatch(value) for value in values):
            fault = "number"
        elif len(before) > 1 and is_surplus(before[-1], values):
            fault = "fields"
        else:
            row = np.array([nearest_float(value) for value in values], dtype=np.float32)
            if not np.isfinite(row).all():
                fault = "not_finite"
            elif not row.any():
                fault = "zero"
        if fault is not None:
            count, first = faults.get(fault, (0, number))
            faults[fault] = (count + 1, first)
            continue
        gaps = rb"[ \t]+".join(re.escape(value) for value in values)
        words.append(re.sub(rb"[ \t]+" + gaps + rb"$", b"", line).lstrip(b" \t"))
        rows.append(row)
        numbers.append(number)
    return words, rows, numbers, faults


def parse(block, dimension, final=True, threads=1):
    array = np.frombuffer(block, dtype=np.uint8)
    found = _core.parse_vector_text(array, dimension, final, None, threads)
    starts = [0, *found["ends"].tolist()]
    words = [found["words"][a:b] for a, b in pairwise(starts)]
    return words, found


exact_numbers = st.one_of(
    st.floats(width=32).map(lambda x: repr(float(x)).encode()),
    st.decimals(-1000, 1000, places=8).map(lambda x: str(x).encode()),
    st.from_regex(rb"\A[+-]?[0-9]{1,12}\.[0-9]{0,24}(e[+-]?[0-9]{1,3})?\Z"),
    st.sampled_from([b"0", b"-0.0", b"1e39", b"1e-60", b"nan", b"-inf", b"5", b".5", b"5."]),
)
odd_fields = st.text("ab1.-+eEnif(", min_size=1, max_size=5).map(str.encode)
gaps = st.sampled_from([b" ", b" ", b" ", b"\t", b"  "])


@st.composite
def some_lines(draw):
    out = b""
    for _ in range(draw(st.integers(0, 6))):
        fields = draw(st.lists(odd_fields, max_size=2))
        fields += draw(st.lists(exact_numbers | odd_fields, max_size=3))
        out += draw(st.sampled_from([b"", b"", b" "]))
        for field in fields:
            out += field + draw(gaps)
        out += draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    return out + draw(st.sampled_from([b"", b"last 1 2", b"last 1"]))


@given(block=some_lines(), dimension=st.integers(1, 3), final=st.booleans())
def test_core_matches_the_reference(block, dimension, final):
    words, rows, lines, faults = slow_parse(block, dimension, final)
    found_words, found = parse(block, dimension, final)
    assert found["faults"] == faults
    assert found_words == words
    assert found["lines"].tolist() == lines
    expected = np.array(rows, dtype=np.float32).reshape(-1, dimension)
    assert found["matrix"].tobytes() == expected.tobytes()
    assert found["consumed"] == (len(block) if final else block.rfind(b"\n") + 1)


@given(st.lists(exact_numbers, min_size=1, max_size=5))
def test_numbers_are_rounded_once(numbers):
    line = b"word " + b" ".join(numbers) + b" 1.0"
    _, found = parse(line, len(numbers) + 1)
    expected = np.array([nearest_float(number) for number in numbers], dtype=np.float32)
    if np.isfinite(expected).all():
        assert found["matrix"][0, :-1].tobytes() == expected.tobytes()
    else:
        assert found["faults"] == {"not_finite": (1, 0)}


def test_any_split_into_blocks_gives_the_same(tmp_path, monkeypatch):
    """Entries may cross blocks, in text and in binary."""
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(500, 7)).astype(np.float32)
    words = [f"w{i}" + "x" * int(rng.integers(0, 40)) for i in range(500)]
    text = "".join(
        f"{w} {' '.join(map(repr, row.tolist()))}\n" for w, row in zip(words, matrix, strict=True)
    )
    (tmp_path / "v.txt").write_text(text)
    rows = (w.encode() + b" " + r.tobytes() + b"\n" for w, r in zip(words, matrix, strict=True))
    (tmp_path / "v.bin").write_bytes(b"500 7\n" + b"".join(rows))
    for size in (257, 1000, 65536):
        monkeypatch.setattr("textkin.vectors._formats._source.BLOCK", size)
        monkeypatch.setattr("textkin.vectors._formats._word2vec.BLOCK", size)
        for name in ("v.txt", "v.bin"):
            vectors = WordVectors.load(tmp_path / name, n_jobs=2)
            assert list(vectors.words) == words
            assert vectors.matrix.tobytes() == matrix.tobytes()


def test_words_are_selected_or_skipped():
    wanted = _core.WordSet()
    for word in (b"of", b"new york"):
        wanted.insert(word)
    assert b"of" in wanted
    assert b"new" not in wanted
    block = np.frombuffer(b"the 1\nof 2\nnew york 3\nnew 4\nbad x\n", dtype=np.uint8)
    found = _core.parse_vector_text(block, 1, True, wanted, 1)
    assert found["words"] == b"ofnew york"
    assert found["n_entries"] == 5
    assert found["faults"] == {}


@pytest.mark.parametrize("parse", [_core.parse_vector_text, _core.parse_vector_binary])
def test_invalid_dimension_raises(parse):
    rest = (True, None, 1) if parse is _core.parse_vector_text else (1, None)
    with pytest.raises(ValueError, match="dimension must be at least 1"):
        parse(np.zeros(4, dtype=np.uint8), 0, *rest)
    huge = parse(np.zeros(4, dtype=np.uint8), 2**40, *rest) if len(rest) == 2 else None
    assert huge is None or huge["matrix"].shape == (0, 2**40)
