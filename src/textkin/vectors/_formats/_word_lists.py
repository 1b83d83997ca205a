"""Word lists of vector arrays: in adjacent files, metadata, or separate arrays."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._base import read_small
from textkin.exceptions import ParameterError
from textkin.vectors._formats._source import find_inside, max_words_size

__all__ = ["array_words", "find_words", "json_words", "parse_json"]

_SAMPLE = 1000  # number of lines examined
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def find_words(path: Path, count: int) -> list[str]:
    """Read the `count` words of an array file from a file next to it.

    For ``glove.npy``, these names are tried in order: ``glove.words.txt``, ``glove.words.json``,
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
        file = find_inside(path.parent, name)
        if file is not None:
            return _words_of_file(file, count, names[0])
    links = [name for name in names if (path.parent / name).is_file()]
    followed = f" {links[0]} is a link out of the folder, which is not followed." if links else ""
    raise ValueError(
        f"{path} has no words; save them next to it as {names[0]}, one per line in row order "
        f"(also read: {', '.join(names[1:])}).{followed}"
    )


def _words_of_file(file: Path, count: int, other: str) -> list[str]:
    data = read_small(file, max_words_size(count))
    if file.suffix == ".json":
        return json_words(parse_json(data, str(file)), str(file))
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
            f"{file} must have one word per line; most of its lines end in a number, like vectors "
            f"or counts. Write only the words to {other}, which is read first."
        )
    return lines


def _ends_in_a_number(line: str) -> bool:
    _, gap, last = line.rstrip().replace("\t", " ").rpartition(" ")
    return gap != "" and _NUMBER.fullmatch(last) is not None


def parse_json(data: bytes | str, name: str) -> Any:  # noqa: ANN401 (untrusted JSON)
    """Parse JSON, or raise ValueError with the name of the file."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not valid JSON ({type(error).__name__}).") from error


def json_words(found: object, name: str) -> list[str]:
    """Return the words of a JSON list, a mapping {word: row}, or a tokenizer's vocabulary."""
    if isinstance(found, dict) and isinstance(found.get("model"), dict):
        found = found["model"].get("vocab")
    if isinstance(found, dict):
        if set(map(type, found.values())) - {int} or sorted(found.values()) != list(
            range(len(found))
        ):
            raise ValueError(f"{name} must map each word to its row, from 0 to n_words - 1.")
        found = sorted(found, key=found.__getitem__)
    if isinstance(found, list) and found and all(isinstance(pair, list) and pair for pair in found):
        found = [pair[0] for pair in found]  # a unigram vocabulary has pairs of word and score
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError(f"{name} must be a list of words in row order.")
    return list(found)


def array_words(array: NDArray[Any], name: str) -> Sequence[str]:
    """Return the words of an array of strings, or of UTF-8 bytes with newlines."""
    if array.ndim != 1:
        raise ParameterError(name, "1-D", f"{array.ndim} dimension(s)")
    try:
        if array.dtype == np.uint8:
            words = array.tobytes().decode("utf-8").split("\n")
            # Newlines may separate or terminate words; empty words are omitted later.
            return words[:-1] if len(words) > 1 and words[-1] == "" else words
        if array.dtype.kind == "S":
            return [bytes(word).decode("utf-8") for word in array]
        if array.dtype.kind == "U":
            return [str(word) for word in array]
    except (UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{name} must be valid text ({error}).") from error
    raise ParameterError(
        name, "an array of strings, or of UTF-8 bytes (uint8) joined by newlines", str(array.dtype)
    )
