"""Tests of `Document`: accepted values, labels, metadata, and repr."""

import pickle

import numpy as np
import pytest

from textkin.reading import Document


def test_to_dict_is_flat_and_omits_missing_fields():
    assert Document("a", "b").to_dict() == {"id": "a", "text": "b"}
    whole = Document("a", "b", label=0, metadata={"year": 2015})
    assert whole.to_dict() == {"id": "a", "text": "b", "label": 0, "year": 2015}


@pytest.mark.parametrize("name", ["id", "text", "label"])
def test_to_dict_with_metadata_named_like_a_field_raises(name):
    with pytest.raises(ValueError, match=f"must not have a field '{name}'"):
        Document("a", "b", metadata={name: "other"}).to_dict()


@pytest.mark.parametrize(
    ("id", "text", "error", "message"),
    [
        (1, "b", TypeError, "id must be a string; got 1"),
        ("a", None, TypeError, "text must be a string; got None"),
        ("a", b"b", TypeError, "got b'b' .bytes."),
        ("", "b", ValueError, "id must not be empty"),
        ("a", "half \ud800", ValueError, "character 5 is an unpaired surrogate"),
        ("\udce9", "b", ValueError, "the id is not valid Unicode"),
    ],
)
def test_invalid_id_or_text_raises(id, text, error, message):
    with pytest.raises(error, match=message):
        Document(id, text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": [1]}, r"the label must be a string, a number or None; got \[1\] \(list\)"),
        ({"label": b"x"}, "the label must be"),
        ({"label": np.int64(1)}, r"the label must be .*int64"),
        ({"metadata": 3}, r"the metadata must be a mapping; got 3 \(int\)"),
        ({"metadata": None}, "the metadata must be a mapping; got None"),
        ({"metadata": [("a", 1)]}, "the metadata must be a mapping"),
    ],
)
def test_invalid_label_or_metadata_raises(arguments, message):
    with pytest.raises(TypeError, match=message):
        Document("a", "b", **arguments)


@pytest.mark.parametrize("label", ["x", "", 0, 1.5, True, None])
def test_label_is_unchanged(label):
    assert Document("a", "b", label).label is label


def test_documents_compare_and_pickle_by_value():
    one, same = (Document("a", "b", metadata={"c": [1]}) for _ in range(2))
    assert one == same
    assert {one, same} == {one}
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.text = "other"


def test_repr_truncates_a_long_text():
    shown = repr(Document("a", "word " * 100_000, metadata={"notes": "x" * 1000}))
    assert len(shown) < 300
    assert shown.startswith("Document(id='a', text='word word")
