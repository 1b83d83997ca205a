"""Vectors as text: GloVe's lines, and the same under a header (word2vec, fastText ``.vec``)."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin.vectors._formats._gather import Gatherer, ParsedBlock, Sink
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._source import BLOCK, Blocks, Source

__all__ = [
    "HEAD",
    "Layout",
    "Numbers",
    "dimension_problem",
    "header_of",
    "read_text",
    "text_layout",
    "trailing_numbers",
]

HEAD = 2**20
"""Bytes at the start of a file that say what it is; its first line must end within them."""

_MAX_DIMENSION = 100_000

_HEADER = re.compile(rb"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})[ \t]*\r?\n")
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|inf)", re.I
)
_BOM = b"\xef\xbb\xbf"
_SAMPLE = 1000  # lines that are asked for their number of fields

Numbers = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is laid out: the bytes before the first entry, the dimension, the count."""

    skip: int
    dimension: int
    count: int | None  # None where no header says it


def dimension_problem(dimension: int) -> str | None:
    """Return what is wrong with the dimension that a stranger's file has, if anything is."""
    if 1 <= dimension <= _MAX_DIMENSION:
        return None
    return f"its vectors have {dimension:,} dimensions (expected 1 to {_MAX_DIMENSION:,})"


def header_of(head: bytes) -> Layout | None:
    """Return what the header ``V d`` at the start of a file says, if there is one."""
    start = len(_BOM) if head.startswith(_BOM) else 0
    match = _HEADER.match(head, start)
    if match is None:
        return None
    return Layout(match.end(), int(match[2]), int(match[1]))


def text_layout(head: bytes, whole: bool, *, header: bool | None) -> Layout | str:
    """Return the layout of a text file from its first bytes, or what is wrong with them.

    Parameters
    ----------
    head : bytes
        The first bytes of the file.
    whole : bool
        Whether they are all of it.
    header : bool or None
        Whether the first line is a header; None looks.
    """
    found = header_of(head) if header is not False else None
    if found is not None and header is None and _is_entry_of_one_number(head, found):
        found = None
    if found is not None:
        return dimension_problem(found.dimension) or found
    if b"\r" in head and b"\n" not in head:
        return "its lines end in carriage returns alone; convert them to newlines first"
    if header:
        return "it has no header of two whole numbers"
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
    # Most lines agree. Where two sizes are as frequent, lines of one field and numbers know best;
    # then words that end in a number explain the longer one.
    plain = Counter(numbers for numbers, fields in counted if fields == numbers + 1)
    dimension = max(sizes, key=lambda size: (sizes[size], plain[size], -size))
    if dimension == 0:
        return "its lines do not end in numbers"
    return dimension_problem(dimension) or Layout(start, dimension, None)


def trailing_numbers(line: bytes) -> int:
    """Return how many fields at the end of a line are numbers, its first field aside."""
    return (_numbers_and_fields(line) or (0, 0))[0]


def _numbers_and_fields(line: bytes) -> tuple[int, int] | None:
    """Return how many fields at the end are numbers, and how many fields there are; or nothing."""
    fields = line.split()
    if not fields:
        return None
    others = (k for k, field in enumerate(reversed(fields[1:])) if not _NUMBER.fullmatch(field))
    return next(others, len(fields) - 1), len(fields)


def _is_entry_of_one_number(head: bytes, found: Layout) -> bool:
    """Say whether what looks like a header is rather a word, a year say, with one number."""
    line = head[found.skip :].split(b"\n", 1)[0]
    return found.dimension != 1 and _numbers_and_fields(line) == (1, 2)


def read_text(source: Source, layout: Layout, options: Options, sink: Sink) -> Gatherer:
    """Read all lines, or as many as the options ask for."""
    gatherer = Gatherer(source, "line", layout.dimension, options, sink)
    wanted = options.word_set()
    line = 1 + (layout.count is not None)

    def parse(block: Numbers, final: bool) -> ParsedBlock:
        found = _core.parse_vector_text(block, layout.dimension, final, wanted, options.threads)
        return cast(ParsedBlock, found)

    with source.open() as stream:
        blocks = Blocks(stream, layout.skip, first=BLOCK if options.limit is None else HEAD)
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
                    f"{source}, line {line} is longer than {BLOCK:,} bytes; that is no word with "
                    "its vector."
                )
    if layout.count is not None:
        gatherer.check_count(layout.count)
    return gatherer


def _first_lines(block: Numbers, number: int) -> Numbers:
    return block[: int(np.flatnonzero(block == ord("\n"))[number - 1]) + 1]
