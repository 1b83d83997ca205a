"""A document: what it may hold, and what it looks like."""

import pickle

import numpy as np
import pytest

from textkin.text import Document


def test_to_dict_is_flat_and_leaves_out_what_is_not_there():
    assert Document("a", "b").to_dict() == {"id": "a", "text": "b"}
    whole = Document("a", "b", label=0, metadata={"year": 2015})
    assert whole.to_dict() == {"id": "a", "text": "b", "label": 0, "year": 2015}


@pytest.mark.parametrize("name", ["id", "text", "label"])
def test_metadata_never_hides_the_documents_own_fields(name):
    with pytest.raises(ValueError, match=f"field '{name}' of its own"):
        Document("a", "b", metadata={name: "other"}).to_dict()


@pytest.mark.parametrize(
    ("id", "text", "error", "message"),
    [
        (1, "b", TypeError, "id must be a string; got 1"),
        ("a", None, TypeError, "text must be a string; got None"),
        ("a", b"b", TypeError, "got b'b' .bytes."),
        ("", "b", ValueError, "id must not be empty"),
        ("a", "half \ud800", ValueError, "character 5 is half of a surrogate pair"),
        ("\udce9", "b", ValueError, "the id is not valid Unicode"),
    ],
)
def test_what_is_no_document(id, text, error, message):
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
def test_labels_and_metadata_that_are_none(arguments, message):
    with pytest.raises(TypeError, match=message):
        Document("a", "b", **arguments)


@pytest.mark.parametrize("label", ["x", "", 0, 1.5, True, None])
def test_labels(label):
    assert Document("a", "b", label).label is label


def test_documents_are_values():
    one, same = (Document("a", "b", metadata={"c": [1]}) for _ in range(2))
    assert one == same
    assert {one, same} == {one}
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.text = "other"


def test_a_long_text_is_cut_in_the_repr():
    shown = repr(Document("a", "word " * 100_000, metadata={"notes": "x" * 1000}))
    assert len(shown) < 300
    assert shown.startswith("Document(id='a', text='word word")
