"""Tests of `WordMover` with unknown words, empty documents, and too many words."""

import numpy as np
import pytest

from textkin import WordMover, WordVectors
from textkin.exceptions import EmptyDocumentError

WORDS = ["the", "press", "media", "band", "Paris"]
MATRIX = np.array([[9, 1], [1, 1], [1, 2], [5, 5], [8, 8]], dtype=np.float32)
TEXTS = ["the press", "media media band", "Paris press media"]


@pytest.fixture
def vectors():
    return WordVectors(WORDS, MATRIX)


def row(*counts):
    return np.array(counts, dtype=np.float32)


def test_coverage_counts_known_and_unknown_words(vectors):
    [first, second, third] = WordMover(vectors).coverage(["press zyx zyx", "", "Paris"])
    assert (first.known, first.total, first.unknown) == (1, 3, {"zyx": 2})
    assert first.share == pytest.approx(1 / 3)
    assert (second.known, second.total, second.share) == (0, 0, 0)
    assert third.share == 1


def test_coverage_of_bags_with_columns_without_vectors():
    matrix = MATRIX.copy()
    matrix[2] = np.nan
    mover = WordMover(matrix)
    [first] = mover.coverage(row(0, 1, 3, 0, 0))
    assert (first.known, first.total, first.unknown) == (1, 4, {"#2": 3})
    found = mover.explain(row(0, 1, 3, 0, 0), row(0, 0, 1, 1, 0))
    assert found.source_coverage.share == 0.25
    assert found.distance == WordMover(MATRIX).distance(row(0, 1, 0, 0, 0), row(0, 0, 0, 1, 0))


def test_unknown_words_raise_on_request(vectors):
    mover = WordMover(vectors, oov="error")
    with pytest.raises(ValueError, match="Document 0 of b has words without a vector: 'zyx'"):
        mover.distance("press", "media zyx")
    assert mover.coverage(["zyx"])[0].share == 0  # `coverage` does not raise


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has no words, or only stop words"),
        ("😀 !?", "it has no words, or only stop words"),
        ("the of and", "it has no words, or only stop words"),
        ("zyx", "none of its words has a vector .coverage 0.; not among the 5 words: 'zyx'"),
    ],
)
def test_empty_document_error_gives_the_reason(vectors, text, reason):
    mover = WordMover(vectors)
    with pytest.raises(EmptyDocumentError, match=f"Document b cannot be compared: {reason}"):
        mover.distance("press", text)
    with pytest.raises(EmptyDocumentError, match="Document a cannot be compared"):
        mover.distance(text, text)


@pytest.mark.parametrize(
    ("document", "way_out"),
    [
        ("zyx", "Load vectors for these words, for example with WordVectors.load"),
        ("漢字", "Scripts without spaces are split into pairs of characters: pass lists"),
        ("แมวกินปลา", "Scripts without spaces"),
        (["press and media"], "A list must contain tokens: pass a text as a string"),
    ],
)
def test_unknown_words_error_suggests_a_fix(vectors, document, way_out):
    with pytest.raises(EmptyDocumentError, match=f"{way_out}.*, or pass empty='inf'"):
        WordMover(vectors).distance("press", document)
    with pytest.raises(EmptyDocumentError, match=way_out) as caught:
        WordMover(vectors).explain("press", document)
    assert "empty=" not in str(caught.value)  # `empty` has no effect here


def test_empty_documents_in_a_batch_are_named_by_row(vectors):
    with pytest.raises(EmptyDocumentError, match="Document 1 and 1 more of X") as caught:
        WordMover(vectors).pairwise(["press", "", "media", "zyx"])
    assert caught.value.rows == (1, 3)


def test_empty_documents_can_be_infinitely_distant(vectors):
    mover = WordMover(vectors, empty="inf")
    assert mover.distance("press", "") == np.inf
    assert mover.distance("", "") == np.inf
    found = mover.pairwise(["press", "", "media"])
    assert np.isinf(found[1]).all()
    assert np.isinf(found[:, 1]).all()
    assert np.isfinite(found[[0, 0, 2, 2], [0, 2, 0, 2]]).all()
    assert np.isinf(mover.bounds("press", "").relaxed)
    with pytest.raises(EmptyDocumentError):
        mover.explain("press", "")  # an empty document has no flow


def test_no_documents_and_single_document(vectors):
    mover = WordMover(vectors)
    assert mover.pairwise([]).shape == (0, 0)
    assert mover.pairwise(["press"], []).shape == (1, 0)
    assert mover.pairwise(["press"]).tolist() == [[0.0]]
    assert mover.paired([], []).shape == (0,)
    with pytest.raises(ValueError, match="at least one document"):
        mover.fit([])


def test_duplicates_have_distance_zero(vectors):
    found = WordMover(vectors).pairwise(["press media", "Media PRESS", "press media"])
    np.testing.assert_array_equal(found, np.zeros((3, 3)))


def test_huge_texts_are_compared():
    mover = WordMover()
    words = WordVectors.builtin().words[:3000]
    # Every word is its own nearest word: nothing moves, even for a long text.
    assert mover.distance(" ".join(words), " ".join(reversed(words))) == 0
    assert mover.distance("press " * 100_000, "press") == 0


def test_documents_too_long_for_memory_raise():
    n_words = 1_000_000  # terabytes: more than any machine has
    matrix = np.arange(1, 2 * n_words + 1, dtype=np.float32)[:, np.newaxis]
    a, b = np.zeros((2, 2 * n_words))
    a[:n_words] = 1
    b[n_words:] = 1
    with pytest.raises(MemoryError, match="between 1000000 and 1000000 distinct words"):
        WordMover(matrix).distance(a, b)
    # common words need not be moved
    assert WordMover(matrix).distance(a, a) == 0


def test_truncated_words_are_reported(vectors):
    mover = WordMover(vectors, max_words_per_document=1)
    [found] = mover.coverage(["press press media qwertzish"])
    assert (found.known, found.total) == (2, 4)
    assert found.share == 0.5
    assert dict(found.cut) == {"media": 1}
    assert str(found) == "50 % (unknown: 'qwertzish'; cut: 'media')"
    comparison = mover.explain("press press media", "media")
    assert "beyond max_words_per_document: 'media'" in repr(comparison)
    assert comparison.to_dict()["coverage"]["source"]["cut"] == {"media": 1}
