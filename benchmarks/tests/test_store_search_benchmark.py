"""Benchmark of index searches: runs and report. Nothing is timed here."""

import json

import pytest

from support import load_script, run_benchmark

searching = load_script("benchmarks/store_search.py")


def test_queries_are_different_words_of_a_document():
    texts = ["one two three four five six seven", "too short", "a b c d e f"]
    found = searching.queries_of(texts, 5, 10)
    assert found == searching.queries_of(texts, 5, 10)
    assert len(found) == 10
    for query in found:
        words = set(query.split())
        assert len(words) == 5
        assert words <= set(texts[0].split()) or words <= set(texts[2].split())


def test_answers_are_compared():
    ours = [{"ids": ["1", "2"], "scores": [2.0, 1.0]}]
    theirs = [{"ids": ["1", "3"], "scores": [2.0, 1.1]}]
    found = searching.agreement(ours, theirs, True)
    assert found == {"overlap": 0.5, "largest_difference": pytest.approx(0.1)}
    assert searching.agreement(ours, theirs, False) == {"overlap": 0.5}
    fewer = [{"ids": ["1"], "scores": [2.0]}]
    assert searching.agreement(ours, fewer, True)["largest_difference"] == float("inf")


def test_unequal_scores_stop_the_benchmark():
    searching.check_equal({"bm25s": {"agreement": {"largest_difference": 1e-6}}})
    with pytest.raises(SystemExit, match="scores of bm25s differ by"):
        searching.check_equal({"bm25s": {"agreement": {"largest_difference": 1e-3}}})


@pytest.mark.slow
def test_fast_run(tmp_path):
    path = tmp_path / "store_search.json"
    arguments = ["--quick", "--collection", "synthetic", "--contenders", "textkin"]
    done = run_benchmark("store_search.py", *arguments, "--out", path)
    assert done.returncode == 0, done.stderr
    assert "| 5 | textkin |" in done.stdout
    found = json.loads(path.read_text())
    assert found["documents"] == 300
    assert found["words"]["5"]["textkin"]["queries_a_second"] > 0
    [first, *_] = found["claim"]
    assert 0 < first["touched"] <= first["postings"]
    assert first["share"] < 1
