"""Collection of vectors read in blocks, with counts of omitted entries."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypedDict

import numpy as np

from textkin._base import Float32Array, Int64Array
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

# By kind: count, line of the first problem, and its word. All words of a file may be duplicates.
_Problems = dict[str, tuple[int, int, str | bytes]]


class ParsedBlock(TypedDict):
    """Words and vectors of a block of a file, as parsed by the core."""

    matrix: Float32Array
    words: bytes
    ends: Int64Array
    lines: Int64Array
    faults: dict[str, tuple[int, int]]
    n_lines: int
    n_entries: int
    consumed: int


class Sink(Protocol):
    """Protocol of destinations of vectors: memory, or a cache file."""

    def append(self, rows: Float32Array) -> None:
        """Append a block of vectors to the destination."""
        ...


class MemorySink:
    """Destination of parsed vectors that collects them in memory."""

    def __init__(self) -> None:
        self._parts: list[Float32Array] = []

    def append(self, rows: Float32Array) -> None:
        """Append a block of vectors."""
        self._parts.append(rows)

    def matrix(self, dimension: int) -> Float32Array:
        """Return all vectors as one matrix, and free the parts.

        Parts are released one by one while the matrix fills, because the operating system
        allocates memory only when it is written.
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
    """Collector of vectors that keeps the first entry of each word, and counts problems."""

    def __init__(
        self, source: object, unit: str, dimension: int, options: Options, sink: Sink
    ) -> None:
        self._source = source
        self._unit = unit  # "line" or "row", used in messages
        self._dimension = dimension
        self._options = options
        self._sink = sink
        self._counts: dict[str, int] = {}
        self._seen: set[str] = set()
        self.words: list[str] = []
        self.entries = 0

    def add(self, parsed: ParsedBlock, first: int, again: Callable[[int], ParsedBlock]) -> bool:
        """Add the words and vectors of a parsed block of the file; return False at the limit.

        The result is False when the limit is reached. Then only lines up to the last kept row are
        counted: ``again(n)`` must parse only the first n lines.
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
        """Raise, or count a repair, if the header states another number of entries."""
        if promised == self.entries:
            return
        if self._options.errors == "raise":
            raise ValueError(
                f"{self._source} has {self.entries:,} entries, but its header says {promised:,}; "
                "it may be truncated or edited. Pass "
                'errors="skip" to read the existing entries.'
            )
        self._count("miscounted", abs(promised - self.entries))

    def repairs(self) -> Repairs:
        """Return the counts of omitted entries by reason."""
        return Repairs(**self._counts)

    def _count(self, name: str, number: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + number

    def _sift(self, parsed: ParsedBlock) -> tuple[Sequence[int], list[str], _Problems, int | None]:
        """Return the rows of a block to keep, their words, and the problems."""
        limit = self._options.max_words
        room = None if limit is None else limit - len(self.words)
        policy = self._options.encoding_errors
        raw, ends, lines = parsed["words"], parsed["ends"].tolist(), parsed["lines"]
        if room is None or room > len(ends):  # fast path for blocks without duplicates
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
        """Count omitted entries of a block; raise if an option forbids to omit them."""
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
                f"{self._source}, {self._unit} {first + line}: {problem}. {self._hint(problem)}"
            )

    @staticmethod
    def _hint(problem: str) -> str:
        if problem.startswith("repeats"):
            return 'Pass duplicates="first" to keep the first one.'
        if "UTF-8" in problem:
            return 'Pass encoding_errors="replace", or errors="skip" to omit such words.'
        return 'Pass errors="skip" to omit such entries.'


def _decoded(raw: bytes, ends: list[int]) -> list[str]:
    """Decode the words of a block from UTF-8, or return [] if one is invalid."""
    try:
        return [raw[start:end].decode() for start, end in pairwise([0, *ends])]
    except UnicodeDecodeError:
        return []
