"""Suggestions for misspelled words, compared with a slow reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textkin import Index
from textkin.index.search._suggestions import Spelling, edit_distances

words = st.text("abcdeé", max_size=8)


def distance(a, b):
    """Return the optimal string alignment distance by its recurrence."""
    d = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                d[i][j] = i + j
                continue
            d[i][j] = min(
                d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1)
    return d[-1][-1]


@given(words, st.lists(words, max_size=6))
def test_distances_equal_the_recurrence(word, others):
    points = [np.array([ord(character) for character in other], np.uint32) for other in others]
    assert edit_distances(word, points).tolist() == [distance(word, other) for other in others]


@given(
    st.lists(words, unique=True, max_size=20),
    words,
    st.integers(0, 20),
    st.randoms(use_true_random=False),
)
def test_suggestions_equal_a_slow_reference(vocabulary, word, first, random):
    spelling = Spelling(vocabulary[:first])
    spelling.extend(vocabulary[first:])
    frequencies = np.array([random.randrange(4) for _ in vocabulary], np.int64)
    most = 2 if len(word) >= 5 else 1
    found = [
        (distance(word, other), -int(frequencies[at]), at)
        for at, other in enumerate(vocabulary)
        if frequencies[at] and other.casefold() != word and distance(word, other) <= most
    ]
    expected = [at for _, _, at in sorted(found)] if len(word) >= 3 else []
    assert spelling.suggest(word, frequencies, limit=99) == expected
    assert spelling.suggest(word, frequencies) == expected[:3]


def test_hits_suggest_words_of_the_index(index: Index) -> None:
    index.add(["a receipt for the money", "the receipts", "receive money", "receive mail"])
    hits = index.search("recieve the MONNEY now")
    assert hits.suggestions == {"recieve": ("receive",), "monney": ("money",)}
    assert hits.ids == index.search("the").ids  # the search does not use them
    assert hits.to_dict()["suggestions"] == {"recieve": ["receive"], "monney": ["money"]}
    assert index.search("receive").suggestions == {}
    assert index.search({"recieve": 1.0}).suggestions == {}
    assert index.similar("0").suggestions == {}
    assert index.search("recieve", ranking="wmd").suggestions in ({}, {"recieve": ("receive",)})
    index.delete(["2", "3"])
    assert index.search("recieve").suggestions == {}
    index.add(["I relieve"])
    assert index.search("recieve").suggestions == {"recieve": ("relieve",)}


def test_hostile_words_are_bounded(index: Index) -> None:
    index.add(["one two three", "".join(map(chr, range(0x4E00, 0x4E20)))])
    assert index.search("x" * 100_000).suggestions == {}
    assert len(index.search(" ".join(f"thre{c}" for c in "abcdfghijklm")).suggestions) == 8
    assert index.search("").suggestions == {}
    assert index.search("zz").suggestions == {}
