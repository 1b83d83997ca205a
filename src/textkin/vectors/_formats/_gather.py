"""Gathering the rows of a file block by block: what is kept, what is left out, what is an error."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypedDict

import numpy as np

from textkin._typing import Float32Array, Int64Array
from textkin.vectors._formats._options import Options
from textkin.vectors._repairs import Repairs

__all__ = ["Gatherer", "MemorySink", "ParsedBlock", "Sink"]

_PROBLEMS = {
    "fields": ("malformed", "is not a word and {dimension} numbers"),
    "number": ("malformed", "has a field that is not a number"),
    "not_finite": ("not_finite", "has a number that is NaN, infinite or too large for float32"),
    "zero": ("zero", None),
    "empty": ("empty", None),
}

# By kind: how many, the line of the first one, and its word. A file may be all duplicates.
_Problems = dict[str, tuple[int, int, str | bytes]]


class ParsedBlock(TypedDict):
    """What the core hands over for a block; see vector_file.h."""

    matrix: Float32Array
    words: bytes
    ends: Int64Array
    lines: Int64Array
    faults: dict[str, tuple[int, int]]
    n_lines: int
    n_entries: int
    consumed: int


class Sink(Protocol):
    """Where rows go: memory, or a file."""

    def append(self, rows: Float32Array) -> None:
        """Take the next rows."""
        ...


class MemorySink:
    """Rows in memory; never much more than one matrix of them at a time."""

    def __init__(self) -> None:
        self._parts: list[Float32Array] = []

    def append(self, rows: Float32Array) -> None:
        """Take the next rows."""
        self._parts.append(rows)

    def matrix(self, dimension: int) -> Float32Array:
        """Return all rows, and forget them.

        The parts go one by one while the matrix fills: memory that is not yet written to
        is not yet taken.
        """
        parts, self._parts = self._parts[::-1], []
        whole = np.empty((sum(map(len, parts)), dimension), dtype=np.float32)
        row = 0
        while parts:
            part = parts.pop()
            whole[row : row + len(part)] = part
            row += len(part)
        return whole


class Gatherer:
    """Keeps the first row of each word, and holds the rest to the caller's policies."""

    def __init__(
        self, source: object, unit: str, dimension: int, options: Options, sink: Sink
    ) -> None:
        self._source = source
        self._unit = unit  # "line" or "row": what a position in the file is called
        self._dimension = dimension
        self._options = options
        self._sink = sink
        self._counts: dict[str, int] = {}
        self._seen: set[str] = set()
        self.words: list[str] = []
        self.entries = 0

    def add(self, parsed: ParsedBlock, first: int, again: Callable[[int], ParsedBlock]) -> bool:
        """Take the rows of a block whose first line has the number `first`.

        Returns False when the limit is reached. Then only the lines up to the last row kept
        count: ``again(n)`` must parse the first n lines alone.
        """
        keep, new, problems, last_line = self._sift(parsed)
        done = last_line is not None
        if last_line is not None and last_line + 1 < parsed["n_lines"]:
            parsed = again(last_line + 1)
            keep, new, problems, _ = self._sift(parsed)
        self._judge(parsed, problems, first)
        self.words += new
        self._seen.update(new)
        self.entries += parsed["n_entries"]
        rows = parsed["matrix"]
        if len(keep) < len(rows):
            rows = rows[list(keep)]
        if len(rows):
            self._sink.append(rows)
        return not done

    def check_count(self, promised: int) -> None:
        """Compare the number of entries with what the header says."""
        if promised == self.entries:
            return
        if self._options.errors == "raise":
            raise ValueError(
                f"{self._source} says that it has {promised:,} entries, but has "
                f"{self.entries:,}; it may be cut off, or was put together by hand. Pass "
                'errors="skip" to take what is there.'
            )
        self._count("miscounted", abs(promised - self.entries))

    def repairs(self) -> Repairs:
        """Return what was left out so far."""
        return Repairs(**self._counts)

    def _count(self, name: str, number: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + number

    def _sift(self, parsed: ParsedBlock) -> tuple[Sequence[int], list[str], _Problems, int | None]:
        """Return the rows to keep, their words, what is wrong, and the line of the last one."""
        limit = self._options.limit
        room = None if limit is None else limit - len(self.words)
        policy = self._options.encoding_errors
        raw, ends, lines = parsed["words"], parsed["ends"].tolist(), parsed["lines"]
        if room is None or room > len(ends):  # nearly always there is nothing to leave out
            words = _decoded(raw, ends)
            distinct = set(words)
            if len(distinct) == len(ends) and distinct.isdisjoint(self._seen):
                return range(len(ends)), words, {}, None
        keep: list[int] = []
        new: dict[str, None] = {}
        problems: _Problems = {}

        def note(name: str, row: int, shown: str | bytes) -> None:
            count, line, first = problems.get(name) or (0, int(lines[row]), shown)
            problems[name] = (count + 1, line, first)

        start = 0
        for row, end in enumerate(ends):
            spelled = raw[start:end]
            start = end
            try:
                word = spelled.decode("utf-8", policy)
            except UnicodeDecodeError:
                note("undecodable", row, spelled[:40])
                continue
            if word in self._seen or word in new:
                note("duplicate", row, word)
                continue
            new[word] = None
            keep.append(row)
            if len(keep) == room:
                return keep, list(new), problems, int(lines[row])
        return keep, list(new), problems, None

    def _judge(self, parsed: ParsedBlock, problems: _Problems, first: int) -> None:
        """Count what may be left out; raise for the first line that may not."""
        errors: list[tuple[int, str]] = []
        strict = self._options.errors == "raise"
        for kind, (count, line) in parsed["faults"].items():
            name, wording = _PROBLEMS[kind]
            self._count(name, count)
            if strict and wording is not None:
                errors.append((line, wording.format(dimension=self._dimension)))
        for name, (count, line, shown) in problems.items():
            self._count(name, count)
            if name == "undecodable" and strict:
                errors.append((line, f"has a word that is not UTF-8: {shown!r}"))
            elif name == "duplicate" and self._options.duplicates == "error":
                errors.append((line, f"repeats the word {shown!r}"))
        if errors:
            line, problem = min(errors)
            raise ValueError(
                f"{self._source}, {self._unit} {first + line}: {problem}. {self._way_out(problem)}"
            )

    @staticmethod
    def _way_out(problem: str) -> str:
        if problem.startswith("repeats"):
            return 'Pass duplicates="first" to keep the first one.'
        if "UTF-8" in problem:
            return 'Pass encoding_errors="replace", or errors="skip" to leave such words out.'
        return 'Pass errors="skip" to leave such entries out.'


def _decoded(raw: bytes, ends: list[int]) -> list[str]:
    """Return the words of a block; none if any of them is not UTF-8."""
    try:
        return [raw[start:end].decode() for start, end in pairwise([0, *ends])]
    except UnicodeDecodeError:
        return []
