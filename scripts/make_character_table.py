"""Make ``src/core/text/characters.inc``, the frozen character table of the tokenizer.

Run with Python 3.13, whose character data are Unicode 15.1:

    python3.13 scripts/make_character_table.py src/core/text/characters.inc

The core includes the file, and the reference implementation in ``tests/text/`` parses it, so that a
text has the same words on every Python. A newer Unicode is a deliberate change: it can change the
words of a text.
"""

import argparse
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

UNICODE = "15.1.0"

_HANGUL = range(0xAC00, 0xD7A4)  # composed by a rule, not by the table
_JAMO = (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))  # vowels and tails that compose
# Invisible characters that separate words: gaps, annotation marks, and the signs before Arabic,
# Syriac, and Kaithi numbers. All other format characters are removed.
_SEPARATING_FORMATS = {
    0x200B,
    *range(0x0600, 0x0606),
    0x06DD,
    0x070F,
    0x0890,
    0x0891,
    0x08E2,
    *range(0xFFF9, 0xFFFC),
    0x110BD,
    0x110CD,
}
# Invisible marks: the combining grapheme joiner and the variation selectors.
_INVISIBLE_MARKS = {
    0x034F,
    *range(0x180B, 0x180E),
    0x180F,
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}
_CJK = ("CJK UNIFIED", "CJK COMPATIBILITY", "HIRAGANA", "KATAKANA", "HENTAIGANA", "IDEOGRAPHIC")
_SOUTHEAST = ("THAI ", "LAO ", "KHMER ", "MYANMAR ")


def kind(code: int) -> str:
    """Return the tokenizer's class of a character."""
    character = chr(code)
    category = unicodedata.category(character)
    if character in "'\u2019":
        return "apostrophe"
    if code in _INVISIBLE_MARKS:
        return "dropped"
    if category == "Cf":
        return "separator" if code in _SEPARATING_FORMATS else "dropped"
    if category[0] == "M":
        return "mark"
    if category[0] == "L" or category == "Nl":
        name = unicodedata.name(character, "")
        if name.startswith(_CJK):
            return "cjk"
        if name.startswith(_SOUTHEAST):
            return "southeast"
    return "word" if category[0] in "LN" else "separator"


def case(code: int) -> str:
    """Return the class of a character for the rule of the final sigma, from `str.lower`."""
    character = chr(code)
    if (character + "\u03a3").lower().endswith("\u03c2"):
        return "cased"
    return "ignorable" if ("A" + character + "\u03a3").lower().endswith("\u03c2") else "other"


def decomposition(code: int) -> tuple[int, ...]:
    """Return the full compatibility decomposition; empty if the character is its own."""
    if code in _HANGUL:
        return ()
    whole = unicodedata.normalize("NFKD", chr(code))
    return () if whole == chr(code) else tuple(map(ord, whole))


def compositions() -> Iterator[tuple[int, int, int]]:
    """Yield first, second, and composed character of every primary composite except Hangul."""
    for code in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(code)).split()
        tagged = parts and parts[0].startswith("<")  # a compatibility decomposition
        if len(parts) == 2 and not tagged and unicodedata.normalize("NFC", chr(code)) == chr(code):
            yield int(parts[0], 16), int(parts[1], 16), code


def table() -> Iterator[str]:
    """Yield the lines of the file."""
    composed = sorted(compositions())
    seconds = {second for _, second, _ in composed} | set(_JAMO)
    yield f"// Unicode {UNICODE}. Made by scripts/make_character_table.py: do not edit."
    yield "// RANGE(first, last, kind, case, combining class, changes under NFKC)"
    yield from packed(f"RANGE({', '.join(row)})" for row in ranges(seconds))
    yield "// LOWER(character, its lower case...)"
    yield from packed(
        f"LOWER({', '.join(map(hexadecimal, (code, *map(ord, chr(code).lower()))))})"
        for code in range(sys.maxunicode + 1)
        if chr(code).lower() != chr(code)
    )
    yield "// DECOMPOSE(character, its full compatibility decomposition...)"
    yield from packed(
        f"DECOMPOSE({', '.join(map(hexadecimal, (code, *parts)))})"
        for code in range(sys.maxunicode + 1)
        if (parts := decomposition(code))
    )
    yield "// COMPOSE(first, second, both in one)"
    yield from packed(f"COMPOSE({', '.join(map(hexadecimal, row))})" for row in composed)


def ranges(seconds: set[int]) -> Iterator[tuple[str, ...]]:
    """Yield the runs of characters with one class, excluding plain separators."""
    start, before = 0, None
    for code in range(sys.maxunicode + 2):
        row = None
        if code <= sys.maxunicode:
            combining = unicodedata.combining(chr(code))
            changes = bool(combining or code in seconds or decomposition(code))
            row = (kind(code), case(code), str(combining), str(int(changes)))
        if row != before:
            if before not in (None, ("separator", "other", "0", "0")):
                yield hexadecimal(start), hexadecimal(code - 1), *before
            start, before = code, row


def packed(items: Iterable[str], width: int = 100) -> Iterator[str]:
    """Put as many items on a line as fit."""
    line = ""
    for item in items:
        if line and len(line) + 1 + len(item) > width:
            yield line
            line = ""
        line = f"{line} {item}" if line else item
    yield line


def hexadecimal(code: int) -> str:
    """Format a code point so that C++ and Python can read it."""
    return f"0x{code:X}"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="file to write")
    arguments = parser.parse_args()
    if unicodedata.unidata_version != UNICODE:
        parser.error(
            f"the table is frozen at Unicode {UNICODE}; this Python has "
            f"{unicodedata.unidata_version}. Run it with Python 3.13."
        )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("\n".join(table()) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
