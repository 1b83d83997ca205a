"""Round trips of saved `BagOfWords` estimators: the loaded ones give equal bits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import textkin as tk
from support import change_manifest
from textkin.text import Lemmatizer, Stemmer, WordNetLemmas
from textkin.vectors import WordVectors

TEXTS = ["The cats were sleeping in New York", "A dog chased 27 cats", "Ünïcode wörds, too"]
VECTORS = WordVectors(["cats", "dog", "york"], np.eye(3, dtype=np.float32))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"stop_words": {"the", "a"}, "ngram_range": (1, 2), "numbers": "mask"},
        {"stop_words": None, "min_df": 0.1, "max_features": 4, "lowercase": False},
        {"normalizer": "wordnet", "phrases": ["new york"]},
        {"normalizer": WordNetLemmas()},
        {"normalizer": Stemmer("porter")},
        {"normalizer": Lemmatizer("de")},
        {"vocabulary": ["cats", "dog"]},
        {"vocabulary": tk.Vocabulary(["cats", "dog"])},
        {"vocabulary": VECTORS},
    ],
    # a set prints its words in another order in each process
    ids=range(10),  # `str` would differ, because sets print in another order in each process
)
def test_loaded_bag_of_words_gives_the_same_bags(parameters, tmp_path):
    fitted = tk.BagOfWords(**parameters).fit(TEXTS)
    fitted.save(tmp_path / "it")
    for load in (tk.load, tk.BagOfWords.load):
        loaded = load(tmp_path / "it")
        assert type(loaded) is tk.BagOfWords
        one, other = fitted.transform(TEXTS), loaded.transform(TEXTS)
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(one, part), getattr(other, part))
        assert_array_equal(loaded.get_feature_names_out(), fitted.get_feature_names_out())
        assert loaded.words(TEXTS[0]) == fitted.words(TEXTS[0])
        assert_array_equal(loaded.tokens(TEXTS).ids, fitted.tokens(TEXTS).ids)
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "it").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


@pytest.mark.parametrize("parameter", ["normalizer", "tokenizer"])
def test_functions_cannot_be_saved(parameter, tmp_path):
    function = str.upper if parameter == "normalizer" else str.split
    fitted = tk.BagOfWords(**{parameter: function}).fit(TEXTS)
    with pytest.raises(TypeError, match=f"{parameter} cannot be saved"):
        fitted.save(tmp_path / "it")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("parameters", "stop_words", [0]),
        ("parameters", "ngram_range", [2, 1]),
        ("parameters", "normalizer", {"value": "Stemmer", "parts": {"language": "xx"}}),
        ("parameters", "normalizer", {"value": "Stemmer", "parts": {}}),
        ("parameters", "normalizer", {"value": "WordNetLemmas", "parts": {"a": 1}}),
        ("parameters", "phrases", 3),
        ("parameters", "min_df", "x"),
        ("fitted", "vocabulary_", 3),
        ("fitted", "vocabulary_", {"value": "Vocabulary", "parts": {"words": 3}}),
    ],
)
def test_invalid_signed_values_raise(part, name, value, tmp_path):
    pytest.importorskip("Stemmer")
    tk.BagOfWords().fit(TEXTS).save(tmp_path / "it")
    change_manifest(tmp_path / "it", lambda manifest: manifest[part].update({name: value}))
    with pytest.raises(ValueError, match="is corrupt"):
        tk.load(tmp_path / "it")
