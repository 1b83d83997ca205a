"""Tests of Stemmer, Lemmatizer, and the choice of a word normalizer."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textkin.text import Lemmatizer, Stemmer, WordNetLemmas, word_normalizer

ODD_WORDS = {
    "empty": "",
    "long": "q" * 100_000,
    "half a surrogate pair": "\ud800",
    "null": "q\0q",
    "Japanese": "日本",
    "Thai": "ภาษา",
    "hyphen": "-",
    "number": "123",
    "emoji": "\U0001f600",
    "white space": "\n",
}


@pytest.fixture(
    params=[
        ("Stemmer", Stemmer, "Stemmer(language='english')"),
        ("simplemma", Lemmatizer, "Lemmatizer(language='en')"),
        ("gzip", WordNetLemmas, "WordNetLemmas()"),
    ],
    ids=["stem", "lemma", "wordnet"],
)
def normalizer(request):
    module, kind, shown = request.param
    pytest.importorskip(module)
    made = kind()
    assert repr(made) == shown
    return made


def test_normalizers_compare_copy_and_pickle_by_value(normalizer):
    again = pickle.loads(pickle.dumps(normalizer))
    assert again == copy.deepcopy(normalizer) == type(normalizer)() == normalizer
    assert len({again, normalizer}) == 1
    assert again("geese") == normalizer("geese")
    with pytest.raises(AttributeError):
        normalizer.language = "german"


@pytest.mark.parametrize("word", ODD_WORDS.values(), ids=ODD_WORDS)
def test_unusual_words_are_unchanged(normalizer, word):
    assert normalizer(word) == word


@given(st.text(max_size=12))
def test_normalizers_return_str_for_any_word(word):
    for name in ("stem", "lemma", "wordnet"):
        try:
            normalise = word_normalizer(name)
        except ImportError:
            continue
        assert isinstance(normalise(word), str)


@pytest.mark.parametrize("word", [None, 3, float("nan"), b"mice", ["mice"]])
def test_invalid_word_raises(normalizer, word):
    with pytest.raises(TypeError, match="word must be a str; got"):
        normalizer(word)


def test_threads_get_the_same_answers(normalizer):
    words = [f"{word}{ending}" for word in ("walk", "play") for ending in ("s", "ed", "ing")] * 50
    expected = [normalizer(word) for word in words]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [normalizer(word) for word in words], range(8)):
            assert found == expected


def test_stemmer_on_known_words():
    pytest.importorskip("Stemmer")
    stem = Stemmer()
    assert [stem(word) for word in ("thinkings", "thinking", "thinks")] == ["think"] * 3
    assert [stem(word) for word in ("happily", "happiness")] == ["happili", "happi"]
    assert stem("children's") == "children"
    assert Stemmer("porter")("fairly") == "fairli"
    assert Stemmer("english")("fairly") == "fair"
    assert Stemmer("german")("häuser") == "haus"
    assert Stemmer("russian")("собаками") == Stemmer("russian")("собака")


def test_stemmer_supports_every_language_of_pystemmer():
    names = pytest.importorskip("Stemmer").algorithms()
    assert {"english", "porter", "german", "spanish"} <= set(names)
    assert all(Stemmer(name)("123") == "123" for name in names)
    assert len({Stemmer(name) for name in names}) == len(names)


def test_lemmatizer_on_known_words():
    pytest.importorskip("simplemma")
    lemma = Lemmatizer()
    assert [lemma(word) for word in ("mice", "was", "running", "qwrtz")] == [
        "mouse",
        "be",
        "run",
        "qwrtz",
    ]
    assert Lemmatizer("de")("Häuser") == "Haus"
    assert Lemmatizer("de") != lemma


@pytest.mark.parametrize("language", ["xx", "", "English", "en_GB", None, 3, ("en", "de")])
def test_unknown_language_raises(language):
    pytest.importorskip("Stemmer")
    pytest.importorskip("simplemma")
    with pytest.raises(ValueError, match=r"algorithm of PyStemmer; got .* There are .*'porter'"):
        Stemmer(language)
    with pytest.raises(ValueError, match=r"code of simplemma; got .* There are .*'en'"):
        Lemmatizer(language)


@pytest.mark.parametrize(
    ("module", "kind", "name", "extra"),
    [("Stemmer", Stemmer, "stem", "stem"), ("simplemma", Lemmatizer, "lemma", "lemma")],
)
def test_missing_package_raises_error_that_names_the_extra(monkeypatch, module, kind, name, extra):
    for loaded in [key for key in sys.modules if key.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    for make in (kind, lambda: word_normalizer(name)):
        with pytest.raises(ImportError, match=rf"pip install 'textkin\[{extra}\]'") as caught:
            make()
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize(("module", "kind"), [("Stemmer", Stemmer), ("simplemma", Lemmatizer)])
def test_package_that_cannot_be_imported_is_reported(monkeypatch, tmp_path, module, kind):
    """Version 1.1.0 of simplemma imports marisa_trie, which it does not install."""
    for loaded in [key for key in sys.modules if key.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, loaded)
    (tmp_path / f"{module}.py").write_text("import marisa_tree\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"cannot be imported \(No module named 'marisa_tree'\)"):
        kind("english")


def test_word_normalizer_accepts_names_and_callables():
    assert word_normalizer(None) is None
    assert word_normalizer("wordnet") == WordNetLemmas()
    assert word_normalizer(str.upper) is str.upper
    lemma = WordNetLemmas()
    assert word_normalizer(lemma) is lemma


def test_word_normalizer_accepts_names_of_optional_normalizers():
    pytest.importorskip("Stemmer")
    pytest.importorskip("simplemma")
    assert word_normalizer("stem") == Stemmer("english")
    assert word_normalizer("lemma") == Lemmatizer("en")


@pytest.mark.parametrize("wrong", ["porter", "Stem", "", 3, ["stem"], Stemmer, True])
def test_word_normalizer_with_invalid_choice_raises(wrong):
    with pytest.raises(ValueError, match=r"'stem', 'lemma', 'wordnet', None or a callable .*; got"):
        word_normalizer(wrong)
