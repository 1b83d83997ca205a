"""Tests of the Rocchio classifier: worked example, reference implementation, and documents."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import textkin as tk
from support import run_scikit_learn_checks
from textkin.learn import RocchioClassifier
from textkin.models import load_estimator

TEXTS = [
    "Cats purr on the mat",
    "The dog barks at the cat",
    "Shares fell on Monday",
    "Banks sold their shares",
    "The market lost five percent",
]
LABELS = ["pets", "pets", "money", "money", "money"]
ASKED = ["a dog and a cat", "who sold these shares", "the", "quux", ""]


def test_scikit_learn_checks():
    run_scikit_learn_checks(RocchioClassifier())


def test_lecture_example():
    rows, labels = [[1, 0], [0, 1], [1, 0], [1, 0]], ["X", "X", "Y", "Y"]
    rocchio = RocchioClassifier("sum").fit(rows, labels)
    assert_array_equal(rocchio.prototypes_.toarray(), [[1, 1], [2, 0]])
    assert_allclose(rocchio.similarity([[1, 0.2]]), [[0.8320503, 0.9805807]], atol=1e-7)
    assert_allclose(rocchio.decision_function([[1, 0.2]]), [0.9805807 - 0.8320503], atol=1e-7)
    assert rocchio.predict([[1, 0.2]]) == ["Y"]
    mean = RocchioClassifier().fit(rows, labels)
    assert_array_equal(mean.prototypes_.toarray(), [[0.5, 0.5], [1, 0]])


def slow(rows, labels, document):
    """Compute the slide's algorithm: a running maximum from -2, with classes in their order."""
    best, maximum = None, -2.0
    for label in sorted(set(labels)):
        prototype = sum(
            np.array(row) for row, own in zip(rows, labels, strict=True) if own == label
        )
        lengths = np.linalg.norm(prototype) * np.linalg.norm(document)
        cosine = prototype @ document / lengths if lengths else 0.0
        if cosine > maximum:
            best, maximum = label, cosine
    return best, maximum


@settings(deadline=None, max_examples=60)
@given(data=st.data(), n=st.integers(1, 8), is_sparse=st.booleans())
def test_predictions_equal_reference_for_sum_and_mean(data, n, is_sparse):
    # Sums of powers of 3 are exact; cosines may round, so near ties are excluded.
    entries = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 3.0])
    rows = [data.draw(st.lists(entries, min_size=3, max_size=3)) for _ in range(n)]
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    asked = np.array([data.draw(st.lists(entries, min_size=3, max_size=3)) for _ in range(3)])
    form = sparse.csr_array if is_sparse else np.array
    mean, total = (RocchioClassifier(kind).fit(form(rows), labels) for kind in ("mean", "sum"))
    assert_array_equal(mean.predict(form(asked)), total.predict(form(asked)))
    assert_array_equal(mean.similarity(form(asked)), total.similarity(form(asked)))
    cosines = mean.similarity(asked)
    for row, document in enumerate(asked):
        label, best = slow(rows, labels, document)
        if not document.any():
            assert_array_equal(cosines[row], 0)
            continue
        assert_allclose(cosines[row].max(), best, atol=1e-12)
        if np.sum(cosines[row] > best - 1e-9) == 1:
            assert mean.predict(asked[[row]]) == [label]


def test_ties_go_to_the_first_class():
    rocchio = RocchioClassifier().fit([[1, 0], [0, 1], [0, 2]], ["b", "a", "a"])
    assert rocchio.predict([[1, 1]]) == ["a"]  # equal cosines: the first of classes_
    assert rocchio.predict([[-1, -2]]) == ["b"]  # the larger of two negative cosines
    # A prototype of zeros has the cosine 0 with all documents.
    cancelled = RocchioClassifier().fit([[1, 0], [-1, 0], [0, 1]], ["z", "z", "y"])
    assert_array_equal(cancelled.similarity([[3, 4], [0, -1]]), [[0.8, 0], [-1, 0]])
    assert cancelled.predict([[3, 4], [0, -1]]).tolist() == ["y", "z"]


def test_empty_document_gets_the_largest_class():
    rocchio = RocchioClassifier().fit(TEXTS, LABELS)
    assert rocchio.predict(ASKED).tolist() == ["pets", "money", "money", "money", "money"]
    assert_array_equal(rocchio.similarity(ASKED)[2:], 0)
    assert rocchio.explain("quux").parts == ()
    few = RocchioClassifier().fit([*TEXTS[1:4], ""], ["b", "a", "a", "b"])
    assert few.predict([""]) == ["a"]  # two documents each: the first class


def test_texts_in_all_scripts():
    texts = ["кошка спит на диване", "банк продал акции", "η γάτα κοιμάται", "έπεσαν μετοχές"]
    rocchio = RocchioClassifier().fit(texts, ["питомцы", "деньги"] * 2)
    assert rocchio.predict(["КОШКА!", "μετοχές", "股票"]).tolist() == ["питомцы"] + ["деньги"] * 2


def test_single_class_is_always_predicted():
    rocchio = RocchioClassifier().fit(TEXTS, [7] * 5)
    assert rocchio.predict(ASKED).tolist() == [7] * 5
    assert rocchio.decision_function(ASKED).shape == (5, 1)
    assert RocchioClassifier().fit(["one document"], ["a"]).predict(["document"]) == ["a"]
    assert rocchio.predict([]).shape == (0,)


@pytest.mark.parametrize("pair", [("a", "b"), (0, 1), (False, True), (-1, 1), (1.0, 2.0)], ids=repr)
def test_labels_of_all_types(pair):
    labels = [pair[label == "money"] for label in LABELS]
    for y in (labels, tuple(labels), np.array(labels), np.array(labels, dtype=object)):
        rocchio = RocchioClassifier().fit(TEXTS, y)
        assert rocchio.classes_.tolist() == list(pair)
        assert rocchio.predict(ASKED[:2]).tolist() == list(pair)
        assert rocchio.explain("a dog", pair[0]).score > 0
        assert rocchio.score(TEXTS, labels) == 1


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (TEXTS, None, ValueError, "requires y to be passed"),
        (TEXTS, LABELS[:3], ValueError, "each of the 5 documents; got 3"),
        (TEXTS, ["a", None, "a", "b", "b"], ValueError, "position 1 has None"),
        (TEXTS, [0.5, 0.25, 1, 2, 3], ValueError, "Unknown label type"),
        (TEXTS, [0, 1, np.nan, 1, 1], ValueError, "position 2 has nan"),
        (TEXTS, ["a", 1, 1, 1, 1], TypeError, "all of one type; got int, str"),
        ("one text", ["a"], TypeError, "Put it in a list"),
        ([], [], ValueError, "at least one document"),
        ([[1, np.nan]], ["a"], ValueError, "contains NaN"),
        ([[1e308, 1], [1e308, 1]], ["a", "a"], ValueError, "finite sums per class"),
        ([None, "text"], ["a", "b"], TypeError, "a missing value: drop it"),
        (["", "the"], ["a", "b"], ValueError, "no word can be learned"),
        (TEXTS, np.array(LABELS, dtype="S"), TypeError, "y must be strings or numbers; got bytes"),
    ],
)
def test_invalid_data_raise_and_keep_the_previous_fit(X, y, error, message):
    rocchio = RocchioClassifier().fit(TEXTS, LABELS)
    before = rocchio.predict(ASKED)
    with pytest.raises(error, match=message):
        rocchio.fit(X, y)
    assert_array_equal(rocchio.predict(ASKED), before)
    assert not hasattr(rocchio, "n_features_in_")


def test_invalid_parameters_and_documents_raise():
    with pytest.raises(ValueError, match="prototype must be one of 'mean', 'sum'; got 'median'"):
        RocchioClassifier("median").fit(TEXTS, LABELS)
    texts = RocchioClassifier().fit(TEXTS, LABELS)
    rows = RocchioClassifier().fit(np.eye(5), LABELS)
    with pytest.raises(TypeError, match="must be texts"):
        texts.predict(np.eye(3))
    with pytest.raises(TypeError, match="must be rows of numbers"):
        rows.predict(TEXTS)
    with pytest.raises(ValueError, match="4 features, but RocchioClassifier is expecting 5"):
        rows.predict(np.eye(4))
    with pytest.raises(ValueError, match="label must be one of 'money', 'pets'; got 'birds'"):
        texts.explain("dog", "birds")
    with pytest.raises(ValueError, match="one for each column; got 2"):
        rows.top_words(["a", "b"])
    with pytest.raises(ValueError, match="one document; got 5"):
        rows.explain(np.eye(5))


def test_texts_are_counted_and_weighted_like_in_a_pipeline():
    texts = RocchioClassifier().fit(TEXTS, LABELS)
    steps = make_pipeline(tk.BagOfWords(), tk.TfIdf(), RocchioClassifier()).fit(TEXTS, LABELS)
    assert_allclose(texts.decision_function(ASKED), steps.decision_function(ASKED), atol=1e-7)
    tokens = RocchioClassifier().fit([["cat", "purr"], ["share", "fell"]], [0, 1])
    assert tokens.predict([["fell"], ["cat"], []]).tolist() == [1, 0, 0]
    pooled = RocchioClassifier(model=tk.Pooling()).fit(TEXTS, LABELS)
    assert pooled.predict(["kittens and puppies", "investors and stocks", ""]).tolist() == [
        "pets", "money", "money",
    ]  # fmt: skip


def test_batches_equal_single_documents():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(60, 301)), random.integers(0, 5, 60)
    rocchio = RocchioClassifier().fit(rows, labels)
    whole = rocchio.similarity(rows)
    assert_array_equal(whole, rocchio.similarity(sparse.csr_array(rows)))
    for at in range(0, 60, 7):
        assert_array_equal(rocchio.similarity(rows[at : at + 1]), whole[at : at + 1])


def test_largest_and_smallest_numbers():
    rocchio = RocchioClassifier().fit([[1e-300, 0], [0, 1e300]], [0, 1])
    assert_allclose(rocchio.similarity([[1e300, 1e300]]), [[0.5**0.5] * 2])


def test_explanation_sums_to_the_cosine():
    rocchio = RocchioClassifier().fit(TEXTS, LABELS)
    for text in TEXTS:
        for column, label in enumerate(rocchio.classes_):
            found = rocchio.explain(text, label)
            assert_allclose(found.score, rocchio.similarity([text])[0, column], rtol=1e-12)
            assert_allclose(sum(part.value for part in found.parts), found.score, atol=1e-12)
    assert {part.name for part in rocchio.explain("The cat sold dogs to a dog").parts} == {
        "cat", "dog",
    }  # fmt: skip
    numbers = RocchioClassifier().fit(np.eye(2) * [1, -2], ["a", "b"])
    assert numbers.explain([3, 4], "b").to_dict()["parts"][0]["value"] == -0.8
    assert numbers.explain(sparse.csr_array([[3, 0]])).parts[0].name == "column 0"
    assert numbers.explain([3, 0], feature_names=["first", "second"]).parts[0].name == "first"
    names = RocchioClassifier(model=tk.LSI(1)).fit(TEXTS, LABELS).top_words()
    assert {word for topic in names for word, _ in topic.words} <= {"lsi0"}


def test_top_words_of_classes():
    top = RocchioClassifier().fit(TEXTS, LABELS).top_words(n_words=3)
    assert [topic.name for topic in top] == ["money", "pets"]
    assert top[0].weight == 0.6
    assert {word for word, _ in top[1].words} < {"cats", "purr", "mat", "dog", "barks", "cat"}
    assert "money  60.0 %" in str(top)


@pytest.mark.parametrize("model", [None, tk.LSI(1, random_state=0)], ids=str)
@pytest.mark.parametrize("labels", [LABELS, [1, 1, 0, 0, 0]])
def test_clone_pickle_and_save(model, labels, tmp_path):
    bags = tk.BagOfWords().fit_transform(TEXTS)
    for X in (TEXTS, bags):
        fitted = RocchioClassifier("sum", model=model).fit(X, labels)
        expected = fitted.similarity(X)
        assert_array_equal(clone(fitted).fit(X, labels).similarity(X), expected)
        assert_array_equal(pickle.loads(pickle.dumps(fitted)).similarity(X), expected)
        folder = tmp_path / type(X).__name__
        fitted.save(folder)
        loaded = load_estimator(folder)
        assert isinstance(loaded, RocchioClassifier)
        assert_array_equal(loaded.similarity(X), expected)
        assert loaded.predict(X).tolist() == fitted.predict(X).tolist()


def test_as_many_dimensions_as_words_are_not_named_by_words(tmp_path):
    texts = ["cat dog", "dog dog bird", "bird cat cat", "cat"]
    fitted = RocchioClassifier(model=tk.LSI(3, random_state=0)).fit(texts, [0, 1, 0, 1])
    fitted.save(tmp_path / "folder")
    loaded = RocchioClassifier.load(tmp_path / "folder")
    for text in texts:
        assert loaded.explain(text) == fitted.explain(text)


def test_inconsistent_saved_classifier_raises(tmp_path):
    fitted = RocchioClassifier().fit(TEXTS, LABELS)
    fitted.class_counts_ = fitted.class_counts_[:1].copy()
    fitted.save(tmp_path / "folder")
    with pytest.raises(ValueError, match=r"is invalid.*a count for each of the classes"):
        RocchioClassifier.load(tmp_path / "folder")


def test_grid_search_and_refit():
    search = GridSearchCV(RocchioClassifier(), {"stop_words": ["smart", None]}, cv=2)
    assert search.fit(TEXTS, [0, 1, 1, 0, 1]).best_params_["stop_words"] in ("smart", None)
    again = RocchioClassifier().fit(np.eye(5), LABELS).fit(TEXTS, LABELS)
    assert not hasattr(again, "n_features_in_")
    assert again.predict(ASKED[:1]) == ["pets"]
