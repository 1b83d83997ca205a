"""Benchmark of adding documents: runs and report. Nothing is timed here."""

import json
from collections import Counter

import pytest

from support import load_script, run_benchmark

adding = load_script("benchmarks/index_adding.py")


def test_synthetic_texts_are_reproducible_and_follow_zipfs_law():
    texts = list(adding.synthetic_texts(3000))
    assert texts == list(adding.synthetic_texts(3000))
    assert len(texts) == 3000
    lengths = [len(text.split()) for text in texts]
    assert min(lengths) >= 1
    assert sum(lengths) / 3000 == pytest.approx(adding.MEAN_WORDS, rel=0.02)
    counts = Counter(word for text in texts for word in text.split())
    first, second = adding.word_of(0), adding.word_of(1)
    assert counts[first] / counts[second] == pytest.approx(2, rel=0.15)


def test_invented_words_differ():
    words = {adding.word_of(rank) for rank in range(20_000)}
    assert len(words) == 20_000
    assert min(map(len, words)) == 3


def test_ratios_are_computed_within_rounds():
    ours = [{"seconds": 1.0, "processor_seconds": 1.0}, {"seconds": 4.0, "processor_seconds": 1.0}]
    theirs = [{"seconds": 3.0, "processor_seconds": 2.0}, {"seconds": 4.0, "processor_seconds": 4}]
    found = adding.ratios(theirs, ours)
    assert found["seconds"] == {"median": 2.0, "range": [1.0, 3.0]}
    assert found["processor_seconds"]["median"] == 3.0


def test_missing_documents_stop_the_benchmark():
    with pytest.raises(SystemExit, match="bm25s has 3 of 4"):
        adding.check_equal("bm25s", {"documents": 3}, {"documents": 4})


@pytest.mark.slow
def test_fast_run(tmp_path):
    path = tmp_path / "index_adding.json"
    arguments = ["--quick", "--collections", "synthetic", "--contenders", "textkin"]
    done = run_benchmark("index_adding.py", *arguments, "--out", path)
    assert done.returncode == 0, done.stderr
    assert "| synthetic (200, 0 MB) | textkin |" in done.stdout
    found = json.loads(path.read_text())["collections"]["synthetic"]
    [run] = found["contenders"]["textkin"]["runs"]
    assert run["documents"] == 200
    assert run["bytes"]["catalogue"] > 0
    assert run["megabytes_peak"] > 0
    assert run["open"]["median_milliseconds"] > 0
