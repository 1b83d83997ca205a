"""Readers of word2vec (binary and text), GloVe, and fastText vector files."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin.vectors._formats._gatherer import Gatherer, ParsedBlock, Sink
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._source import BLOCK, Blocks, Source
from textkin.vectors._table import dimension_problem

__all__ = [
    "HEAD",
    "Layout",
    "Numbers",
    "binary_layout",
    "parse_header",
    "read_binary",
    "read_text",
    "text_layout",
    "trailing_numbers",
]

HEAD = 2**20
"""Size of the start of a file that determines its format; must contain its first line."""

_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]*\r?\n")
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf)", re.I
)
_BOM = b"\xef\xbb\xbf"
_SAMPLE = 1000  # number of lines used to determine the dimension

Numbers = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Layout:
    """Layout of a vector file: offset of the first entry, dimension, and count."""

    skip: int
    dimension: int
    count: int | None  # None without a header


def parse_header(head: bytes) -> Layout | None:
    """Parse a word2vec header ``V d``, or return None if there is none."""
    start = len(_BOM) if head.startswith(_BOM) else 0
    match = _HEADER.match(head, start)
    if match is None:
        return None
    return Layout(match.end(), int(match[2]), int(match[1]))


def text_layout(head: bytes, whole: bool, *, header: bool | None) -> Layout | str:
    """Detect the layout of a text file from its first bytes, or describe the problem.

    Parameters
    ----------
    head : bytes
        First bytes of the file.
    whole : bool
        True if `head` is the complete file.
    header : bool or None
        Whether the first line is a header. If None, it is detected.
    """
    found = parse_header(head) if header is not False else None
    if found is not None and header is None and _is_entry_of_one_number(head, found):
        found = None
    if found is not None:
        return dimension_problem(found.dimension) or found
    if b"\r" in head and b"\n" not in head:
        return "its lines end in carriage returns only; convert them to newlines first"
    if header:
        return "it has no header of two integers"
    start = len(_BOM) if head.startswith(_BOM) else 0
    lines = head[start:].split(b"\n")
    if not whole:
        lines.pop()
    counted = [pair for line in lines[:_SAMPLE] if (pair := _numbers_and_fields(line))]
    sizes = Counter(numbers for numbers, _ in counted)
    if not sizes:
        return (
            "it has no lines of words and numbers"
            if whole or b"\n" in head
            else f"its first line does not end within {HEAD:,} bytes"
        )
    # Most lines agree. If two sizes are equally frequent, prefer the size of lines with one field
    # before the numbers; words that end in a number then explain the longer lines.
    plain = Counter(numbers for numbers, fields in counted if fields == numbers + 1)
    dimension = max(sizes, key=lambda size: (sizes[size], plain[size], -size))
    if dimension == 0:
        return "its lines do not end in numbers"
    return dimension_problem(dimension) or Layout(start, dimension, None)


def trailing_numbers(line: bytes) -> int:
    """Return the number of numeric fields at the end of a line."""
    return (_numbers_and_fields(line) or (0, 0))[0]


def _numbers_and_fields(line: bytes) -> tuple[int, int] | None:
    """Return the number of trailing numeric fields and of all fields in a line, or None."""
    fields = line.split()
    if not fields:
        return None
    others = (k for k, field in enumerate(reversed(fields[1:])) if not _NUMBER.fullmatch(field))
    return next(others, len(fields) - 1), len(fields)


def _is_entry_of_one_number(head: bytes, found: Layout) -> bool:
    """Return True if an apparent header is an entry with one number, such as a year."""
    line = head[found.skip :].split(b"\n", 1)[0]
    return found.dimension != 1 and _numbers_and_fields(line) == (1, 2)


def read_text(source: Source, layout: Layout, options: Options, sink: Sink) -> Gatherer:
    """Read the selected vectors of a text file into a sink."""
    gatherer = Gatherer(source, "line", layout.dimension, options, sink)
    wanted = options.word_set()
    line = 1 + (layout.count is not None)

    def parse(block: Numbers, final: bool) -> ParsedBlock:
        found = _core.parse_vector_text(block, layout.dimension, final, wanted, options.threads)
        return cast(ParsedBlock, found)

    with source.open() as stream:
        blocks = Blocks(stream, layout.skip, first=BLOCK if options.max_words is None else HEAD)
        while not blocks.final:
            block = blocks.read()
            parsed = parse(block, blocks.final)

            def first_lines(number: int, block: Numbers = block) -> ParsedBlock:
                return parse(_first_lines(block, number), True)

            more = gatherer.add(parsed, line, first_lines)
            line += parsed["n_lines"]
            if options.progress is not None:
                options.progress(min(stream.position(), source.size), source.size)
            if not more:
                return gatherer
            if not blocks.used(parsed["consumed"]) and not blocks.final:
                raise ValueError(
                    f"{source}, line {line} must have at most {BLOCK:,} bytes; it is too long for "
                    "a word with its vector."
                )
    if layout.count is not None:
        gatherer.check_count(layout.count)
    return gatherer


def _first_lines(block: Numbers, number: int) -> Numbers:
    return block[: int(np.flatnonzero(block == ord("\n"))[number - 1]) + 1]


def binary_layout(head: bytes, source: Source) -> Layout:
    """Parse the header of a binary word2vec file, and check it against the file size."""
    found = parse_header(head)
    if found is None or found.count is None:
        raise ValueError(f"{source} must start with a header of two integers, as in word2vec.")
    problem = dimension_problem(found.dimension)
    if problem is not None:
        raise ValueError(f"{source} cannot be read: {problem}.")
    return found


def read_binary(source: Source, layout: Layout, options: Options, sink: Sink) -> Gatherer:
    """Read the selected vectors of a binary word2vec file into a sink."""
    assert layout.count is not None
    gatherer = Gatherer(source, "row", layout.dimension, options, sink)
    wanted = options.word_set()
    left, row = layout.count, 1

    def parse(block: Numbers, most: int) -> ParsedBlock:
        found = _core.parse_vector_binary(block, layout.dimension, most, wanted)
        return cast(ParsedBlock, found)

    with source.open() as stream:
        blocks = Blocks(stream, layout.skip, first=BLOCK if options.max_words is None else HEAD)
        while left > 0 and not blocks.final:
            block = blocks.read()
            parsed = parse(block, left)

            def first_rows(number: int, block: Numbers = block) -> ParsedBlock:
                return parse(block, number)

            more = gatherer.add(parsed, row, first_rows)
            row += parsed["n_lines"]
            left -= parsed["n_lines"]
            if options.progress is not None:
                options.progress(min(stream.position(), source.size), source.size)
            if not more:
                return gatherer
            if not blocks.used(parsed["consumed"]) and not blocks.final:
                raise ValueError(
                    f"{source}, row {row}: no word ends within {BLOCK:,} bytes. The dimension in "
                    "the header may be wrong."
                )
        if left == 0 and options.errors == "raise" and blocks.rest().strip(b"\n"):
            raise ValueError(
                f"{source} continues after the {layout.count:,} rows in its header, which may be "
                'wrong. Pass errors="skip" to read these rows.'
            )
    gatherer.check_count(layout.count)
    return gatherer
