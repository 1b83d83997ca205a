"""Classifier benchmark on a small set; only documents without labels are classified."""

import gzip
import json
import sys

import numpy as np
import pytest

from support import load_script

classifiers = load_script("benchmarks/classifiers.py")
GROUPS = {"a": "cat dog purr bark", "b": "bank loan share bond"}


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(0)
    rows = []
    for number in range(60):
        label = "ab"[number % 2]
        text = " ".join(random.choice(GROUPS[label].split(), 4))
        rows.append({"text": text, "label": label, "split": "test" if number > 40 else "train"})
    (tmp_path / "classification").mkdir()
    lines = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "classification" / "tiny.jsonl.gz").write_bytes(gzip.compress(lines))
    return tmp_path


def test_report_has_all_errors(data, monkeypatch, capsys):
    monkeypatch.setattr(classifiers, "FEW", {"tiny": (40,)})
    out = data / "result.json"
    words = ["--data", str(data), "--out", str(out), "--draws", "2", "--sets", "tiny"]
    monkeypatch.setattr(sys, "argv", ["classifiers.py", *words])
    classifiers.main()
    report = json.loads(out.read_text())
    assert report["whole"]["tiny"]["rocchio"] == report["whole"]["tiny"]["svm"] == 0
    found = report["few"]["tiny, 40 texts"]
    assert all(len(values) == 2 for values in found.values())
    assert max(found["rocchio, tf-idf"]) < 40
    assert "fisher kernel" in capsys.readouterr().out


def test_only_unlabeled_documents_are_classified(data, monkeypatch):
    corpus = classifiers.read(data / "classification" / "tiny.jsonl.gz")

    def echo(_bags):
        return {"echo": lambda labels: np.where(labels < 0, 9, labels)}

    monkeypatch.setattr(classifiers, "contenders", echo)
    assert classifiers.few(corpus, 40, 2) == {"echo": [100.0, 100.0]}
