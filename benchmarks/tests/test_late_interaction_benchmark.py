"""Benchmark of contextual tokens, with an invented encoder."""

import json

import numpy as np
import pytest

from support import load_script

late = load_script("benchmarks/late_interaction.py")

SENTENCES = ["a cat sleeps", "a kitten sleeps now", "the band", "a band played loud", "cats sleep"]


class Model:
    """Encoder with a fixed vector per word, and two special tokens."""

    def encode(self, texts):
        for text in texts:
            tokens = ["[CLS]", *text.split(), "[SEP]"]
            seeds = [sum(token.encode()) for token in tokens]
            rows = [np.random.default_rng(seed).normal(size=8) for seed in seeds]
            yield late.Encoded(tokens, np.array(rows, dtype=np.float32))


@pytest.fixture
def encodings():
    gold = np.array([5.0, 1.0, 4.0, 0.0])
    pairs = late.Pairs(["x", "x", "y", "y"], gold, (SENTENCES[:4], SENTENCES[1:]))
    found, tokens = late.encoded(Model(), pairs)
    assert tokens == sum(len(text.split()) + 2 for text in SENTENCES)  # each sentence once
    return found


def test_every_measure_has_a_row(encodings, capsys):
    rows = late.rows(dict.fromkeys(late.TESTS, encodings))
    assert len(rows) == 2 + 2 * len(late.MEASURES)
    assert len({row["row"] for row in rows}) == len(rows)
    assert all(-1 <= row[test]["Mean"] <= 1 for row in rows for test in late.TESTS)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows
    lines = late.table({"rows": rows}).splitlines()
    assert len(lines) == len(rows) + 2
    assert all(line.count("|") == 8 for line in lines)


def test_scores_are_larger_for_similar_sentences(encodings):
    first, second = encodings.tokens()
    assert first[0].tokens == ("a", "cat", "sleeps")
    for name, scorer in late.MEASURES.items():
        itself, other = scorer(first[:1] * 2, [first[0], second[1]])
        assert itself > other, name


def test_searches_find_the_same(encodings):
    found = late.searches({"2012": encodings}, encodings.tokens()[0])
    assert found["documents"] == len(SENTENCES)
    assert found["exact_same_as_every_document"]
    assert found["max_sim_same_as_numpy"] == 1
