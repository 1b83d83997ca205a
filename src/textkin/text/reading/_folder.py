"""The files of a folder that match a pattern, in a fixed order, none from outside of it."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from textkin.text.reading._rows import Bad, LeftOut

__all__ = ["Entry", "Walk", "check_patterns"]

DEFAULT_PATTERNS = ("**/*.txt", "**/*.md", "**/*.txt.gz", "**/*.md.gz")
_ENDINGS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a folder.

    Attributes
    ----------
    path : Path
        Where it is.
    name : str
        Its path within the folder, with slashes.
    size : int
        Its bytes.
    problem : Bad, LeftOut or None
        Why it is not read.
    """

    path: Path
    name: str
    size: int = 0
    problem: Bad | LeftOut | None = None


class Walk:
    """The entries of a folder, sorted by the parts of their paths.

    Names are compared without regard to case. What begins with a dot is hidden and left out. Links
    to folders are not followed, so that no loop can hang the walk, and links to files are read
    where they lead to a file within the folder. Pipes, sockets and devices are not opened.

    Parameters
    ----------
    root : Path
        The folder.
    patterns : sequence of str
        As `check_patterns` returns them.

    Attributes
    ----------
    endings : Counter
        How many files of each ending were seen and did not match.
    """

    def __init__(self, root: Path, patterns: Sequence[str]) -> None:
        self.root = root
        self.endings: Counter[str] = Counter()
        self._inside = os.path.join(os.path.realpath(root), "")
        self._patterns = [tuple(pattern.casefold().split("/")) for pattern in patterns]

    def __iter__(self) -> Iterator[Entry]:
        # Folders may be nested deeper than Python's recursion goes.
        stack: list[Iterator[Entry | os.DirEntry[str]]] = [self._listed(self.root, ())]
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
                stack.append(self._listed(Path(entry.path), names))
            else:
                yield from self._judged(entry, (*names, entry.name))

    def nothing(self) -> str:
        """Say what there is in place of what the pattern asks for."""
        if not self.endings:
            return "it has no other files either"
        most = self.endings.most_common(_ENDINGS_SHOWN)
        listed = ", ".join(f"{count} {ending}" for ending, count in most)
        return f"what it has: {listed}{', ...' if len(self.endings) > len(most) else ''}"

    def _listed(self, folder: Path, parts: Sequence[str]) -> Iterator[Entry | os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return iter(sorted(entries, key=lambda entry: entry.name))
        except OSError as error:
            problem = Bad(f"cannot be listed: {error.strerror}", error)
            return iter([Entry(folder, "/".join(parts), problem=problem)])

    @staticmethod
    def _is_folder(entry: os.DirEntry[str]) -> bool:
        return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)

    def _judged(self, entry: os.DirEntry[str], parts: tuple[str, ...]) -> Iterator[Entry]:
        path, name = Path(entry.path), "/".join(parts)
        linked = entry.is_symlink()
        # A link to a folder, or a hidden one: others were entered.
        folder = os.path.isdir(path) if linked else entry.is_dir(follow_symlinks=False)
        if not folder and not self._matches(parts):
            if not entry.name.startswith("."):
                self.endings[path.suffix.lower() or "without an ending"] += 1
            return
        left_out = None
        if entry.name.startswith("."):
            left_out = LeftOut("is hidden", hidden=True)
        elif folder:
            left_out = LeftOut("is a link to a folder, not followed")
        elif linked and not os.path.realpath(path).startswith(self._inside):
            left_out = LeftOut("is a link that leads out of the folder")
        if left_out is not None:
            yield Entry(path, name, problem=left_out)
            return
        try:
            found = entry.stat()
        except OSError as error:
            yield Entry(path, name, problem=Bad(f"cannot be read: {error.strerror}", error))
            return
        if stat.S_ISREG(found.st_mode):
            yield Entry(path, name, found.st_size)
        else:
            yield Entry(path, name, problem=LeftOut("is no ordinary file"))

    def _matches(self, parts: tuple[str, ...]) -> bool:
        folded = [part.casefold() for part in parts]
        return any(_match(folded, pattern) for pattern in self._patterns)


def check_patterns(pattern: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the patterns as a tuple, once they stay within the folder."""
    if pattern is None:
        return DEFAULT_PATTERNS
    patterns = (pattern,) if isinstance(pattern, str) else tuple(pattern)
    if not patterns:
        raise ValueError("pattern must not be empty; pass one such as '**/*.txt'.")
    for one in patterns:
        if not isinstance(one, str):
            raise TypeError(f"pattern must be a string or several; got {one!r}.")
        if not one or one.startswith("/") or ".." in one.split("/"):
            raise ValueError(
                f"pattern must name files within the folder, such as '**/*.txt'; got {one!r}."
            )
    return patterns


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Match name by name; ``**`` stands for any number of folders.

    Follows all ways at once, so the work is at most the product of the two lengths.
    """

    def closed(places: set[int]) -> set[int]:
        for place in sorted(places):
            while place < len(pattern) and pattern[place] == "**":
                place += 1
                places.add(place)
        return places

    reached = closed({0})
    for part in parts:
        after = set()
        for place in reached:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                after.add(place)
            elif fnmatchcase(part, pattern[place]):
                after.add(place + 1)
        reached = closed(after)
    return len(pattern) in reached
