"""Benchmark of transport in an index: runs and equal answers. Nothing is timed here."""

import json

import numpy as np
import pytest

from support import load_script, run_benchmark

store = load_script("benchmarks/store_transport.py")


def test_answers_must_be_equal():
    same = (np.array([3, 1]), np.array([0.5, 0.75]))
    store.must_be_equal(same, (same[0].copy(), same[1].copy()), "here")
    for other, what in (
        ((np.array([1, 3]), same[1]), "documents"),
        ((same[0], same[1] + 1e-16 + 2e-16), "distances"),
        ((same[0][:1], same[1][:1]), "documents"),
    ):
        with pytest.raises(store.UnequalAnswersError, match=f"here: the index finds the {what}"):
            store.must_be_equal(same, other, "here")


def test_queries_have_words_and_are_sufficient():
    texts = (["cats", "dogs", "birds"], ["the", "cat", "zzzq", "dog"])
    documents, queries = store.chosen(texts, 2, 2)
    assert documents == ["cats", "dogs"]
    assert sorted(queries) == ["cat", "dog"]
    with pytest.raises(ValueError, match="3 queries requested; got 2"):
        store.chosen(texts, None, 3)


def test_fast_run(tmp_path, shared_data):
    path = tmp_path / "store_transport.json"
    command = ["--quick", "--sets", "r8", "--documents", "60", "--out", str(path)]
    done = run_benchmark("store_transport.py", *command)
    assert done.returncode == 0, done.stderr
    assert "| r8 (60) | wmd |" in done.stdout
    found = json.loads(path.read_text())
    r8 = found["sets"]["r8"]
    assert set(r8["methods"]) == {"wmd", "rwmd", "wcd"}
    for numbers in r8["methods"].values():
        assert len(numbers["rounds"]["index"]) == len(numbers["rounds"]["mover"]) == 2
        assert numbers["index_over_mover"]["median"] > 0
    assert set(r8["milliseconds_before"]) == {"open", "first", "second", "after_adding"}
    assert r8["entries"]["index"] > r8["entries"]["mover"] > 0
