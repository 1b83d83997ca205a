"""Pooling in use: batches, copies, files, pipelines, and an index."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from textkin import Index, Pooling, WordVectors
from textkin.index.store._attached_models import check_offer
from textkin.models import load_estimator

RNG = np.random.default_rng(0)
WORDS = tuple(f"w{i}" for i in range(40))
VECTORS = WordVectors(WORDS, RNG.standard_normal((40, 7)))
TEXTS = [" ".join(WORDS[i] for i in RNG.integers(0, 40, RNG.integers(0, 30))) for _ in range(2500)]
RECIPES = [
    {},
    {"combine": "max"},
    {"word_weights": "tfidf", "combine": "sum"},
    {"word_weights": "sif", "remove_components": 1},
    {"word_weights": "usif", "remove_components": 5},
    {"word_weights": np.linspace(0, 1, 40), "whiten": 3},
    {"word_weights": "sif", "probabilities": "corpus", "remove_components": 2, "whiten": True},
]


@pytest.fixture(params=RECIPES, ids=lambda options: " ".join(options) or "mean")
def model(request):
    return Pooling(VECTORS, **request.param).fit(TEXTS)


def test_batches_equal_single_documents_on_any_number_of_threads(model):
    expected = model.transform(TEXTS)
    for row in (0, 7, 47, 1023, 1024, 2499):
        assert_array_equal(model.transform([TEXTS[row]])[0], expected[row])
    assert_array_equal(model.transform(TEXTS[5:60]), expected[5:60])
    threads = clone(model).set_params(n_jobs=3).fit(TEXTS)
    assert_array_equal(threads.transform(TEXTS), expected)


def test_few_and_many_words_of_a_large_table():
    texts = ["the cat sat on the mat", "a court in Chicago", "dogs, cats and other pets"]
    many = Pooling(stop_words=None).transform(texts * 800)  # entries exceed 1/16 of the table
    assert_array_equal(many[-3:], Pooling(stop_words=None).transform(texts))


def test_fit_transform_equals_fit_and_transform(model):
    assert_array_equal(clone(model).fit_transform(TEXTS), model.transform(TEXTS))


def test_refit_replaces_learned_attributes(model):
    again = clone(model).fit(TEXTS[:50]).fit(TEXTS)
    assert_array_equal(again.transform(TEXTS), model.transform(TEXTS))


def test_clones_pickles_and_files(model, tmp_path):
    expected = model.transform(TEXTS[:50])
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(TEXTS[:50]), expected)
    model.save(tmp_path / "model")
    for loaded in (Pooling.load(tmp_path / "model"), load_estimator(tmp_path / "model")):
        assert_array_equal(loaded.transform(TEXTS[:50]), expected)
        assert_array_equal(loaded.explain(TEXTS[0], TEXTS[1]).score,
                           model.explain(TEXTS[0], TEXTS[1]).score)  # fmt: skip


def test_model_without_learned_attributes_needs_no_fit(tmp_path):
    for options in ({}, {"combine": "max"}, {"word_weights": "sif"}, {"word_weights": np.ones(40)}):
        model = Pooling(VECTORS, **options)
        check_is_fitted(model)
        assert_array_equal(model.transform(TEXTS[:9]), clone(model).fit_transform(TEXTS[:9]))
    model.save(tmp_path / "model")
    assert_array_equal(Pooling.load(tmp_path / "model").transform(TEXTS[:9]),
                       model.transform(TEXTS[:9]))  # fmt: skip


@pytest.mark.parametrize("name", ["components_", "word_weights_", "whitening_", "mean_"])
def test_inconsistent_saved_model_raises(name, tmp_path):
    model = Pooling(VECTORS, word_weights="usif", remove_components=2, whiten=True).fit(TEXTS)
    setattr(model, name, getattr(model, name)[:-1].copy())
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=rf"is invalid.*{name} must hold"):
        Pooling.load(tmp_path / "model")


@pytest.mark.parametrize("wrong", [None, np.full(40, -1.0)], ids=["none", "negative"])
def test_saved_model_with_invalid_weights_raises(wrong, tmp_path):
    model = Pooling(VECTORS, word_weights="tfidf").fit(TEXTS)
    model.word_weights_ = wrong
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"is invalid.*word_weights_ must"):
        Pooling.load(tmp_path / "model")


def test_saved_model_with_invalid_stop_words_raises(tmp_path):
    model = Pooling(VECTORS)
    model.stop_words = [1, 2]
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"is invalid.*stop_words must be strings"):
        Pooling.load(tmp_path / "model")


def test_huge_max_words_per_document():
    expected = Pooling(VECTORS).transform(TEXTS[:9])
    model = Pooling(VECTORS, max_words_per_document=10**30)
    assert_array_equal(model.transform(TEXTS[:9]), expected)


def test_failed_fit_leaves_the_estimator_unchanged():
    model = Pooling(VECTORS, word_weights="tfidf", remove_components=1).fit(TEXTS)
    expected = model.transform(TEXTS[:9])

    def stop(done, total):
        raise KeyboardInterrupt

    for fit in (model.fit, model.fit_transform):
        with pytest.raises(KeyboardInterrupt):
            fit(TEXTS[:100], progress=stop)
        assert_array_equal(model.transform(TEXTS[:9]), expected)
    fresh = Pooling(VECTORS, remove_components=1)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(TEXTS, progress=stop)
    assert not hasattr(fresh, "components_")


def test_progress_ends_with_the_number_of_documents():
    told = []
    model = Pooling(VECTORS, whiten=True).fit(TEXTS, progress=lambda *done: told.append(done))
    assert told[-1] == (2500, 2500)
    told.clear()
    model.transform(TEXTS, progress=lambda *done: told.append(done))
    assert told == [(1024, 2500), (2048, 2500), (2500, 2500)]


def test_feature_names_out():
    names = Pooling(VECTORS, whiten=2).fit(TEXTS).get_feature_names_out()
    assert list(names) == ["pooling0", "pooling1"]
    assert len(Pooling(VECTORS).get_feature_names_out()) == 7


def test_pipeline_and_grid_search():
    texts = ["w0 w1 w2", "w1 w2", "w30 w31", "w31 w30 w32", "w0 w2", "w32"] * 6
    labels = [0, 0, 1, 1, 0, 1] * 6
    pipeline = make_pipeline(Pooling(VECTORS), LogisticRegression(C=100))
    grid = {
        "pooling__word_weights": ["mean", "tfidf", "usif"],
        "pooling__remove_components": [0, 1],
        "pooling__whiten": [np.False_, 2],  # parameter grids as arrays have NumPy types
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert search.best_score_ == 1


def test_get_params():
    model = Pooling(VECTORS, word_weights="sif", whiten=3)
    assert clone(model).get_params() == model.get_params()
    assert "fitted" not in repr(model)


def test_models_in_an_index(tmp_path):
    texts = {"cats": "a cat purrs", "dogs": "the dog barks", "law": "the court ruled", "none": ""}
    models = {
        "plain": Pooling(word_weights="sif", stop_words="smart"),  # needs no fit
        "less": Pooling(word_weights="sif", remove_components=1, stop_words="smart").fit(
            list(texts.values())
        ),
    }
    with Index.create(tmp_path / "index", language=None) as index:
        index.add([{"id": name, "text": text} for name, text in texts.items()])
        for name, model in models.items():
            index.attach(name, model)
            [hit] = index.search("kitten", 1, ranking=name)
            assert hit.id == "cats"
    with Index.open(tmp_path / "index") as index:  # contains the models
        assert index.similar("dogs", 1, ranking="plain")[0].id == "cats"
        for name in models:
            assert index.search("kitten", 1, ranking=name)[0].id == "cats"
        index.add([{"id": "new", "text": "a kitten"}])
        assert index.search("kitten", 1, ranking="plain")[0].id == "new"
        index.verify()


def test_matrix_of_vectors_for_the_words_of_an_index(tmp_path):
    with Index.create(tmp_path / "index", language=None) as index:
        index.add([{"id": "cats", "text": "cat purrs"}, {"id": "law", "text": "court ruled"}])
        matrix = WordVectors.builtin().align(index.vocabulary())
        index.attach("mean", Pooling(matrix))  # works without fit
        assert index.similar("law", 1, ranking="mean")[0].id == "cats"
        index.attach("pooled", Pooling(matrix, word_weights="sif").fit(index.bags()))
        # The number of dimensions equals the number of words, but removed components are not words.
        square = Pooling(matrix[:, : len(matrix)].copy(), remove_components=1).fit(index.bags())
        assert check_offer("square", square, "auto").load(len(matrix)).word_weights is None
        index.add([{"id": "kits", "text": "cat kitten"}])  # the model does not know "kitten"
        assert index.similar("kits", 1, ranking="pooled")[0].id == "cats"
