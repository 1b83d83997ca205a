"""Tests of DocumentClustering: results, edge cases, the estimator contract, and real texts."""

import gzip
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import fcluster
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import textkin as tk
from support import run_scikit_learn_checks
from textkin import DocumentClustering, TokenMover, TokenVectors, WordMover
from textkin.reading import Document

CATS = ["Cats purr on the mat", "A kitten sleeps on the sofa", "The cat and the kitten play"]
MONEY = [
    "Stocks fell sharply",
    "Investors sold their shares",
    "The market lost",
    "Banks sold bonds",
]
TEXTS = [CATS[0], MONEY[0], "The", MONEY[1], CATS[1], MONEY[2], "", CATS[2], MONEY[3]]
METHODS = ["kmeans", "kmedoids", "agglomerative"]
# The documents share too few words for k-means of words; means of word vectors separate them.
MODELS = {"kmeans": tk.Pooling(stop_words="smart"), "kmedoids": None, "agglomerative": None}


def run_method(method, n_clusters=2, **more):
    return DocumentClustering(
        n_clusters, method=method, **{"model": MODELS[method], "random_state": 0} | more
    )


def test_scikit_learn_checks():
    run_scikit_learn_checks(DocumentClustering(n_init=2))


# ------------------------------------------------------------------ results


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_texts_by_each_method(method):
    found = run_method(method).fit(TEXTS)
    assert_array_equal(found.labels_, [1, 0, -1, 0, 1, 0, -1, 1, 0])
    money, cats = found.clusters_
    assert (money.number, money.size, len(money), found.n_clusters_) == (0, 4, 4, 2)
    assert sorted(money.members.tolist()) == [1, 3, 5, 8]
    assert money.central == money.members[0]
    assert (np.diff(money.distances) >= 0).all()
    assert money.spread == pytest.approx(money.distances.mean())
    assert money.words[0][0] == "sold"
    assert cats.words[0][0] == "kitten"
    assert {word for word, _ in cats.words} == {
        "cat",
        "cats",
        "kitten",
        "mat",
        "play",
        "purr",
        "sleeps",
        "sofa",
    }
    assert TEXTS[cats.central] == cats.snippet
    assert_array_equal(
        found.predict(["Dogs and cats", "the stock market", "qwertzish", ""]), [1, 0, -1, -1]
    )
    assert_array_equal(found.predict(TEXTS), found.labels_)
    assert found.predict([]).shape == (0,)


@pytest.mark.parametrize("metric", ["wmd", "rwmd", "wcd", "cosine", "jaccard", "hellinger", "edit"])
@pytest.mark.parametrize("method", ["kmedoids", "agglomerative"])
def test_distances_match_the_measure(method, metric):
    found = DocumentClustering(3, method=method, metric=metric, random_state=0).fit(TEXTS)
    assert found.n_clusters_ == 3
    if method == "kmedoids":
        assert_array_equal(found.predict(TEXTS), found.labels_)
    total = sum(cluster.distances.sum() for cluster in found.clusters_)
    assert found.inertia_ == pytest.approx(total)
    assert all(cluster.distances[0] == 0 for cluster in found.clusters_)


def test_all_kinds_of_documents_are_accepted():
    for method in METHODS:
        expected = run_method(method).fit(TEXTS).labels_
        read = [Document(str(at), text) for at, text in enumerate(TEXTS)]
        assert_array_equal(run_method(method).fit(iter(read)).labels_, expected)
        found = run_method(method).fit([tk.text.tokenize(text.lower()) for text in CATS + MONEY])
        assert set(found.labels_) == {0, 1}
        assert found.clusters_[0].words
    vectors = [TokenVectors([[1, 0.1 * i], [0, 1]]) for i in range(3)] + [TokenVectors([[-1, 0]])]
    found = DocumentClustering(2, method="kmedoids", metric=TokenMover(), random_state=0).fit(
        vectors
    )
    assert_array_equal(found.labels_, [0, 0, 0, 1])
    assert found.clusters_[0].words == ()
    assert found.clusters_[0].snippet == ""


def test_bags_with_and_without_feature_names():
    counter = tk.BagOfWords("smart")
    bags = counter.fit_transform(CATS + MONEY)
    vectors = tk.WordVectors.builtin().align(counter.vocabulary_)
    found = run_method("kmedoids", vectors=vectors, feature_names=counter.vocabulary_).fit(bags)
    assert_array_equal(found.labels_, [1, 1, 1, 0, 0, 0, 0])
    assert found.clusters_[1].words[0][0] == "kitten"
    assert run_method("kmedoids", vectors=vectors).fit(bags).clusters_[0].words == ()
    for words in (list(counter.vocabulary_.words), np.array(counter.vocabulary_.words)):
        rows = run_method("kmeans", model=tk.LSI(4, random_state=0), feature_names=words).fit(bags)
        assert rows.clusters_[0].words
    X = np.random.default_rng(0).poisson(np.repeat(np.eye(3) * 9, 10, axis=0))
    dense, thin = (DocumentClustering(3, random_state=0).fit(X) for X in (X, sparse.csr_array(X)))
    assert_array_equal(dense.labels_, thin.labels_)
    assert_array_equal(dense.labels_, np.repeat(range(3), 10))


def test_settings_of_an_estimator_are_used():
    mover = WordMover(stop_words=None)
    found = DocumentClustering(2, method="kmedoids", metric=mover, random_state=0).fit(
        ["the", "cats", "dogs"]
    )
    assert_array_equal(found.labels_, [1, 0, 0])
    assert not hasattr(mover, "n_documents_")


def test_merges_equal_scipy():
    found = run_method("agglomerative").fit(TEXTS)
    kept = found.labels_ >= 0
    assert found.linkage_.shape == (6, 4)
    expected = fcluster(found.linkage_, 2, "maxclust")
    assert adjusted_rand_score(found.labels_[kept], expected) == 1
    for threshold in (0.0, found.linkage_[2, 2], 1e9):
        cut = run_method("agglomerative", None, distance_threshold=float(threshold)).fit(TEXTS)
        assert cut.n_clusters_ == 1 + np.sum(found.linkage_[:, 2] > threshold)


@pytest.mark.parametrize("how", ["average", "single"])
def test_graph_of_all_neighbors_equals_the_matrix(how):
    whole = run_method("agglomerative", linkage=how).fit(TEXTS)
    graph = run_method("agglomerative", linkage=how, max_matrix=2, n_neighbors=99).fit(TEXTS)
    assert_array_equal(graph.labels_, whole.labels_)
    assert_allclose(graph.linkage_, whole.linkage_, rtol=1e-9)
    assert [a.central for a in graph.clusters_] == [a.central for a in whole.clusters_]


# ------------------------------------------------------------------ edge cases


@pytest.mark.parametrize("method", METHODS)
def test_single_document_single_cluster_and_singletons(method):
    one = run_method(method, 1).fit(["a cat"])
    assert_array_equal(one.labels_, [0])
    assert one.clusters_[0].words == ()
    assert one.inertia_ == pytest.approx(0, abs=1e-12)
    assert_array_equal(one.predict(["dogs", "the"]), [0, -1])
    all_in_one = run_method(method, 1).fit(TEXTS)
    assert_array_equal(all_in_one.labels_ == 0, [bool(t) and t != "The" for t in TEXTS])
    single = run_method(method, 7).fit(TEXTS)
    assert sorted(single.labels_.tolist()) == [-1, -1, *range(7)]
    assert [c.central for c in single.clusters_] == sorted(c.central for c in single.clusters_)
    for each in (one, all_in_one, single):
        assert each.to_text()
        assert "nan" not in each.to_svg()


@pytest.mark.parametrize("method", METHODS)
def test_too_many_clusters_raise(method):
    with pytest.raises(ValueError, match="at most 7, the number of documents with something"):
        run_method(method, 8).fit(TEXTS)
    with pytest.raises(ValueError, match="at most 3, the number of documents "):
        run_method(method, 4).fit(CATS)
    with pytest.raises(ValueError, match=r"at most 2, the number of documents that differ.*got 3"):
        run_method(method, 3).fit(CATS[:2] * 3)


@pytest.mark.parametrize("method", METHODS)
def test_equal_documents_share_a_cluster(method):
    found = run_method(method, 2).fit(CATS[:1] * 3 + MONEY[:1] * 4)
    assert_array_equal(found.labels_, [1, 1, 1, 0, 0, 0, 0])
    assert [cluster.central for cluster in found.clusters_] == [3, 0]
    same = run_method(method, 1).fit(CATS[:1] * 5)
    assert same.inertia_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_documents_without_words_get_label_minus_one(method):
    with pytest.raises(ValueError, match="all of n_samples=2 are empty"):
        run_method(method, 1).fit(["the", ""])
    with pytest.raises(ValueError, match="at least one document"):
        run_method(method, 1).fit([])
    with pytest.raises(TypeError, match="one text"):
        run_method(method, 1).fit("a cat")
    with pytest.raises(TypeError, match="position 0 holds NoneType"):
        run_method(method, 1).fit([None, "a cat"])


def test_other_scripts_and_html_in_words():
    texts = [
        "кошка спит",
        "кошка ест",
        "株価 下落",
        "株価 上昇",
        "<script>alert(1)</script> \x1b[31m",
    ]
    found = DocumentClustering(3, random_state=0).fit(texts)
    assert found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3]
    page = found.to_html(title="<b>")
    assert "<script" not in page
    assert "\x1b" not in page + found.to_text()
    assert "кошка" in page


def test_values_of_extreme_magnitude():
    X = np.array([[1.0, 2], [1.1, 2], [-3, 1], [-3, 1.2]])
    for metric, scale in (("cosine", 1e-200), ("cosine", 1e200), ("euclidean", 1e100)):
        found = DocumentClustering(2, metric=metric, random_state=0).fit(X * scale)
        assert_array_equal(found.labels_, [0, 0, 1, 1])
        assert np.isfinite(found.cluster_centers_).all()
    for scale in (1e-200, 1e200):
        with pytest.raises(ValueError, match="Scale the numbers"):
            DocumentClustering(2, metric="euclidean").fit(X * scale)
    with pytest.raises(ValueError, match="NaN"):
        DocumentClustering(2).fit([[np.nan, 1.0], [1.0, 2.0]])


def test_zero_rows_are_empty_for_cosine_only():
    X = np.array([[0.0, 0], [0, 0.1], [5, 5], [5, 6]])
    for rows in (X, sparse.csr_array(X)):
        found = DocumentClustering(2, random_state=0).fit(rows)
        assert_array_equal(found.labels_[:1], [-1])
        assert_array_equal(found.predict(rows), found.labels_)
    assert_array_equal(DocumentClustering(2, metric="euclidean").fit(X).labels_, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"method": "dbscan"}, "method must be one of 'kmeans', 'kmedoids', 'agglomerative'"),
        ({"metric": "wmd"}, "means of vectors.*got 'wmd'. Use `method='kmedoids'`"),
        ({"vectors": np.ones((2, 2))}, "pass `model=Pooling"),
        ({"n_clusters": None}, "Give n_clusters"),
        ({"n_clusters": None, "distance_threshold": 1.0}, "distance_threshold is for"),
        ({"method": "agglomerative", "distance_threshold": 1.0}, "Give n_clusters"),
        (
            {"method": "kmedoids", "metric": "rwmd-query"},
            "depends on the order of the two documents",
        ),
        ({"method": "kmedoids", "metric": "nearness"}, "metric must be"),
        ({"method": "kmedoids", "metric": "wmd", "model": tk.LSI(2)}, "takes no model"),
        ({"method": "kmedoids", "n_clusters": 3, "max_matrix": 2}, "at most max_matrix=2"),
        (
            {"method": "agglomerative", "linkage": "complete", "max_matrix": 2},
            "all distances of 7 documents",
        ),
        ({"feature_names": ["a"]}, "texts have their own"),
        ({"model": "lsi"}, "model must be None or a transformer"),
    ],
)
def test_invalid_parameters_raise(options, message):
    with pytest.raises(ValueError, match=message):
        DocumentClustering(**{"n_clusters": 2} | options).fit(TEXTS)


def test_wrong_number_of_feature_names_raises():
    for words in (["a"], "ab"):
        with pytest.raises(ValueError, match="feature_names must be 2 words"):
            DocumentClustering(1, feature_names=words).fit(np.eye(2))
    with pytest.raises(ValueError, match="feature_names must be None or words"):
        DocumentClustering(1, feature_names=5).fit(np.eye(2))


def test_mixed_numbers_and_texts_raise():
    numbers = DocumentClustering(2, random_state=0).fit(np.eye(3))
    with pytest.raises(TypeError, match="got texts"):
        numbers.predict(TEXTS)
    with pytest.raises(TypeError, match="got numbers"):
        DocumentClustering(2, random_state=0).fit(TEXTS).predict(np.eye(3))


# ------------------------------------------------------------------ contract


def same(a, b):
    assert_array_equal(a.labels_, b.labels_)
    assert a.inertia_ == b.inertia_
    for one, other in zip(a.clusters_, b.clusters_, strict=True):
        assert repr(one) == repr(other)
        assert_array_equal(one.distances, other.distances)


@pytest.mark.parametrize("max_matrix", [3, 2000])
@pytest.mark.parametrize("method", METHODS)
def test_copies_refits_and_threads_give_the_same(method, max_matrix):
    model = run_method(method, max_matrix=max_matrix, n_neighbors=2).fit(TEXTS)
    same(clone(model).fit(TEXTS), model)
    same(clone(model).set_params(n_jobs=3).fit(TEXTS), model)
    same(clone(model).fit(CATS).fit(TEXTS), model)
    other = METHODS[METHODS.index(method) - 1]
    refit = run_method(other).fit(TEXTS).set_params(method=method, model=MODELS[method])
    same(refit.set_params(max_matrix=max_matrix, n_neighbors=2).fit(TEXTS), model)
    assert hasattr(refit, "linkage_") == (method == "agglomerative")
    assert hasattr(refit, "cluster_centers_") == (method == "kmeans")
    back = pickle.loads(pickle.dumps(model))
    same(back, model)
    assert_array_equal(back.predict(TEXTS), model.predict(TEXTS))
    assert_array_equal([model.predict([text])[0] for text in TEXTS], model.predict(TEXTS))
    assert_array_equal(clone(model).fit_predict(TEXTS), model.labels_)
    assert clone(model).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("max_matrix", [3, 2000])
@pytest.mark.parametrize("method", METHODS)
def test_progress_and_failed_fit_leaves_the_estimator_unchanged(method, max_matrix):
    told = []
    model = run_method(method, max_matrix=max_matrix, n_neighbors=2)
    model.fit(TEXTS, progress=lambda *done: told.append(done))
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    before = dict(vars(model))

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(CATS, progress=stop)
    assert vars(model) == before
    with pytest.raises(ValueError, match="at most"):
        model.set_params(n_clusters=99).fit(CATS)
    assert_array_equal(model.predict(TEXTS), model.labels_)
    fresh = run_method(method)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(TEXTS, progress=stop)
    with pytest.raises(NotFittedError):
        fresh.predict(TEXTS)


def test_pipeline_and_grid_search():
    texts, labels = (CATS + MONEY) * 3, ([0] * 3 + [1] * 4) * 3
    pipeline = make_pipeline(tk.Pooling(), DocumentClustering(2, random_state=0))
    assert adjusted_rand_score(pipeline.fit_predict(texts), labels) == 1
    grid = {"n_clusters": [2, 3], "method": ["kmedoids", "agglomerative"]}
    search = GridSearchCV(
        DocumentClustering(random_state=0),
        grid,
        cv=2,
        scoring="adjusted_rand_score",
        error_score="raise",
    ).fit(texts, labels)
    assert search.best_score_ == 1
    assert search.best_params_["n_clusters"] == 2


# ------------------------------------------------------------------ real texts


def test_clusters_separate_topics_of_real_texts(shared_data):
    with gzip.open(shared_data / "classification" / "classic.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    chosen = [d for d in documents if d["label"] in ("cran", "med") and len(d["text"]) > 200][::8]
    texts, labels = [d["text"] for d in chosen], [d["label"] for d in chosen]
    found = DocumentClustering(2, random_state=0).fit(texts)
    assert adjusted_rand_score(labels, found.labels_) > 0.9
    wings, patients = ({word for word, _ in cluster.words} for cluster in found.clusters_)
    assert {"flow", "pressure", "theory"} <= wings
    assert {"treatment", "growth", "clinical"} <= patients
