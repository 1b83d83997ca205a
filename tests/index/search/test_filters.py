"""Filters, compared with a check of every document; and their texts."""

import json
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import load_script
from textkin import Index
from textkin.index import Filter, filter_documents, parse_filter
from textkin.index.search import _columns
from textkin.reading import Document

PAPERS = load_script("tests/index/search/paper_records.py").PAPERS
FIELDS = ["id", "label", "year", "tags", "author.name", "a.b", "a", "nowhere", "and", "not"]
SCALARS: list[Any] = [
    None, True, False, 0, 1, 1.0, 2, -3, 2.5, 2**53, 2**53 + 1, 10**30, "1", "", "en", "de",
    "10", "-3", "2015-01-01", "2016-05-05", "true", "null", "d3", "d17", "é", "in", "x y", "it's",
    '"q"', "\\",
]  # fmt: skip
SYMBOLS = ["==", "!=", "<", "<=", ">", ">="]


# ---------------------------------------------------------------------- reference


def values(document: Document, field: str) -> list[Any]:
    """Return the value of a field in a document."""
    if field == "id":
        return [document.id]
    if field == "label":
        return [document.label]
    return reached(dict(document.metadata), field)


def reached(found: Any, path: str | None) -> list[Any]:
    if isinstance(found, list):
        return [value for item in found for value in reached(item, path)]
    if path is None:
        return [found]
    if not isinstance(found, dict):
        return []
    if path in found:
        return reached(found[path], None)
    first, _, rest = path.partition(".")
    return reached(found[first], rest) if "." in path and first in found else []


def kind(value: Any) -> str:
    for name, kinds in (("bool", bool), ("number", (int, float)), ("str", str)):
        if isinstance(value, kinds):
            return name
    return "none" if value is None else "other"


def number_of(value: Any) -> float | None:
    """Return a number, or the number that a string is written as in JSON."""
    if kind(value) == "number":
        return value
    if kind(value) == "str":
        with suppress(ValueError):
            read = json.loads(value) if value == value.strip() else None
            return read if kind(read) == "number" else None
    return None


def compares(value: Any, symbol: str, other: Any) -> bool:
    # a string that is written as a number is equal to numbers, and ordered as one
    both = kind(value) == "str" and None not in (number_of(value), number_of(other))
    if both and (kind(other) == "number" or symbol not in ("==", "!=")):
        value, other = number_of(value), number_of(other)
    equal = kind(value) == kind(other) and value == other
    if symbol in ("==", "!="):
        return equal == (symbol == "==")
    if kind(value) != kind(other):
        return False
    return {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[
        symbol
    ]


def holds(where: dict[str, Any], document: Document) -> bool:
    return all(entry_holds(field, asked, document) for field, asked in where.items())


def entry_holds(field: str, asked: Any, document: Document) -> bool:
    if field in ("and", "or") and isinstance(asked, list) and all(type(a) is dict for a in asked):
        return (all if field == "and" else any)(holds(part, document) for part in asked)
    if field == "not" and isinstance(asked, dict):
        return not holds(asked, document)
    found = values(document, field)
    if isinstance(asked, list):
        asked = {"in": asked}
    if not isinstance(asked, dict):
        asked = {"==": asked}
    for operator, value in asked.items():
        if operator == "exists":
            fits = any(one is not None for one in found) == value
        elif operator == "in":
            fits = any(compares(one, "==", wanted) for one in found for wanted in value)
        else:
            fits = any(compares(one, operator, value) for one in found)
        if not fits:
            return False
    return True


# ---------------------------------------------------------------------- many documents


def some_metadata(rng: Random) -> dict[str, Any]:
    def any_value(depth: int = 0) -> Any:
        what = rng.randrange(8 if depth < 2 else 5)
        if what < 5:
            return rng.choice(SCALARS)
        if what < 7:
            return [any_value(depth + 1) for _ in range(rng.randrange(4))]
        return {rng.choice(["name", "b", "c"]): any_value(depth + 1)}

    found: dict[str, Any] = {}
    for field in ("year", "tags", "a", "a.b", "author", "and", "not"):
        if rng.random() < 0.6:
            found[field] = any_value()
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Return an index of several segments with deleted documents."""
    rng = Random(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textkin.index.store._writer._TAIL_DOCUMENTS", 20)
        patch.setattr(_columns, "_CHUNK", 17)
        with Index.create(tmp_path_factory.mktemp("filters") / "test.kin", language=None) as index:
            for start in range(0, 150, 25):
                index.add(
                    Document(f"d{n}", "word", rng.choice([None, "en", 1, True]), some_metadata(rng))
                    for n in range(start, start + 25)
                )
            index.delete([f"d{n}" for n in range(0, 150, 7)])
            yield index


def conditions() -> st.SearchStrategy[dict[str, Any]]:
    scalars = st.sampled_from(SCALARS)
    ordered = st.sampled_from([value for value in SCALARS if kind(value) in ("number", "str")])
    operators = st.one_of(
        st.tuples(st.sampled_from(SYMBOLS[:2]), scalars),
        st.tuples(st.sampled_from(SYMBOLS[2:]), ordered),
        st.tuples(st.just("in"), st.lists(scalars, max_size=4)),
        st.tuples(st.just("exists"), st.booleans()),
    )
    asked = st.one_of(
        scalars,
        st.lists(scalars, min_size=1, max_size=3),
        st.lists(operators, min_size=1, max_size=2).map(dict),
    )
    plain = st.dictionaries(st.sampled_from(FIELDS[:-2]), asked, min_size=1, max_size=2)
    odd = st.dictionaries(st.sampled_from(["and", "not"]), scalars, min_size=1, max_size=1)
    return st.one_of(plain, odd)


def filters() -> st.SearchStrategy[dict[str, Any]]:
    return st.recursive(
        conditions(),
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts}),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts}),
            inner.map(lambda part: {"not": part}),
        ),
        max_leaves=6,
    )


@given(where=filters())
def test_filter_matches_check_of_every_document(store: Index, where: dict[str, Any]) -> None:
    expected = [document.id for document in store if holds(where, document)]
    assert store.search("word", 200, where=where).ids == expected
    assert store.search("word", 200, where=str(parse_filter(where))).ids == expected
    documents = [*store]  # the same documents without an index
    found = filter_documents(documents, parse_filter(where)).rows
    assert [document.id for document, there in zip(documents, found, strict=True) if there] == (
        expected
    )


@given(where=filters())
def test_str_of_a_filter_is_a_filter(where: dict[str, Any]) -> None:
    asked = parse_filter(where)
    again = parse_filter(str(asked))
    assert again == asked
    assert hash(again) == hash(asked)
    assert parse_filter(json.dumps(where)) == asked
    assert repr(asked) == f"Filter({str(asked)!r})"


@given(text=st.text(st.sampled_from("ab=<>!()\"'\\, {}0.innotrexs"), max_size=30))
def test_any_text_is_a_filter_or_raises_filter_error(text: str) -> None:
    asked = None
    with suppress(TypeError, ValueError):
        asked = parse_filter(text)
    assert asked is None or parse_filter(str(asked)) == asked


# ---------------------------------------------------------------------- meaning


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({"year": 2015}, "a"),
        ({"year": "MMXV"}, "c"),
        ({"year": {">=": 2010, "<": 2015}}, "b"),
        ({"year": {"!=": 2015}}, "bc"),
        ({"not": {"year": 2015}}, "bcd"),
        ({"lang": ["en", "de"]}, "ab"),
        ({"lang": {"in": ("en",)}}, "a"),
        ({"lang": {"en", "xx"}}, "a"),
        ({"lang": []}, ""),
        ({"lang": None}, "c"),
        ({"lang": {"exists": True}}, "ab"),
        ({"lang": {"exists": False}}, "cd"),
        ({"tags": "new"}, "a"),
        ({"tags": {"!=": "new"}}, "a"),
        ({"tags": {"exists": True}}, "a"),
        ({"author.name": "Rocchio"}, "c"),
        ({"authors.name": "B"}, "d"),
        ({"author": {"exists": True}}, "c"),
        ({"author": {"!=": "x"}}, "c"),
        ({"label": "spam"}, "b"),
        ({"label": None}, "acd"),
        ({"id": ["a", "d", "zz"]}, "ad"),
        ({"id": {">": "b"}}, "cd"),
        ({"year": 2015, "lang": "en"}, "a"),
        ({"year": 2015, "lang": "de"}, ""),
        ({"or": [{"year": 2015}, {"lang": "de"}]}, "ab"),
        ({}, "abcd"),
        ("year >= 2010 and not lang = en", "b"),
        ("lang not in (en, de)", "cd"),
        ("LANG = en or exists(doi)", "b"),
        ('{"year": 2015}', "a"),
        ({"year": np.int64(2015)}, "a"),
        ({"year": np.float32(2015)}, "a"),
        ({"year": {"<=": 2014.5}}, "b"),
    ],
)
def test_filter_selects_documents(papers: Index, where: Any, ids: str) -> None:
    assert sorted(papers.search("x", where=where).ids) == list(ids)
    assert sorted(papers.similar("a", where=where).ids) == [id for id in ids if id != "a"]


def test_key_with_dots_precedes_nested_key(index: Index) -> None:
    index.add([{"id": "a", "text": "x", "a.b": 1, "a": {"b": 2}}])
    assert index.search("x", where={"a.b": 1}).ids == ["a"]
    assert index.search("x", where={"a.b": 2}).ids == []


def test_numbers_are_compared_exactly(index: Index) -> None:
    index.add([{"id": str(n), "text": "x", "n": 2**60 + n} for n in range(4)])
    assert index.search("x", where={"n": 2**60 + 1}).ids == ["1"]
    assert index.search("x", where={"n": {">": 2**60 + 1}}).ids == ["2", "3"]
    assert index.search("x", where={"n": float(2**60)}).ids == ["0"]


def test_strings_written_as_numbers_count_as_numbers(index: Index) -> None:
    prices = ["5", "20", "100", "250", "-1.5", "1e3", "007", "free", "", "NaN", " 5", 20]
    index.add([{"id": str(at), "text": "x", "price": price} for at, price in enumerate(prices)])

    def found(where: str) -> list[Any]:
        return [prices[int(id)] for id in index.search("x", 20, where=where).ids]

    assert found("price >= 100") == ["100", "250", "1e3"]
    assert found("price < 20") == ["5", "-1.5"]
    assert found("price = 20") == ["20", 20]
    assert found("price = 1000.0") == ["1e3"]
    assert found("price in (5, 20)") == ["5", "20", 20]
    assert found("price = '20'") == ["20"]
    assert found("price >= '100' and price < '9'") == []  # as numbers, although quoted
    assert found("price >= '100' and price <= '250'") == ["100", "250"]
    assert found("price > 'f'") == ["free"]
    assert found("price <= '07'") == ["-1.5", "007", "", " 5"]  # by code point


def test_number_compared_with_other_strings_is_reported(index: Index) -> None:
    index.add([{"id": str(day), "text": "x", "date": f"2015-06-{day}"} for day in (10, 20)])
    hits = index.search("x", where="date >= 2015")
    assert hits.ids == []
    assert "strings that are not numbers: quote the value, as in date >= '2015'" in hits.notes[0]
    assert index.search("x", where="date >= '2015-06-15'").ids == ["20"]


def test_unknown_field_is_reported(papers: Index) -> None:
    hits = papers.search("x", where={"no_such": 2015})
    assert (hits.ids, hits.unknown_fields) == ([], ("no_such",))
    assert hits.notes == ("No document has the field 'no_such'.",)
    hits = papers.search("x", where={"or": [{"year": 2015}, {"b": 1}, {"c": 1}]})
    assert (hits.ids, hits.unknown_fields) == (["a"], ("b", "c"))
    assert papers.search("x", where={"year": 1900}).notes == ("The filter matches no documents.",)


def test_stats_count_all_documents(papers: Index) -> None:
    every = papers.search("x", 10)
    some = papers.search("x", 10, where={"id": "c"})
    assert some[0].score == every[every.ids.index("c")].score
    assert (some.stats["documents"], some.stats["searched"]) == (4, 1)


def test_filters_see_new_documents(index: Index) -> None:
    index.add(PAPERS)
    assert index.search("x", where={"year": 2015}).ids == ["a"]
    index.update([{"id": "b", "text": "x", "year": 2015}])
    index.delete("a")
    assert index.search("x", where={"year": 2015}).ids == ["b"]


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("where", "error", "words"),
    [
        (3, TypeError, "a mapping such as {'year': 2015}, a text .* got int"),
        ({3: 1}, TypeError, "fields of a filter must be strings; got int"),
        ({"": 1}, ValueError, "must have a name"),
        ({"a": {"~": 1}}, ValueError, "unknown operator '~'; expected one of .* use 'a.~'"),
        ({"a": {}}, ValueError, "the filter on 'a' must not be empty"),
        ({"a": {">": None}}, TypeError, "> compares with a number or a string; got null"),
        ({"a": {">=": True}}, TypeError, "compares with a number or a string; got true"),
        ({"a": {"exists": 1}}, TypeError, "exists must be True or False; got 1"),
        ({"a": {"in": "en"}}, TypeError, "in must have a list of values; got 'en'"),
        ({"a": {"in": [[1]]}}, TypeError, "a string, a number, True, False or None; got .*list"),
        ({"a": object()}, TypeError, r"a string, a number, True, False or None"),
        ({"a": np.datetime64("2015-01-01")}, TypeError, "must be a string, a number"),
        ({"a": __import__("datetime").date(2015, 1, 1)}, TypeError, "value.isoformat()"),
        ({"a": float("nan")}, ValueError, "must be a finite number; got nan"),
        ({"a": 10**2000}, ValueError, "at most 4096 bits"),
        ({"a": "\ud800"}, ValueError, "unpaired surrogate"),
        ({">=": 3}, ValueError, "got the operator '>='"),
        ({"and": []}, ValueError, "at least one filter"),
        ({"and": [{"a": 1}, 2]}, TypeError, "a list of filters, or"),
        ({"or": [{"a": 1}, {}]}, ValueError, "a nested filter must have at least one condition"),
        ({"not": {}}, ValueError, "a nested filter must have at least one condition"),
        ("", ValueError, "must not be empty text"),
        ("  ", ValueError, "must not be empty text"),
        ("year", ValueError, r"expected an operator after the field 'year' .*\(character 5"),
        ("year >", ValueError, r"expected a value here.*\(character 7: 'year ><here>'\)"),
        ("year > true", ValueError, r"got true.*\(character 8"),
        ("a=1 b=2", ValueError, r"expected 'and', 'or' or the end here \(character 5"),
        ("a = not", ValueError, "quote the keyword 'not'"),
        ("and = 3", ValueError, "expected a field"),
        ("(a=1", ValueError, r"expected '\)' here \(character 5"),
        ("a in 3", ValueError, r"expected '\(' here \(character 6"),
        ("a in (1 2)", ValueError, r"expected '\)' here \(character 9"),
        ("a not 3", ValueError, "expected 'in' after 'not'"),
        ("a = 'x", ValueError, r"quote ' that opens here is never closed \(character 5"),
        ("a = {1}", ValueError, r"unexpected '{'.*\(character 5"),
        ('a = "\\q"', ValueError, "an invalid JSON escape"),
        ("a = 1e999", ValueError, r"this number is too large \(character 5"),
        ("a = " + "9" * 5000, ValueError, "this number is too large"),
        ("'' = 1", ValueError, "must have a name"),
        ("exists()", ValueError, "expected the name of a field"),
        ('{"a": ', ValueError, "must be a JSON object if it starts with"),
        ('{"a": 1} or b=2', ValueError, "must be a JSON object if it starts with"),
        ("[" * 3, ValueError, "expected an operator"),
        ("(" * 50 + "a=1" + ")" * 50, ValueError, "nested deeper than 32"),
        ("not " * 50 + "a=1", ValueError, "nested deeper than 32"),
        ("a" * (1 << 20) + "=1", ValueError, "at most 1,048,576 characters"),
    ],
)
def test_invalid_filter_names_the_expected_token(
    papers: Index, where: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        parse_filter(where)
    with pytest.raises(error, match=words):
        papers.search("x", where=where)


def test_deeply_nested_mapping_raises() -> None:
    where: dict[str, Any] = {"a": 1}
    for _ in range(31):
        where = {"not": where}
    assert parse_filter(str(parse_filter(where))) == parse_filter(where)
    with pytest.raises(ValueError, match="nested deeper than 32"):
        parse_filter({"not": where})
    with pytest.raises(ValueError, match="must be a JSON object if it starts with"):
        parse_filter('{"not":' * 100_000)


def test_equal_filters_have_one_form() -> None:
    asked = parse_filter("year>=2010 and (lang in (en, de) or not label=spam) and exists(doi)")
    assert asked == parse_filter(
        {
            "year": {">=": 2010},
            "or": [{"lang": ["de", "en", "en"]}, {"not": {"label": "spam"}}],
            "doi": {"exists": True},
        }
    )
    assert isinstance(asked, Filter)
    assert parse_filter(asked) is asked
    assert str(asked) == ("year >= 2010 and (lang in (de, en) or not label = spam) and exists(doi)")
    assert parse_filter("a = 1") != parse_filter("a = true")
    assert parse_filter("a = 1") == parse_filter("a == 1.0") == parse_filter({"a": [1]})
    assert parse_filter("a = 1") != parse_filter("a = '1'")
    assert parse_filter("a <> 1") == parse_filter({"a": {"!=": 1}})
    assert parse_filter("A = x OR b = y") == parse_filter({"or": [{"A": "x"}, {"b": "y"}]})
    assert parse_filter("(a=1 and b=2) and c=3") == parse_filter({"a": 1, "b": 2, "c": 3})
    assert parse_filter({"a": "\x1b[0m"}) == parse_filter(str(parse_filter({"a": "\x1b[0m"})))
    assert str(parse_filter({"a": "\x1b\u202e"})).isprintable()
