"""Documents with several texts: reading, joining, and passages."""

import pickle

import pandas as pd
import pytest

from textkin import read
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.reading import Document

NAMES = ["title", "body"]


def test_text_joins_the_fields_with_blank_lines():
    records = [
        {"id": "a", "title": "Cats", "body": "Cats purr.", "year": 2015},
        {"id": "b", "title": None, "body": "Dogs bark."},
        {"id": "c", "title": "Birds", "body": float("nan"), "label": "pets"},
        {"id": "d", "title": "", "body": ""},
    ]
    found = list(read(records, text=NAMES))
    assert [one.text for one in found] == ["Cats\n\nCats purr.", "Dogs bark.", "Birds", ""]
    assert [dict(one.fields) for one in found] == [
        {"title": "Cats", "body": "Cats purr."},
        {"title": "", "body": "Dogs bark."},
        {"title": "Birds", "body": ""},
        {"title": "", "body": ""},
    ]
    assert found[0].metadata == {"year": 2015}
    assert found[2].label == "pets"
    assert found[0].to_dict() == records[0]
    assert repr(found[1]) == "Document(id='b', fields={'title': '', 'body': 'Dogs bark.'})"
    assert pickle.loads(pickle.dumps(found)) == found
    (swapped,) = read(records[:1], text=("body", "title"))
    assert swapped.text == "Cats purr.\n\nCats"
    assert swapped != found[0]


def test_single_name_is_a_text_without_fields():
    (found,) = read([{"body": "Cats"}], text="body")
    assert found == Document("0", "Cats")
    assert found.fields == {}
    (found,) = read([{"body": "Cats"}], text=["body"])
    assert found.fields == {"body": "Cats"}


def test_table_must_have_all_fields(tmp_path):
    (tmp_path / "pets.csv").write_text("title,body\nCats,Cats purr.\n,Dogs bark.\n")
    found = list(read(tmp_path / "pets.csv", text=NAMES))
    assert [one.text for one in found] == ["Cats\n\nCats purr.", "Dogs bark."]
    with pytest.raises(ValueError, match="there is no field 'head'; there are 'title', 'body'"):
        list(read(tmp_path / "pets.csv", text=["head", "body"]))
    with pytest.raises(ValueError, match="no field 'body'"):
        list(read(pd.DataFrame({"title": ["Cats"]}), text=NAMES))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "Cats"}, r"no field 'title' or 'body'.*text=\['title', 'body'\]"),
        ({"title": None, "body": pd.NA}, r"the text \(field 'title' or 'body'\) is missing"),
        ({"title": 3}, r"the text \(field 'title'\) must be a string; got 3"),
        (
            {"title": "Cats", "metadata": {"body": "x"}},
            "'body' is in the record and in its mapping",
        ),
    ],
)
def test_records_without_texts_are_errors_or_skipped(record, message):
    with pytest.raises((ValueError, TypeError), match=message):
        list(read([record], text=NAMES))
    documents = read([record, {"title": "Dogs"}], text=NAMES, errors="skip")
    assert [one.text for one in documents] == ["Dogs"]
    assert documents.skipped.count == 1


def test_passages_keep_their_field():
    record = {"id": "a", "title": "Cats", "body": "Cats purr.\n\nCats sleep.\n", "foot": ""}
    found = list(read([record], text=["title", "body", "foot"], split="paragraph"))
    assert [(one.id, one.text) for one in found] == [
        ("a#1", "Cats"),
        ("a#2", "Cats purr."),
        ("a#3", "Cats sleep."),
    ]
    assert [one.fields["title"] for one in found] == ["Cats", "", ""]
    assert [one.fields["body"] for one in found] == ["", "Cats purr.", "Cats sleep."]
    whole = next(iter(read([record], text=["title", "body", "foot"]))).text
    for one in found:
        place = one.metadata
        assert whole[place["passage_start"] : place["passage_end"]] == one.text
    (blank,) = read([{"title": " ", "body": ""}], text=NAMES, split="paragraph")
    assert (blank.text, dict(blank.fields)) == ("", {"title": "", "body": ""})


@pytest.mark.parametrize("text", [[], ["a", "a"], ["id"], ["label", "body"], ["a", ""], ["\n"]])
def test_invalid_names_raise(text):
    with pytest.raises(ParameterError, match="text must be the name of a field"):
        read([], text=text)


@pytest.mark.parametrize("text", [3, b"title", [3], {"title": 3}])
def test_names_of_wrong_types_raise(text):
    with pytest.raises(ParameterTypeError, match="text must be the name of a field"):
        read([], text=text)


def test_document_must_consist_of_its_fields():
    made = Document.of_fields("a", {"title": "Cats", "body": ""}, "pets", {"year": 2015})
    assert made == Document("a", "Cats", "pets", {"year": 2015}, {"title": "Cats", "body": ""})
    with pytest.raises(ValueError, match=r"Document\.of_fields"):
        Document("a", "Dogs", fields={"title": "Cats"})
    with pytest.raises(TypeError, match="the text of 'title' must be a string; got 3"):
        Document.of_fields("a", {"title": 3})
    with pytest.raises(TypeError, match="must be a mapping"):
        Document.of_fields("a", ["Cats"])
    with pytest.raises(TypeError, match="must be a mapping"):
        Document("a", "Cats", fields=["Cats"])
    with pytest.raises(ValueError, match="must not have a field 'title'"):
        Document.of_fields("a", {"title": "Cats"}, metadata={"title": "Cats"}).to_dict()
