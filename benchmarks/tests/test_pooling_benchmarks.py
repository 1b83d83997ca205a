"""Benchmark of pooling: equal vectors."""

import gzip
import json

import numpy as np
import pytest

from support import load_script

speed = load_script("benchmarks/pooling.py")

TEXTS = ["The cat sat on the mat.", "A dog barks!", "Judges ruled in court", "", "qwertzish"] * 3


@pytest.fixture
def data(tmp_path):
    for name in speed.SETS:
        path = tmp_path / "classification" / f"{name}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(json.dumps({"text": t}) for t in TEXTS).encode()))
    return tmp_path


def test_plain_mean_equals_pooling(monkeypatch):
    assert speed.check_equal(TEXTS) < 1e-6
    monkeypatch.setitem(speed.CONTENDERS, "mean", lambda texts: np.ones((len(texts), 100)))
    with pytest.raises(SystemExit, match="differs from the plain mean"):
        speed.check_equal(TEXTS)


def test_run_writes_its_result(data, tmp_path, monkeypatch, capsys):
    out = tmp_path / "pooling.json"
    arguments = ["pooling.py", "--quick", "--data", str(data), "--out", str(out)]
    monkeypatch.setattr("sys.argv", arguments)
    speed.main()
    found = json.loads(out.read_text())["sets"]["twitter"]
    assert found["texts"] == len(TEXTS)
    assert found["times_sklearn_tfidf"]["sklearn_tfidf"] == 1
    assert set(found["documents_a_second"]) == set(speed.CONTENDERS)
    assert "| sif_less_1 |" in capsys.readouterr().out
