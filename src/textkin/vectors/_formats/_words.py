"""Word lists: beside an array, in its metadata, or in an array of their own."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._folders import read_small
from textkin.vectors._formats._source import inside, room_for_words

__all__ = ["find_words", "parse_json", "words_of_array", "words_of_json"]

_SAMPLE = 1000  # lines of a list that are looked at
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def find_words(path: Path, count: int) -> list[str]:
    """Return the words that lie beside an array file of so many rows.

    For ``glove.npy`` these are looked for in order: ``glove.words.txt``, ``glove.words.json``,
    ``glove.txt``, ``glove.json``, ``words.txt``, ``words.json``, ``vocab.txt``,
    ``tokenizer.json``.
    """
    stem = Path(path.name.removesuffix(".gz")).stem
    names = [
        f"{stem}.words.txt",
        f"{stem}.words.json",
        f"{stem}.txt",
        f"{stem}.json",
        "words.txt",
        "words.json",
        "vocab.txt",
        "tokenizer.json",
    ]
    for name in names:
        file = inside(path.parent, name)
        if file is not None:
            return _words_of_file(file, count, names[0])
    links = [name for name in names if (path.parent / name).is_file()]
    followed = (
        f" {links[0]} is a link that leaves the folder, and was not followed." if links else ""
    )
    raise ValueError(
        f"{path} holds no words; put them beside it, one a line in the order of the rows, as "
        f"{names[0]} (also read: {', '.join(names[1:])}).{followed}"
    )


def _words_of_file(file: Path, count: int, other: str) -> list[str]:
    data = read_small(file, room_for_words(count))
    if file.suffix == ".json":
        return words_of_json(parse_json(data, str(file)), str(file))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start}).") from error
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    sample = lines[:_SAMPLE]
    if 2 * sum(map(_ends_in_a_number, sample)) > len(sample):
        raise ValueError(
            f"{file} must hold words, one a line; most of its lines end in a number, as vectors or "
            f"counts do. Write the words alone to {other}, which is looked at first."
        )
    return lines


def _ends_in_a_number(line: str) -> bool:
    _, gap, last = line.rstrip().replace("\t", " ").rpartition(" ")
    return gap != "" and _NUMBER.fullmatch(last) is not None


def parse_json(data: bytes | str, name: str) -> Any:  # noqa: ANN401 (a stranger's JSON may be anything)
    """Return what a JSON text holds."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name} is not JSON that can be read ({type(error).__name__})."
        ) from error


def words_of_json(found: object, name: str) -> list[str]:
    """Return words from a list, from ``{word: row}``, or from a tokenizer's vocabulary."""
    if isinstance(found, dict) and isinstance(found.get("model"), dict):
        found = found["model"].get("vocab")
    if isinstance(found, dict):
        if set(map(type, found.values())) - {int} or sorted(found.values()) != list(
            range(len(found))
        ):
            raise ValueError(f"{name} must say the row of each word, 0 to their number less one.")
        found = sorted(found, key=found.__getitem__)
    if isinstance(found, list) and found and all(isinstance(pair, list) and pair for pair in found):
        found = [pair[0] for pair in found]  # a unigram vocabulary: words with scores
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError(f"{name} must hold a list of words in the order of the rows.")
    return list(found)


def words_of_array(array: NDArray[Any], name: str) -> Sequence[str]:
    """Return words from an array of strings, or of UTF-8 bytes joined by newlines."""
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D; got {array.ndim} dimension(s).")
    try:
        if array.dtype == np.uint8:
            words = array.tobytes().decode("utf-8").split("\n")
            # the newline may stand between the words, or after each; empty words are left out
            return words[:-1] if len(words) > 1 and words[-1] == "" else words
        if array.dtype.kind == "S":
            return [bytes(word).decode("utf-8") for word in array]
        if array.dtype.kind == "U":
            return [str(word) for word in array]
    except (UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{name} holds words that are not sound text ({error}).") from error
    raise ValueError(
        f"{name} must be an array of strings, or of UTF-8 bytes (uint8) joined by newlines; got "
        f"{array.dtype}."
    )
