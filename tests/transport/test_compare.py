"""Tests of `compare`: the comparison of two texts, and its output formats."""

import json
import pickle
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import textkin as tk

A = "Obama speaks to the media in Illinois"
B = "The President greets the press in Chicago"


@pytest.fixture(scope="module")
def found():
    return tk.compare(A, B)


def test_compare_equals_word_mover(found):
    assert found.distance == tk.WordMover().distance(A, B)
    assert tk.compare(A, B, unit=True, word_weights="sif").distance == (
        tk.WordMover(unit=True, word_weights="sif").distance(A, B)
    )


def test_compare_accepts_bags_and_tokens():
    assert tk.compare(["press"], ["media"]).distance > 0
    matrix = np.eye(2, dtype=np.float32)
    found = tk.compare(np.array([1, 0]), np.array([0, 1]), vectors=matrix)
    assert found.distance == pytest.approx(np.sqrt(2))
    assert found.source_text == ""
    named = tk.compare(
        np.array([1, 0]), np.array([0, 1]), vectors=matrix, feature_names=["press", "media"]
    )
    assert named.moves[0].source == "press"


def test_corpus_weights_without_corpus_raise():
    with pytest.raises(
        ValueError, match=r"WordMover\(word_weights='tfidf'\).fit\(corpus\).explain"
    ):
        tk.compare(A, B, word_weights="tfidf")


def test_repr_draws_the_flow(found):
    lines = repr(found).splitlines()
    assert lines[0].startswith("Comparison: distance 5.005, at least 5.005 (relaxed) and 2.634")
    assert any(line.startswith("obama    ━━━▶ president   25.0 % × 5.588") for line in lines)


def test_notebooks_show_the_figure(found):
    shown = found._repr_html_()
    assert shown == found.to_svg()
    words = "".join(ElementTree.fromstring(shown).itertext())
    for word in ("obama", "president", "Word Mover's Distance 5.005", A, B):
        assert word in words


def test_html_report_has_the_facts(found):
    page = found.to_html()
    assert "no plan is cheaper by more than" in page
    assert "relaxed 5.00511" in page
    assert A in page


def test_to_dict_is_json(found):
    record = json.loads(json.dumps(found.to_dict()))
    assert record["distance"] == found.distance
    assert sum(move["contribution"] for move in record["flow"]) == pytest.approx(found.distance)
    assert sum(move["share"] for move in record["flow"]) == pytest.approx(1)
    assert record["proof"]["gap"] <= record["proof"]["allowed"]
    coverage = {"share": 1.0, "known": 4.0, "total": 4.0, "unknown": {}, "cut": {}}
    assert record["coverage"]["source"] == coverage


def test_unknown_words_are_reported():
    found = tk.compare("press qwertzish", "media")
    assert dict(found.facts())["coverage"] == "50 % (unknown: 'qwertzish') and 100 %"
    assert repr(found).endswith("left out, without a vector: 'qwertzish'")
    assert "left out, without a vector: &#39;qwertzish&#39;" in found.to_svg()


def test_comparison_can_be_pickled(found):
    again = pickle.loads(pickle.dumps(found))
    assert again.moves == found.moves
    again.verify()


def test_empty_document_error_can_be_pickled():
    with pytest.raises(tk.exceptions.EmptyDocumentError) as caught:
        tk.compare("", "press")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.rows, again.argument) == (str(caught.value), (0,), "a")


def test_equal_texts_have_distance_zero():
    found = tk.compare(A, A)
    assert found.distance == 0
    assert "at no cost" in repr(found)
    ElementTree.fromstring(found.to_svg())
