"""A document: what it may hold, and what it looks like."""

import pickle

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
