"""Tests of counting tokens into bags."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from textkin.text import Vocabulary, count_words
from textkin.weighting import nbow


class CaseFolding(Vocabulary):
    """Lookup in which several surface forms share a column, as in word vectors."""

    def __init__(self, words):
        super().__init__(words)
        self.asked = []

    def lookup(self, words):
        self.asked.extend(words)
        return super().lookup([word.lower() for word in words])


def reference_row(document, columns, cap):
    """Count, sort by descending count and then by first position, and truncate."""
    known = [word.lower() for word in document if word.lower() in columns]
    counts = Counter(known)
    ranked = sorted(counts, key=lambda word: (-counts[word], known.index(word)))
    row = np.zeros(len(columns))
    for word in ranked[:cap]:
        row[columns.index(word)] = counts[word]
    return row


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.sampled_from("aAbBcCdxY"))),
    st.permutations("abcd"),
    st.none() | st.integers(1, 5),
)
def test_counts_equal_reference(documents, words, cap):
    columns = CaseFolding(words)
    counted = count_words(iter(documents), columns, max_words_per_document=cap)
    assert counted.bags.shape == (len(documents), 4)
    for row, document in zip(counted.bags.toarray(), documents, strict=True):
        assert_array_equal(row, reference_row(document, columns, cap))
    for missing, document in zip(counted.unknown, documents, strict=True):
        assert missing == Counter(word for word in document if word in "xY")
    assert sorted(columns.asked) == sorted({word for words in documents for word in words})


@pytest.mark.parametrize("documents", [[], [[]], [["b", "a", "a"], [], ["c"]]])
def test_bags_are_canonical_csr_arrays(documents):
    bags = count_words(documents, Vocabulary(["a", "b"])).bags
    assert type(bags).__name__ == "csr_array"
    assert bags.shape == (len(documents), 2)
    assert (bags.dtype, bags.indices.dtype, bags.indptr.dtype) == (np.float32, np.int32, np.int32)
    assert bags.has_canonical_format
    assert np.all(bags.data > 0)


def test_known_counts_of_two_words():
    """Check the example of METHODS.md, section 2.1."""
    bags = count_words([["a", "a", "b"]], Vocabulary(["a", "b"])).bags
    assert bags.toarray().tolist() == [[2, 1]]
    assert_allclose(nbow(bags).toarray(), [[2 / 3, 1 / 3]], rtol=1e-7)


def test_max_words_per_document_matches_worked_example():
    """Check the example of METHODS.md, section 1.3."""
    document = ["c", "b", "a", "b", "a", "a"]
    vocabulary = Vocabulary(["a", "b", "c"])
    bags = count_words([document], vocabulary, max_words_per_document=2).bags
    assert_allclose(nbow(bags).toarray(), [[0.6, 0.4, 0]], rtol=1e-7)


def test_empty_vocabulary_counts_all_words_as_unknown():
    counted = count_words([["a"]], Vocabulary([]))
    assert counted.bags.shape == (1, 0)
    assert counted.unknown == ({"a": 1},)


def test_text_instead_of_tokens_raises():
    with pytest.raises(TypeError, match=r"position 1 holds a str.*tokenize"):
        count_words([["a"], "a b"], Vocabulary(["a"]))


@pytest.mark.parametrize("cap", [0, -1])
def test_max_words_per_document_below_one_raises(cap):
    with pytest.raises(ValueError, match=r"max_words_per_document must be None or.*at least 1"):
        count_words([], Vocabulary(["a"]), max_words_per_document=cap)
