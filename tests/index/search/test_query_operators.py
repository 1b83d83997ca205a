"""Tests for operators in query texts: the parser, and the search compared with a slow reference."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import Index
from textkin.exceptions import ParameterError
from textkin.index import Cascade, RankFusion, SearchRequest, WeightedSum
from textkin.index.search import _searcher
from textkin.index.search._query_parser import OPERATOR_MARKS, ParsedQuery, parse_query

WORDS = ["cat", "dog", "bird", "fish", "red", "the"]
RECORDS = [
    {"id": "a", "text": "The best pizza in New York City", "label": "food", "year": 2010},
    {"id": "b", "text": "New pizza places, and York has a castle", "label": "food", "year": 2012},
    {"id": "c", "text": "New York is cheap. Pizza!", "label": "travel", "year": "2015"},
    {"id": "d", "text": "Well-known C++ compilers: -5 degrees", "label": "tech", "hot": True},
]
RANKINGS = [
    "bm25",
    "tfidf",
    "wmd",
    "hybrid",
    WeightedSum({"bm25": 0.5, "wmd": 0.5}),
    RankFusion(["bm25", "tfidf"]),
    Cascade("bm25", "tfidf", candidates=3),
]


@pytest.fixture
def pizzas(index: Index) -> Index:
    index.add(RECORDS)
    return index


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words",
        "well-known state-of-the-art",
        "C++ and c++",
        "-5 +1 -2,5",
        "a - b + c -- d",
        "http://example.org/a:b 12:30 std::vector",
        '5" disk and 3" disk',
        '"never closed',
        "closed never”",
        "'single quotes'",
        '"" ""',
        "--option -- +",
        "rock'n'roll +-",
        "x" * 10_000 + "-" * 10_000,
    ],
)
def test_ordinary_text_has_no_operators(text):
    found = parse_query(text, "operators")
    assert found.clauses == ()
    assert found.fields == ()
    assert found.text.split() == text.replace('""', "").split()


@pytest.mark.parametrize(
    ("text", "ranked", "required", "excluded", "where"),
    [
        ('"new york"', "new york", ["new york"], [], None),
        ("“new york” pizza", "new york pizza", ["new york"], [], None),
        ('best -"new york".', "best .", [], ["new york"], None),
        ('+"new york", +pizza', "new york, pizza", ["new york", "pizza"], [], None),
        ("+C++ -well-known", "C++", ["C++"], ["well-known"], None),
        ("label:sport goal", "goal", [], [], "label = sport"),
        ('author:"Jane Doe", x', 'author:"Jane Doe", x', [], [], None),
        ('author:"Jane Doe" x', "x", [], [], 'author = "Jane Doe"'),
        ("year:2015", "", [], [], 'year in (2015, "2015")'),
        ("-year:2015", "", [], [], 'not year in (2015, "2015")'),
        ("year:>=2015", "", [], [], 'year >= 2015 or year >= "2015"'),
        ("hot:true", "", [], [], 'hot in (true, "true")'),
        ("t:-5..5", "", [], [], '(t >= -5 and t <= 5) or (t >= "-5" and t <= "5")'),
        ("day:a..c", "", [], [], "day >= a and day <= c"),
        ("re:-", "re:-", [], [], None),
    ],
)
def test_operators_are_parsed(text, ranked, required, excluded, where):
    found = parse_query(text)
    assert found.text == ranked
    assert [one.text for one in found.clauses if not one.excluded] == required
    assert [one.text for one in found.clauses if one.excluded] == excluded
    assert (None if found.where is None else str(found.where)) == where


def test_long_texts_are_plain_unless_requested():
    long = '"new york" ' + "word " * 15
    assert parse_query(long).too_long
    assert parse_query(long).text == long
    assert parse_query('"a b"\nand more').too_long
    assert not parse_query('"a b"\n').too_long
    assert parse_query(long, "operators").clauses
    assert parse_query('"new york"', "plain").clauses == ()


def test_too_many_operators_raise():
    with pytest.raises(ParameterError, match=r"at most 32 operators; got 33\. Pass `syntax='plain"):
        parse_query("+a " * 33, "operators")


@given(st.text(max_size=60))
def test_any_text_is_parsed(text):
    found = parse_query(text, "operators")
    assert parse_query(text, "plain").text == text
    if not found.clauses and not found.fields and '"' not in text and "“" not in text:
        assert found.text.split() == text.split()


@given(st.text(st.characters(exclude_characters=OPERATOR_MARKS), max_size=60))
def test_text_without_marks_has_no_operators(text):
    """The search does not parse such a text."""
    assert parse_query(text, "operators") == ParsedQuery(text, text)


def test_query_without_marks_is_not_parsed(pizzas, monkeypatch):
    monkeypatch.setattr(_searcher, "parse_query", None)
    hits = pizzas.search("cheap pizza")
    assert (hits.query.text, hits.query.required, hits.query.where) == ("cheap pizza", (), None)
    with pytest.raises(TypeError):
        pizzas.search("+cheap pizza")


@pytest.mark.parametrize("read_first", [0, 256])
@pytest.mark.parametrize("ranking", RANKINGS, ids=repr)
def test_operators_restrict_every_ranking(pizzas, ranking, read_first, monkeypatch):
    monkeypatch.setattr(_searcher, "_READ_FIRST", read_first)

    def found(query, **how):
        return set(pizzas.search(query, ranking=ranking, **how).ids)

    assert found('"new york"') == {"a", "c"}
    assert found('"New  YORK" -cheap') == {"a"}
    assert found('pizza -"new york"') - {"d"} == {"b"}
    assert found("+castle pizza") == {"b"}
    assert found("pizza label:food") == {"a", "b"}
    assert found("pizza -label:food") - {"d"} == {"c"}
    assert found("pizza year:2015") == {"c"}
    assert found('pizza "new york"', where="label = food") == {"a"}
    assert found('"york new"') == set()
    assert found('"new york"', syntax="plain") == found("new york") >= {"a", "b", "c"}


def test_request_and_hits_report_the_operators(pizzas):
    hits = pizzas.search('pizza "new york" -cheap year:2010')
    assert hits.ids == ["a"]
    assert hits.query.text == 'pizza "new york" -cheap year:2010'
    assert hits.query.required == ("new york",)
    assert hits.query.excluded == ("cheap",)
    assert str(hits.query.where) == 'year in (2010, "2010")'
    assert hits.stats["verified"] == 1  # the only document of 2010 with both words
    assert hits.to_dict()["query"]["required"] == ["new york"]
    assert SearchRequest.from_json(hits.request.to_json()) == hits.request
    assert "verified" not in pizzas.search("+pizza").stats
    with pytest.raises(ParameterError, match="syntax must be"):
        pizzas.search("a", syntax="lucene")


def test_notes_explain_what_was_read(pizzas):
    assert pizzas.search("pizza foo:bar").notes[0] == (
        "No document has the field 'foo', so 'foo:' is text."
    )
    assert (
        "without \"pizza\", label = food. Use the syntax 'plain'"
        in (pizzas.search("castle -pizza label:food").notes[0])
    )
    long = 'who did ever see a "good gnocchi" as what I got there one fine day when I could'
    assert "the syntax 'operators'" in pizzas.search(long, threshold=99).notes[0]
    assert pizzas.search(long).query.required == ()
    assert "no words that can be scored" in pizzas.search("label:food").notes[-1]


def test_pages_feedback_and_batches_keep_the_operators(pizzas, monkeypatch):
    monkeypatch.setattr(_searcher, "_READ_FIRST", 0)
    first = pizzas.search('pizza "new york"', k=1)
    assert [first.ids, first.next().ids, first.next().next().ids] == [["c"], ["a"], []]
    assert set(first.feedback(["b"]).ids) <= {"a", "c"}
    assert set(pizzas.search("pizza -castle", k=9).pseudo_feedback(2).ids) == {"a", "c"}
    both = pizzas.search_many(['"new york"', "+castle"])
    assert [set(hits.ids) for hits in both] == [{"a", "c"}, {"b"}]
    plain = pizzas.search_many(['"new york"'], syntax="plain")[0]
    assert set(plain.ids) == {"a", "b", "c"}
    request = SearchRequest('"new york" -cheap', ranking="hybrid")
    hits = pizzas.find(request)
    explained = pizzas.reader().explain("a", request)
    assert explained.score == hits[0].score == hits[0].explain().score


def test_deleted_documents_and_later_words(pizzas):
    hits = pizzas.search('"new york"')
    pizzas.delete("c")
    pizzas.add([{"id": "e", "text": "York, New York"}])
    assert set(hits.ids) == {"a", "c"}
    assert hits.next().ids == []
    assert set(pizzas.search('"new york"').ids) == {"a", "e"}


@pytest.mark.parametrize(
    ("how", "cats"),
    [
        ({"stop_words": "smart"}, {"a"}),
        ({"ngram_range": (1, 2)}, {"a"}),
        ({"ngram_range": (2, 2)}, set()),  # "state" is not a bigram
        ({"normalizer": "stem"}, {"a", "b"}),
        ({"lowercase": False}, {"a"}),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_the_analyzer_of_the_index_decides(tmp_path, how, cats):
    with Index.create(tmp_path / "a.kin", language=None, **how) as index:
        index.add(
            [
                {"id": "a", "text": "The state of the art of cats"},
                {"id": "b", "text": "The art of the state, and cat"},
                {"id": "c", "text": "state art state art"},
            ]
        )
        assert set(index.search('"state of the art"').ids) == {"a"}
        assert set(index.search('state art -"the art"').ids) <= {"b", "c"}
        assert set(index.search("state +cats").ids) == cats


def test_an_empty_index_and_unknown_words(index):
    assert index.search('"new york" -cheap label:x').ids == []
    index.add(["one"])
    assert index.search("one -unknown").ids == ["0"]
    assert index.search("one +unknown").ids == []
    assert index.search('one "unknown words"').ids == []
    assert index.search('one -"unknown words" "!!!"').ids == ["0"]


def contains(text, phrase):
    words, wanted = text.lower().split(), phrase.lower().split()
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=25)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=12),
    clauses=st.lists(st.tuples(phrases, st.booleans()), min_size=1, max_size=3),
    rest=st.lists(st.sampled_from(WORDS), max_size=2),
    k=st.integers(1, 4),
    deleted=st.sets(st.integers(0, 11), max_size=3),
)
def test_search_equals_a_slow_reference(texts, clauses, rest, k, deleted):
    query = " ".join([*(f'{"-" if no else "+"}"{text}"' for text, no in clauses), *rest])
    ranked = " ".join([*(text for text, no in clauses if not no), *rest])
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "a.kin", language=None) as index,
    ):
        index.add(texts)
        index.delete({str(at) for at in deleted if at < len(texts)})
        right = [
            str(at)
            for at, text in enumerate(texts)
            if all(contains(text, phrase) != no for phrase, no in clauses)
        ]
        for ranking in ("bm25", "tfidf", "wcd", WeightedSum({"bm25": 1, "tfidf": 1})):
            for read_first in (0, 256):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(_searcher, "_READ_FIRST", read_first)
                    hits = index.search(query, k, ranking=ranking, syntax="operators")
                wanted = index.search(
                    ranked, k, ranking=ranking, syntax="plain", where={"id": right}
                )
                assert hits.ids == wanted.ids
                assert hits.scores.tolist() == wanted.scores.tolist()
                assert hits.stats.get("verified", 0) <= len(texts)


def test_texts_are_read_until_there_are_enough_hits(index, monkeypatch):
    monkeypatch.setattr(_searcher, "_READ_FIRST", 0)
    index.add([f"new york number{at}" for at in range(1000)])
    hits = index.search('"new york"', k=5)
    assert hits.ids == ["0", "1", "2", "3", "4"]
    assert 5 <= hits.stats["verified"] <= 128
    assert len(index.search('"new york" -"york number7"', k=1000)) == 999
