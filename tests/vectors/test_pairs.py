"""Word pairs: correlations beside SciPy's, what is not defined, and files of pairs."""

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from textkin.vectors import PairScores, WordVectors, read_word_pairs

WORDS = ["cat", "dog", "car", "bus", "sky"]
MATRIX = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
VECTORS = WordVectors(WORDS, MATRIX)
ALL = [(a, b) for i, a in enumerate(WORDS) for b in WORDS[:i]]


def cosine(a, b):
    x, y = (MATRIX[WORDS.index(word)].astype(float) for word in (a, b))
    return x @ y / (np.linalg.norm(x) * np.linalg.norm(y))


@given(st.lists(st.integers(0, 4), min_size=len(ALL), max_size=len(ALL)))
def test_correlations_are_those_of_scipy(judged):
    pairs = [(a, b, gold) for (a, b), gold in zip(ALL, judged, strict=True)]
    found = VECTORS.evaluate_pairs(pairs)
    assert (found.covered, found.total) == (10, 10)
    if len(set(judged)) == 1:
        assert math.isnan(found.spearman)
        assert math.isnan(found.pearson)
        return
    cosines = [cosine(a, b) for a, b in ALL]
    assert found.spearman == pytest.approx(spearmanr(judged, cosines).statistic, abs=1e-12)
    assert found.pearson == pytest.approx(pearsonr(judged, cosines).statistic, abs=1e-12)


def test_pairs_with_an_unknown_word_are_left_out_or_count_with_zero():
    pairs = [("cat", "dog", 3.0), ("CAT", "car", 1.0), ("dog", "sky's", 2.0), ("cat", "emu", 0.0)]
    dropped = VECTORS.evaluate_pairs(pairs)
    assert (dropped.covered, dropped.total) == (3, 4)
    assert dropped.spearman == VECTORS.evaluate_pairs(pairs[:3]).spearman
    zero = VECTORS.evaluate_pairs(iter(pairs), oov="zero")
    assert (zero.covered, zero.total) == (3, 4)
    cosines = [cosine("cat", "dog"), cosine("cat", "car"), cosine("dog", "sky"), 0.0]
    expected = pearsonr([3, 1, 2, 0], cosines).statistic
    assert zero.pearson == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "covered"),
    [([], 0), ([("cat", "dog", 1)], 1), ([("emu", "dog", 1), ("cat", "emu", 2)], 0)],
)
def test_a_correlation_of_fewer_than_two_pairs_is_nan(pairs, covered):
    found = VECTORS.evaluate_pairs(pairs)
    assert math.isnan(found.spearman)
    assert math.isnan(found.pearson)
    assert (found.covered, found.total) == (covered, len(pairs))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_scale_of_judgements_does_not_matter(scale):
    pairs = [("cat", "dog", 3.0), ("cat", "car", 1.0), ("dog", "sky", 2.0)]
    scaled = [(a, b, scale * gold) for a, b, gold in pairs]
    one, other = VECTORS.evaluate_pairs(pairs), VECTORS.evaluate_pairs(scaled)
    assert other.spearman == one.spearman
    assert other.pearson == pytest.approx(one.pearson, abs=1e-12)


def test_judgements_may_lie_as_far_apart_as_numbers_can():
    pairs = [("cat", "dog", 1.7e308), ("cat", "car", -1.7e308), ("dog", "sky", 0.0)]
    near = [(a, b, gold / 1e308) for a, b, gold in pairs]
    one, other = VECTORS.evaluate_pairs(near), VECTORS.evaluate_pairs(pairs)
    assert other.spearman == one.spearman
    assert other.pearson == pytest.approx(one.pearson, abs=1e-12)


def test_vectors_of_extreme_lengths_have_cosines():
    vectors = WordVectors(WORDS[:3], np.float32([[1e-38, 0], [3e38, 3e38], [0, 1e-38]]))
    pairs = [("cat", "dog", 1), ("cat", "car", 0), ("dog", "dog", 2)]
    assert vectors.evaluate_pairs(pairs).spearman == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("cat", "dog", math.nan)], "judgement of pair 0 must be a finite number; got nan"),
        ([("cat", "dog", 1), ("cat", "car", "x")], "pair 1 must be a finite number; got 'x'"),
        ([("cat", "dog")], "two words and a number; pair 0 is"),
        ([3], "two words and a number; pair 0 is 3"),
    ],
)
def test_what_is_no_pair_is_refused(pairs, message):
    with pytest.raises(ValueError, match=message):
        VECTORS.evaluate_pairs(pairs)


def test_other_words_for_the_unknown_and_words_that_are_none_are_refused():
    with pytest.raises(ValueError, match="oov must be one of 'drop', 'zero'; got 'error'"):
        VECTORS.evaluate_pairs([], oov="error")
    with pytest.raises(TypeError, match="a word must be a string; got int 7"):
        VECTORS.evaluate_pairs([("cat", 7, 1.0)])


def test_scores_are_equal_by_value_and_fixed():
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


def test_columns_may_have_other_names(tmp_path):
    path = tmp_path / "simlex.tsv"
    path.write_text("word1\tword2\tSimLex999\ncat\tdog\t3\n", encoding="utf-8")
    assert read_word_pairs(path, gold="SimLex999") == {"pairs": [("cat", "dog", 3.0)]}
    message = r"simlex.tsv:2: there is no 'gold'.* it has 'word2', 'SimLex999'"
    with pytest.raises(ValueError, match=message):
        read_word_pairs(path)


def test_a_judgement_that_is_no_number_is_named_with_its_line(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("word1,word2,gold\ncat,dog,1\ncat,car,much\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs\.csv:3: gold must be a finite number; got 'much'"):
        read_word_pairs(path)
