"""Make the stop lists of textkin from files of their source packages.

Run ``python scripts/make_stop_lists.py --help``. The same sources give the same bytes each time.

- ``--lucene``: the jar ``lucene-analyzers-common`` of Apache Lucene 8.7 (Debian's package
  ``liblucene8-java``). It contains Lucene's own English list, as strings of a class, and the lists
  of the Snowball project, each with its license in its first lines.
- ``--scikit-learn``: ``sklearn/feature_extraction/_stop_words.py`` of scikit-learn.

The SMART list (``smart.1.txt``) is unchanged from its source and is not made here. A released
version never changes: another source gets another number (``--version``).
"""

import argparse
import ast
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src" / "textkin" / "text" / "data" / "stop_lists"

SNOWBALL = re.compile(r"org/apache/lucene/analysis/snowball/([a-z]+)_stop\.txt")
LUCENE_CLASS = "org/apache/lucene/analysis/en/EnglishAnalyzer.class"


def glasgow_words(source: str) -> list[str]:
    """Return the words of ``ENGLISH_STOP_WORDS``, parsed without running the source."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            (target,) = node.targets
            if isinstance(target, ast.Name) and target.id == "ENGLISH_STOP_WORDS":
                return sorted(ast.literal_eval(node.value.args[0]))
    raise ValueError("the source must assign ENGLISH_STOP_WORDS; it does not.")


def snowball_words(text: str) -> list[str]:
    """Return the words of a Snowball list, once each, in order; ``|`` begins a comment."""
    if "This file is distributed under the BSD License." not in text:
        raise ValueError("a Snowball list must name its license; this one does not.")
    lines = (line.partition("|")[0] for line in text.splitlines())
    return list(dict.fromkeys(word for line in lines for word in line.split()))


def class_strings(data: bytes) -> Iterator[str]:
    """Yield the string constants of a Java class, in the order of its constant pool."""
    # JVM specification, 4.4: the size of the data after each tag; long and double take two slots.
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4}
    sizes |= {18: 4, 19: 2, 20: 2}
    texts: dict[int, str] = {}
    strings: list[int] = []
    (count,) = struct.unpack_from(">H", data, 8)
    at, place = 10, 1
    while place < count:
        tag = data[at]
        (number,) = struct.unpack_from(">H", data, at + 1)
        if tag == 1:
            texts[place] = data[at + 3 : at + 3 + number].decode("utf-8")
            at += 3 + number
        else:
            if tag == 8:
                strings.append(number)
            at += 1 + sizes[tag]
        place += 2 if tag in (5, 6) else 1
    return (texts[place] for place in strings)


def write_list(
    name: str, version: int, words: Iterable[str], language: str, origin: str, license: str
) -> None:
    """Write one list with its facts first; raise if a released version would change."""
    words = list(words)
    if any(re.search(r"[\s#|]", word) for word in words):
        raise ValueError(f"{name}: words must hold no white space, '#' or '|'.")
    head = f"# language: {language}\n# origin: {origin}\n# license: {license}\n"
    data = (head + "".join(f"{word}\n" for word in words)).encode("utf-8")
    path = OUTPUT / f"{name}.{version}.txt"
    if path.exists() and path.read_bytes() != data:
        raise ValueError(f"{path.name} is there and differs. Write a new --version.")
    path.write_bytes(data)
    print(f"{path.name}: {len(words)} words")


def main() -> None:
    """Write the lists of the given sources."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lucene", type=Path, metavar="JAR")
    parser.add_argument("--scikit-learn", type=Path, metavar="FILE")
    parser.add_argument("--version", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.scikit_learn:
        write_list(
            "glasgow",
            arguments.version,
            glasgow_words(arguments.scikit_learn.read_text("utf-8")),
            "english",
            "ENGLISH_STOP_WORDS of scikit-learn, after the Glasgow Information Retrieval Group",
            "BSD-3-Clause",
        )
    if arguments.lucene:
        with zipfile.ZipFile(arguments.lucene) as jar:
            strings = class_strings(jar.read(LUCENE_CLASS))
            write_list(
                "lucene",
                arguments.version,
                sorted(word for word in strings if re.fullmatch("[a-z]+", word)),
                "english",
                "EnglishAnalyzer of Apache Lucene 8.7",
                "Apache-2.0",
            )
            for found in filter(None, map(SNOWBALL.fullmatch, sorted(jar.namelist()))):
                write_list(
                    f"snowball-{found[1]}",
                    arguments.version,
                    snowball_words(jar.read(found[0]).decode("utf-8")),
                    found[1],
                    "Snowball project, as in Apache Lucene 8.7",
                    "BSD-3-Clause",
                )


if __name__ == "__main__":
    main()
