"""Make the table of `textkin.text.WordNetLemmas` from the files of WordNet 3.0.

Run ``python scripts/make_wordnet_lemmas.py FOLDER``, where FOLDER contains ``index.noun``,
``data.noun``, ``noun.exc``, ``cntlist.rev``, and the corresponding files of other parts of speech:
``/usr/share/wordnet`` with Debian's package ``wordnet-base``. The same files give the same bytes
each time.

The table is gzipped UTF-8 text. After a line that describes it, each line has a key, a tab, and
words separated by spaces:

- ``words nv``: the words that are both noun and verb, and so on for n, v, a (adjective) and
  r (adverb);
- ``counts``: word, number, word, number, ...: how often WordNet's authors tagged the word,
  over its senses that are in the files;
- ``exceptions n``: form, lemma, form, lemma, ...: the first lemma in the exception list of the
  nouns that is a noun, or ``-`` if there is none.

Words with an underscore, which are phrases, are excluded, except as lemmas of exceptions.
"""

import argparse
import gzip
import hashlib
import io
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src" / "textkin" / "text" / "data" / "wordnet" / "lemmas.txt.gz"
HEADER = "textkin wordnet lemmas, format 1, from WordNet 3.0"
KINDS = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
NAMES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


def read_index(path: Path) -> set[str]:
    """Return the words of an index file; its license is in lines that begin with spaces."""
    lines = path.read_text("ascii").splitlines()
    return {line.split(" ", 1)[0] for line in lines if not line.startswith(" ")}


def read_exceptions(path: Path) -> dict[str, list[str]]:
    """Return the lemmas of each form of an exception list; the last one if a line repeats."""
    lines = map(str.split, path.read_text("ascii").splitlines())
    return {form: lemmas for form, *lemmas in lines}


def read_sense_keys(path: Path) -> set[str]:
    """Return the keys of all senses of a data file (the manual pages wndb and senseidx)."""
    synsets = {}
    for line in path.read_text("ascii").splitlines():
        if not line.startswith(" "):
            offset, file, kind, size, *fields = line.partition(" | ")[0].split()
            n_words = int(size, 16)
            words = [(fields[2 * i], int(fields[2 * i + 1], 16)) for i in range(n_words)]
            targets: dict[str, str] = {}  # the first one of each kind of pointer
            for i in range(int(fields[2 * n_words])):
                symbol, target = fields[2 * n_words + 1 + 4 * i :][:2]
                targets.setdefault(symbol, target)
            synsets[offset] = kind, file, words, targets
    keys = set()
    for kind, file, words, targets in synsets.values():
        head = ":"
        if kind == "s":  # the key of a satellite has the first word of its head adjective
            word, number = synsets[targets["&"]][2][0]
            head = f"{word}:{number:02d}"
        for word, number in words:
            bare = word.partition("(")[0]  # "galore(ip)" may only follow its noun
            keys.add(f"{bare}%{KINDS[kind]}:{file}:{number:02d}:{head}".lower())
    return keys


def read_counts(path: Path, known: set[str]) -> Counter[str]:
    """Count the tags of each word, over all its senses and parts of speech.

    A twentieth of the lines are about senses of older versions, which the files of 3.0 lack.
    """
    counts: Counter[str] = Counter()
    for line in path.read_text("ascii").splitlines():
        sense_key, _sense_number, count = line.split()
        if sense_key in known:
            counts[sense_key.partition("%")[0]] += int(count)
    return counts


def table_of(folder: Path) -> str:
    """Return the text of the table."""
    indices = {pos: read_index(folder / f"index.{name}") for pos, name in NAMES.items()}
    letters: defaultdict[str, str] = defaultdict(str)
    for pos, words in indices.items():
        for word in words:
            letters[word] += pos
    lines = {}
    kept = set()
    for pos, name in NAMES.items():
        pairs = []
        for form, lemmas in sorted(read_exceptions(folder / f"{name}.exc").items()):
            if "_" not in form:
                lemma = next((lemma for lemma in lemmas if lemma in indices[pos]), "-")
                pairs += [form, lemma]
                kept.add(lemma)
        lines[f"exceptions {pos}"] = pairs
    kept = {word for word in letters if "_" not in word or word in kept}
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(kept):
        groups[f"words {letters[word]}"].append(word)
    lines |= groups
    senses = set().union(*(read_sense_keys(folder / f"data.{name}") for name in NAMES.values()))
    counts = read_counts(folder / "cntlist.rev", senses)
    tagged = sorted(kept & set(counts))
    lines["counts"] = [text for word in tagged for text in (word, str(counts[word]))]
    body = "".join(f"{key}\t{' '.join(lines[key])}\n" for key in sorted(lines))
    return f"{HEADER}\n{body}"


def compressed(text: str) -> bytes:
    """Gzip `text` without the name and the time that a file would add."""
    target = io.BytesIO()
    # Not gzip.compress: its byte for the operating system depends on the version of Python.
    with gzip.GzipFile("", "wb", 9, target, mtime=0) as file:
        file.write(text.encode("utf-8"))
    return target.getvalue()


def main() -> None:
    """Write the table; print its size and its hash."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    data = compressed(table_of(arguments.folder))
    arguments.output.write_bytes(data)
    print(f"{arguments.output.name}: {len(data):,} bytes")
    print(f"sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
