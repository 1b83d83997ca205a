"""Corpora for training: texts, lists of words, and tokens, as IDs of frequent words."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from textkin.models.embedding._training_corpus import known_words, read_corpus
from textkin.text import BagOfWords, Tokens, Vocabulary
from textkin.text import _analyzer as terms

TEXTS = ["The cat saw the dog.", "", "a DOG saw a cat; the cat ran"]


def corpus_of(corpus, **options):
    defaults = {"min_count": 1, "max_words": None, "stop_words": None, "lowercase": True}
    return read_corpus(corpus, **{**defaults, "n_threads": 1, **options})


def same(first, second):
    assert first.words == second.words
    for name in ("counts", "ids", "offsets"):
        assert_array_equal(getattr(first, name), getattr(second, name))
    return True


def test_words_are_sorted_by_count_then_code_points():
    found = corpus_of(TEXTS)
    assert found.words == ["cat", "the", "a", "dog", "saw", "ran"]
    assert found.counts.tolist() == [3, 3, 2, 2, 2, 1]
    assert found.ids.tolist() == [1, 0, 4, 1, 3, 2, 3, 4, 2, 0, 1, 0, 5]
    assert found.offsets.tolist() == [0, 5, 5, 13]
    assert (found.ids.dtype, found.offsets.dtype, len(found)) == (np.int32, np.int64, 3)


def test_words_around_a_rare_word_become_neighbors():
    found = corpus_of(TEXTS, min_count=3)
    assert found.words == ["cat", "the"]
    assert found.ids.tolist() == [1, 0, 1, 0, 1, 0]
    assert found.offsets.tolist() == [0, 3, 3, 6]
    assert same(found, corpus_of(TEXTS, max_words=2))


def test_stop_words_and_case():
    assert corpus_of(TEXTS, stop_words=["the", "a"]).words == ["cat", "dog", "saw", "ran"]
    assert corpus_of(TEXTS, lowercase=False).words[:3] == ["cat", "a", "saw"]


@dataclass
class TextLike:
    text: str


def test_all_kinds_of_documents_give_the_same():
    expected = corpus_of(TEXTS)
    counter = BagOfWords(None).fit(TEXTS)
    lists = [counter.words(text) for text in TEXTS]
    for form in (
        (text for text in TEXTS),
        [TextLike(text) for text in TEXTS],
        np.array(TEXTS),
        lists,
        [tuple(words) for words in lists],
        [np.array(words, dtype=object) for words in lists],
        counter.tokens(TEXTS),
    ):
        assert same(corpus_of(form), expected)
    without = corpus_of(TEXTS, stop_words="smart")
    assert same(corpus_of(lists, stop_words="smart"), without)
    assert same(corpus_of(counter.tokens(TEXTS), stop_words="smart"), without)


def test_words_in_lists_are_not_converted():
    found = corpus_of([["New York", "b", "", "B"], ["b", ""]])
    assert found.words == ["b", "B", "New York"]
    assert found.offsets.tolist() == [0, 3, 4]


def test_tokens_without_a_column_are_skipped():
    tokens = Tokens(np.array([0, -1, 1, 1], np.int32), np.array([0, 2, 4]), Vocabulary(["a", "b"]))
    assert corpus_of(tokens).ids.tolist() == [1, 0, 0]
    for ids, offsets, said in (
        ([0, 2], [0, 2], "columns"),
        ([0, 1], [0, 1], "rise from 0"),
        ([0, 1], [0, 2, 1, 2], "rise from 0"),
        ([], [], "rise from 0"),
    ):
        wrong = Tokens(np.array(ids, np.int32), np.array(offsets), Vocabulary(["a", "b"]))
        with pytest.raises(ValueError, match=said):
            corpus_of(wrong)


@given(
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), min_size=1, max_size=12),
    st.integers(1, 3),
    st.sampled_from([None, 2, 4]),
    st.sampled_from([1, 3]),
    st.sampled_from([65, 300, 2**22]),
)
def test_corpus_equals_a_plain_count(documents, min_count, max_words, n_threads, batch):
    counts = Counter(word for words in documents for word in words)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    expected = [word for word in ordered if counts[word] >= min_count][:max_words]
    options = {"min_count": min_count, "max_words": max_words, "n_threads": n_threads}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_BATCH_CHARACTERS", batch)
        if len(expected) < 2:
            with pytest.raises(ValueError, match=r"two|word"):
                corpus_of(documents, **options)
            return
        texts = corpus_of([" ".join(words) for words in documents], **options)
        found = corpus_of(documents, **options)
        known = known_words(
            documents, Vocabulary(expected), stop_words=None, lowercase=True, n_threads=1
        )
    assert same(found, texts)
    assert found.words == expected
    kept = [[expected.index(w) for w in words if w in expected] for words in documents]
    assert found.ids.tolist() == [word for words in kept for word in words]
    assert np.diff(found.offsets).tolist() == [len(words) for words in kept]
    assert_array_equal(known.ids, found.ids)
    assert_array_equal(known.offsets, found.offsets)
    assert known.lengths.tolist() == [len(words) for words in documents]


@pytest.mark.parametrize(
    ("corpus", "error", "said"),
    [
        ("a text", ValueError, "got a single str. Wrap it"),
        ([], ValueError, "corpus must hold at least one text; got none"),
        (["", "!"], ValueError, "no words: 2 documents"),
        (["one one", "one"], ValueError, "only 'one', in 2 documents"),
        (["a", ["b"]], TypeError, "starts with texts, and position 1 holds list"),
        ([["b"], "a"], TypeError, "starts with lists of words, and position 1 holds str"),
        ([["a", 1]], TypeError, r"position 0 holds a list with int \(1\)"),
        ([None], TypeError, "a missing value"),
        (["a", b"b"], TypeError, "position 1 holds bytes: decode it"),
        ({"a": "b"}, TypeError, "got dict"),
        (7, TypeError, "got int"),
        (np.ones((2, 2)), TypeError, "Bags have no word order"),
        (sparse.csr_array(np.ones((2, 2))), TypeError, "Bags have no word order"),
    ],
)
def test_invalid_corpus_raises(corpus, error, said):
    with pytest.raises(error, match=said):
        corpus_of(corpus)


def test_table_raises_and_names_the_column():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"text": TEXTS})
    with pytest.raises(TypeError, match=r"got DataFrame, a table. Pass the column .* corpus\['te"):
        corpus_of(table)
    assert same(corpus_of(table["text"]), corpus_of(TEXTS))


def test_too_few_words_raise_and_name_the_option():
    with pytest.raises(ValueError, match=r"at least 4 times.* 'cat' \(3\) and 'the' \(3\)"):
        corpus_of(TEXTS, min_count=4)
    with pytest.raises(ValueError, match=r"smaller list of .stop_words."):
        corpus_of(["the the a"], stop_words=["the", "a"])
    with pytest.raises(ValueError, match="max_words must be at least 2"):
        corpus_of(TEXTS, max_words=1)
