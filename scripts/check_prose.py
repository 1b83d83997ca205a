"""Check texts for phrases of the former house language and for British spelling.

``python scripts/check_prose.py`` reads the files that git tracks: comments and strings of Python,
comments of C++, strings and comments of the web page, and paragraphs of Markdown. It prints each
forbidden phrase with its place and the standard term, and exits with 1 if it finds one. Code is not
prose: it skips code blocks, inline code, doctests, links, names of files and of documented
attributes, and placeholders of f-strings.

``make lint`` runs it. ``ALLOWED`` has the folders whose texts are still being rewritten, with the
number of phrases that each may have. Lower a number with each rewrite, and never raise it.
"""

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ALLOWED = {"src/core": 0}


class Phrase(NamedTuple):
    """Forbidden phrase, and the standard term."""

    pattern: re.Pattern[str]
    instead: str


class Hit(NamedTuple):
    """Forbidden phrase in a file."""

    path: str
    line: int
    found: str
    instead: str


class Text(NamedTuple):
    """Piece of prose, and the line on which it starts."""

    line: int
    text: str


def read_phrases(path: Path) -> list[Phrase]:
    """Read patterns and terms from a file with lines of the form ``PATTERN -> TERM``."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, term = line.split(" -> ")
            spaced = pattern.replace(" ", r"\s+")
            found.append(Phrase(re.compile(rf"\b(?:{spaced})\b", re.IGNORECASE), term))
    return found


PHRASES = read_phrases(ROOT / "scripts" / "forbidden_phrases.txt")
_ANY = re.compile("|".join(p.pattern.pattern for p in PHRASES), re.IGNORECASE)

_CODE = re.compile(r"``[^`]*``|`[^`\n]*`|https?://\S+|<!--.*?-->|\]\([^)]*\)|\{[^{}]*\}", re.DOTALL)
_NAMES = re.compile(r"^\s*[*\w]+(?:, [*\w]+)* : .*$|[\w./\\-]+\.(?:json|py|sqlite)\b", re.MULTILINE)
_DOCTEST = re.compile(r"^[ \t]*(?:>>>|\.\.\.) .*$", re.MULTILINE)
_LITERAL = re.compile(r"::\n\n(?:[ \t]+\S.*\n|\n)+")
_SCRIPT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL
)
_CORE = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def python_texts(source: str) -> Iterator[Text]:
    """Yield comments and strings with a space, which are messages, help texts, or docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type in _STRINGS and " " in token.string):
            yield Text(token.start[0], token.string)


def markdown_texts(source: str) -> Iterator[Text]:
    """Yield the lines of a page outside of code blocks."""
    fence = ""
    for number, line in enumerate(source.splitlines(), start=1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence):
            fence = ""
        elif not fence and not line.startswith("    "):
            yield Text(number, line)


def matched_texts(source: str, pattern: re.Pattern[str]) -> Iterator[Text]:
    """Yield the matches of a pattern for comments or strings."""
    for match in pattern.finditer(source):
        yield Text(source.count("\n", 0, match.start()) + 1, match.group())


def texts_of(path: str, source: str) -> Iterable[Text]:
    """Return the prose of a file, or an empty tuple for a file of another kind."""
    suffix = Path(path).suffix
    if suffix == ".py":
        return python_texts(source)
    if suffix == ".md":
        return markdown_texts(source)
    if suffix in (".h", ".cpp"):
        return matched_texts(source, _CORE)
    if suffix in (".js", ".html"):
        return matched_texts(source, _SCRIPT)
    return ()


def hits_in(path: str, source: str) -> list[Hit]:
    """Return the forbidden phrases of a file."""
    found = []
    for line, text in texts_of(path, source):
        for skipped in (_LITERAL, _DOCTEST, _CODE, _NAMES):
            text = skipped.sub(lambda match: "\n" * match.group().count("\n") or " ", text)
        if not _ANY.search(text):
            continue
        for pattern, instead in PHRASES:
            for match in pattern.finditer(text):
                at = line + text.count("\n", 0, match.start())
                found.append(Hit(path, at, " ".join(match.group().split()), instead))
    return sorted(found)


def tracked_files(root: Path) -> list[str]:
    """Return the names of the files that git tracks, without this script and its tests."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    own = ("scripts/check_prose.py", "tests/scripts/test_check_prose.py")
    return [name for name in listed.stdout.split("\0") if name and name not in own]


def excess(hits: Iterable[Hit], allowed: dict[str, int]) -> list[Hit]:
    """Return the hits outside of the allowed folders, and all hits of a folder with too many."""
    hits = list(hits)

    def folder_of(hit: Hit) -> str:
        return next((name for name in allowed if hit.path.startswith(f"{name}/")), "")

    counts = Counter(map(folder_of, hits))
    return [hit for hit in hits if counts[folder_of(hit)] > allowed.get(folder_of(hit), 0)]


def main(root: Path = ROOT) -> int:
    """Print the forbidden phrases of all files, and return 1 if there are any."""
    hits = []
    for name in tracked_files(root):
        if Path(name).suffix in (".py", ".md", ".h", ".cpp", ".js", ".html"):
            path = root / name
            if path.is_file():
                hits += hits_in(name, path.read_text(encoding="utf-8"))
    found = excess(hits, ALLOWED)
    for hit in found:
        print(f"{hit.path}:{hit.line}: {hit.found!r}; write: {hit.instead}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
