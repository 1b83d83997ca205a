"""The benchmarks of pooling compare equal vectors, and learn from no gold score."""

import gzip
import json

import numpy as np
import pytest

from support import load_script

speed = load_script("benchmarks/pooling.py")
quality = load_script("benchmarks/pooling_sts.py")

TEXTS = ["The cat sat on the mat.", "A dog barks!", "Judges ruled in court", "", "qwertzish"] * 3


@pytest.fixture
def data(tmp_path):
    for name in speed.SETS:
        path = tmp_path / "classification" / f"{name}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(json.dumps({"text": t}) for t in TEXTS).encode()))
    for name in (*quality.TESTS, quality.TRAINING):
        path = tmp_path / "sts" / f"{name}.tsv.gz"
        path.parent.mkdir(exist_ok=True)
        rows = ["dataset\tgold\tsentence1\tsentence2"]
        rows += [f"x.{s}\t{i}\t{TEXTS[i]}\t{TEXTS[(i + 1) % 3]}" for s in "ab" for i in range(3)]
        path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
    return tmp_path


def test_the_plain_mean_is_ours(monkeypatch):
    assert speed.check_equal(TEXTS) < 1e-6
    monkeypatch.setitem(speed.CONTENDERS, "mean", lambda texts: np.ones((len(texts), 100)))
    with pytest.raises(SystemExit, match="differs from the plain mean"):
        speed.check_equal(TEXTS)


def test_a_run_writes_its_result(data, tmp_path, monkeypatch, capsys):
    out = tmp_path / "pooling.json"
    arguments = ["pooling.py", "--quick", "--data", str(data), "--out", str(out)]
    monkeypatch.setattr("sys.argv", arguments)
    speed.main()
    found = json.loads(out.read_text())["sets"]["twitter"]
    assert found["texts"] == len(TEXTS)
    assert found["times_sklearn_tfidf"]["sklearn_tfidf"] == 1
    assert set(found["documents_a_second"]) == set(speed.CONTENDERS)
    assert "| sif_less_1 |" in capsys.readouterr().out


def test_sentences_are_scored_by_every_recipe(data, tmp_path, monkeypatch, capsys):
    recipes = {name: quality.RECIPES[name] for name in ("mean", "SIF by rank, less 1")}
    monkeypatch.setattr(quality, "RECIPES", recipes)
    monkeypatch.setattr(quality, "vectors_of", lambda removed: quality.WordVectors.builtin())
    out = tmp_path / "sts.json"
    monkeypatch.setattr("sys.argv", ["x", "--data", str(data), "--out", str(out)])
    quality.main()
    rows = json.loads(out.read_text())["rows"]
    assert len(rows) == 2 * 2 * 2
    assert set(quality.WHOLE) < set(rows[0]["sts2012-test"])
    assert capsys.readouterr().out.count("| SIF by rank, less 1 |") == 2


def test_scores_do_not_depend_on_gold(data):
    pairs = quality.read_pairs(data, "sts2012-test")
    other = quality.Pairs(pairs.sets, pairs.gold[::-1], pairs.sentences)
    options = {"weights": "usif", "remove_components": 1}
    found = [quality.scores_of(each, each, 0, options) for each in (pairs, other)]
    np.testing.assert_array_equal(*found)
