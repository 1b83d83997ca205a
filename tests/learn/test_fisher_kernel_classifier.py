"""Tests of the classifier for few labels: unlabeled texts, all types of labels, and errors."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import textkin as tk
from support import interrupted, run_scikit_learn_checks
from textkin.learn import FisherKernelClassifier
from textkin.models import PLSA, FisherKernel, load_estimator

GROUPS = [
    ["cat", "dog", "purr", "bark", "vet", "paw", "tail", "fur", "whisker", "kennel"],
    ["bank", "share", "loan", "market", "stock", "fund", "price", "credit", "debt", "bond"],
    ["rain", "wind", "snow", "storm", "cloud", "frost", "thunder", "hail", "fog", "sun"],
]
NAMES = ["pets", "money", "weather"]


def corpus(groups, of_each, seed=0):
    """Return texts of five words of one group each, and the group of each text."""
    random = np.random.default_rng(seed)
    numbers = np.tile(np.arange(len(groups)), of_each)
    return [" ".join(random.choice(groups[number], 5)) for number in numbers], numbers


@pytest.fixture(scope="module")
def texts():
    return corpus(GROUPS, 40)


@pytest.fixture(scope="module")
def fitted(texts):
    documents, numbers = texts
    labels = [NAMES[n] if at < 9 else None for at, n in enumerate(numbers)]
    return FisherKernelClassifier((1, 3), random_state=0).fit(documents, labels)


def test_scikit_learn_checks():
    run_scikit_learn_checks(
        FisherKernelClassifier((1, 3), random_state=0),
        {"check_classifiers_classes": "takes -1 for a class, which stands for no label here"},
    )


def test_unlabeled_texts_improve_predictions():
    # One labeled text of each class has half of the words; the other words occur with them in
    # unlabeled texts.
    groups = GROUPS[:2]
    documents, numbers = corpus(groups, 60)
    known = [" ".join(group[:3]) for group in groups]
    asked = [" ".join(group[5:]) for group in groups]
    words = make_pipeline(CountVectorizer(), LinearSVC(random_state=0)).fit(known, [0, 1])
    alone = words.decision_function(asked)
    assert alone[0] == alone[1]  # no words in common with labeled texts
    few = FisherKernelClassifier(2, random_state=0)
    few.fit([*known, *documents], [0, 1] + [-1] * len(documents))
    assert few.predict(asked).tolist() == [0, 1]
    assert few.score(documents, numbers) == 1
    assert np.mean(words.predict(documents) == numbers) < 0.95


def test_predictions_equal_kernel_and_linear_svm(texts):
    documents, numbers = texts
    bags = tk.BagOfWords().fit_transform(documents).astype(np.float64)
    labels = np.where(np.arange(len(numbers)) < 12, numbers, -1)
    few = FisherKernelClassifier([2, 3], vector_space=0.25, C=3.0, random_state=0)
    few.fit(bags, labels)
    kernel = FisherKernel(
        [2, 3],
        topic_model=PLSA(topic_word_prior=1.5, doc_topic_prior=3),
        normalize="each",
        vector_space=0.25,
        random_state=0,
    ).fit(bags)
    svm = LinearSVC(C=3.0, random_state=0).fit(kernel.transform(bags[:12]), labels[:12])
    expected = svm.decision_function(kernel.transform(bags))
    assert_allclose(few.decision_function(bags), expected, atol=1e-4)  # the SVM has another seed
    assert_array_equal(few.kernel_.transform(bags).toarray(), kernel.transform(bags).toarray())
    assert few.class_counts_.tolist() == [4, 4, 4]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ([0, 1, 2], -1),
        ([0, 1, 2], None),
        ([0.0, 1.0, 2.0], np.nan),
        (NAMES, None),
        (NAMES, -1),
        (NAMES, float("nan")),
        ([False, True, True], None),
    ],
    ids=repr,
)
def test_labels_of_all_types_and_missing_labels(texts, given, missing):
    documents, numbers = texts
    labels = [given[n] if at < 9 else missing for at, n in enumerate(numbers)]
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    expected = None
    for y in (labels, array):
        few = FisherKernelClassifier(3, random_state=0).fit(documents, y)
        assert few.classes_.tolist() == sorted(set(given))
        assert few.class_counts_.sum() == 9
        found = few.predict(documents).tolist()
        assert np.mean([a == given[n] for a, n in zip(found, numbers, strict=True)]) > 0.9
        assert expected is None or found == expected
        expected = found


def test_two_and_three_classes(texts, fitted):
    documents, numbers = texts
    scores = fitted.decision_function(documents)
    assert scores.shape == (len(documents), 3)
    assert_array_equal(fitted.classes_[scores.argmax(axis=1)], fitted.predict(documents))
    labels = [min(n, 1) if at < 9 else -1 for at, n in enumerate(numbers)]
    two = FisherKernelClassifier(3, random_state=0).fit(documents, labels)
    assert two.decision_function(documents).shape == (len(documents),)
    assert_array_equal(two.decision_function(documents) > 0, two.predict(documents))


def test_document_without_known_words_gets_the_largest_class(texts):
    documents, _ = texts
    labels = [NAMES[at % 3] if at < 7 else NAMES[2] if at < 9 else None for at in range(120)]
    few = FisherKernelClassifier(3, random_state=0).fit(documents, labels)
    assert few.class_counts_.tolist() == [2, 3, 4]
    assert few.predict(["", "quux", "the"]).tolist() == ["weather"] * 3
    assert few.predict([]).shape == (0,)
    assert [part.name for part in few.explain("quux").parts] == ["any document"]


def test_explanation_sums_to_the_score(texts, fitted):
    documents, _ = texts
    for text in documents[:4]:
        scores = fitted.decision_function([text])[0]
        for label, score in zip(fitted.classes_, scores, strict=True):
            found = fitted.explain(text, label)
            assert_allclose(found.score, score, rtol=1e-12)
            assert_allclose(sum(part.value for part in found.parts), score, atol=1e-12)
            assert {part.name for part in found.parts} == {
                *text.split(), "all factors", "any document",
            }  # fmt: skip
    labels = [min(at % 3, 1) if at < 9 else -1 for at in range(120)]
    two = FisherKernelClassifier(3, random_state=0).fit(documents, labels)
    [score] = two.decision_function(documents[:1])
    assert two.explain(documents[0]).score == -score > 0
    assert_allclose(sum(part.value for part in two.explain(documents[0], 0).parts), -score)
    labels = [two.explain(documents[0], label) for label in two.classes_]
    for label, reason in zip(two.classes_.tolist(), labels, strict=True):
        assert reason.subject == f"class {label!r}"
        assert f"for class {label!r}" in repr(reason)
        assert f"for class {label!r}" in reason.to_svg()
        assert reason.to_dict()["subject"] == reason.subject
    negative = min(labels, key=lambda reason: reason.score)
    assert negative.score < 0
    for part in negative.parts:  # bars and percentages have the sign of the score
        assert part.value * negative.share(part) >= 0
    with pytest.raises(ValueError, match="label must be one of 0, 1; got 2"):
        two.explain("cat", 2)


@pytest.mark.parametrize(
    ("given", "dtype"), [([0, 1], "Int64"), (["a", "b"], "string"), ([False, True], "boolean")]
)
def test_missing_values_of_pandas_are_unlabeled(given, dtype):
    """Check a regression: comparing NA with "-1" failed, and integers became floats."""
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series([*given, None], dtype=dtype)
    few = FisherKernelClassifier(2, random_state=0).fit(GROUPS, labels)
    assert few.classes_.tolist() == given
    assert [type(label) for label in few.classes_.tolist()] == [type(given[0])] * 2
    assert few.class_counts_.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (GROUPS, None, ValueError, "requires y to be passed"),
        (GROUPS, [0, 1], ValueError, "each of the 3 documents; got 2"),
        (GROUPS, [-1, None, -1], ValueError, "none of the 3 documents has one"),
        (GROUPS, [-1, 1, 1], ValueError, "got one class, 1. The number -1 stands for"),
        (GROUPS, np.array(["a", "b", -1]), ValueError, "the string '-1'; position 2"),
        (GROUPS, ["a", 1, None], TypeError, "all of one type; got int, str"),
        (GROUPS, [0.5, 1.5, -1], ValueError, "Unknown label type"),
        ([[1, -1], [1, 1]], [0, 1], ValueError, "row 0 has -1.0"),
        ([[1, np.nan], [1, 1]], [0, 1], ValueError, "contains NaN"),
        ([], [], ValueError, "at least one document"),
        ("a text", ["a"], TypeError, "Put it in a list"),
    ],
)
def test_invalid_data_raise_and_keep_the_previous_fit(fitted, X, y, error, message):
    few = pickle.loads(pickle.dumps(fitted))
    before = vars(few).copy()
    with pytest.raises(error, match=message):
        few.fit(X, y)
    assert vars(few) == before


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be an integer at least 1, or"),
        ({"vector_space": -1}, ValueError, "vector_space must be a finite number at least 0"),
        ({"C": 0}, ValueError, "C must be a finite number above 0; got 0"),
        ({"C": "auto"}, TypeError, "C must be a finite number above 0"),
        ({"topic_model": tk.LSI()}, ValueError, "topic_model must be None or a PLSA"),
        ({"stop_words": "klingon"}, ValueError, "stop_words"),
    ],
)
def test_invalid_parameters_raise(parameters, error, message):
    with pytest.raises(error, match=message):
        FisherKernelClassifier(**parameters).fit(["a cat", "a dog", "an ox"], [0, 1, -1])


def test_more_factors_than_documents_and_one_text_per_class():
    few = FisherKernelClassifier(9, random_state=0).fit(GROUPS, NAMES)
    assert few.predict(GROUPS).tolist() == NAMES


def test_batches_seeds_and_threads_give_the_same(texts, fitted):
    documents, numbers = texts
    expected = fitted.decision_function(documents)
    for at in (0, 7, 119):
        assert_array_equal(fitted.decision_function([documents[at]])[0], expected[at])
    labels = [NAMES[n] if at < 9 else None for at, n in enumerate(numbers)]
    again = clone(fitted).set_params(n_jobs=2).fit(GROUPS, NAMES).fit(documents, labels)
    assert_array_equal(again.decision_function(documents), expected)


def test_parameters_reach_the_models(texts):
    documents, numbers = texts
    few = FisherKernelClassifier((1, 3), topic_model=PLSA(max_iter=7, tol=1.0), random_state=0)
    few.fit(documents, numbers)
    assert [model.max_iter for model in few.kernel_.models_] == [7, 7]
    assert [len(model.components_) for model in few.kernel_.models_] == [1, 3]


@pytest.mark.parametrize("as_bags", [False, True])
def test_pickle_and_save(texts, as_bags, tmp_path):
    documents, numbers = texts
    X = tk.BagOfWords().fit_transform(documents) if as_bags else documents
    few = FisherKernelClassifier(3, random_state=0).fit(X, numbers)
    expected = few.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(few)).decision_function(X), expected)
    few.save(tmp_path / "folder")
    loaded = load_estimator(tmp_path / "folder")
    assert isinstance(loaded, FisherKernelClassifier)
    assert_array_equal(loaded.decision_function(X), expected)
    assert loaded.explain(X[:1] if as_bags else X[0]).score == expected[0].max()
    few.coef_ = sparse.csr_array(few.coef_[:, :-1])
    few.save(tmp_path / "damaged")
    with pytest.raises(ValueError, match=r"is invalid.*coef_ must hold"):
        FisherKernelClassifier.load(tmp_path / "damaged")


def test_progress_and_interruption(texts, fitted):
    documents, numbers = texts
    told = []
    few = FisherKernelClassifier((1, 3), random_state=0)
    few.fit(documents, numbers, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1][0] <= told[-1][1]
    long = FisherKernelClassifier(400, topic_model=PLSA(max_iter=100_000, tol=0), random_state=0)
    assert interrupted(lambda: long.fit(documents, numbers))
    assert not hasattr(long, "classes_")
