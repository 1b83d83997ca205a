"""Reference implementation of the tokenizer, from the character table that the core reads."""

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from support import ROOT

TABLE = ROOT / "src" / "core" / "text" / "characters.inc"


class Character(NamedTuple):
    kind: str
    case: str
    combining: int


PLAIN = Character("separator", "other", 0)


class Table(NamedTuple):
    characters: dict[int, Character]
    lower: dict[int, list[int]]
    decompositions: dict[int, list[int]]
    compositions: dict[tuple[int, int], int]


@cache
def table() -> Table:
    found = Table({}, {}, {}, {})
    text = re.sub("//.*", "", TABLE.read_text(encoding="ascii"))
    for name, inside in re.findall(r"([A-Z]+)\(([^)]*)\)", text):
        fields = inside.split(", ")
        if name == "RANGE":
            first, last, kind, case, combining, _ = fields
            for code in range(int(first, 16), int(last, 16) + 1):
                found.characters[code] = Character(kind, case, int(combining))
            continue
        numbers = [int(number, 16) for number in fields]
        if name == "COMPOSE":
            found.compositions[numbers[0], numbers[1]] = numbers[2]
        else:
            {"LOWER": found.lower, "DECOMPOSE": found.decompositions}[name][numbers[0]] = numbers[
                1:
            ]
    return found


def look_up(code: int) -> Character:
    return table().characters.get(code, PLAIN)


def nfkc(codes: list[int]) -> list[int]:
    """Normalize to NFKC: decompose, sort the marks, compose (Unicode standard, section 3.11)."""
    parts: list[int] = []
    for code in codes:
        if 0xAC00 <= code < 0xAC00 + 11172:
            index = code - 0xAC00
            parts += [0x1100 + index // 588, 0x1161 + index % 588 // 28]
            parts += [0x11A7 + index % 28] if index % 28 else []
        else:
            parts += table().decompositions.get(code, [code])
    for end in range(1, len(parts)):  # insertion sort of the marks
        at = end
        while at and look_up(parts[at - 1]).combining > look_up(parts[at]).combining > 0:
            parts[at - 1], parts[at] = parts[at], parts[at - 1]
            at -= 1
    out: list[int] = []
    starter = None
    for code in parts:
        combining = look_up(code).combining
        between = out[starter + 1 :] if starter is not None else []
        blocked = any(look_up(c).combining in (0, *range(combining, 256)) for c in between)
        both = compose(out[starter], code) if starter is not None and not blocked else None
        if both is not None:
            out[starter] = both
            continue
        out.append(code)
        if combining == 0:
            starter = len(out) - 1
    return out


def compose(first: int, second: int) -> int | None:
    if first in range(0x1100, 0x1113) and second in range(0x1161, 0x1176):
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    is_open = first in range(0xAC00, 0xAC00 + 11172) and (first - 0xAC00) % 28 == 0
    if is_open and second in range(0x11A8, 0x11C3):
        return first + second - 0x11A7
    return table().compositions.get((first, second))


def lower(word: list[int]) -> list[int]:
    out: list[int] = []
    for at, code in enumerate(word):
        cases = [look_up(c).case for c in (*word[:at], *word[at + 1 :])]
        before = [case for case in cases[:at] if case != "ignorable"]
        after = [case for case in cases[at:] if case != "ignorable"]
        is_final = before[-1:] == ["cased"] and after[:1] != ["cased"]
        out += [0x3C2] if code == 0x3A3 and is_final else table().lower.get(code, [code])
    return out


def reference_tokenize(text: str, *, lowercase: bool = True) -> list[str]:
    codes = [0xFFFD if 0xD800 <= ord(c) <= 0xDFFF else ord(c) for c in text]
    codes = nfkc([code for code in codes if look_up(code).kind != "dropped"])
    codes = [0x27 if look_up(code).kind == "apostrophe" else code for code in codes]
    kinds = [look_up(code).kind for code in codes] + ["separator"]
    words: list[list[int]] = []
    units: list[list[int]] = []  # units are words with their marks, or runs of character pairs
    script = ""
    for at, code in enumerate([*codes, 0x20]):
        kind = kinds[at]
        inner = kind == "apostrophe" and script == "word" and kinds[at + 1] == "word"
        if script and (kind == "mark" or inner):
            units[-1].append(code)
            continue
        if kind != script:
            if script == "word":
                words.append([code for unit in units for code in unit])
            elif len(units) == 1:
                words += units
            else:
                words += [a + b for a, b in pairwise(units)]
            units = []
            script = kind if kind in ("word", "cjk", "southeast") else ""
        if script:
            units.append([code])
    # An accented letter may have a lower-case form that composes only now: normalize again.
    words = [nfkc(lower(word)) for word in words] if lowercase else words
    return ["".join(map(chr, word)) for word in words]
