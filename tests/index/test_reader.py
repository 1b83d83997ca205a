"""`IndexReader`: one snapshot of an index, and its facts."""

import pytest
from sklearn.pipeline import make_pipeline

from textkin import LSI, Index, TfIdf
from textkin.exceptions import EmptyDocumentError
from textkin.index import WeightedSum, parse_filter
from textkin.reading import Document

RECORDS = [
    {"id": "cats", "text": "Cats purr and sleep on the mat", "year": 2010, "label": "pets"},
    {"id": "dogs", "text": "Dogs bark at cats", "year": 2011, "label": "pets", "tags": ["a", "b"]},
    {"id": "stocks", "text": "Stocks fell in the morning", "year": 2011, "label": "money"},
    {"id": "empty", "text": ""},
]


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "p.kin", language=None) as index:
        index.add(RECORDS)
        index.attach("lsi", make_pipeline(TfIdf(), LSI(2, random_state=0)))
        yield index


def test_reader_keeps_its_snapshot(index):
    reader = index.reader()
    before = reader.number
    index.delete("cats")
    assert len(reader) == 4
    assert "cats" in reader
    assert reader.get("cats").label == "pets"
    assert reader.search("cats").ids == ["dogs", "cats"]
    assert index.reader().number > before
    assert "cats" not in index.reader()
    assert index.reader().get("cats") is None


def test_latest_reader_sees_writes_of_others(index):
    with Index.open(index.path) as other:
        other.add([{"id": "birds", "text": "Birds sing"}])
    assert "birds" not in index.reader(latest=False)
    assert "birds" in index.reader()
    assert "birds" in index  # it has refreshed the index


def test_latest_reader_raises_without_the_folder(index, tmp_path):
    index.reader()
    index.path.rename(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="moved or removed"):
        index.reader()
    assert len(index.reader(latest=False)) == 4


def test_closed_index_has_no_reader(index):
    index.close()
    with pytest.raises(ValueError, match="closed"):
        index.reader()


def test_rows_select_documents_and_bags(index):
    index.delete("cats")
    reader = index.reader()
    found = reader.select("year = 2011 and nothing = 1")
    assert found.rows.tolist() == []
    assert found.unknown_fields == ("nothing",)
    rows = reader.select(parse_filter("year = 2011")).rows
    assert [document.id for document in reader.documents(rows)] == ["dogs", "stocks"]
    assert [document.id for document in reader.documents()] == ["dogs", "stocks", "empty"]
    assert reader.bags(rows).toarray().sum(axis=1).tolist() == [4, 5]
    assert "bark" in reader.words(reader.bags(rows[:1]).indices)
    assert reader.model_vectors("lsi", rows).shape == (2, 2)
    assert reader.length("dogs") == 4
    with pytest.raises(KeyError, match="no document has the ID"):
        reader.length("cats")


def test_sample_is_even(index):
    reader = index.reader()
    ids = [document.id for document in reader.documents(reader.sample(2))]
    assert ids == ["cats", "empty"]
    assert len(reader.sample(10)) == 4


def test_field_values_are_counted(index):
    fields, labels, step = index.reader().field_values(n_values=1)
    assert step == 1
    assert labels == [("pets", 2), ("money", 1)]
    by_name = {field.name: field for field in fields}
    assert by_name["year"].n_documents == 3
    assert by_name["year"].values == [(2011, 2)]
    assert by_name["tags"].n_documents == 1
    assert by_name["year"][3:] == ("number", 2010, 2011)
    assert by_name["tags"][3:] == (None, None, None)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([3, 1.5, -2], ("number", -2, 3)),
        ([1, None, 2], ("number", 1, 2)),
        ([1, True], (None, None, None)),
        ([1, "2"], (None, None, None)),
        ([1, {"a": 2}], (None, None, None)),
        ([[4, 2], 3], ("number", 2, 4)),
        (["2020-12-31", "2019-01-01"], ("date", "2019-01-01", "2020-12-31")),
        (["2020-12-31", "2019-01-01T10:00"], ("time", "2019-01-01T10:00", "2020-12-31")),
        (["2020-12-31", "soon"], (None, None, None)),
        (["2020-12-31", 2020], (None, None, None)),
        (["2020-12"], (None, None, None)),
    ],
)
def test_type_and_range_of_field_values(tmp_path, values, found):
    with Index.create(tmp_path / "i.kin") as index:
        index.add([{"id": str(at), "text": "t", "x": value} for at, value in enumerate(values)])
        assert index.reader().field_values().fields[0][3:] == found


def test_rankings_are_described(index):
    rankings = {ranking.name: ranking for ranking in index.reader().rankings()}
    assert rankings["bm25"].kind == "words"
    assert rankings["wmd"].ascending
    assert rankings["wmd"].metric == "distance"
    assert rankings["lsi"].kind == "model"
    assert rankings["lsi"].metric == "cosine"
    assert all(ranking.description for ranking in rankings.values())


@pytest.mark.parametrize("ranking", ["bm25", "tfidf", "wmd", "rwmd", "wcd", "lsi"])
def test_compare_scores_a_text_as_its_document(index, ranking):
    reader = index.reader()
    hit = reader.search("cats and dogs", ranking=ranking)[0]
    document = reader.get(hit.id)
    for other in (document, document.text):
        found = reader.compare("cats and dogs", other, ranking)
        assert found.score == pytest.approx(hit.score, rel=1e-5)
    explained = hit.explain()
    assert explained.score == pytest.approx(hit.score, rel=1e-6)


def test_compare_texts_without_words_or_by_hybrids_raises(index):
    reader = index.reader()
    with pytest.raises(EmptyDocumentError, match="b"):
        reader.compare("cats", "xyzzy", "wmd")
    with pytest.raises(ValueError, match="hybrid"):
        reader.compare("cats", "dogs", "hybrid")
    with pytest.raises(KeyError, match="no document has the ID"):
        reader.compare("cats", Document("nobody", "cats"), "tfidf")


def test_align_shows_both_texts(index):
    reader = index.reader()
    found = reader.compare("cats sleep", "dogs bark", "wmd")
    aligned = reader.align(found, "cats sleep", "dogs bark", "wmd")
    assert "".join(piece.text for piece in aligned.source) == "cats sleep"
    assert reader.align(found, "", "dogs bark", "wmd") is None
    words = reader.compare("cats sleep", "dogs bark", "tfidf")
    assert reader.align(words, "cats sleep", "dogs bark", "tfidf") is None


def test_compare_uses_words_with_vectors(index):
    reader = index.reader()
    words = reader.compared_words("cats cats and xyzzy")
    assert words.known == {"cats": 2.0}
    assert words.unknown == {"xyzzy": 1.0}
    mixed = WeightedSum({"bm25": 0.5, "wmd": 0.5})
    assert reader.compared_words("cats", mixed).known == {"cats": 1.0}
    assert reader.compared_words("cats", "hybrid") is None
    assert reader.compared_words("cats", "bm25") is None
    assert "bark" in reader.compared_words(reader.get("dogs")).known
