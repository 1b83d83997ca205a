"""Benchmark of Fisher vectors: equal vectors, and correct numbers in the report."""

import gzip
import json
import sys

import pytest

from support import load_script
from textkin import WordVectors

fisher_speed = load_script("benchmarks/fisher_speed.py")

TEXTS = [
    "cats and dogs play with cats",
    "dogs chase cats",
    "a dog, a cat and a horse",
    "horses and dogs eat",
    "cars need fuel and roads",
    "roads for buses and cars",
    "a bus, a car and fuel",
    "trains and buses need fuel",
] * 3


def test_contenders_compute_equal_vectors(monkeypatch):
    monkeypatch.setattr(fisher_speed, "N_COMPONENTS", 2)
    made, sizes = fisher_speed.contenders([*TEXTS, "", "qwertzish"], WordVectors.builtin())
    assert sizes["documents"] == 26
    assert set(fisher_speed.check_equal(made)) == {"textkin_2_threads", "numpy_loop", "numpy_lean"}
    made["products"]()
    made["numpy_lean"] = lambda: made["textkin"]() + 1
    with pytest.raises(SystemExit, match="numpy_lean: vectors differ by 1"):
        fisher_speed.check_equal(made)


def test_complete_run_and_its_report(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "classification"
    folder.mkdir()
    rows = [{"text": text, "label": "a", "split": "train"} for text in TEXTS]
    lines = "\n".join(map(json.dumps, rows))
    (folder / "20news.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    result = tmp_path / "result.json"
    monkeypatch.setattr(fisher_speed, "N_COMPONENTS", 2)
    monkeypatch.setattr(sys, "argv", ["it", "--data", str(tmp_path), "--result", str(result)])
    fisher_speed.main()
    found = json.loads(result.read_text())
    assert found["documents"] == len(TEXTS)
    shown = fisher_speed.render(found)
    assert shown in capsys.readouterr().out
    assert "All 24 documents of 20news" in shown
    assert f"{found['processor_seconds']['times_textkin']['numpy_lean']:.1f} times" in shown
