"""Source of the rows of a folder, and the traversal of its files in a fixed order."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from textkin._base import hinted
from textkin.exceptions import ParameterTypeError
from textkin.reading._document import BadRow, ExcludedFile, Meter, Place, Row
from textkin.reading._formats import FileOptions, file_rows

__all__ = ["Entry", "FolderSource", "Walk", "check_patterns"]

DEFAULT_PATTERNS = ("**/*.txt", "**/*.md", "**/*.txt.gz", "**/*.md.gz")
_MAX_SUFFIXES = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """File in a folder, with its size, or the problem why it cannot be read.

    Attributes
    ----------
    path : Path
        Path of the file.
    name : str
        Path within the folder, with slashes.
    size : int
        Size in bytes.
    problem : BadRow, ExcludedFile or None
        Reason if the file is not read.
    """

    path: Path
    name: str
    size: int = 0
    problem: BadRow | ExcludedFile | None = None


class Walk:
    """Iterable over the matching files of a folder, sorted by path.

    Case is ignored in patterns. Names that start with a dot are hidden and skipped. Links to
    folders are not followed, so that the traversal cannot loop. Links to files are read if they
    lead to a file within the folder. Pipes, sockets, and devices are not opened.

    Parameters
    ----------
    root : Path
        Folder to traverse.
    patterns : sequence of str
        Result of `check_patterns`.

    Attributes
    ----------
    suffixes : Counter
        Number of files that did not match, by suffix.
    """

    def __init__(self, root: Path, patterns: Sequence[str]) -> None:
        self.root = root
        self.suffixes: Counter[str] = Counter()
        self._inside = os.path.join(os.path.realpath(root), "")
        self._patterns = [tuple(pattern.casefold().split("/")) for pattern in patterns]

    def __iter__(self) -> Iterator[Entry]:
        # A stack, because folders may be nested deeper than the recursion limit.
        stack: list[Iterator[Entry | os.DirEntry[str]]] = [self._scan(self.root, ())]
        names: list[str] = []
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                if names:
                    names.pop()
            elif isinstance(entry, Entry):
                yield entry
            elif self._is_folder(entry):
                names.append(entry.name)
                stack.append(self._scan(Path(entry.path), names))
            else:
                yield from self._classify(entry, (*names, entry.name))

    def describe_others(self) -> str:
        """Return a sentence about the files that do not match the patterns."""
        if not self.suffixes:
            return "it contains no other files"
        most = self.suffixes.most_common(_MAX_SUFFIXES)
        listed = ", ".join(f"{count} {ending}" for ending, count in most)
        return f"it contains: {listed}{', ...' if len(self.suffixes) > len(most) else ''}"

    def _scan(self, folder: Path, parts: Sequence[str]) -> Iterator[Entry | os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return iter(sorted(entries, key=lambda entry: entry.name))
        except OSError as error:
            problem = BadRow(f"cannot be listed: {error.strerror}", error)
            return iter([Entry(folder, "/".join(parts), problem=problem)])

    @staticmethod
    def _is_folder(entry: os.DirEntry[str]) -> bool:
        return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)

    def _classify(self, entry: os.DirEntry[str], parts: tuple[str, ...]) -> Iterator[Entry]:
        path, name = Path(entry.path), "/".join(parts)
        linked = entry.is_symlink()
        # A link to a folder, or a hidden folder; the traversal has entered all other folders.
        folder = os.path.isdir(path) if linked else entry.is_dir(follow_symlinks=False)
        if not folder and not self._is_match(parts):
            if not entry.name.startswith("."):
                self.suffixes[path.suffix.lower() or "without a suffix"] += 1
            return
        left_out = None
        if entry.name.startswith("."):
            left_out = ExcludedFile("is hidden", hidden=True)
        elif folder:
            left_out = ExcludedFile("is a link to a folder, which is not followed")
        elif linked and not os.path.realpath(path).startswith(self._inside):
            left_out = ExcludedFile("is a link out of the folder")
        if left_out is not None:
            yield Entry(path, name, problem=left_out)
            return
        try:
            found = entry.stat()
        except OSError as error:
            yield Entry(path, name, problem=BadRow(f"cannot be read: {error.strerror}", error))
            return
        if stat.S_ISREG(found.st_mode):
            yield Entry(path, name, found.st_size)
        else:
            yield Entry(path, name, problem=ExcludedFile("is not a regular file"))

    def _is_match(self, parts: tuple[str, ...]) -> bool:
        folded = [part.casefold() for part in parts]
        return any(_match(folded, pattern) for pattern in self._patterns)


def check_patterns(pattern: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return file patterns as a tuple; raise if one leads out of the folder."""
    if pattern is None:
        return DEFAULT_PATTERNS
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    if not patterns:
        raise ValueError("pattern must not be empty; pass one such as '**/*.txt'.")
    for one in patterns:
        if not isinstance(one, str):
            raise ParameterTypeError("pattern", "a string or a sequence of strings", repr(one))
        if not one or one.startswith("/") or ".." in one.split("/"):
            raise ValueError(
                f"pattern must name files within the folder, such as '**/*.txt'; got {one!r}."
            )
    return patterns


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return True if the parts of a path match a pattern; ``**`` matches any folders.

    The function tracks all partial matches at once, so the work is at most the product of the two
    lengths.
    """

    def skip_wildcards(places: set[int]) -> set[int]:
        for place in sorted(places):
            while place < len(pattern) and pattern[place] == "**":
                place += 1
                places.add(place)
        return places

    reached = skip_wildcards({0})
    for part in parts:
        after = set()
        for place in reached:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                after.add(place)
            elif fnmatchcase(part, pattern[place]):
                after.add(place + 1)
        reached = skip_wildcards(after)
    return len(pattern) in reached


@dataclass(frozen=True, slots=True)
class FolderSource:
    """Source of the rows of the files in a folder that match a pattern."""

    root: Path
    patterns: Sequence[str]
    options: FileOptions
    once = False

    def files(self) -> list[Path]:
        """Return the files to read."""
        return [one.path for one in Walk(self.root, self.patterns) if one.problem is None]

    def total(self) -> int | None:
        """Return the total size of the files in bytes."""
        return sum(entry.size for entry in Walk(self.root, self.patterns))

    def rows(self, meter: Meter) -> Iterator[Row]:
        """Yield the rows of one file after the other."""
        walk = Walk(self.root, self.patterns)
        left_out = before = 0
        nothing = True
        for entry in walk:
            if entry.problem is None:
                nothing = False
                yield from file_rows(entry.path, entry.name, self.options, meter, before)
                before += entry.size
                meter.reached(before)
                meter.tell()
            else:
                left_out += isinstance(entry.problem, ExcludedFile)
                nothing = nothing and isinstance(entry.problem, ExcludedFile)
                yield Row(Place(str(entry.path), entry.name), entry.problem)
        if nothing:
            ones = "one was" if left_out == 1 else "ones were"
            besides = f" ({left_out} hidden, special or linked {ones} left out)"
            raise hinted(
                ValueError,
                f"No file of the folder {str(self.root)!r} matches the pattern "
                f"{self._format_patterns()}{besides if left_out else ''}; "
                f"{walk.describe_others()}.",
                "Pass another `pattern`, such as '**/*' for all files.",
            )

    def _format_patterns(self) -> str:
        return repr(self.patterns[0]) if len(self.patterns) == 1 else repr(tuple(self.patterns))

    def __str__(self) -> str:
        return f"{str(self.root)!r}, pattern={self._format_patterns()}"
