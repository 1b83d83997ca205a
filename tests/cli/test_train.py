"""``textkin vectors train`` from the user's view."""

import json
import os
import signal
import threading

import numpy as np
import pytest

from textkin.cli import main
from textkin.models import train_word_vectors
from textkin.vectors import WordVectors

LINES = ["The cat and the kitten purr.", "Stocks and shares fell; a cat slept."] * 20
QUICK = ["--dimension", "8", "--seed", "0"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text("\n".join(LINES))
    rows = [json.dumps({"id": "x", "body": line}) for line in LINES]
    (tmp_path / "records.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_train_on_a_folder(here, capsys):
    assert main(["vectors", "train", "a", "-o", "own", *QUICK]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "wrote 10 words, dimension 8, to own; trained on 260 tokens of 1 document\n"
        "Try: textkin vectors nearest cat --vectors own\n"
    )
    assert said.err == ""
    vectors = WordVectors.load("own")
    assert vectors.words[:4] == ("and", "cat", "the", "a")
    again = train_word_vectors(["\n".join(LINES)], 8, random_state=0)
    np.testing.assert_array_equal(vectors.matrix, again.matrix)
    assert main(["vectors", "nearest", "cat", "--vectors", "own", "-n", "1"]) == 0


def test_same_ids_in_several_sources(here, capsys):
    arguments = ["vectors", "train", "a", "b", "records.jsonl", "--text", "body", "-o", "own"]
    assert main([*arguments, "--json", *QUICK]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "output": "own",
        "words": 10,
        "dimension": 8,
        "documents": 42,
        "tokens": 780,
        "epochs": 5,
        "most_frequent": ["and", "cat", "the", "a", "fell", "kitten", "purr", "shares"],
        "skipped": {"count": 0, "reasons": [], "hidden": 0},
        "next": "textkin vectors nearest cat --vectors own",
    }


def test_every_option(here, capsys):
    arguments = (
        "vectors train a -o own --dimension 4 --model cbow --loss hierarchical --negative 3 "
        "--window 2 --subsample 0.01 --min-count 2 --max-words 6 --epochs 2 --learning-rate 0.1 "
        "--min-learning-rate 0.01 --stop-words smart --keep-case --seed 3 --jobs 1"
    )
    assert main(arguments.split()) == 0
    assert "wrote 6 words, dimension 4" in capsys.readouterr().out
    again = train_word_vectors(
        ["\n".join(LINES)],
        4,
        architecture="cbow",
        loss="hierarchical",
        window=2,
        subsample=0.01,
        min_count=2,
        max_words=6,
        epochs=2,
        learning_rate=0.1,
        min_learning_rate=0.01,
        stop_words="smart",
        lowercase=False,
        random_state=3,
    )
    assert WordVectors.load("own").words == again.words
    np.testing.assert_array_equal(WordVectors.load("own").matrix, again.matrix)


def test_unreadable_records_can_be_skipped(here, capsys):
    (here / "bad.jsonl").write_text('{"text": 3}\n' + json.dumps({"text": LINES[0] * 6}) + "\n")
    arguments = ["vectors", "train", "bad.jsonl", "-o", "own", *QUICK]
    assert main(arguments) == 2
    assert "bad.jsonl, line 1" in capsys.readouterr().err
    assert not (here / "own").exists()
    assert main([*arguments, "--skip-errors"]) == 0
    assert "note: skipped 1: bad.jsonl, line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "-o", "own"], "nowhere"),
        (["a"], "Missing option '-o'"),
        (["a", "-o", "b"], "'b' must not exist. Pass another folder."),
        (["a", "-o", "a/same.txt/own"], "a/same.txt' is a file"),
        (["a", "-o", "own", "--jobs", "0"], "--jobs must be"),
        (["a", "-o", "own", "--dimension", "0"], "--dimension must be"),
        (["a", "-o", "own", "--window", "0"], "--window must be"),
        (["a", "-o", "own", "--negative", "0"], "--negative must be"),
        (["a", "-o", "own", "--model", "glove"], "'glove' is not one of"),
        (["a", "-o", "own", "--stop-words", "none-such"], "--stop-words must be a file or one of"),
        (["a", "-o", "own", "--min-count", "90"], "at least 90 times"),
        (["a", "-o", "own", "--min-count", "90"], "Pass a smaller --min-count, or more text"),
        (["a", "-o", "own", "--learning-rate", "1000"], "Pass a smaller --learning-rate; got 1000"),
        (["a", "-o", "own", "--learning-rate", "1e-9"], "--min-learning-rate must be at most"),
    ],
)
def test_invalid_input_prints_one_line(here, capsys, arguments, said):
    assert main(["vectors", "train", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("textkin: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert not (here / "own").exists()


def test_option_names_in_texts_and_paths_are_unchanged(here, capsys):
    """A message called a file named window.jsonl "--window.jsonl"."""
    (here / "window.jsonl").write_text(json.dumps({"epochs": "a cat"}) + "\n")
    assert main(["vectors", "train", "window.jsonl", "-o", "own"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("textkin: window.jsonl, line 1: there is no field 'text'")
    assert "there is 'epochs'" in said
    (here / "words.txt").write_text("dimension window epochs dimension window")
    assert main(["vectors", "train", "words.txt", "-o", "own"]) == 2
    said = capsys.readouterr().err
    assert "at least 5 times" in said
    assert "are 'dimension' (2) and 'window' (2)" in said
    assert "also needs more --epochs" in said


def test_ctrl_c_writes_nothing(here, capsys):
    before = set(os.listdir(here))
    arguments = ["vectors", "train", "a", "-o", "own", "--epochs", "1000000"]
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        assert main(arguments) == 130
    finally:
        timer.join()
        signal.signal(signal.SIGINT, handler)
    assert capsys.readouterr().err == "textkin: interrupted. Nothing was written.\n"
    assert set(os.listdir(here)) == before
