"""Tests of the example that scores sentence pairs: saved models, input files, and messages."""

import gzip
import sys

import pytest

from support import load_script

example = load_script("examples/score_sentences.py")

TEXTS = [
    "cats sleep", "cats and dogs sleep", "dogs bark at cats", "dogs bark and sleep",
    "banks lend money", "money is lent by banks", "banks keep money", "they keep lending money",
]  # fmt: skip


@pytest.fixture(scope="module")
def model():
    with pytest.MonkeyPatch.context() as patch:
        # the paper's rank of 20 needs about 100,000 texts
        patch.setattr(example, "REGULARIZATION", 0.1)
        return example.SentenceModel.learn(TEXTS, 2)


def test_sentences_on_one_topic_score_higher(model):
    first = ["a sleeping cat", "a sleeping cat"]
    near, far = model.score(first, ["the dogs barked", "banks lend money"])
    assert near > 0.9
    assert abs(far) < 0.1


def test_sentence_without_known_words_scores_zero(model):
    assert model.score(["xyzzy", ""], ["a cat", ""]).tolist() == [0, 0]


def test_saved_model_gives_the_same_scores(model, tmp_path):
    model.save(tmp_path / "kept")
    again = example.SentenceModel.load(tmp_path / "kept")
    sides = TEXTS[:4], TEXTS[4:]
    assert again.score(*sides).tolist() == model.score(*sides).tolist()


def test_texts_of_data_sets_are_read(tmp_path):
    tables = {
        "text/wordnet_glosses": ["synset\tlemmas\tdefinition\texamples", 'n1\ta|b\tc "d\t"e"'],
        "text/gcide_definitions": ["headword\tpos\tdefinition", "f\tv. t.\tg", "h\tprep.\ti"],
        "text/brown": ["category\tfile\tsentence", "news\tca01\tj"],
        "sts/sts2012-train": ["dataset\tgold\tsentence1\tsentence2", "x\t1\tk\tl"],
    }
    for name, lines in tables.items():
        path = tmp_path / f"{name}.tsv.gz"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert list(example.shared_texts(tmp_path)) == ['a b c "d "e"', "f g", "j", "k", "l"]


def test_pairs_of_a_file_are_read(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("one\ttwo\nthree\tfour\n", encoding="utf-8")
    assert example.read_pairs(path) == [("one", "two"), ("three", "four")]
    path.write_text("one\ttwo\nalone\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: expected two sentences.*; got 1 part\."):
        example.read_pairs(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alone"], "two sentences required; got 1"),
        (["a", "b", "--pairs", "x"], "pass two sentences or --pairs"),
        (["--load", "x", "--data", "y"], "cannot be combined with --data or --save"),
        (["--save", "."], "already exists"),
        (["--load", "nowhere"], "nowhere"),
        (["--pairs", "nowhere.tsv"], "nowhere.tsv"),
        (["--data", "nowhere"], "nowhere"),
    ],
)
def test_invalid_arguments_exit_with_a_message(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["score_sentences.py", *arguments])
    with pytest.raises(SystemExit) as told:
        example.main()
    assert message in f"{told.value}{capsys.readouterr().err}"
