"""Paragraph vectors: what they promise as an estimator, and that documents find themselves."""

import gzip
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import textkin as tk
from textkin.models import ParagraphVector, load_estimator
from textkin.text import BagOfWords, standard_library_docstrings

TEXTS = [
    "the cat and the kitten purr",
    "a kitten and a cat sleep",
    "my cat and a kitten play",
    "the stocks and the shares fell",
    "a share and a stock rose",
    "my shares and stocks trade",
] * 10
LABELS = [0, 0, 0, 1, 1, 1] * 10
NEW = ["the kitten sleeps", "", "shares rose", "quarks", "a cat and my stocks"]
MODELS = [
    ParagraphVector(8, epochs=5, random_state=0),
    ParagraphVector(8, epochs=5, loss="hierarchical", n_inferences=3, random_state=0),
    ParagraphVector(8, epochs=5, train_words=False, subsample=0, random_state=0),
    ParagraphVector(8, epochs=5, model="dm", random_state=0),
    ParagraphVector(8, epochs=5, model="dm", combine="sum", loss="hierarchical", random_state=0),
]


@pytest.fixture(params=MODELS, ids=str, scope="module")
def fitted(request):
    return clone(request.param).fit(TEXTS)


@pytest.fixture(scope="module")
def docstrings():
    texts = dict.fromkeys(found.text for found in standard_library_docstrings())
    return [text for text in texts if len(text.split()) >= 10][:600]


@pytest.fixture
def two_topics():
    """Texts of animals and of vehicles, in turns."""
    random = np.random.default_rng(0)
    topics = ["cat", "dog", "cow", "pig", "hen"], ["car", "bus", "van", "cab", "jet"]
    return [" ".join(random.choice(topics[number % 2], 8)) for number in range(80)]


def near(vectors, others):
    """Return for each row the other one with the largest cosine."""
    return tk.similarities(vectors, others).argmax(axis=1)


def test_shapes(fitted):
    assert fitted.document_vectors_.shape == (60, 8)
    assert fitted.transform(NEW).shape == (5, 8)
    assert fitted.transform(NEW).dtype == np.float32
    assert fitted.transform([]).shape == (0, 8)
    assert fitted.get_feature_names_out()[-1] == "paragraphvector7"
    assert fitted.words_[0] == "and"
    assert fitted.counts_.tolist() == sorted(fitted.counts_, reverse=True)


def test_a_batch_equals_its_items_on_any_number_of_threads(fitted):
    batch = fitted.transform(NEW)
    for position, text in enumerate(NEW):
        assert_array_equal(fitted.transform([text])[0], batch[position])
    fitted.n_jobs = 3
    assert_array_equal(fitted.transform(NEW), batch)
    assert_array_equal(fitted.transform(TEXTS)[7], fitted.transform(TEXTS[7:8])[0])
    fitted.n_jobs = None


def test_the_same_seed_gives_the_same_bits(fitted):
    again = clone(fitted).fit(TEXTS[::-1]).fit(TEXTS)
    assert_array_equal(again.document_vectors_, fitted.document_vectors_)
    assert_array_equal(again.transform(NEW), fitted.transform(NEW))
    trained = clone(fitted).fit_transform(iter(TEXTS))
    assert_array_equal(trained, fitted.document_vectors_)


def test_inference_is_seeded_even_where_fit_is_not():
    model = ParagraphVector(4, epochs=2).fit(TEXTS)
    assert_array_equal(model.transform(NEW), model.transform(NEW))
    other = clone(model).fit(TEXTS)
    assert not np.array_equal(model.transform(NEW), other.transform(NEW))


def test_several_threads_learn_as_well(two_topics):
    vectors = ParagraphVector(8, subsample=0, epochs=50, n_jobs=3)
    cosines = tk.similarities(vectors.fit_transform(two_topics))
    assert cosines[0, 2::2].mean() > cosines[0, 1::2].mean() + 0.3


def test_no_known_word_is_the_zero_vector_and_can_be_seen(fitted):
    vectors = fitted.transform(NEW)
    assert vectors.any(axis=1).tolist() == [True, False, True, False, True]
    assert_allclose(fitted.coverage(NEW), [2 / 3, 0, 1, 0, 1])
    trained = clone(fitted).fit_transform([*TEXTS, "", "unheard"])
    assert trained.any(axis=1).tolist() == [True] * 60 + [False] * 2


def test_unknown_words_change_nothing(fitted):
    first, second = fitted.transform(["a cat sleeps", "a quark cat sleeps"])
    assert_array_equal(first, second)


def test_every_form_of_documents_gives_the_same(fitted):
    counter = BagOfWords(None).fit(TEXTS)
    lists = [counter.words(text) for text in TEXTS]
    expected = fitted.transform(TEXTS)
    for given in (lists, counter.tokens(TEXTS), np.array(TEXTS), iter(TEXTS)):
        assert_array_equal(fitted.transform(given), expected)
    assert_array_equal(clone(fitted).fit(lists).document_vectors_, fitted.document_vectors_)


def test_pickle_and_save(fitted, tmp_path):
    expected = fitted.transform(NEW)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(NEW), expected)
    fitted.save(tmp_path / "model")
    for loaded in (ParagraphVector.load(tmp_path / "model"), load_estimator(tmp_path / "model")):
        assert loaded.get_params() == fitted.get_params()
        assert_array_equal(loaded.document_vectors_, fitted.document_vectors_)
        assert_array_equal(loaded.transform(NEW), expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("words_", np.array(["a"] * 16, dtype=object)),
        ("counts_", np.arange(16)),
        ("counts_", np.ones(16)),
        ("counts_", np.full(16, 2**62)),
        ("counts_", np.full(16, 2**56)),
        ("document_vectors_", np.zeros((60, 0), np.float32)),
        ("document_vectors_", np.array(3, np.float32)),
        ("word_vectors_", np.zeros((16, 7), np.float32)),
        ("output_vectors_", np.full((16, 8), np.nan, np.float32)),
        ("output_vectors_", np.zeros((15, 8), np.float32)),
        ("document_vectors_", np.zeros((60, 8))),
        ("inference_seed_", -1),
    ],
)
def test_a_saved_model_that_does_not_fit_together_is_refused(name, value, tmp_path):
    model = clone(MODELS[0]).fit(TEXTS)
    assert len(model.words_) == 16
    setattr(model, name, value)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"not whole"):
        ParagraphVector.load(tmp_path / "model")


def test_parameters_of_the_next_fit_do_not_spoil_what_is_saved(tmp_path):
    model = clone(MODELS[0]).fit(TEXTS).set_params(n_components=4)
    model.save(tmp_path / "model")
    loaded = ParagraphVector.load(tmp_path / "model")
    assert_array_equal(loaded.transform(NEW), model.transform(NEW))


def test_in_a_pipeline_and_a_grid(two_topics):
    pipeline = make_pipeline(
        ParagraphVector(4, subsample=0, random_state=0), LogisticRegression(C=100)
    )
    search = GridSearchCV(pipeline, {"paragraphvector__n_components": [2, 4]}, cv=2)
    assert search.fit(two_topics, [number % 2 for number in range(80)]).best_score_ > 0.9


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(fitted):
    before = vars(fitted).copy()

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fitted.fit(TEXTS[:30], progress=stop)
    with pytest.raises(ValueError, match="single word"):
        fitted.fit(["one one"])
    assert vars(fitted) == before


def test_progress(fitted):
    told = []
    fitted.transform(TEXTS, progress=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
    assert sorted(told) == told


def test_words(fitted):
    if fitted.train_words or fitted.model == "dm":
        vectors = fitted.word_vectors()
        assert vectors.words == tuple(fitted.words_)
        assert vectors.dimension == 8
    else:
        with pytest.raises(ValueError, match="train_words=False leaves them random"):
            fitted.word_vectors()


@pytest.mark.parametrize(
    ("model", "error", "said"),
    [
        (ParagraphVector(0), ValueError, "n_components must be"),
        (ParagraphVector(model="pv"), ValueError, "model must be one of 'dbow', 'dm'"),
        (ParagraphVector(combine="concat"), ValueError, "combine must be"),
        (ParagraphVector(train_words=2), ValueError, "train_words must be"),
        (ParagraphVector(min_count=100), ValueError, "X has fewer than two words .*min_count=100"),
        (ParagraphVector(inference_epochs=0), ValueError, "inference_epochs must be"),
        (ParagraphVector(n_inferences=0), ValueError, "n_inferences must be"),
        (ParagraphVector(learning_rate=1000), ValueError, "diverged"),
        (ParagraphVector(min_learning_rate=1), ValueError, "min_learning_rate must be at most"),
        (ParagraphVector(stop_words=3), TypeError, "stop_words must be"),
        (ParagraphVector(n_jobs=0), ValueError, "n_jobs must not be 0"),
    ],
)
def test_wrong_parameters_are_refused(model, error, said):
    with pytest.raises(error, match=said):
        model.fit(TEXTS)


def test_what_cannot_be_transformed():
    with pytest.raises(NotFittedError):
        ParagraphVector().transform(TEXTS)
    with pytest.raises(TypeError, match="lost the order"):
        ParagraphVector().fit(sparse.csr_array(np.eye(3)))
    model = clone(MODELS[0]).fit(TEXTS)
    with pytest.raises(TypeError, match="lost the order"):
        model.transform(np.eye(3))
    with pytest.raises(ValueError, match=r"loss must be what it was in fit"):
        model.set_params(loss="hierarchical").transform(TEXTS)


def test_in_an_index(tmp_path):
    texts = [f"{text} number{number % 6}" for number, text in enumerate(TEXTS)]
    model = ParagraphVector(8, epochs=40, random_state=0).fit(texts)
    with tk.Index.create(tmp_path / "p.kin") as index:
        index.add(texts)
        index.attach("pv", model)
        assert index.models["pv"].endswith("): 8 dimensions, cosine")
        # It infers, so that a document of the index is found by its text at cosine 1.
        assert index.search(texts[3], k=1, by="pv").scores[0] == pytest.approx(1)
        expected = index.search("shares rose", k=3, by="pv")
    with tk.Index.open(tmp_path / "p.kin") as index:  # the model lies in its folder
        found = index.search("shares rose", k=3, by="pv")
        assert found.ids == expected.ids
        assert_array_equal(found.scores, expected.scores)
        assert index.add(["a cat and my shares"])
        assert index.search("a cat and my shares", k=1, by="pv").scores[0] == pytest.approx(1)


def test_an_index_fits_what_is_not_fitted(tmp_path):
    with tk.Index.create(tmp_path / "p.kin") as index:
        index.add(TEXTS)
        index.attach("pv", ParagraphVector(8, epochs=5, random_state=0))
        assert index.models["pv"].endswith("): 8 dimensions, cosine")
    with tk.Index.open(tmp_path / "p.kin") as index:
        assert len(index.search("shares rose", k=3, by="pv").ids) == 3


@pytest.mark.parametrize(
    ("options", "share"),
    [({}, 0.9), ({"loss": "hierarchical"}, 0.9), ({"model": "dm", "learning_rate": 0.05}, 0.9)],
    ids=str,
)
def test_documents_find_themselves(docstrings, options, share):
    """METHODS 13: the inferred vector of a document is nearest to its trained one.

    Ten thousand tokens are little, so that there are more passes than by default.
    """
    model = ParagraphVector(50, epochs=50, random_state=0, **options)
    trained = model.fit_transform(docstrings)
    found = near(model.transform(docstrings), trained)
    assert np.mean(found == np.arange(len(docstrings))) > share


def test_news_find_themselves_by_default(shared_data):
    """0.98 of 400 news items; of 2,000 of them, 0.99, and 0.86 by "dm"."""
    with gzip.open(shared_data / "classification" / "r8.jsonl.gz", "rt") as lines:
        texts = [*dict.fromkeys(json.loads(line)["text"] for line in lines)][:400]
    model = ParagraphVector(50, random_state=0)
    trained = model.fit_transform(texts)
    assert np.mean(near(model.transform(texts), trained) == np.arange(400)) > 0.9
