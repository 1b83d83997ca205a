"""WordNet lemmas compared with a reference implementation that reads WordNet's own files."""

import gzip
import hashlib
import random
import re
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import ROOT, load_script
from textkin.text import WordNetLemmas
from textkin.text._wordnet import _table

MAKE = "scripts/make_wordnet_lemmas.py"
WORDNET = Path("/usr/share/wordnet")  # path of Debian's package wordnet-base
DATA = files("textkin.text").joinpath("data/wordnet")

lemma = WordNetLemmas()


def test_lemma_matches_example_of_the_paper():
    assert lemma("thinkings") == "think"
    assert list(lemma.candidates("thinkings")) == ["thinking"]
    assert list(lemma.candidates("thinking")) == ["think", "thinking"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dogs", "dog"),  # rules of nouns
        ("gases", "gas"),
        ("aardwolves", "aardwolf"),
        ("boxes", "box"),
        ("quizzes", "quiz"),
        ("churches", "church"),
        ("bushes", "bush"),
        ("postmen", "postman"),
        ("ponies", "pony"),
        ("walks", "walk"),  # rules of verbs
        ("carries", "carry"),
        ("stated", "state"),
        ("walked", "walk"),
        ("making", "make"),
        ("talking", "talk"),
        ("taller", "tall"),  # rules of adjectives
        ("tallest", "tall"),
        ("nicer", "nice"),
        ("nicest", "nice"),
        ("geese", "goose"),  # exceptions
        ("was", "be"),
        ("happier", "happy"),
        ("bought", "buy"),
    ],
)
def test_rules_and_exceptions_give_expected_lemmas(word, expected):
    assert lemma(word) == expected
    assert lemma(word.title()) == lemma(word.upper()) == expected


@pytest.mark.parametrize(
    "word",
    ["Obama", "xyzzies", "QWRTZs", "children's", "", "s", "es", "日本", "new_yorks", "\ud800"],
)
def test_unknown_word_is_unchanged(word):
    if word not in ("s", "es"):
        assert lemma.candidates(word) == {}
    assert lemma(word) == word


def test_very_long_word_is_unknown():
    for word in ("s" * 10**7, "dog" + "s" * 10**6, "-" * 101):
        assert lemma(word) is word
        assert lemma.candidates(word) == {}
    longest = max(len(form) for form in [*_table().parts, *_table().exceptions])
    assert longest + 4 < 100


def test_candidates_of_none_raise():
    with pytest.raises(TypeError, match="word must be a str; got NoneType"):
        lemma.candidates(None)


def test_equal_frequencies_give_the_shorter_word(monkeypatch):
    from textkin.text import _wordnet

    tied = _wordnet._Table(
        parts={"ab": "v", "aba": "n", "abe": "v", "abc": "r"},
        counts={"ab": 2, "aba": 2, "abc": 1},
        exceptions={
            "abas": {"v": "ab"},
            "abx": {"v": "abe", "n": "-", "r": "abc"},
            "aby": {"v": "-"},
        },
    )
    monkeypatch.setattr(_wordnet, "_table", lambda: tied)
    monkeypatch.setattr(_wordnet, "_lemma", _wordnet._lemma.__wrapped__)
    assert lemma.candidates("abas") == {"ab": 2, "aba": 2}
    assert lemma("abas") == "ab"
    assert lemma.candidates("abx") == {"abc": 1, "abe": 0}
    assert lemma.candidates("aby") == {}
    assert lemma.candidates("abes") == {"abe": 0}


def test_table_is_small_and_documented():
    data = DATA.joinpath("lemmas.txt.gz").read_bytes()
    readme = DATA.joinpath("../README.md").read_text()
    assert len(data) < 500_000
    assert f"{len(data):,} bytes" in readme
    assert hashlib.sha256(data).hexdigest() in readme
    assert gzip.decompress(data).startswith(b"textkin wordnet lemmas, format 1, from WordNet 3.0\n")
    assert "Princeton University" in DATA.joinpath("LICENSE").read_text()


def test_licenses_are_included_in_the_package():
    text = (ROOT / "pyproject.toml").read_text()
    assert "src/textkin/text/data/wordnet/LICENSE" in text
    assert "src/textkin/text/data/README.md" in text


# ------------------------------------------------------------------ a WordNet of three words

FILES = {
    "index.noun": "  1 license\ndog n 1 1 @ 1 1 00000010\nhot_dog n 1 1 @ 1 0 00000010\n",
    "index.verb": "dog v 1 1 @ 1 0 00000020\n",
    "index.adj": "warm a 1 1 & 1 1 00000030\nhot a 1 1 & 1 1 00000040\n",
    "index.adv": "",
    "data.noun": "  1 license\n00000010 05 n 02 dog 0 Hot_dog 1 001 @ 00000011 n 0000 | gloss\n",
    "data.verb": "00000020 38 v 01 dog 0 000 01 + 08 00 | to follow\n",
    "data.adj": "00000030 00 a 01 warm(p) 0 001 & 00000040 a 0000 | not cold\n"
    "00000040 00 s 01 Hot a 001 & 00000030 a 0000 | very warm\n",
    "data.adv": "",
    "noun.exc": "hot_dogges hot_dog\ndogges cat dog\ndoggen cat\n",
    "verb.exc": "dogt dog\n",
    "adj.exc": "hotter hot\n",
    "adv.exc": "",
    "cntlist.rev": "dog%1:05:00:: 1 42\ndog%2:38:00:: 1 2\ndog%2:99:00:: 2 7\n"
    "hot%5:00:10:warm(p):00 1 9\nhot_dog%1:05:01:: 1 3\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_script_reads_wordnet_files(folder):
    assert load_script(MAKE).table_of(folder) == (
        "textkin wordnet lemmas, format 1, from WordNet 3.0\n"
        "counts\tdog 44 hot 9\n"  # a sense that is missing from the data files is not counted
        "exceptions a\thotter hot\n"
        "exceptions n\tdoggen - dogges dog\n"
        "exceptions r\t\n"
        "exceptions v\tdogt dog\n"
        "words a\thot warm\n"
        "words nv\tdog\n"
    )


def test_script_writes_identical_bytes_each_time(folder, monkeypatch, capsys):
    script = load_script(MAKE)
    made = []
    for name in ("a.gz", "b.gz"):
        monkeypatch.setattr("sys.argv", ["make", str(folder), "--output", str(folder / name)])
        script.main()
        made.append((folder / name).read_bytes())
    assert made[0] == made[1]
    assert gzip.decompress(made[0]).decode() == script.table_of(folder)
    assert hashlib.sha256(made[0]).hexdigest() in capsys.readouterr().out


# Reference implementation that follows WordNet's files from word to synset to sense to count.

needs_wordnet = pytest.mark.skipif(
    not (WORDNET / "cntlist.rev").exists(), reason="Debian's wordnet-base is not installed"
)
NAMES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
DETACH = {
    "n": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "v": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "a": "er: est: er:e est:e",
    "r": "",
}


@cache
def lines_by_first_word(name):
    found = {}
    for line in (WORDNET / name).read_text("ascii").splitlines():
        if line and line[0] != " ":
            first, *rest = line.split()
            found[first] = rest
    return found


def morphy(word, pos):
    """Return the first form in the index: the word, then its exceptions or detached forms."""
    exceptions = lines_by_first_word(f"{NAMES[pos]}.exc")
    if word in exceptions:
        forms = exceptions[word]
    else:
        pairs = [pair.split(":") for pair in DETACH[pos].split()]
        forms = [re.sub(f"{old}$", new, word) for old, new in pairs if word.endswith(old)]
    known = lines_by_first_word(f"index.{NAMES[pos]}")
    return next((form for form in [word, *forms] if form in known), None)


@cache
def data_of(name):
    return (WORDNET / f"data.{name}").read_bytes()


def synset(name, offset):
    """Return the fields of the synset at an offset of a data file."""
    data = data_of(name)
    return (
        data[int(offset) : data.index(b"\n", int(offset))].decode("ascii").split(" | ")[0].split()
    )


def sense_key(word, name, offset):
    _, file, kind, _, *rest = fields = synset(name, offset)
    number = next(
        int(n, 16) for w, n in pairwise(rest) if re.sub(r"\(\w+\)", "", w).lower() == word
    )
    head = ":"
    if kind == "s":
        (to, *_) = (fields[i + 1] for i, field in enumerate(fields) if field == "&")
        head = f"{synset(name, to)[4].lower()}:{int(synset(name, to)[5], 16):02d}"
    return f"{word}%{'nvars'.index(kind) + 1}:{file}:{number:02d}:{head}"


@cache
def frequency(word):
    counts = lines_by_first_word("cntlist.rev")
    total = 0
    for name in NAMES.values():
        entry = lines_by_first_word(f"index.{name}").get(word)
        for offset in entry[-int(entry[1]) :] if entry else ():
            total += int(counts.get(sense_key(word, name, offset), [0, 0])[1])
    return total


def most_frequent(word):
    candidates = {found for pos in NAMES if (found := morphy(word, pos))}
    if not candidates:
        return word
    best = max(map(frequency, candidates))
    return min((c for c in candidates if frequency(c) == best), key=lambda c: (len(c), c))


def reference_lemma(word):
    return most_frequent(most_frequent(word))


@needs_wordnet
def test_table_equals_output_of_the_script():
    text = gzip.decompress(DATA.joinpath("lemmas.txt.gz").read_bytes()).decode()
    assert load_script(MAKE).table_of(WORDNET) == text


@needs_wordnet
def test_lemma_equals_reference_for_words_and_endings():
    assert reference_lemma("thinkings") == "think"
    table = _table()
    chosen = random.Random(4).sample(sorted(table.parts), 1500)
    words = [w + e for w in chosen for e in ("", "s", "es", "ed", "ing", "ings", "er", "est")]
    words += sorted(table.exceptions)
    differing = [
        (word, lemma(word), reference_lemma(word))
        for word in words
        if lemma(word) != reference_lemma(word)
    ]
    assert not differing


@needs_wordnet
@given(st.text("abdeghimnorstvxyz", max_size=7))
def test_lemma_equals_reference_for_random_letters(word):
    assert lemma(word) == reference_lemma(word)


@needs_wordnet
def test_lemma_equals_reference_on_brown_corpus(shared_data):
    text = gzip.decompress((shared_data / "text" / "brown.tsv.gz").read_bytes()).decode()
    words = sorted(set(re.findall("[a-z]+", text.lower())))
    chosen = random.Random(4).sample(words, 6000)
    assert [lemma(word) for word in chosen] == [reference_lemma(word) for word in chosen]
