"""Tests of word pairs: correlations compared with SciPy, edge cases, and files of pairs."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from textkin.evaluate import PairScores, read_word_pairs, word_pairs
from textkin.vectors import WordVectors

WORDS = ["cat", "dog", "car", "bus", "sky"]
MATRIX = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
VECTORS = WordVectors(WORDS, MATRIX)
ALL = [(a, b) for i, a in enumerate(WORDS) for b in WORDS[:i]]


def cosine(a, b):
    x, y = (MATRIX[WORDS.index(word)].astype(float) for word in (a, b))
    return x @ y / (np.linalg.norm(x) * np.linalg.norm(y))


@given(st.lists(st.integers(0, 4), min_size=len(ALL), max_size=len(ALL)))
def test_correlations_equal_scipy(judged):
    pairs = [(a, b, gold) for (a, b), gold in zip(ALL, judged, strict=True)]
    found = word_pairs(VECTORS, pairs)
    assert (found.covered, found.total) == (10, 10)
    if len(set(judged)) == 1:
        assert math.isnan(found.spearman)
        assert math.isnan(found.pearson)
        return
    cosines = [cosine(a, b) for a, b in ALL]
    assert found.spearman == pytest.approx(spearmanr(judged, cosines).statistic, abs=1e-12)
    assert found.pearson == pytest.approx(pearsonr(judged, cosines).statistic, abs=1e-12)


def test_pairs_with_unknown_words_are_excluded_or_count_as_zero():
    pairs = [("cat", "dog", 3.0), ("CAT", "car", 1.0), ("dog", "sky's", 2.0), ("cat", "emu", 0.0)]
    dropped = word_pairs(VECTORS, pairs)
    assert (dropped.covered, dropped.total) == (3, 4)
    assert dropped.spearman == word_pairs(VECTORS, pairs[:3]).spearman
    zero = word_pairs(VECTORS, iter(pairs), oov="zero")
    assert (zero.covered, zero.total) == (3, 4)
    cosines = [cosine("cat", "dog"), cosine("cat", "car"), cosine("dog", "sky"), 0.0]
    expected = pearsonr([3, 1, 2, 0], cosines).statistic
    assert zero.pearson == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "covered"),
    [([], 0), ([("cat", "dog", 1)], 1), ([("emu", "dog", 1), ("cat", "emu", 2)], 0)],
)
def test_correlation_of_fewer_than_two_pairs_is_nan(pairs, covered):
    found = word_pairs(VECTORS, pairs)
    assert math.isnan(found.spearman)
    assert math.isnan(found.pearson)
    assert (found.covered, found.total) == (covered, len(pairs))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_of_judgments_does_not_matter(scale):
    pairs = [("cat", "dog", 3.0), ("cat", "car", 1.0), ("dog", "sky", 2.0)]
    scaled = [(a, b, scale * gold) for a, b, gold in pairs]
    one, other = word_pairs(VECTORS, pairs), word_pairs(VECTORS, scaled)
    assert other.spearman == one.spearman
    assert other.pearson == pytest.approx(one.pearson, abs=1e-12)


def test_judgments_of_extreme_range():
    pairs = [("cat", "dog", 1.7e308), ("cat", "car", -1.7e308), ("dog", "sky", 0.0)]
    near = [(a, b, gold / 1e308) for a, b, gold in pairs]
    one, other = word_pairs(VECTORS, near), word_pairs(VECTORS, pairs)
    assert other.spearman == one.spearman
    assert other.pearson == pytest.approx(one.pearson, abs=1e-12)


def test_vectors_of_extreme_lengths():
    vectors = WordVectors(WORDS[:3], np.float32([[1e-38, 0], [3e38, 3e38], [0, 1e-38]]))
    pairs = [("cat", "dog", 1), ("cat", "car", 0), ("dog", "dog", 2)]
    assert word_pairs(vectors, pairs).spearman == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("cat", "dog", math.nan)], "judgment of pair 0 must be a finite number; got nan"),
        ([("cat", "dog", 1), ("cat", "car", "x")], "pair 1 must be a finite number; got 'x'"),
        ([("cat", "dog")], "two words and a number; pair 0 is"),
        ([3], "two words and a number; pair 0 is 3"),
    ],
)
def test_invalid_pairs_raise(pairs, message):
    with pytest.raises(ValueError, match=message):
        word_pairs(VECTORS, pairs)


def test_invalid_oov_and_invalid_words_raise():
    with pytest.raises(ValueError, match="oov must be one of 'drop', 'zero'; got 'error'"):
        word_pairs(VECTORS, [], oov="error")
    with pytest.raises(TypeError, match="a word must be a string; got int 7"):
        word_pairs(VECTORS, [("cat", 7, 1.0)])


def test_scores_compare_by_value_and_are_frozen():
    score = PairScores(0.5, 0.4, 3, 4)
    assert score == PairScores(0.5, 0.4, 3, 4)
    with pytest.raises(AttributeError):
        score.covered = 4


def test_pairs_are_read_by_set(tmp_path):
    text = "dataset\tgold\tword1\tword2\none\t1.5\tcat\tdog\ntwo\t2\tsky\tcar\none\t0\tcar\tnaïve\n"
    expected = {
        "one": [("cat", "dog", 1.5), ("car", "naïve", 0.0)],
        "two": [("sky", "car", 2.0)],
    }
    (tmp_path / "pairs.tsv").write_text(text, encoding="utf-8")
    with gzip.open(tmp_path / "pairs.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    (tmp_path / "pairs.csv").write_text(text.replace("\t", ","), encoding="utf-8")
    for name in ("pairs.tsv", "pairs.tsv.gz", "pairs.csv"):
        assert read_word_pairs(tmp_path / name) == expected


def test_other_column_names(tmp_path):
    path = tmp_path / "simlex.tsv"
    path.write_text("word1\tword2\tSimLex999\ncat\tdog\t3\n", encoding="utf-8")
    assert read_word_pairs(path, gold="SimLex999") == {"pairs": [("cat", "dog", 3.0)]}
    message = r"simlex.tsv:2: there is no 'gold'.* it has 'word2', 'SimLex999'"
    with pytest.raises(ValueError, match=message):
        read_word_pairs(path)


def test_invalid_judgment_raises_with_its_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("word1,word2,gold\ncat,dog,1\ncat,car,much\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs\.csv:3: gold must be a finite number; got 'much'"):
        read_word_pairs(path)
