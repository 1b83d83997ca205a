"""word2vec's binary format: a header ``V d``, then each word, a space and d float32 numbers."""

from typing import cast

from textkin import _core
from textkin.vectors._formats._gather import Gatherer, ParsedBlock, Sink
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._source import BLOCK, Blocks, Source
from textkin.vectors._formats._text import HEAD, Layout, Numbers, dimension_problem, header_of

__all__ = ["binary_layout", "read_binary"]


def binary_layout(head: bytes, source: Source) -> Layout:
    """Return what the header says, once it is possible for a file of this size."""
    found = header_of(head)
    if found is None or found.count is None:
        raise ValueError(f"{source} must begin with a header of two whole numbers, as word2vec's.")
    problem = dimension_problem(found.dimension)
    if problem is not None:
        raise ValueError(f"{source} cannot be read: {problem}.")
    return found


def read_binary(source: Source, layout: Layout, options: Options, sink: Sink) -> Gatherer:
    """Read all rows, or as many as the options ask for."""
    assert layout.count is not None
    gatherer = Gatherer(source, "row", layout.dimension, options, sink)
    wanted = options.word_set()
    left, row = layout.count, 1

    def parse(block: Numbers, most: int) -> ParsedBlock:
        found = _core.parse_vector_binary(block, layout.dimension, most, wanted)
        return cast(ParsedBlock, found)

    with source.open() as stream:
        blocks = Blocks(stream, layout.skip, first=BLOCK if options.limit is None else HEAD)
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
                    f"{source}, row {row}: no word ends within {BLOCK:,} bytes; the dimension of "
                    "the header may be wrong."
                )
        if left == 0 and options.errors == "raise" and blocks.rest().strip(b"\n"):
            raise ValueError(
                f"{source} goes on after the {layout.count:,} rows of its header, which may be "
                'wrong. Pass errors="skip" to take these rows.'
            )
    gatherer.check_count(layout.count)
    return gatherer
