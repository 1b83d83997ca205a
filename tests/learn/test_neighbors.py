"""Tests of the nearest-neighbor classifier: brute force, edge cases, and errors."""

from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import textkin as tk
from textkin import NearestNeighborClassifier as KNN
from textkin.exceptions import EmptyDocumentError

TEXTS = [
    "Cats purr on the mat",
    "A kitten sleeps on the sofa",
    "The dog barks at the cat",
    "Stocks fell sharply on Monday",
    "The market lost five percent",
    "Investors sold their shares",
]
LABELS = ["pets"] * 3 + ["money"] * 3
QUERIES = ["my kitten purrs", "the stock market", "shares of a dog", "a cat on Monday"]


def brute(distances, labels, k):
    """Return the majority vote of the k nearest; ties by position, then by the first label."""
    answers = []
    for row in distances:
        near = [labels[at] for at in np.argsort(row, kind="stable")[:k]]
        answers.append(max(sorted(set(near)), key=near.count))
    return answers


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("masses", ["nbow", "tfidf"])
def test_transport_equals_brute_force(masses, k):
    mover = tk.WordMover(word_weights=masses).fit(TEXTS)
    knn = KNN(tk.WordMover(word_weights=masses), n_neighbors=k).fit(TEXTS, LABELS)
    assert knn.predict(QUERIES).tolist() == brute(mover.pairwise(QUERIES, TEXTS), LABELS, k)


@pytest.mark.parametrize("metric", ["rwmd", "wcd"])
def test_bounds_equal_brute_force(metric):
    mover, name = tk.WordMover(), {"rwmd": "relaxed", "wcd": "centroid"}[metric]
    bounds = [[getattr(mover.bounds(q, text), name) for text in TEXTS] for q in QUERIES]
    knn = KNN(metric, n_neighbors=3).fit(TEXTS, LABELS)
    assert knn.predict(QUERIES).tolist() == brute(bounds, LABELS, 3)


def test_word_vectors_for_texts_and_matrix_for_bags():
    counter = tk.BagOfWords()
    bags, asked = counter.fit_transform(TEXTS), counter.transform(QUERIES)
    vectors = tk.WordVectors.builtin().align(counter.vocabulary_)
    of_bags = KNN(vectors=vectors, n_neighbors=1).fit(bags, LABELS)
    assert of_bags.n_features_in_ == bags.shape[1]
    assert of_bags.predict(asked).tolist() == brute(
        tk.WordMover(vectors).pairwise(asked, bags), LABELS, 1
    )
    with pytest.raises(ValueError, match="expecting"):
        of_bags.predict(asked[:, :-1])
    words = tk.WordVectors(["cat", "dog", "bank"], np.array([[0.0, 1], [0, 2], [5, 5]]))
    named = KNN(vectors=words, n_neighbors=1).fit(["cat", "bank"], [0, 1])
    assert named.predict(["dog"]).tolist() == [0]


def test_all_kinds_of_documents_are_accepted(tmp_path):
    expected = KNN(n_neighbors=3).fit(TEXTS, LABELS).predict_proba(QUERIES)
    tokens = [tk.text.tokenize(text) for text in TEXTS]
    of_tokens = KNN(tk.WordMover(), n_neighbors=3).fit(tokens, LABELS)
    assert of_tokens.predict([["kitten", "purr"]]).tolist() == ["pets"]
    read = tk.read([{"id": f"d{at}", "text": text} for at, text in enumerate(TEXTS)])
    assert_array_equal(KNN(n_neighbors=3).fit(read, LABELS).predict_proba(QUERIES), expected)
    with tk.Index.create(tmp_path / "index", language=None) as index:
        index.add(read)
        knn = KNN(n_neighbors=3).fit(index, LABELS)
        assert_array_equal(knn.predict_proba(QUERIES), expected)
        assert knn.evidence(index)[0].neighbors[0].id == "d0"


def test_documents_of_token_vectors():
    documents = [np.eye(2), np.ones((1, 2)), tk.TokenVectors([[1, 0], [1, 0]])]
    knn = KNN(tk.TokenMover(), n_neighbors=1).fit(documents, ["both", "middle", "first"])
    assert knn.predict([np.array([[1.0, 0.9]]), [[1.0, 0.1]]]).tolist() == ["middle", "first"]
    equal = KNN(tk.TokenMover(), n_neighbors=1).fit(np.array([np.eye(2), np.ones((2, 2))]), [1, 2])
    item = equal.evidence(np.ones((1, 3, 2)))[0]
    assert item.label == 2
    assert item.explain().distance == pytest.approx(0, abs=1e-7)


def test_more_neighbors_than_documents_warn_and_use_all():
    with pytest.warns(UserWarning, match="n_neighbors=99 exceeds the 6 training doc") as warned:
        knn = KNN(n_neighbors=99).fit(["", *TEXTS], ["empty", *LABELS])
    assert warned[0].filename == __file__
    assert knn.predict_proba(["cats"]).tolist() == [[0, 0.5, 0.5]]
    assert len(knn.evidence(["cats"])[0].neighbors) == 6
    assert knn.empty_documents_.tolist() == [0]


def test_number_as_metric_raises_and_names_n_neighbors():
    with pytest.raises(TypeError, match=r"metric must be .* Pass n_neighbors=3, by name"):
        KNN(3).fit(TEXTS, LABELS)


@pytest.mark.parametrize("metric", ["wmd", "cosine", "hellinger", "jaccard"])
def test_empty_documents_get_the_most_frequent_class(metric):
    knn = KNN(metric).fit(["cat", "dog", "bank", ""], ["pets", "pets", "money", "money"])
    assert knn.predict(["", "the", "qwertzish"]).tolist() == ["money"] * 3  # first class of a tie
    assert knn.predict_proba([""]).tolist() == [[0.5, 0.5]]
    with pytest.raises(
        ValueError, match=r"none of the 2 training documents|no word can be learned"
    ):
        KNN(metric).fit(["", "the"], [1, 2])


def test_single_document_and_single_class():
    knn = KNN().fit(["cats purr"], ["pets"])
    assert knn.predict(["dogs", ""]).tolist() == ["pets", "pets"]
    assert knn.predict_proba(["dogs"]).tolist() == [[1]]


def test_ties_go_to_the_lowest_position():
    knn = KNN(n_neighbors=1).fit(["a cat", "a cat", "a dog"], ["second", "first", "dog"])
    assert knn.predict(["cat"]).tolist() == ["second"]


def test_languages_and_long_texts():
    texts = ["猫は鳴く" * 3, "рынок упал", "cat " * 20_000]
    knn = KNN("cosine", n_neighbors=1).fit(texts, ["ja", "ru", "en"])
    assert knn.predict(["猫は", "рынок", "cat"]).tolist() == ["ja", "ru", "en"]
    assert len(knn.evidence(["cat"])[0].neighbors[0].snippet) <= 160


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        [3, -1],
        [True, False],
        [2.0, 1.0],
        np.array(["x", "yy"], dtype=object),
        [("a", 1), ("b", 2)],
    ],
    ids=repr,
)
def test_labels_of_all_types(labels):
    if isinstance(labels[0], tuple):
        given = np.empty(2, dtype=object)
        given[:] = labels
    else:
        given = labels
    knn = KNN("l2", n_neighbors=1).fit([[0.0], [1.0]], given)
    assert knn.predict([[0.1], [0.9]]).tolist() == list(labels)
    assert knn.classes_.tolist() == sorted(labels)


def test_integers_of_pandas_stay_integers():
    """Check a regression: large integers became equal floats."""
    pandas = pytest.importorskip("pandas")
    labels = [2**53, 2**53 + 1]
    knn = KNN("l2", n_neighbors=1).fit([[0.0], [1.0]], pandas.Series(labels, dtype="Int64"))
    assert knn.predict([[0.1], [0.9]]).tolist() == labels


def test_score_counts_unseen_labels_as_errors():
    knn = KNN("l2", n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"])
    assert knn.score([[0.0], [1.0]], ["a", "new"]) == 0.5


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (None, ValueError, "requires y to be passed"),
        (["a"], ValueError, "one label for each of the 2 documents; got 1"),
        (["a", None], ValueError, "position 1 has None"),
        ([1.0, np.nan], ValueError, "position 1 has nan"),
        (np.array(["a", np.nan], dtype=object), ValueError, "position 1 has nan"),
        (["a", np.nan], ValueError, "position 1 has nan"),
        ([Decimal(1), Decimal("nan")], ValueError, "position 1 has NaN"),
        ([1.0, 2.5], ValueError, "continuous"),
        ([1, "a"], TypeError, "all of one type; got int, str"),
        (np.array([1, "a"], dtype=object), TypeError, "all of one type; got int, str"),
        ([["a", "b"], ["a", "b"]], ValueError, "y should be a 1d array"),
    ],
)
def test_invalid_labels_raise(labels, error, message):
    with pytest.raises(error, match=message):
        KNN("l2").fit([[0.0], [1.0]], labels)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "wdm"}, ValueError, "metric must be one of 'wmd'.*got 'wdm'"),
        ({"metric": 3}, TypeError, "metric must be"),
        ({"model": tk.LSI}, ValueError, "model must be None or a transformer"),
        ({"model": tk.LSI(2)}, ValueError, "takes no model"),
        ({"metric": "cosine", "vectors": np.eye(2)}, ValueError, "vectors are for transport"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be an integer at least 1"),
        ({"vote": "all"}, ValueError, "vote must be one of"),
        ({"gamma": 0}, ValueError, "gamma must be a finite number above 0"),
        ({"tune": "yes"}, ValueError, "tune must be one of True, False"),
        ({"stop_words": "klingon"}, ValueError, "klingon"),
        ({"random_state": "x"}, ValueError, "cannot be used to seed"),
        ({"n_jobs": 0.5}, ValueError, "n_jobs must be"),
    ],
)
def test_invalid_parameters_raise(options, error, message):
    with pytest.raises(error, match=message):
        KNN(**options).fit(TEXTS, LABELS)


def test_invalid_documents_raise():
    with pytest.raises(ValueError, match="at least one document"):
        KNN().fit([], [])
    with pytest.raises(NotFittedError):
        KNN().predict(TEXTS)
    texts = KNN("cosine").fit(TEXTS, LABELS)
    with pytest.raises(TypeError, match="got numbers"):
        texts.predict(np.eye(3))
    numbers = KNN("cosine").fit(sparse.eye_array(3).tocsr(), [1, 2, 3])
    with pytest.raises(TypeError, match="got texts"):
        numbers.predict(TEXTS)
    with pytest.raises(ValueError, match="NaN"):
        numbers.predict([[np.nan, 0, 0]])
    with pytest.raises(TypeError, match=r"align\(vocabulary\)"):
        KNN().fit(np.eye(3), [1, 2, 3])
    with pytest.raises(EmptyDocumentError, match="words of all documents do not count"):
        KNN("cosine").fit(["cats purr"] * 3, [1, 2, 3])


def test_training_documents_are_copied():
    """Check a regression: evidence changed after the caller sorted the list."""
    texts = list(TEXTS)
    knn = KNN(n_neighbors=1).fit(texts, LABELS)
    texts.reverse()
    [item] = knn.evidence([TEXTS[0]])
    assert item.neighbors[0].snippet == TEXTS[0]
    assert item.explain().distance == item.neighbors[0].distance == 0
    for rows in (np.eye(3), sparse.csr_array(np.diag([1.0, 2, 3]))):
        knn = KNN("l2", n_neighbors=1).fit(rows, list("abc"))
        expected = knn.predict(np.eye(3)).tolist()
        values = rows if isinstance(rows, np.ndarray) else rows.data
        values[:] = values[::-1].copy()
        assert knn.predict(np.eye(3)).tolist() == expected


def test_metric_set_after_fit_needs_a_new_fit():
    documents = np.random.default_rng(0).normal(size=(3, 4, 5))
    knn = KNN(tk.TokenMover(), n_neighbors=1).fit(documents, list("abc"))
    assert knn.set_params(metric="cosine").predict(documents).tolist() == list("abc")


def test_table_columns_name_the_explanations():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"weight": [1.0, 9.0], "age": [2.0, 2.0]})
    knn = KNN("l1", n_neighbors=1).fit(table, ["light", "heavy"])
    item = knn.evidence(table.assign(weight=[2.0, 8.0]))[0]
    assert [(part.name, part.value) for part in item.explain().parts] == [("weight", 1.0)]
    with pytest.raises(ValueError, match="feature names"):
        knn.predict(table.rename(columns={"age": "years"}))


@pytest.mark.parametrize("blank", ["", " "])
def test_blank_labels_are_missing(blank):
    texts = ["cats purr", "dogs bark", "stocks fell"]
    with pytest.raises(ValueError, match=f"or an empty string; position 1 has {blank!r}"):
        KNN(n_neighbors=1).fit(texts, ["pets", blank, "money"])
