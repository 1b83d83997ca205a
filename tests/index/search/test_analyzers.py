"""Indexes that count words and rank by stems, compared with indexes that count stems."""

import math
import sqlite3
import string
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textkin import BM25, Index, TfIdf
from textkin.exceptions import AddError, DamagedIndexError, ParameterError
from textkin.index import ClusterRanking, TermRanking
from textkin.index.search.rankings._terms import TermScorer
from textkin.text import Stemmer, stop_list, stop_word_set, tokenize

FORMS = (
    "run runs running runner media medias speak speaks speaking spoken greet greeting greetings "
    "happily happiness universe university general generally the of and is 7 x zebra zebra's"
)
TEXT = st.lists(st.sampled_from(FORMS.split()), max_size=12).map(" ".join)
ID = st.sampled_from("abcdefgh")
RANKINGS = [
    TermRanking(BM25()),
    TermRanking(BM25(1.2, 0.4, norm="l2", k3=2.0)),
    TermRanking(TfIdf()),
    TermRanking(TfIdf(tf="max", idf="log", norm="l1")),
    TermRanking(TfIdf(tf="log", idf="smooth"), "cosine"),
    TermRanking("counts"),
    TermRanking("binary", "cosine"),
]
CHANGE = st.one_of(
    st.tuples(st.just("update"), st.lists(st.tuples(ID, TEXT), max_size=5)),
    st.tuples(st.just("delete"), ID),
    st.tuples(st.sampled_from(["compact", "refresh", "open"]), st.none()),
)


def stop_words_of(index: Index) -> list[str]:
    """Return the stop words of the analyzer of an index."""
    name = index.info().term_stop_words
    assert name is not None
    return [*stop_list(name), *string.ascii_lowercase, *string.digits]


@pytest.fixture
def small_segments() -> Iterator[None]:
    """Reduce the sizes of segments and merges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textkin.index.store._writer._TAIL_DOCUMENTS", 3)
        patch.setattr("textkin.index.store._merge._SMALLEST", 40)
        patch.setattr("textkin.index.store._merge._TOGETHER", 4)
        patch.setattr("textkin.index.store._merge._DEAD_ROWS", 2)
        yield


def change(index: Index, path: Path, what: str, how: Any) -> Index:
    """Change an index, and return the open index."""
    if what == "update":
        index.update([{"id": id, "text": text} for id, text in how])
    elif what == "delete":
        index.delete(how, missing="ignore")
    elif what == "open":
        index.close()
        return Index.open(path)
    else:
        getattr(index, what)()
    return index


@pytest.mark.usefixtures("small_segments")
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(CHANGE, min_size=1, max_size=8), TEXT)
def test_scores_equal_scores_of_counted_stems(
    tmp_path: Path, changes: list[tuple[str, Any]], query: str
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    mapped = Index.create(folder / "mapped", language="en")
    stops = stop_words_of(mapped)
    counted = Index.create(folder / "counted", language=None, normalizer="stem", stop_words=stops)
    for what, how in changes:
        mapped = change(mapped, folder / "mapped", what, how)
        counted = change(counted, folder / "counted", what, how)
        for ranking in RANKINGS:
            ours = mapped.search(query, ranking=ranking, k=20)
            theirs = counted.search(query, ranking=ranking, k=20)
            assert ours.ids == theirs.ids
            assert ours.scores.tolist() == theirs.scores.tolist()
            assert ours.query == theirs.query
            if len(ours) > 1:
                marks = ours.ids[-1:]
                moved = ours.feedback(relevant=marks, nonrelevant=ours.ids[:1])
                expected = theirs.feedback(relevant=marks, nonrelevant=theirs.ids[:1])
                assert moved.ids == expected.ids
                assert moved.scores.tolist() == expected.scores.tolist()
                assert moved.query.words == expected.query.words
    mapped.verify()
    mapped.close()
    counted.close()


@pytest.mark.usefixtures("small_segments")
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(TEXT, min_size=1, max_size=12), st.sets(st.integers(0, 11)), TEXT)
def test_scores_equal_the_formula(
    tmp_path: Path, texts: list[str], gone: set[int], query: str
) -> None:
    with Index.create(f"{tempfile.mkdtemp(dir=tmp_path)}/test.kin", language="en") as index:
        index.add(texts)
        for row in sorted(gone & set(range(len(texts)))):
            index.delete(str(row))
        stops = stop_word_set(stop_words_of(index))
        stem = Stemmer()

        def terms(text: str) -> Counter[str]:
            return Counter(stem(word) for word in tokenize(text) if word not in stops)

        kept = {str(row): terms(text) for row, text in enumerate(texts) if row not in gone}
        n, average = len(kept), sum(c.total() for c in kept.values()) / max(len(kept), 1)
        expected = {}
        for id, counts in kept.items():
            score = 0.0
            for term, asked in terms(query).items():
                df = sum(term in other for other in kept.values())
                tf = counts[term]
                if tf:
                    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
                    norm = 1.2 * (0.25 + 0.75 * counts.total() / average)
                    score += asked * idf * tf * 2.2 / (tf + norm)
            if score > 0:
                expected[id] = score
        ranking = TermRanking(BM25(1.2, 0.75))
        hits = index.search(query, k=20, ranking=ranking)
        assert set(hits.ids) == set(expected)
        for id, score in zip(hits.ids, hits.scores, strict=True):
            assert score == pytest.approx(expected[id], rel=1e-9)
        scorer: Any = index._searcher().scorer(ranking)
        assert isinstance(scorer, TermScorer)
        asked = scorer.of_text(query)
        found = [scorer.best(asked, 20, algorithm=how) for how in ("auto", "pruned", "dense")]
        for other in found[1:]:
            assert other.rows.tolist() == found[0].rows.tolist()
            assert other.scores.tolist() == found[0].scores.tolist()


def test_transport_ignores_the_analyzer(tmp_path: Path) -> None:
    texts = ["Dogs bark at night", "A dog was barking", "Cats purr", "The band plays loud music"]
    with (
        Index.create(tmp_path / "stems", language="en") as ours,
        Index.create(tmp_path / "words", language=None) as theirs,
    ):
        ours.add(texts)
        theirs.add(texts)
        for ranking in ("wmd", "rwmd", "wcd"):
            found = ours.search("The dogs barked loudly", ranking=ranking)
            expected = theirs.search("The dogs barked loudly", ranking=ranking)
            assert found.ids == expected.ids
            assert found.scores.tolist() == expected.scores.tolist()
            assert found.query == expected.query
        assert (ours.bags() != theirs.bags()).nnz == 0
        assert list(ours.vocabulary()) == list(theirs.vocabulary())
        # Terms differ: the stem of "barked" is in two documents, the word in none.
        assert set(ours.search("barked").ids) == {"0", "1"}
        assert theirs.search("barked").ids == []


def test_explanation_lists_the_forms_of_a_term(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add(["Running, he runs; the runner runs", "media"])
        hits = index.search("run")
        explained = hits[0].explain()
        (part,) = explained.parts
        assert part.name == "run"
        assert part.note.endswith("; runs 2, running 1")
        assert part.value == hits.scores[0] == explained.score
        assert hits[0].snippet(marks=("[", "]")) == "[Running], he [runs]; the runner [runs]"
        assert hits.query.words == {"run": 1.0}
        again = index.search(hits.query.words)
        assert again.scores.tolist() == hits.scores.tolist()
        assert index.search({"running": 1.0}).scores.tolist() == hits.scores.tolist()


def test_snippet_marks_forms_for_transport(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add(["Dogs bark", "The band played loud"])
        hit = index.search("A dog barks", ranking="wmd")[0]
        assert hit.snippet(marks=("[", "]")) == "[Dogs] [bark]"


def test_words_in_no_form_are_unknown(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add(["He was running", "x"])
        hits = index.search("The runs of zebras x")
        assert hits.ids == ["0"]
        assert hits.unknown_words == ("zebras",)
        assert index.search("the").notes == ("No word of the query has a weight in this ranking.",)


def test_document_frequency_is_a_union(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add(["run running", "runs", "running runs", "cat"])
        scorer: Any = index._searcher().scorer("bm25")
        query = scorer.of_text("run")
        assert scorer._space.frequencies[query.words].tolist() == [3]
        index.delete("2")
        scorer = index._searcher().scorer("bm25")
        assert scorer._space.frequencies[scorer.of_text("run").words].tolist() == [2]


def test_default_bm25_depends_on_the_language(tmp_path: Path) -> None:
    texts = ["cats cats and dogs", "cats", "birds sing"]
    for language, k1 in (("en", 1.5), (None, 1.2)):
        with Index.create(tmp_path / str(language), language=language) as index:
            index.add(texts)
            for query in ("cats", "dogs birds"):
                found = index.search(query).scores.tolist()
                assert found == index.search(query, ranking=BM25(k1=k1)).scores.tolist()
                assert found == index.search(query, ranking=TermRanking()).scores.tolist()
    assert TermRanking() != TermRanking(BM25())
    assert TermRanking() == TermRanking()
    assert hash(TermRanking()) == hash(TermRanking())
    assert repr(TermRanking()) == "TermRanking(None, 'inner')"


def test_hybrid_and_cluster_use_terms(tmp_path: Path, small_segments: None) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add([f"running number{i} " + "runs " * (i % 3) for i in range(10)])
        index.delete("4")
        for query in ("runs", "number7 run", "zebras running"):
            expected = index.search(query, k=20)
            found = index.search(query, k=20, ranking=ClusterRanking("bm25", n_jobs=2))
            assert found.ids == expected.ids
            assert found.scores.tolist() == expected.scores.tolist()
            assert found.query == expected.query
        moved = index.search("run", ranking=ClusterRanking("bm25")).feedback(relevant=["7"])
        assert moved.ids == index.search("run").feedback(relevant=["7"]).ids
        liked = index.similar("7", ranking=ClusterRanking("tfidf"))
        assert liked.ids == index.similar("7", ranking="tfidf").ids


def test_own_stop_words_replace_those_of_the_language(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en", stop_words=["dogs"]) as index:
        index.add(["The dogs and dog run", "cats"])
        assert index.search("the").ids == ["0"]
        assert index.search("dog").ids == ["0"]
        assert index.search("dogs").ids == []
        assert index.info().term_stop_words is None


def test_case_is_counted_and_ignored_by_terms(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en", lowercase=False) as index:
        index.add(["Running in Rome", "cats"])
        assert "Running" in list(index.vocabulary())
        assert index.search("run").ids == ["0"]
        assert index.search("RUNS the").ids == ["0"]


@pytest.mark.parametrize("language", ["de", "french", "ru", "tr"])
def test_languages_have_stems(tmp_path: Path, language: str) -> None:
    texts = {
        "de": ("Die Häuser der Stadt", "haus"),
        "french": ("Les continuations", "continuation"),
        "ru": ("важные вещи", "важный"),
        "tr": ("kitaplar", "kitap"),
    }
    text, query = texts[language]
    with Index.create(tmp_path / "test.kin", language=language) as index:
        index.add([text, "zzz"])
        assert index.search(query).ids == ["0"]
        info = index.info()
        assert info.language is not None
        assert len(info.language) == 2
        assert info.terms <= info.words


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"language": "xx"}, "language"),
        ({"language": ""}, "language"),
        ({"language": "de", "normalizer": "stem"}, "language"),
        ({"language": "de", "ngram_range": (1, 2)}, "language"),
    ],
)
def test_invalid_language_raises(tmp_path: Path, given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Index.create(tmp_path / "test.kin", **given)
    assert caught.value.parameter == parameter
    assert not (tmp_path / "test.kin").exists()


def test_language_that_is_no_text_raises(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="language must be"):
        Index.create(tmp_path / "test.kin", language=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "\ud800 x", "\u4e2d\u6587\u5185\u5bb9", "\U0001f600", "a b c", "' - ."]
)
def test_unusual_texts_are_indexed(tmp_path: Path, text: str) -> None:
    text = text.encode("utf-8", "replace").decode("utf-8", "replace")
    with Index.create(tmp_path / "test.kin", language="en") as index:
        index.add([text, "word"])
        assert index.search(text).ids in ([], ["0"])
        assert index.search("words").ids == ["1"]
        index.verify()


GERMAN = "Die Katze schläft auf dem Sofa, und der Hund ist nicht in dem Haus, aber im Garten"
ENGLISH = "The cat sleeps on the sofa, and the dog is not in the house, but in the garden"


@pytest.mark.parametrize(
    ("language", "text", "likely"),
    [
        ("en", GERMAN, "de"),
        ("de", GERMAN, None),
        ("tr", GERMAN, "de"),
        ("de", ENGLISH, "en"),
        ("en", ENGLISH, None),
        ("en", "alpha beta gamma delta epsilon zeta eta theta iota kappa", None),
        (None, GERMAN, None),
    ],
)
def test_other_language_is_recognized(
    tmp_path: Path, language: str | None, text: str, likely: str | None
) -> None:
    with Index.create(tmp_path / "test.kin", language=language) as index:
        index.add([text] * 3)
        assert index.info().likely_language is None  # too few words
        index.add([text] * 30)
        assert index.info().likely_language == likely


def test_empty_index_finds_nothing(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin", language="en") as index:
        assert index.search("run").ids == []
        index.add(["the", "of"])
        assert index.search("the run").ids == []
        assert np.isfinite(index._searcher().scorer("bm25")._idf).all()  # type: ignore[attr-defined]


def test_default_language_is_kept_when_an_index_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "test.kin"
    Index.create(path, language="en").close()
    Index.create(path, language="english", exist_ok=True).close()
    with pytest.raises(ParameterError, match="language"):
        Index.create(path, language="de", exist_ok=True)
    with pytest.raises(ParameterError, match="language"):
        Index.create(path, language=None, exist_ok=True)


def test_required_and_excluded_words_match_all_forms(tmp_path: Path) -> None:
    with Index.create(tmp_path / "test.kin") as index:
        index.add(["He runs to Rome", "Running shoes in Rome", "Rome", "the shoes"])
        assert set(index.search("rome +run").ids) == {"0", "1"}
        assert index.search("rome -runs").ids == ["2"]
        assert index.search('rome "running shoes"').ids == ["1"]
        assert index.search('rome "run shoes"').ids == []
        assert index.search("shoes +the").ids == ["3"]
        assert index.search("rome +zebra").ids == []


class TestStoredTerms:
    """Terms in the catalog: checks, and stems of another version."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """Return the folder of an index with some words."""
        with Index.create(tmp_path / "test.kin") as index:
            index.add(["the running dogs run", "cats were sleeping"])
        return tmp_path / "test.kin"

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE terms SET term = 'runs' WHERE term = 'run'",
            "DELETE FROM terms WHERE number = 1",
            "INSERT INTO terms VALUES (77, 'x')",
            "UPDATE word_terms SET terms = zeroblob(length(terms))",
            "UPDATE word_terms SET terms = 'text'",
            "DELETE FROM word_terms",
            "UPDATE word_terms SET first = 1",
            "UPDATE analyzers SET terms = 99",
            "UPDATE analyzers SET terms = -1",
            "UPDATE analyzers SET settings = replace(settings, 'english', 'german')",
            "UPDATE analyzers SET settings = '{}'",
            "UPDATE analyzers SET settings = '[' ",
            "DELETE FROM analyzers",
        ],
    )
    def test_changed_terms_are_reported(self, path: Path, statement: str) -> None:
        with closing(sqlite3.connect(path / "catalogue.sqlite")) as connection:
            connection.execute(statement)
            connection.commit()
        with pytest.raises(DamagedIndexError), Index.open(path) as index:
            index.verify()

    def test_map_that_names_no_term_raises(self, path: Path) -> None:
        bad = np.full(7, 1000, "<i4").tobytes()
        with closing(sqlite3.connect(path / "catalogue.sqlite")) as connection:
            (settings,) = connection.execute("SELECT settings FROM analyzers").fetchone()
            checksum = zlib.crc32(bad, zlib.crc32(settings.encode()))
            connection.execute("UPDATE word_terms SET terms = ?", (bad,))
            connection.execute("UPDATE analyzers SET map_checksum = ?", (checksum,))
            connection.commit()
        with pytest.raises(DamagedIndexError), Index.open(path) as index:
            index.search("run")

    def test_stored_terms_are_not_computed_again(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class OtherStemmer:
            def __init__(self, language: str) -> None:
                pass

            def __call__(self, word: str) -> str:
                return word[:1]

        monkeypatch.setattr("textkin.index.store._term_map.Stemmer", OtherStemmer)
        with Index.open(path) as index:
            assert index.search("running").ids == ["0"]
            assert index.search("run").query.words == {"run": 1.0}
            index.add([{"id": "new", "text": "running zebras"}])
            assert set(index.search("runs running").ids) == {"0", "new"}
            assert index.search("zzz").ids == ["new"]  # new words have the new stems
            index.verify()

    def test_failed_write_adds_no_terms(self, path: Path) -> None:
        with Index.open(path) as index:
            before = index.info().terms
            with pytest.raises(AddError):
                index.add([{"id": "x", "text": "entirely new words"}, {"id": "0", "text": "y"}])
            assert index.info().terms == before
            index.add(["entirely different words"])
            index.verify()

    def test_many_small_writes_store_few_arrays(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("textkin.index.store._term_map._CHUNK", 8)
        with Index.open(path) as index:
            for number in range(20):
                index.add([f"word{number}"])
            index.verify()
            assert index.search("word7").ids == ["9"]
            with index._session.snapshot().catalog() as catalog:
                (arrays,) = catalog.execute("SELECT count(*) FROM word_terms").fetchone()
        assert arrays == 4

    def test_copy_keeps_terms(self, path: Path, tmp_path: Path) -> None:
        with Index.open(path) as index, index.copy(tmp_path / "copy.kin") as copy:
            assert copy.info().terms == index.info().terms
            assert copy.search("dog").ids == ["0"]
            copy.verify()
