"""Tests of the accuracy of word vectors on analogies."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from textkin.cli import app
from textkin.evaluate import analogies, read_analogies
from textkin.vectors import WordVectors

QUESTIONS = [
    ("man", "king", "woman", "queen"),
    ("paris", "france", "rome", "italy"),
    ("man", "king", "woman", "qwertzish"),
    ("man", "king", "woman", "king"),
]


def test_counts_of_builtin_vectors():
    scores = analogies(WordVectors.builtin(), QUESTIONS)
    assert (scores.correct, scores.covered, scores.total) == (2, 3, 4)
    assert scores.accuracy == 2 / 3


def test_oov_wrong_counts_unknown_words_as_wrong():
    assert analogies(WordVectors.builtin(), QUESTIONS, oov="wrong").accuracy == 0.5


def test_max_words_limits_questions_and_answers():
    vectors = WordVectors.builtin()
    limit = int(vectors.lookup(["queen"])[0])  # excludes the answer to the first question
    scores = analogies(vectors, QUESTIONS[:2], max_words=limit)
    assert scores.covered == sum(
        max(vectors.lookup(list(words))) < limit for words in QUESTIONS[:2]
    )


def test_no_questions_have_no_accuracy():
    assert math.isnan(analogies(WordVectors.builtin(), []).accuracy)


def test_answers_agree_with_single_questions():
    rng = np.random.default_rng(3)
    words = [f"w{number}" for number in range(60)]
    vectors = WordVectors(words, rng.normal(size=(60, 7)))
    triples = [tuple(rng.choice(words, 3, replace=False)) for _ in range(300)]
    answers = [vectors.analogy(*triple, k=1)[0][0] for triple in triples]
    questions = [(*triple, answer) for triple, answer in zip(triples, answers, strict=True)]
    assert analogies(vectors, questions).correct == 300
    other = [(a, b, c, words[(words.index(d) + 1) % 60]) for a, b, c, d in questions]
    assert analogies(vectors, other).correct == 0


def test_wrong_questions_raise():
    with pytest.raises(ValueError, match="question 1 is"):
        analogies(WordVectors.builtin(), [QUESTIONS[0], ("a", "b")])


def test_read_analogies_splits_sections(tmp_path):
    file = tmp_path / "questions.txt"
    file.write_text("a b c d\n: one section\n# comment\n\ne f g h\n// other\ni j k l\n")
    assert read_analogies(file) == {
        "analogies": [("a", "b", "c", "d")],
        "one section": [("e", "f", "g", "h"), ("i", "j", "k", "l")],
    }
    file.write_text(": s\na b c\n")
    with pytest.raises(ValueError, match=r"line 2: an analogy must have four words; got 3"):
        read_analogies(file)


def test_command_prints_sections_and_total(tmp_path):
    file = tmp_path / "questions.txt"
    file.write_text(": family\nman king woman queen\n: places\nparis france rome italy\n")
    result = CliRunner().invoke(app, ["vectors", "analogies", str(file)])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "section  accuracy  questions",
        "family     1.0000  1 of 1",
        "places     1.0000  1 of 1",
        "all        1.0000  2 of 2",
    ]
    result = CliRunner().invoke(app, ["vectors", "analogies", str(file), "--json"])
    assert json.loads(result.output)["sections"][2]["correct"] == 2
