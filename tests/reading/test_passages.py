"""Tests of paragraphs: splitting at blank lines, complete text, and positions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textkin as tk
from textkin.reading import Document, paragraphs

TEXTS = st.text(st.sampled_from("ab \t\n\r\f\u2028\u00a0é"))


def reference_paragraphs(text):
    """Group consecutive lines that are not blank."""
    groups, current = [], []
    for line in re.split(r"\r\n|\r|\n", text):
        if line.strip():
            current.append(line)
        elif current:
            groups.append(current)
            current = []
    return [*groups, current] if current else groups


@given(TEXTS)
def test_paragraphs_are_runs_of_nonblank_lines(text):
    found = [re.split(r"\r\n|\r|\n", passage.text) for passage in paragraphs(text)]
    expected = [
        [line.lstrip() if i == 0 else line for i, line in enumerate(group)]
        for group in reference_paragraphs(text)
    ]
    expected = [[*group[:-1], group[-1].rstrip()] for group in expected]
    assert found == expected


@given(TEXTS)
def test_spans_locate_passages_with_only_white_space_between(text):
    end = 0
    for passage in paragraphs(text):
        assert text[passage.start : passage.end] == passage.text
        assert text[end : passage.start].strip() == ""
        end = passage.end
    assert text[end:].strip() == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_recognized(end):
    text = end.join(["one", "two", "", "three", " \t ", "", "four", ""])
    assert [p.text for p in paragraphs(text)] == [f"one{end}two", "three", "four"]


def test_text_without_blank_lines_is_one_passage():
    text = "word\n" * 50_000
    [passage] = paragraphs(text)
    assert passage.text == text.rstrip()


def test_many_line_ends_take_linear_time():
    assert paragraphs("\n" * 200_000 + "a") == [tk.reading.Passage("a", 200_000, 200_001)]
    assert len(paragraphs("a\n \t" * 100_000)) == 1


def test_split_numbers_passages_and_keeps_fields():
    whole = Document("d", "One.\n\n  Two.\n", label="x", metadata={"year": 2015})
    first, second = tk.read([whole], split="paragraph")
    assert (first.id, first.text, first.label) == ("d#1", "One.", "x")
    assert second.metadata == {
        "year": 2015,
        "parent_id": "d",
        "passage": 2,
        "passage_start": 8,
        "passage_end": 12,
    }
    assert whole.text[8:12] == second.text == "Two."


@pytest.mark.parametrize("blank", ["", " \n\n\t"])
def test_split_keeps_blank_documents(blank):
    [passage] = tk.read([blank], split="paragraph")
    assert (passage.id, passage.text) == ("0#1", "")
    assert paragraphs(blank) == []


def test_passage_ids_are_unique_across_documents():
    documents = [Document("a", "x\n\ny"), Document("a#1", "x\n\ny")]
    assert tk.read(documents, split="paragraph").ids == ["a#1", "a#2", "a#1#1", "a#1#2"]


def test_split_with_metadata_named_like_a_passage_field_raises():
    with pytest.raises(ValueError, match="position 0: metadata must not have the field 'passage'"):
        list(tk.read([{"text": "a", "passage": 3}], split="paragraph"))
