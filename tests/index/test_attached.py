"""Attached models of an index: stored with it, and applied to added documents."""

import gc
import json
import pickle
import shutil
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from support import load_script
from textkin import BM25, LDA, LSI, PLSA, Index, Pooling, TfIdf
from textkin.exceptions import IndexWarning
from textkin.index import ModelRanking
from textkin.index.search.rankings._models import ModelVectors
from textkin.index.store import _attached_models, _model_records
from textkin.index.store._settings import AnalyzerSettings

helpers = load_script("tests/index/attached_models.py")
model, RECORDS, MORE = helpers.model, helpers.RECORDS, helpers.MORE
lengths, vectors, change = helpers.lengths, helpers.vectors, helpers.change
Encoder, Other = helpers.Encoder, helpers.Other

MODELS: dict[str, Callable[[], object]] = {
    "lsi": lambda: LSI(3, random_state=0),
    "lda": lambda: LDA(3, random_state=0, max_iter=5),
    "gibbs": lambda: LDA(3, method="gibbs", random_state=0, max_iter=5),
    "plsa": lambda: PLSA(3, random_state=0, max_iter=5, n_init=1),
    "pipeline": lambda: make_pipeline(TfIdf(), LSI(3, random_state=0)),
    "bm25": lambda: make_pipeline(BM25(), LSI(3, random_state=0)),
}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "lowercase words"),
        ({"lowercase": False}, "words as written"),
        ({"language": None, "stop_words": "smart"}, "lowercase words without smart:1"),
        ({"language": None, "stop_words": ["the", "a"]}, "lowercase words without 2 stop words"),
        ({"language": None, "ngram_range": (1, 2)}, "1- to 2-grams of lowercase words"),
        ({"language": None, "ngram_range": (2, 2)}, "2-grams of lowercase words"),
        ({"normalizer": "stem"}, "stems (english)"),
    ],
)
def test_model_over_bags_records_the_words_that_it_counts(
    tmp_path: Path, settings: dict[str, Any], words: str
) -> None:
    texts = ["The cats purr at night", "The cat barks at cats", "Stocks fell at night again"]
    with Index.create(tmp_path / "i.kin", **settings) as index:
        index.add(texts)
        index.attach("lsi", LSI(2, random_state=0))
        said = index.info().models["lsi"]
        assert said == f"LSI(n_components=2, random_state=0), over {words}: 2 dimensions, cosine"
    with Index.open(tmp_path / "i.kin") as again:
        assert again.info().models["lsi"] == said


def test_stored_settings_do_not_depend_on_defaults(tmp_path: Path) -> None:
    texts = ["The cats purr at night", "The cat barks at cats", "Stocks fell at night again"]
    with Index.create(tmp_path / "i.kin") as index:
        index.add(texts)
        index.attach("lsi", LSI(2, random_state=0))
        before = index.search("the cats", ranking="lsi")
        stored = json.loads(index._session.analyzer.to_json())
    assert set(stored) == {"lowercase", "stop_words", "normalize", "language", "ngram_range"}
    for name in stored:  # a missing setting raises, so that no default replaces it
        others = {key: value for key, value in stored.items() if key != name}
        with pytest.raises(KeyError):
            AnalyzerSettings.from_json(json.dumps(others))
    with Index.open(tmp_path / "i.kin") as again:
        found = again.search("the cats", ranking="lsi")
        assert (found.ids, found.scores.tolist()) == (before.ids, before.scores.tolist())


def test_model_over_texts_records_the_version_of_its_stop_list(tmp_path: Path) -> None:
    pooling = Pooling(stop_words="smart")
    with Index.create(tmp_path / "i.kin") as index:
        index.add(["The cats purr at night", "Stocks fell"])
        index.attach("mean", pooling)
        manifest = next((tmp_path / "i.kin").glob("models/*/0/manifest.json"))
        assert json.loads(manifest.read_text())["parameters"]["stop_words"] == "smart:1"
        assert pooling.stop_words == "smart"
        mine = pooling.transform(["The cats purr"])[0]
        found = index.search("The cats purr", ranking="mean")
        assert found.scores[0] == pytest.approx(
            mine @ pooling.transform(["The cats purr at night"])[0]
            / np.linalg.norm(mine)
            / np.linalg.norm(pooling.transform(["The cats purr at night"])[0]),
            abs=1e-6,
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_attached_model_computes_vectors_of_all_documents(filled: Index, name: str) -> None:
    made = MODELS[name]()
    before = filled.bags()
    filled.attach("own", made)
    known = before.shape[1]

    def expected() -> np.ndarray:
        bags = filled.bags()[:, :known]
        found = np.asarray(made.transform(bags))
        found[np.diff(bags.indptr) == 0] = 0
        return found

    assert np.array_equal(vectors(filled, "own"), expected())
    filled.add(MORE)  # with new words
    filled.update([{**MORE[0], "text": "abc new words"}, {**RECORDS[0], "text": ""}])
    filled.delete("d5")
    assert filled.bags().shape[1] > known
    assert np.array_equal(vectors(filled, "own"), expected())
    filled.verify()
    filled.compact()
    assert np.array_equal(vectors(filled, "own"), expected())
    with Index.open(filled.path) as again:
        assert again.models() == filled.models()
        again.verify()
        again.add([{"id": "last", "text": "abc def"}])
    filled.refresh()
    assert np.array_equal(vectors(filled, "own"), expected())
    filled.verify()


def test_attached_model_is_a_copy(filled: Index) -> None:
    fitted = LSI(2, random_state=1).fit(filled.bags())
    components = fitted.components_.copy()
    filled.add(MORE)
    filled.attach("own", fitted)
    assert np.array_equal(fitted.components_, components)
    known = components.shape[1]
    expected = fitted.transform(filled.bags()[:, :known])
    assert np.array_equal(vectors(filled, "own"), expected)
    fitted.components_ = -components  # the index has a copy
    assert filled.search(RECORDS[1]["text"], k=1, ranking="own").scores == pytest.approx([1.0])


def test_threads_do_not_change_vectors(filled: Index) -> None:
    made = PLSA(2, random_state=0, max_iter=3, n_init=1)
    with pytest.warns(match="converge"):
        filled.attach("one", made, n_jobs=2)
    assert made.n_jobs is None
    filled.attach("two", made)
    assert np.array_equal(vectors(filled, "one"), vectors(filled, "two"))


def test_progress_counts_documents(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_attached_models, "_BLOCK", 8)
    told: list[tuple[int, int]] = []
    for name, made in (("bags", LSI(2)), ("texts", lengths)):
        filled.attach(name, made, progress=lambda done, total: told.append((done, total)))
    assert told == [(8, 21), (16, 21), (21, 21)] * 2
    assert np.array_equal(vectors(filled, "texts"), lengths([d.text for d in filled]))


def test_each_vector_is_read_once(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    blocks = _model_records._blocks

    def counted(*arguments: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for positions, found in blocks(*arguments):
            read.extend(positions.tolist())
            yield positions, found

    monkeypatch.setattr(_model_records, "_blocks", counted)
    filled.attach("texts", lengths)
    for step in (
        lambda: None,
        lambda: filled.add(MORE[:5]),
        lambda: filled.delete(["d0", "e4"]),
        lambda: filled.update([{**MORE[0], "text": "abc"}, *MORE[5:]]),
        filled.compact,
        lambda: filled.delete(filled.ids[1:]),
        lambda: filled.add([{"id": "last", "text": "aaa"}]),
    ):
        step()
        assert np.array_equal(vectors(filled, "texts"), lengths([d.text for d in filled]))
    assert len(read) == len(set(read)) == 21 + 5 + 8 + 1
    filled.detach("texts")
    filled.attach("other", lengths)
    vectors(filled, "other")
    assert [
        key for key in filled._session.cache if key[1] != filled._session.snapshot().models["other"]
    ] == []


@pytest.mark.parametrize("made", [LSI(2, random_state=0), lengths], ids=["own", "others"])
def test_index_in_the_same_folder_has_separate_models(tmp_path: Path, made: Any) -> None:
    """Model numbers are transaction numbers, which each index counts separately."""
    texts = ["oil prices rise", "prices of oil", "cup final"], ["music band", "cup goal", "a music"]
    for name, some in zip(("a.kin", "b.kin"), texts, strict=True):
        with Index.create(tmp_path / name, language=None) as index:
            index.add(some)
            index.attach("own", made if callable(made) else clone(made))
    models = {"own": made} if callable(made) else None
    with Index.open(tmp_path / "a.kin", models=models) as index:
        index.search("oil", ranking="own")
        (tmp_path / "a.kin").rename(tmp_path / "old.kin")
        (tmp_path / "b.kin").rename(tmp_path / "a.kin")
        index.refresh()
        with Index.open(tmp_path / "a.kin") as fresh:
            assert np.array_equal(vectors(index, "own"), vectors(fresh, "own"))
            assert index.models() == fresh.models()
            if models is None:
                theirs = fresh.search("music", ranking="own")
                assert np.array_equal(index.search("music", ranking="own").scores, theirs.scores)
                assert len(index._session.models._loaded_models) == 1
            else:  # it was cached for the other index
                with pytest.raises(ValueError, match="only the vectors"):
                    index.search("music", ranking="own")


def test_searched_snapshot_is_released(filled: Index) -> None:
    """Scorers and snapshots once referenced each other, until a garbage collection."""
    filled.attach("texts", lengths)
    gc.disable()
    try:
        for leave in (lambda: filled.delete("d0"), filled.refresh, filled.close):
            hits = filled.search("abc", ranking="texts")
            filled.search("abc")
            state = weakref.ref(filled._session.snapshot())
            leave()
            assert hits[0].document is not None  # has its snapshot
            del hits
            assert state() is None
    finally:
        gc.enable()


def test_older_snapshot_does_not_depend_on_a_newer_one(filled: Index) -> None:
    filled.attach("texts", lengths)
    before, expected = filled._searcher(), lengths([document.text for document in filled])
    filled.delete(["d0", "d8"])
    vectors(filled, "texts")
    late = before.scorer(ModelRanking("texts"))
    assert np.array_equal(late.vectors.of_rows(np.flatnonzero(before.state.live)), expected)


class TestOthers:
    """Models of which only the vectors are stored."""

    @pytest.mark.parametrize("made", [lengths, Encoder()], ids=["function", "encoder"])
    def test_texts(self, filled: Index, made: object) -> None:
        filled.attach("own", made)
        filled.add(MORE)
        filled.delete("d5")
        expected = lengths([document.text for document in filled])
        assert np.array_equal(vectors(filled, "own"), expected)
        assert not (filled.path / "models").exists()
        with Index.open(filled.path, models={"own": made}) as again:
            assert again.search("abc", ranking="own").ids == filled.search("abc", ranking="own").ids
            again.add([{"id": "last", "text": "abc"}])
            assert again.models() == filled.models()
            again.verify()
        with pytest.raises(ValueError, match="takes texts"):
            filled.search({"abc": 1.0}, ranking="own")

    def test_scikit_learn_pipeline_of_texts(self, filled: Index) -> None:
        texts = [document.text for document in filled]
        made = make_pipeline(CountVectorizer(), TruncatedSVD(2, random_state=0)).fit(texts)
        filled.attach("own", made)
        assert "CountVectorizer > TruncatedSVD" in filled.models()["own"]
        np.testing.assert_allclose(vectors(filled, "own"), made.transform(texts), rtol=1e-6)

    def test_transformer_of_bags(self, filled: Index) -> None:
        made = TruncatedSVD(2, random_state=0).fit(filled.bags())
        filled.attach("own", made)
        known = filled.bags().shape[1]
        filled.add(MORE)
        expected = made.transform(filled.bags()[:, :known])
        expected[np.diff(filled.bags()[:, :known].indptr) == 0] = 0
        np.testing.assert_allclose(vectors(filled, "own"), expected, rtol=1e-5, atol=1e-6)
        other = TruncatedSVD(2).fit(filled.bags())
        with pytest.raises(ValueError, match=r"must have .* columns, as when it was attached; got"):
            Index.open(filled.path, models={"own": other})

    def test_function_of_bags(self, filled: Index) -> None:
        filled.attach(
            "own", lambda bags: bags.sum(axis=1)[:, None], input_type="bags", metric="inner"
        )
        word = filled.vocabulary().words[0]
        filled.add([{"id": "new", "text": f"neverseen neverheard {word} {word}"}])
        assert vectors(filled, "own")[-1] == 2

    def test_missing_model_permits_only_comparison_and_deletion(self, filled: Index) -> None:
        filled.attach("own", lengths)
        near = filled.similar("d1", ranking="own").ids
        with Index.open(filled.path) as again:
            assert "only vectors are stored" in again.models()["own"]
            assert again.similar("d1", ranking="own").ids == near
            (part,) = again.similar("d1", ranking="own")[0].explain().parts
            assert (part.name, "open the index with the encoder" in part.note) == (
                "the two vectors",
                True,
            )
            with pytest.raises(ValueError, match=r"models=\{'own': model\}"):
                again.search("abc", ranking="own")
            assert len(again) == len(filled)
            again.delete("d1")
            for write in (again.add, again.update, again.mirror):
                with pytest.warns(IndexWarning, match="added without vectors of 'own'"):
                    write([{**record, "text": f"{write.__name__} aaa"} for record in MORE])
            assert again.info().unembedded == {"own": len(MORE)}
            again.compact()
            again.verify()
            again.detach("own")
            again.update(MORE)
        filled.refresh()
        assert filled.models() == {}

    def test_wrong_dimension_raises_and_writes_nothing(self, filled: Index) -> None:
        filled.attach("own", lengths)
        before = filled.ids
        with Index.open(filled.path, models={"own": lambda t: np.ones((len(t), 2))}) as again:
            with pytest.raises(ValueError, match="3 dimensions, as before; got 2") as told:
                again.add(MORE)
            assert "Nothing was added." in told.value.__notes__
            assert again.ids == before
            again.verify()

    def test_new_model_with_the_same_name_is_not_confused(self, filled: Index) -> None:
        filled.attach("own", lengths)
        with Index.open(filled.path) as other:
            other.detach("own")
            other.attach("own", lambda texts: -lengths(texts))
        with pytest.warns(IndexWarning, match="without vectors of 'own'"):
            filled.add(MORE)
        assert filled.info().unembedded == {"own": len(MORE)}
        filled.verify()

    def test_unattached_names_raise(self, filled: Index) -> None:
        with pytest.raises(ValueError, match=r"attached to the index \(none\); got 'own'"):
            Index.open(filled.path, models={"own": lengths})
        filled.attach("lsi", LSI(2))
        with pytest.raises(ValueError, match="loads itself"):
            Index.open(filled.path, models={"lsi": lengths})
        with pytest.raises(TypeError, match="models must be a mapping"):
            Index.open(filled.path, models=[lengths])  # type: ignore[arg-type]

    def test_model_is_pickled_with_the_index_and_its_copies(
        self, filled: Index, tmp_path: Path
    ) -> None:
        filled.attach("own", Encoder())
        for other in (pickle.loads(pickle.dumps(filled)), filled.copy(tmp_path / "copy.kin")):
            with other:
                assert (
                    other.search("abc", ranking="own").ids
                    == filled.search("abc", ranking="own").ids
                )

    @pytest.mark.parametrize("other", [Other(), LSI(2, random_state=0), None])
    def test_model_is_not_passed_to_another_model_of_its_name(
        self, filled: Index, tmp_path: Path, other: object
    ) -> None:
        filled.attach("own", Encoder())
        with Index.open(filled.path, models={"own": Encoder()}) as seen:
            pickled = pickle.dumps(seen)
            filled.detach("own")
            if other is not None:
                filled.attach("own", other)
            seen.refresh()
            told = {**seen.models()}
            copies = pickle.loads(pickle.dumps(seen)), pickle.loads(pickled)
            for copy in (*copies, seen.copy(tmp_path / "copy.kin")):
                with copy:
                    assert copy.models() == told
                    if isinstance(other, Other):
                        with pytest.raises(ValueError, match="only the vectors"):
                            copy.search("abc", ranking="own")


def test_ctrl_c_attaches_nothing(filled: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_attached_models, "_BLOCK", 8)

    def interrupt(done: int, _total: int) -> None:
        if done > 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled.attach("own", LSI(2), progress=interrupt)
    assert filled.models() == {}
    assert model.model_files(filled.path) == []
    filled.verify()


def test_detach_removes_all_files(filled: Index) -> None:
    filled.attach("a", LSI(2))
    filled.attach("b", make_pipeline(TfIdf(), LSI(2)))
    filled.detach("a")
    assert list(filled.models()) == ["b"]
    assert len(model.model_files(filled.path)) == 1
    with pytest.raises(ValueError, match="ranking must be"):
        filled.search("abc", ranking="a")
    filled.attach("a", LSI(3))
    assert vectors(filled, "a").shape == (21, 3)
    filled.verify()


def test_detach_releases_the_vectors_immediately(filled: Index) -> None:
    filled.attach("a", lengths)
    filled.attach("b", lengths)
    for name in ("a", "b"):
        vectors(filled, name)
    kept = [key for key in filled._session.cache if key[0] is ModelVectors]
    assert len(kept) == 2
    filled.detach("a")
    assert [key for key in filled._session.cache if key[0] is ModelVectors] == kept[1:]


@pytest.mark.parametrize("how", ["detached", "attached again", "damaged"])
def test_hits_are_explained_without_their_model(filled: Index, how: str) -> None:
    filled.attach("lsi", LSI(2, random_state=0))
    with Index.open(filled.path) as reader:
        hit = reader.similar("d1", ranking="lsi")[0]  # the model is not loaded
        if how == "damaged":
            shutil.rmtree(filled.path / "models")
        else:
            hit = filled.similar("d1", ranking="lsi")[0]
            filled.detach("lsi")
            if how == "attached again":
                filled.attach("lsi", LSI(2, random_state=0))
        told = hit.explain()
    assert sum(part.value for part in told.parts) == pytest.approx(hit.score)
    assert [part.name for part in told.parts] == ["the two vectors"]


def test_model_attached_elsewhere_is_applied_by_every_writer(filled: Index) -> None:
    with Index.open(filled.path) as other:
        other.attach("lsi", LSI(2, random_state=0))
    assert filled.models() == {}
    filled.add(MORE)  # the writer has refreshed
    filled.verify()
    assert list(filled.models()) == ["lsi"]
    model.check_vectors(filled)


def test_refresh_sees_models_attached_elsewhere(filled: Index) -> None:
    with Index.open(filled.path) as other:
        other.attach("lsi", LSI(2, random_state=0))
        filled.refresh()
        assert filled.search("abc", ranking="lsi").ids == other.search("abc", ranking="lsi").ids


def test_reader_continues_after_detach_elsewhere(filled: Index) -> None:
    filled.attach("used", LSI(2, random_state=0))
    filled.attach("unused", LSI(2, random_state=0))
    with Index.open(filled.path) as reader:
        ids = reader.search("abc def", ranking="used").ids
        near = reader.similar("d1", ranking="unused").ids
        for name in ("used", "unused"):
            filled.detach(name)
        assert reader.search("abc def", ranking="used").ids == ids
        assert reader.similar("d1", ranking="unused").ids == near
        with pytest.raises(ValueError, match=r"was detached by another process.*refresh\(\)"):
            reader.search("abc", ranking="unused")
        reader.refresh()
        assert reader.models() == {}


def test_searches_continue_while_documents_are_added(filled: Index) -> None:
    filled.attach("own", LSI(3, random_state=0))
    failed: list[Exception] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                hits = filled.search("abc def fed", ranking="own")
                assert list(hits.scores) == sorted(hits.scores, reverse=True)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for start in range(0, len(MORE), 4):
        filled.add(MORE[start : start + 4])
    done.set()
    for thread in threads:
        thread.join()
    assert not failed
