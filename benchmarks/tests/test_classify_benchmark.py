"""Classification benchmark on a tiny set."""

import gzip
import json
import sys
from types import SimpleNamespace

from support import load_script
from textkin import WordMover, WordVectors

classify = load_script("benchmarks/classify.py")


class Peer:
    """Minimal implementation of gensim's `KeyedVectors` for the benchmark."""

    def __init__(self, dimension, count, dtype):
        self.key_to_index = {}

    def add_vectors(self, words, matrix):
        self.key_to_index = dict.fromkeys(words)
        self.mover = WordMover(WordVectors(words, matrix))

    def wmdistance(self, a, b, norm):
        assert not norm
        return self.mover.distance(a, b)


def test_missing_gensim_has_no_time(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    assert classify.gensim_time(None, None, 3) is None


def test_complete_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gensim.models", SimpleNamespace(KeyedVectors=Peer))
    texts = {
        "pets": ["cats purr", "a dog barks", "kittens play", "the puppy sleeps", "my cat"],
        "money": ["stocks fell", "the bank", "interest rates", "shares were sold", "the market"],
    }
    records = [
        {"text": text, "label": label, "split": "test" if at == 0 else "train"}
        for label, of_label in texts.items()
        for at, text in enumerate([*of_label, "the", *of_label])
    ]
    (tmp_path / "classification").mkdir()
    lines = "\n".join(map(json.dumps, records)).encode()
    (tmp_path / "classification" / "r8.jsonl.gz").write_bytes(gzip.compress(lines))
    result = tmp_path / "result.json"
    options = ["--methods", "wmd", "rwmd", "--brute", "2", "--pairs", "3"]
    monkeypatch.setattr(
        sys, "argv", ["classify", "--data", str(tmp_path), "--result", str(result), *options]
    )
    classify.main()
    report = json.loads(result.read_text(encoding="utf-8"))
    assert (report["train"], report["test"]) == (20, 2)
    exact = report["methods"]["wmd"]
    assert exact["error_percent"] == 0
    assert exact["n_neighbors"] == 1
    assert exact["pairs"] == 16 * 4 + 20 * 2
    assert exact["empty"] == {"train": 2, "test": 0}
    assert exact["brute"] == {"documents": 2, "same": 2, "distances": 40}
    assert "brute" not in report["methods"]["rwmd"]
    assert exact["gensim"]["pairs"] == 3
    assert exact["gensim"]["largest_relative_difference"] == 0
    assert "gensim" not in report["methods"]["rwmd"]
    assert capsys.readouterr().out.startswith("wmd: ")
