"""Tests of labeled documents: split fields, errors with file and line, and duplicates."""

import gzip
import json

import numpy as np
import pytest

import textkin as tk
from textkin.evaluate import LabeledData, duplicate_counts, read_labeled, remove_duplicates


def records(*fields):
    return [{"text": f"text {n}", "label": n % 2, **each} for n, each in enumerate(fields)]


def as_lists(data):
    return [(train.tolist(), test.tolist()) for train, test in data.splits]


def write_lines(path, rows):
    content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_split_field_gives_one_split(tmp_path):
    rows = records(*({"split": side} for side in ("train", "test", "Train", "validation")))
    for name in ("data.jsonl", "data.jsonl.gz"):
        data = read_labeled(write_lines(tmp_path / name, rows))
        assert as_lists(data) == [([0, 2], [1])]
        assert data.ids == [f"{name}:{line}" for line in (1, 2, 3, 4)]
    assert data.labels == [0, 1, 0, 1]
    assert repr(data) == "LabeledData(4 documents, 2 classes, 1 split)"


def test_splits_field_in_lists_and_csv(tmp_path):
    sides = (["train", "test"], ["test", "train"], ["train", "train"])
    data = read_labeled(records(*({"splits": each, "split": "train"} for each in sides)))
    wanted = [([0, 2], [1]), ([1, 2], [0])]
    assert as_lists(data) == wanted
    path = tmp_path / "data.csv"
    path.write_text("text,label,splits\na,x,train test\nb,y,test|train\nc,x,train;train\n")
    assert as_lists(read_labeled(path)) == wanted


def test_each_fold_is_tested_once_in_order(tmp_path):
    data = read_labeled(records({"fold": 10, "split": "all"}, {"fold": 2}, {"fold": 10}))
    assert as_lists(data) == [([0, 2], [1]), ([1], [0, 2])]


def test_no_test_side_gives_no_splits():
    for fields in ({}, {"split": "all"}, {"split": "train"}, {"split": None}):
        assert read_labeled(records(fields, fields)).splits == []


def test_other_field_names_by_read(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("key;body;stars\nr1;lovely;5\nr2;dull;1\n")
    data = read_labeled(tk.read(path, text="body", label="stars", id="key", delimiter=";"))
    assert (data.texts, data.labels, data.ids) == (["lovely", "dull"], ["5", "1"], ["r1", "r2"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "a", "label": "x"}, {"text": "b"}], "line 2: there is no label"),
        ([{"text": "a", "label": ""}], "line 1: there is no label"),
        (records({"split": "train"}, {"split": "tset"}), "line 2: 'split' must be one of 'train'"),
        (records({"split": 1}), "line 1: 'split' must be .*; got 1"),
        (records({"split": "train"}, {}), "line 2: there is no 'split', which .* line 1 has"),
        (records({}, {"split": "train"}), "line 1: there is no 'split', which .* line 2 has"),
        (records({"fold": [1]}, {"fold": [2]}), r"line 1: 'fold' must be a .*; got \[1\]"),
        (records({"splits": ["train", "test"]}, {"splits": ["train"]}), "list of 2 sides; got"),
        (records({"splits": 3}), "line 1: 'splits' must be a list of sides; got 3"),
        (
            records({"splits": ["train"]}, {"splits": ["train"]}),
            "number 0 has 2 for training and 0",
        ),
        (records({"fold": 1}, {"fold": 1}), "at least 2 folds; all documents are of 'fold' '1'"),
        ([{"text": 5, "label": "x"}], "line 1: the text .* must be a string"),
        ([], "There are no documents in"),
    ],
)
def test_invalid_records_raise_with_file_and_line(tmp_path, rows, message):
    path = write_lines(tmp_path / "data.jsonl", rows)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        read_labeled(path)
    assert "data.jsonl" in str(caught.value)


def test_hints_name_the_options_of_read(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"text": "a", "label": "x"}\n{nonsense\n')
    with pytest.raises(ValueError, match=r"line 2: .* by .textkin\.read\(\.\.\., errors='skip'\)"):
        read_labeled(path)
    assert len(read_labeled(tk.read(path, errors="skip"))) == 1


def test_file_without_documents_raises(tmp_path):
    path = write_lines(tmp_path / "data.jsonl", [])
    with pytest.raises(ValueError, match=r"There are no documents in '.*data\.jsonl'\.$"):
        read_labeled(path)


def test_empty_split_columns_give_no_splits(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("text,label,splits,split\na,x,,train\nb,y,,test\n")
    assert [side.tolist() for side in read_labeled(path).splits[0]] == [[0], [1]]
    path.write_text("text,label,fold\na,x,\nb,y,\n")
    assert read_labeled(path).splits == []


def test_folds_of_equal_numbers_are_the_same():
    data = read_labeled(records({"fold": 0}, {"fold": 1.0}, {"fold": 0.0}, {"fold": 1}))
    assert [test.tolist() for _, test in data.splits] == [[0, 2], [1, 3]]


def test_max_bytes_limits_the_file(tmp_path):
    path = write_lines(tmp_path / "data.jsonl.gz", records(*[{}] * 2000))
    with pytest.raises(ValueError, match="exceed max_bytes=1000"):
        read_labeled(path, max_bytes=1000)
    with pytest.raises(FileNotFoundError):
        read_labeled(tmp_path / "nothing.jsonl")


def test_take_keeps_splits():
    data = LabeledData(list("abcd"), [1, 2, 1, 2], splits=[([0, 1], [2, 3])])
    part = data.take([3, 1])
    assert (part.texts, part.labels, part.ids) == (["d", "b"], [2, 2], ["3", "1"])
    assert as_lists(part) == [([1], [0])]
    with pytest.raises(ValueError, match=r"rows must be distinct; position 1 is repeated"):
        data.take([1, 1])


def test_random_splits_are_seeded_and_cover_all_documents():
    data = LabeledData(["a"] * 10, [1] * 10)
    drawn = data.with_random_splits(3)
    assert as_lists(drawn) == as_lists(data.with_random_splits(3))
    assert as_lists(drawn) != as_lists(data.with_random_splits(3, random_state=1))
    for train, test in drawn.splits:
        assert sorted([*train, *test]) == list(range(10))
        assert len(test) == 3
    with pytest.raises(
        ValueError, match=r"test must leave .* got 0\.01, which takes 0 of 10 documents"
    ):
        data.with_random_splits(test=0.01)


def test_labels_of_several_types_are_sorted():
    assert LabeledData(["a"] * 4, ["x", 2, "b", 1]).classes == [1, 2, "b", "x"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"labels": [1]}, "must have the same length; got 2, 1 and 2"),
        ({"ids": ["a", "a"]}, "ids must be distinct; 1 of them"),
        ({"splits": [([0], [2])]}, r"splits\[0\] must hold positions from 0 to 1; got 0 to 2"),
        ({"splits": [([0], [0])]}, r"splits\[0\] must name each position once"),
        ({"splits": [([0],)]}, "must be two arrays of positions; got 1"),
    ],
)
def test_inconsistent_data_raise(given, message):
    with pytest.raises(ValueError, match=message):
        LabeledData(**{"texts": ["a", "b"], "labels": [1, 2], **given})


def test_single_text_raises():
    with pytest.raises(TypeError, match="texts and labels must be lists; got one string"):
        LabeledData("ab", ["x", "y"])


def test_duplicates_within_and_across_sides():
    """By hand: 0, 1, 4, and 6 are duplicates; 2 and 5 have no words; 3 is unique."""
    texts = ["Cats purr.", "purr cats", "", "dogs bark", "cats PURR", "...", "cats, purr!"]
    data = LabeledData(texts, list("aabbaab"), splits=[([0, 1, 2, 3], [4, 5, 6]), ([3], [4])])
    found = duplicate_counts(data)
    assert (found.train, found.test, found.across, found.contradicting) == (1, 1, 2, 1)
    assert duplicate_counts(data, 1).across == 0
    left = remove_duplicates(data)
    assert left.ids == ["0", "2", "3", "5"]
    assert as_lists(left) == [([0, 1, 2], [3]), ([2], [])]
    assert remove_duplicates(LabeledData([], [])).texts == []


def test_duplicates_compare_counts():
    data = LabeledData(["cat cat", "cat", "cat cat cat"], [1, 1, 1])
    assert len(remove_duplicates(data)) == 3


def test_duplicates_can_include_stop_words():
    data = LabeledData(["the cat", "a cat", "the the", "a"], [1, 1, 1, 1])
    assert remove_duplicates(data).ids == ["0", "2", "3"]
    assert len(remove_duplicates(data, stop_words=None)) == 4


def test_duplicates_of_a_missing_split_raise():
    with pytest.raises(ValueError, match="data must have a split; got none"):
        duplicate_counts(LabeledData(["a"], [1]))
    with pytest.raises(ValueError, match="split must be an integer at least 0 and at most 0"):
        duplicate_counts(LabeledData(["a", "b"], [1, 2], splits=[([0], [1])]), 1)


def test_real_data(shared_data):
    data = read_labeled(shared_data / "classification" / "twitter.jsonl.gz")
    assert repr(data) == "LabeledData(3115 documents, 3 classes, 5 splits)"
    assert [tuple(map(len, split)) for split in data.splits] == [(2180, 935)] * 5
    assert not np.array_equal(data.splits[0][1], data.splits[1][1])
    assert duplicate_counts(data).across > 0


def test_sub_folders_are_labels(tmp_path):
    for name in ("good/1.txt", "good/more/2.txt", "bad/3.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    data = read_labeled(tmp_path)
    assert dict(zip(data.ids, data.labels, strict=True)) == {
        "bad/3.txt": "bad",
        "good/1.txt": "good",
        "good/more/2.txt": "good",
    }
    assert data.splits == []
    (tmp_path / "4.txt").write_text("of no sub-folder")
    with pytest.raises(ValueError, match=r"4\.txt: there is no label"):
        read_labeled(tmp_path)


def test_train_and_test_folders_are_splits(tmp_path):
    for name in ("train/good/1.txt", "train/bad/2.txt", "test/good/3.txt", "dev/bad/4.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    data = read_labeled(tmp_path)
    assert dict(zip(data.ids, data.labels, strict=True)) == {
        "dev/bad/4.txt": "bad",
        "test/good/3.txt": "good",
        "train/bad/2.txt": "bad",
        "train/good/1.txt": "good",
    }
    [(train, test)] = data.splits
    assert [data.ids[row] for row in train] == ["train/bad/2.txt", "train/good/1.txt"]
    assert [data.ids[row] for row in test] == ["test/good/3.txt"]
