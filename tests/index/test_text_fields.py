"""Documents with several text fields, and their weights in rankings (BM25F)."""

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textkin import LSI, Index, _core, read
from textkin.exceptions import AddError, DamagedIndexError, ParameterError, ParameterTypeError
from textkin.index.store import _merge, _writer
from textkin.index.store._text_fields import pack_counts
from textkin.reading import Document
from textkin.text import Stemmer, stop_word_set, tokenize

WEIGHTS = {"title": 3, "body": 1}
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "title": "Cats purr", "body": "Kittens sleep. Cats sleep too.", "year": 2015},
    {"id": "b", "title": None, "body": "Dogs bark at cats", "year": 2016},
    {"id": "c", "title": "Running dogs", "label": "pets"},
    {"id": "d", "body": "Purr a tune\n\nA dog and a cat"},
]


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[Index]:
    """Return an index with a title and a body."""
    with Index.create(tmp_path / "pets.kin", text=WEIGHTS) as index:
        index.add(RECORDS)
        yield index


# ---------------------------------------------------------------------- reference of BM25F


def terms_of(text: str, language: str | None) -> list[str]:
    """Return the terms of a text, as the index counts them."""
    words = tokenize(text)
    if language is None:
        return words
    stop_words = stop_word_set("search")
    stem = Stemmer("english")
    return [stem(word) for word in words if word not in stop_words and len(word) > 1]


class Reference:
    """BM25F by its definition: weighted sums over fields, then saturation."""

    def __init__(
        self,
        documents: Mapping[str, Mapping[str, str]],
        weights: Mapping[str, int],
        language: str | None,
    ) -> None:
        self.language = language
        self.terms = {
            id: {name: terms_of(fields.get(name, ""), language) for name in weights}
            for id, fields in documents.items()
        }
        self.frequencies = {
            id: Counter(
                {
                    term: sum(weights[name] * terms.count(term) for name, terms in fields.items())
                    for term in {term for terms in fields.values() for term in terms}
                }
            )
            for id, fields in self.terms.items()
        }

    def scores(self, query: str) -> dict[str, float]:
        """Return the scores above 0 for a query."""
        k1, b = (1.2 if self.language is None else 1.5), 0.75
        lengths = {id: counts.total() for id, counts in self.frequencies.items()}
        average = sum(lengths.values()) / len(lengths) if lengths else 0.0
        found = {}
        for id, counts in self.frequencies.items():
            score = 0.0
            for term, asked in Counter(terms_of(query, self.language)).items():
                n = sum(term in other for other in self.frequencies.values())
                if term in counts:
                    idf = math.log(1 + (len(lengths) - n + 0.5) / (n + 0.5))
                    size = 1 - b + b * lengths[id] / average
                    score += asked * idf * counts[term] * (k1 + 1) / (counts[term] + k1 * size)
            if score > 0:
                found[id] = score
        return found

    def matches(self, id: str, query: str) -> dict[str, int]:
        """Return the number of words of the query in each field of a document."""
        wanted = set(terms_of(query, self.language))
        counts = {
            name: sum(term in wanted for term in terms) for name, terms in self.terms[id].items()
        }
        return {name: count for name, count in counts.items() if count}

    def having(self, field: str, word: str) -> set[str]:
        """Return the IDs of the documents with a word in a field."""
        (term,) = terms_of(word, self.language)
        return {id for id, fields in self.terms.items() if term in fields[field]}


WORDS = ("cat", "cats", "run", "running", "the", "dog", "x")
QUERIES = ("cat", "cats running", "dog the dog", "x")
texts = st.none() | st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
ids = st.sampled_from([f"d{number}" for number in range(7)])
records = st.dictionaries(ids, st.fixed_dictionaries({}, optional={"title": texts, "body": texts}))
changes = st.lists(
    st.tuples(st.sampled_from(["update", "mirror", "delete", "compact", "reopen"]), records),
    min_size=1,
    max_size=5,
)


def check(index: Index, model: Mapping[str, Mapping[str, str]], language: str | None) -> None:
    """Compare the contents, scores, and matches of an index with the reference."""
    weights = index.info().text_fields
    reference = Reference(model, weights, language)
    assert {d.id: dict(d.fields) for d in index} == model
    assert index.info().tokens == sum(
        weight * len(tokenize(fields[name]))
        for fields in model.values()
        for name, weight in weights.items()
    )
    for query in QUERIES:
        hits = index.search(query, k=20)
        assert dict(zip(hits.ids, hits.scores, strict=True)) == pytest.approx(
            reference.scores(query), rel=1e-12
        )
        for hit in hits:
            assert hit.explain().score == hit.score
            assert hit.fields == reference.matches(hit.id, query)
    for field in weights:
        expected = reference.having(field, "cats")
        assert set(index.search(f"{field}:cats", k=20).ids) == expected
        others = index.search(f"cats -{field}:cats", k=20).ids
        assert set(others) == reference.scores("cats").keys() - expected


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    changes,
    st.sampled_from([None, "en"]),
    st.fixed_dictionaries({"title": st.integers(1, 5), "body": st.integers(1, 3)}),
)
def test_scores_equal_the_reference_after_any_change(
    quick_folder: Path,
    changes: list[tuple[str, dict[str, dict[str, str | None]]]],
    language: str | None,
    weights: dict[str, int],
) -> None:
    path = quick_folder / f"test{len(list(quick_folder.iterdir()))}.kin"
    model: dict[str, dict[str, str]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_writer, "_TAIL_DOCUMENTS", 3)
        patch.setattr(_merge, "_SMALLEST", 10)
        patch.setattr(_merge, "_TOGETHER", 2)
        index = Index.create(path, text=weights, language=language)
        for kind, some in changes:
            # At least one field must have a text, even if it is empty.
            given = {id: fields for id, fields in some.items() if any(
                text is not None for text in fields.values()
            )}  # fmt: skip
            made = {id: {name: given[id].get(name) or "" for name in weights} for id in given}
            listed = [{"id": id, **fields} for id, fields in given.items()]
            if kind == "update":
                index.update(listed)
                model.update(made)
            elif kind == "mirror" and listed:
                index.mirror(listed)
                model = made
            elif kind == "delete":
                index.delete(list(some), missing="ignore")
                model = {id: fields for id, fields in model.items() if id not in some}
            elif kind == "compact":
                index.compact()
            elif kind == "reopen":
                index.close()
                index = Index.open(path)
            check(index, model, language)
        index.verify()
        index.close()


def test_any_ranking_equals_repeated_fields(tmp_path: Path, pets: Index) -> None:
    """A weight of 3 means that the words of the field count three times, in every ranking."""
    fields = {document.id: document.fields for document in pets}
    with Index.create(tmp_path / "plain.kin") as plain:
        plain.add(
            {"id": id, "text": "\n\n".join([text["title"]] * 3 + [text["body"]])}
            for id, text in fields.items()
        )
        np.testing.assert_array_equal(pets.bags().toarray(), plain.bags().toarray())
        for index in (pets, plain):
            index.attach("lsi", LSI(2, random_state=0))
        for ranking in (
            "bm25",
            "tfidf",
            "cosine",
            "inner",
            "binary",
            "wmd",
            "rwmd",
            "hybrid",
            "lsi",
        ):
            for query in ("cats purr", "running dog", "sleep"):
                ours = pets.search(query, ranking=ranking)
                theirs = plain.search(query, ranking=ranking)
                assert ours.ids == theirs.ids, (ranking, query)
                np.testing.assert_array_equal(ours.scores, theirs.scores)
                for one, other in zip(ours, theirs, strict=True):
                    assert one.explain().score == other.explain().score
                    assert one.length == other.length


# ---------------------------------------------------------------------- documents


def test_document_has_text_and_fields(pets: Index) -> None:
    found = pets["a"]
    assert found.text == "Cats purr\n\nKittens sleep. Cats sleep too."
    assert found.fields == {"title": "Cats purr", "body": "Kittens sleep. Cats sleep too."}
    assert found.metadata == {"year": 2015}
    assert pets["b"].fields == {"title": "", "body": "Dogs bark at cats"}
    assert pets["b"].text == "Dogs bark at cats"
    assert (pets["c"].label, pets["c"].fields["body"]) == ("pets", "")
    assert pets.info().text_fields == WEIGHTS
    assert pets.info().to_dict()["text_fields"] == WEIGHTS


def test_records_tables_files_and_documents_have_the_same_fields(
    pets: Index, tmp_path: Path
) -> None:
    frame = pd.DataFrame(RECORDS, columns=["id", "title", "body"])
    file = tmp_path / "records.jsonl"
    frame.to_json(file, orient="records", lines=True)
    names = ["title", "body"]
    sources = {
        "table": frame,
        "read with the fields of the index": read(file),
        "read": read(file, text=names),
        "other order": read(file, text=["body", "title"]),
        "documents": list(pets),
    }
    expected = {document.id: dict(document.fields) for document in pets}
    for name, source in sources.items():
        with Index.create(tmp_path / f"{name}.kin", text=names) as index:
            index.add(source)  # type: ignore[arg-type]
            assert {one.id: dict(one.fields) for one in index} == expected, name
            assert index.update(list(index)).unchanged == 4
    with Index.create(tmp_path / "workers.kin", text=WEIGHTS) as index:
        index.add(read(file), executor="threads", n_jobs=2)
        np.testing.assert_array_equal(index.bags().toarray(), pets.bags().toarray())
        assert {one.id: dict(one.fields) for one in index} == expected


def test_text_that_moves_to_another_field_is_an_update(pets: Index) -> None:
    moved = {"id": "b", "title": "Dogs bark at cats", "year": 2016}
    assert pets.update([moved]).updated == 1
    assert pets["b"].text == "Dogs bark at cats"
    assert pets["b"].fields == {"title": "Dogs bark at cats", "body": ""}
    assert pets.update([moved]).unchanged == 1
    split = {"id": "d", "title": "Purr a tune", "body": "A dog and a cat"}
    assert pets.mirror([*RECORDS[:1], moved, RECORDS[2], split]).updated == 1
    assert pets["d"].text == RECORDS[3]["body"]
    pets.verify()


def test_ngrams_and_phrases_do_not_cross_fields(tmp_path: Path) -> None:
    weights = {"head": 3, "body": 1}
    with Index.create(tmp_path / "ngrams.kin", text=weights, ngram_range=(1, 2)) as index:
        index.add(
            [{"id": "a", "head": "Cats purr", "body": "a tune"}, {"id": "b", "body": "purr a"}]
        )
        assert "purr a" in index.vocabulary().words
        counts = dict(zip(index.vocabulary().words, index.bags().toarray()[0], strict=True))
        assert (counts["cats purr"], counts["a tune"], counts["purr a"]) == (3, 1, 0)
        assert index.search('"purr a"').ids == ["b"]
        assert index.search('"cats purr"').ids == ["a"]
    with Index.create(tmp_path / "bigrams.kin", text=weights, ngram_range=(2, 2)) as index:
        index.add([{"id": "a", "head": "Cats purr", "body": "a tune"}, {"id": "b", "body": "x y"}])
        (hit,) = index.search("purr a tune")
        assert hit.snippet(marks=("[", "]")) == "Cats purr [a] [tune]"


def test_empty_texts_and_fields(tmp_path: Path) -> None:
    with Index.create(tmp_path / "empty.kin", text=["title", "body"]) as index:
        index.add(
            [{"id": "a", "title": "", "body": ""}, {"id": "b", "title": " \n\n ", "body": "x"}]
        )
        assert index["a"].text == ""
        assert index["b"].fields == {"title": " \n\n ", "body": "x"}
        assert len(index.search("cats")) == 0
        index.verify()


def test_unusual_texts_keep_their_fields(tmp_path: Path) -> None:
    odd = [
        "\n\n",
        "\n",
        "a\n\nb",
        "\u0301",
        "日本語のテキスト",
        "\U0001f600 x",
        "\n\na",
        "a\n\n",
        "\0",
    ]
    made = [
        {"id": f"{one}-{two}", "title": odd[one], "body": odd[two]}
        for one in range(len(odd))
        for two in range(len(odd))
    ]
    with Index.create(tmp_path / "odd.kin", text=["title", "body"]) as index:
        index.add(made)
        assert [{"id": one.id, **one.fields} for one in index] == made
        assert index.update(made).unchanged == len(made)
        index.verify()


def test_index_with_fields_can_be_copied_joined_and_given_models(
    pets: Index, tmp_path: Path
) -> None:
    with pets.copy(tmp_path / "copy.kin") as copy:
        assert list(copy) == list(pets)
        assert copy.info().text_fields == WEIGHTS
    seen: list[str] = []
    pets.attach("own", encoder=lambda texts: seen.extend(texts) or np.ones((len(texts), 2)))
    assert seen[-4:] == [document.text for document in pets]
    parts = pets.join([{"id": "q", "title": "cats", "body": "purr"}], tmp_path / "found", k=1)
    assert pd.read_parquet(parts.folder)["id"].tolist() == ["a"]


def test_single_field_by_name(tmp_path: Path) -> None:
    with Index.create(tmp_path / "one.kin", text="body") as index:
        index.add([{"id": "a", "body": "Cats"}])
        assert index["a"].fields == {"body": "Cats"}
        assert index.info().text_fields == {"body": 1}


def test_existing_index_must_have_the_same_fields(pets: Index) -> None:
    pets.close()
    Index.create(pets.path, text=WEIGHTS, exist_ok=True).close()
    for other in (None, ["title", "body"], {"body": 1, "title": 3}):
        with pytest.raises(ParameterError, match="text must be the same"):
            Index.create(pets.path, text=other, exist_ok=True)


# ---------------------------------------------------------------------- search


def test_hits_say_which_fields_match(pets: Index) -> None:
    hits = pets.search("cat")
    assert {hit.id: hit.fields for hit in hits} == {
        "a": {"title": 1, "body": 1},
        "b": {"body": 1},
        "d": {"body": 1},
    }
    assert hits.to_dict()["hits"][0]["fields"] == {"title": 1, "body": 1}
    assert hits.to_records()[0]["fields"] == {"title": 1, "body": 1}
    assert str(hits).splitlines()[1:4] == [
        "1  0.5541  a   Cats purr",
        "               Kittens sleep. Cats sleep too.",
        "               matches: title 1, body 1",
    ]
    assert "title Cats purr · year 2015 · matches: title 1, body 1" in hits.to_html()
    assert hits[0].title == "Cats purr"


def test_snippet_shows_the_title_only_if_nothing_else_matches(pets: Index) -> None:
    (hit,) = pets.search("running")
    assert hit.snippet(marks=("[", "]")) == "[Running] dogs"
    assert pets.search("purr")[0].snippet() == "Cats purr Kittens sleep. Cats sleep too."
    cats = pets.search("cats")
    assert cats[0].snippet() == "Kittens sleep. Cats sleep too."
    pieces = cats.pieces(0)  # for pages that show no heading
    assert "".join(piece.text for piece in pieces) == "Cats purr Kittens sleep. Cats sleep too."
    assert [piece.text for piece in pieces if piece.matched] == ["Cats", "Cats"]


def test_explanation_lists_the_fields_of_each_word(pets: Index) -> None:
    (part,) = pets.search("cat", k=1)[0].explain().parts
    assert part.note.endswith("cats 4; title 1 x 3, body 1")


def test_plain_index_has_no_fields(tmp_path: Path) -> None:
    with Index.create(tmp_path / "plain.kin") as index:
        index.add([{"id": "a", "text": "Cats purr", "title": "Cats"}])
        (hit,) = index.search("cats")
        assert hit.fields == {}
        assert "fields" not in hit.to_dict()
        assert "fields" not in hit.to_record()
        assert index.info().text_fields == {}
        assert index.search("title:Cats cats").ids == ["a"]  # metadata


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("title:cats", ["a"]),
        ("title:cat", ["a"]),  # all forms of a word, as for +word
        ("body:cat", ["a", "b", "d"]),
        ("-title:cats cats", ["b", "d"]),
        ('title:"cats purr"', ["a"]),
        ('title:"cat purr"', []),  # a phrase is verified as written
        ('body:"cats purr"', []),
        ('"purr kittens"', []),
        ("title:dogs body:cats", []),
        ("body:dogs year:2016", ["b"]),
        ("body:dogs -year:2016", ["d"]),
        ("title:the", []),
        ("title:unknown", []),
        ("TITLE:cats", ["a", "b", "d"]),  # not a field, so the text is searched for
    ],
)
def test_field_prefix_requires_words_in_the_field(
    pets: Index, query: str, expected: list[str]
) -> None:
    hits = pets.search(query)
    assert sorted(hits.ids) == expected
    if query.startswith("title:cat"):
        assert hits.query.required == (f'title:"{query.removeprefix("title:")}"',)
        assert hits.query.where is None


def test_field_prefix_wins_over_metadata_and_plain_syntax_has_none(tmp_path: Path) -> None:
    with Index.create(tmp_path / "nested.kin", text=["head"]) as index:
        index.add([{"id": "a", "head": "Cats purr"}, {"id": "b", "head": "the head of a dog"}])
        assert index.search("head:purr").ids == ["a"]
        assert index.search("head:dog", syntax="plain").ids == ["b"]


def test_field_prefix_with_hybrid_reads_all_candidates(pets: Index) -> None:
    assert pets.search("title:cats", ranking="hybrid").ids == ["a"]
    assert pets.search("title:cats", ranking="wmd").ids == ["a"]


@pytest.mark.parametrize("query", ["title:>=5", "title:>cats", '-title:<"x"'])
def test_comparison_with_a_text_field_raises(pets: Index, query: str) -> None:
    with pytest.raises(ParameterError, match="word or phrase after the prefix"):
        pets.search(query)


def test_filter_on_a_text_field_raises(pets: Index) -> None:
    with pytest.raises(ParameterError, match=r"where .* got the text field 'title'.*title:word"):
        pets.search("cats", where={"title": "Cats purr"})
    with pytest.raises(ParameterError, match="text field"):
        pets.reader().select("body == x or year > 2")


# ---------------------------------------------------------------------- invalid input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ({"title": 2.5}, r"text must be names with integer weights.*got 2\.5 for 'title'.*5 and 2"),
        ({"title": 0}, r"integer weights.*got 0 for"),
        ({"title": -1}, r"integer weights.*got -1 for"),
        ({"title": 1001}, "to 1,000; got 1001"),
        ({"title": True}, "integer weights.*got True for"),
        ({"title": float("nan")}, "integer weights.*got nan for"),
        ({"title": "3"}, "integer weights.*got '3' for"),
        ({}, "empty list"),
        ([], "empty list"),
        (["a", "a"], "distinct"),
        (["id", "body"], "none of 'id'"),
        (["a", ""], "printable"),
        (["a\n"], "printable"),
        (["\ud800"], "printable"),
        ([3], "name of a field"),
        (3, "name of a field"),
        (b"title", "name of a field"),
    ],
)
def test_invalid_fields_raise_before_a_folder_is_made(
    tmp_path: Path, text: Any, message: str
) -> None:
    with pytest.raises((ParameterError, ParameterTypeError), match=message):
        Index.create(tmp_path / "new.kin", text=text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (["Cats purr"], r"the document has one text.*'title' and 'body'"),
        ([Document("x", "Cats")], "the document has one text"),
        ([{"id": "x", "text": "Cats"}], r"no field 'title' or 'body'.*another index"),
        ([{"id": "x", "title": None, "body": None}], "the text .* is missing"),
        ([{"id": "x", "title": ["Cats"]}], "must be a string"),
        ([Document.of_fields("x", {"head": "Cats"})], "the document has 'head'"),
    ],
)
def test_documents_without_the_fields_are_rejected(
    pets: Index, documents: Any, message: str
) -> None:
    with pytest.raises(AddError, match=message):
        pets.add(documents)
    assert len(pets) == 4


def test_text_of_add_must_agree_with_the_index(pets: Index, tmp_path: Path) -> None:
    new = [{"id": "x", "title": "Cats", "body": "purr"}]
    for wrong in ("title", ["title", "head"]):
        with pytest.raises(ParameterError, match=r"text fields of the index.*Omit `text`"):
            pets.add(new, text=wrong)
    assert pets.add(new, text=["body", "title"]).added == 1
    with pytest.raises(ParameterError, match=r"Pass `text` to `textkin\.read`"):
        pets.update(read(new), text=["title", "body"])
    with Index.create(tmp_path / "plain.kin") as plain:
        message = r"text must be one field.*Index\.create\(path, text=\['title', 'body'\]\)"
        for write in (plain.add, plain.update, plain.mirror):
            with pytest.raises(ParameterError, match=message):
                write(new, text=["title", "body"])
        with pytest.raises(AddError, match=r"Index\.create\(path, text=\['title', 'body'\]\)"):
            plain.add(read(new, text=["title", "body"]))
        assert len(plain) == 0
        assert plain.add(new, text="body").added == 1
        assert plain.update(new, text=["body"]).unchanged == 1
        assert plain.mirror(read(new, text=["title"])).updated == 1
        assert plain["x"] == Document("x", "Cats", metadata={"body": "purr"})


# ---------------------------------------------------------------------- damage and encoding


@pytest.mark.parametrize(
    "lengths",
    ["[9,29]", "[8,31]", "[9]", "[9,30,0]", "[-1,40]", "[9.0,30]", "null", "{}", "[", "[true,38]"],
)
def test_corrupt_boundaries_raise(pets: Index, lengths: str) -> None:
    pets.close()
    with closing(sqlite3.connect(pets.path / "catalogue.sqlite")) as connection, connection:
        (stored,) = connection.execute(
            "SELECT field_lengths FROM documents WHERE id = 'a'"
        ).fetchone()
        assert stored == "[9,30]"
        connection.execute("UPDATE documents SET field_lengths = ? WHERE id = 'a'", (lengths,))
    with Index.open(pets.path) as index:
        with pytest.raises(DamagedIndexError, match="'a' is corrupt"):
            index["a"]
        with pytest.raises(DamagedIndexError, match="'a' is corrupt"):
            index.search("title:cats")
        with pytest.raises(DamagedIndexError, match="'a'"):
            index.verify()
        assert index["b"].fields["body"] == "Dogs bark at cats"


def test_swapped_boundaries_are_found_by_verify(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", text=["title", "body"]) as index:
        index.add([{"id": "a", "title": "a\n\nb", "body": "c"}])
    with closing(sqlite3.connect(index.path / "catalogue.sqlite")) as connection, connection:
        connection.execute("UPDATE documents SET field_lengths = '[1,4]'")
    with Index.open(index.path) as index, pytest.raises(DamagedIndexError, match="digest"):
        index.verify()


def test_fields_in_an_index_without_fields_are_damage(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin") as index:
        index.add(["Cats"])
    with closing(sqlite3.connect(index.path / "catalogue.sqlite")) as connection, connection:
        connection.execute("UPDATE documents SET field_lengths = '[4]'")
    with Index.open(index.path) as index, pytest.raises(DamagedIndexError, match="corrupt"):
        index["0"]


@given(
    st.lists(st.dictionaries(st.integers(0, 2**20), st.integers(1, 2**24), max_size=8), max_size=8)
)
def test_packed_counts_can_be_unpacked(rows: list[dict[int, int]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    pairs = [pair for row in rows for pair in sorted(row.items())]
    words = np.array([word for word, _ in pairs], np.int32)
    counts = np.array([count for _, count in pairs], np.int64)
    packed = pack_counts(indptr, words, counts)
    assert len(packed) == len(rows)
    found = _core.unpack_counts(packed, 2**20 + 1)
    expected = indptr, words, counts, [sum(row.values()) for row in rows]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
