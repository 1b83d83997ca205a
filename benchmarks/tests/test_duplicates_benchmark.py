"""Benchmark of duplicates on tiny sets; its script agrees with textkin."""

import gzip
import json

import pytest

import textkin as tk
from support import load_script

duplicates = load_script("benchmarks/duplicates.py")
TEXTS = [
    "cats purr loudly",
    "Cats purr, loudly!",
    "dogs bark",
    "cats purr",
    "the",
    "dogs, bark",
    "x",
]


@pytest.fixture
def tiny_sets(tmp_path):
    folder = tmp_path / "classification"
    folder.mkdir()
    for name in ("20news", "twitter", "classic"):
        records = [
            {"text": text, "split": "test" if at < 2 else "train"} for at, text in enumerate(TEXTS)
        ]
        lines = "\n".join(map(json.dumps, records))
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return tmp_path


@pytest.mark.parametrize("threshold", [0.0, 0.1, 0.5, 0.99])
def test_script_finds_the_same_pairs(threshold):
    found = tk.find_duplicates(TEXTS, threshold, "cosine")
    expected = duplicates.by_scikit_learn(TEXTS, threshold + 1e-9)
    assert {(0, 1), (2, 5)} <= expected
    assert duplicates.all_pairs(found) == expected


def test_tiny_sets_give_a_report(tiny_sets, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.json"
    monkeypatch.setattr("sys.argv", ["duplicates", "--data", str(tiny_sets), "--result", str(out)])
    duplicates.main()
    report = json.loads(out.read_text())
    rows = {(row["set"], row["by"], row["threshold"]): row for row in report["found"]}
    assert rows["20news", "text", None]["to_remove"] == 2
    assert rows["twitter", "wmd", 0.25]["groups"] == 2
    assert report["script"]["pairs"] == 2
    assert [row["repeated"] for row in report["leaks"]] == [0, 0]
    assert len(capsys.readouterr().out.splitlines()) == len(rows) + 3
