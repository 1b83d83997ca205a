"""DocumentClusters: its edges, its contract, and what it says of real texts."""

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
from sklearn.utils.estimator_checks import parametrize_with_checks

import textkin as tk
from textkin import DocumentClusters, TokenMover, TokenVectors, WordMover
from textkin.text import Document

CATS = ["Cats purr on the mat", "A kitten sleeps on the sofa", "The cat and the kitten play"]
MONEY = [
    "Stocks fell sharply",
    "Investors sold their shares",
    "The market lost",
    "Banks sold bonds",
]
TEXTS = [CATS[0], MONEY[0], "The", MONEY[1], CATS[1], MONEY[2], "", CATS[2], MONEY[3]]
METHODS = ["kmeans", "kmedoids", "agglomerative"]
# k-means has too few words in common here; means of word vectors see what belongs together.
MODELS = {"kmeans": tk.Pooling(), "kmedoids": None, "agglomerative": None}


def asked(method, n_clusters=2, **more):
    return DocumentClusters(
        n_clusters, method=method, **{"model": MODELS[method], "random_state": 0} | more
    )


@parametrize_with_checks([DocumentClusters(n_init=2)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# ------------------------------------------------------------------ what is found


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_texts(method):
    found = asked(method).fit(TEXTS)
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
def test_distances_of_all_kinds(method, metric):
    found = DocumentClusters(3, method=method, metric=metric, random_state=0).fit(TEXTS)
    assert found.n_clusters_ == 3
    if method == "kmedoids":
        assert_array_equal(found.predict(TEXTS), found.labels_)
    total = sum(cluster.distances.sum() for cluster in found.clusters_)
    assert found.inertia_ == pytest.approx(total)
    assert all(cluster.distances[0] == 0 for cluster in found.clusters_)


def test_documents_of_other_kinds():
    for method in METHODS:
        expected = asked(method).fit(TEXTS).labels_
        read = [Document(str(at), text) for at, text in enumerate(TEXTS)]
        assert_array_equal(asked(method).fit(iter(read)).labels_, expected)
        found = asked(method).fit([tk.text.tokenize(text.lower()) for text in CATS + MONEY])
        assert set(found.labels_) == {0, 1}
        assert found.clusters_[0].words
    vectors = [TokenVectors([[1, 0.1 * i], [0, 1]]) for i in range(3)] + [TokenVectors([[-1, 0]])]
    found = DocumentClusters(2, method="kmedoids", metric=TokenMover(), random_state=0).fit(vectors)
    assert_array_equal(found.labels_, [0, 0, 0, 1])
    assert found.clusters_[0].words == ()
    assert found.clusters_[0].snippet == ""


def test_bags_with_and_without_names():
    counter = tk.BagOfWords("smart")
    bags = counter.fit_transform(CATS + MONEY)
    vectors = tk.WordVectors.builtin().align(counter.vocabulary_)
    found = asked("kmedoids", vectors=vectors, words=counter.vocabulary_).fit(bags)
    assert_array_equal(found.labels_, [1, 1, 1, 0, 0, 0, 0])
    assert found.clusters_[1].words[0][0] == "kitten"
    assert asked("kmedoids", vectors=vectors).fit(bags).clusters_[0].words == ()
    for words in (list(counter.vocabulary_.words), np.array(counter.vocabulary_.words)):
        rows = asked("kmeans", model=tk.LSI(4, random_state=0), words=words).fit(bags)
        assert rows.clusters_[0].words
    X = np.random.default_rng(0).poisson(np.repeat(np.eye(3) * 9, 10, axis=0))
    dense, thin = (DocumentClusters(3, random_state=0).fit(X) for X in (X, sparse.csr_array(X)))
    assert_array_equal(dense.labels_, thin.labels_)
    assert_array_equal(dense.labels_, np.repeat(range(3), 10))


def test_settings_of_an_estimator():
    mover = WordMover(stop_words=None)
    found = DocumentClusters(2, method="kmedoids", metric=mover, random_state=0).fit(
        ["the", "cats", "dogs"]
    )
    assert_array_equal(found.labels_, [1, 0, 0])
    assert not hasattr(mover, "n_documents_")


def test_merges_are_those_of_scipy():
    found = asked("agglomerative").fit(TEXTS)
    kept = found.labels_ >= 0
    assert found.linkage_.shape == (6, 4)
    expected = fcluster(found.linkage_, 2, "maxclust")
    assert adjusted_rand_score(found.labels_[kept], expected) == 1
    for threshold in (0.0, found.linkage_[2, 2], 1e9):
        cut = asked("agglomerative", None, distance_threshold=float(threshold)).fit(TEXTS)
        assert cut.n_clusters_ == 1 + np.sum(found.linkage_[:, 2] > threshold)


@pytest.mark.parametrize("how", ["average", "single"])
def test_a_graph_of_all_neighbours_is_as_good_as_the_matrix(how):
    whole = asked("agglomerative", linkage=how).fit(TEXTS)
    graph = asked("agglomerative", linkage=how, max_matrix=2, n_neighbors=99).fit(TEXTS)
    assert_array_equal(graph.labels_, whole.labels_)
    assert_allclose(graph.linkage_, whole.linkage_, rtol=1e-9)
    assert [a.central for a in graph.clusters_] == [a.central for a in whole.clusters_]


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("method", METHODS)
def test_one_document_one_cluster_and_as_many_as_documents(method):
    one = asked(method, 1).fit(["a cat"])
    assert_array_equal(one.labels_, [0])
    assert one.clusters_[0].words == ()
    assert one.inertia_ == pytest.approx(0, abs=1e-12)
    assert_array_equal(one.predict(["dogs", "the"]), [0, -1])
    all_in_one = asked(method, 1).fit(TEXTS)
    assert_array_equal(all_in_one.labels_ == 0, [bool(t) and t != "The" for t in TEXTS])
    single = asked(method, 7).fit(TEXTS)
    assert sorted(single.labels_.tolist()) == [-1, -1, *range(7)]
    assert [c.central for c in single.clusters_] == sorted(c.central for c in single.clusters_)
    for each in (one, all_in_one, single):
        assert each.to_text()
        assert "nan" not in each.to_svg()


@pytest.mark.parametrize("method", METHODS)
def test_too_many_clusters(method):
    with pytest.raises(ValueError, match="at most 7, the number of documents with something"):
        asked(method, 8).fit(TEXTS)
    with pytest.raises(ValueError, match="at most 3, the number of documents "):
        asked(method, 4).fit(CATS)
    with pytest.raises(ValueError, match=r"at most 2, the number of documents that differ.*got 3"):
        asked(method, 3).fit(CATS[:2] * 3)


@pytest.mark.parametrize("method", METHODS)
def test_equal_documents_are_together(method):
    found = asked(method, 2).fit(CATS[:1] * 3 + MONEY[:1] * 4)
    assert_array_equal(found.labels_, [1, 1, 1, 0, 0, 0, 0])
    assert [cluster.central for cluster in found.clusters_] == [3, 0]
    same = asked(method, 1).fit(CATS[:1] * 5)
    assert same.inertia_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_compare(method):
    with pytest.raises(ValueError, match="all of n_samples=2 are empty"):
        asked(method, 1).fit(["the", ""])
    with pytest.raises(ValueError, match="at least one document"):
        asked(method, 1).fit([])
    with pytest.raises(TypeError, match="one text"):
        asked(method, 1).fit("a cat")
    with pytest.raises(TypeError, match="position 0 holds NoneType"):
        asked(method, 1).fit([None, "a cat"])


def test_texts_in_other_scripts_and_hostile_words():
    texts = [
        "кошка спит",
        "кошка ест",
        "株価 下落",
        "株価 上昇",
        "<script>alert(1)</script> \x1b[31m",
    ]
    found = DocumentClusters(3, random_state=0).fit(texts)
    assert found.labels_[0] == found.labels_[1] != found.labels_[2] == found.labels_[3]
    page = found.to_html(title="<b>")
    assert "<script" not in page
    assert "\x1b" not in page + found.to_text()
    assert "кошка" in page


def test_huge_and_tiny_numbers():
    X = np.array([[1.0, 2], [1.1, 2], [-3, 1], [-3, 1.2]])
    for metric, scale in (("cosine", 1e-200), ("cosine", 1e200), ("euclidean", 1e100)):
        found = DocumentClusters(2, metric=metric, random_state=0).fit(X * scale)
        assert_array_equal(found.labels_, [0, 0, 1, 1])
        assert np.isfinite(found.cluster_centers_).all()
    for scale in (1e-200, 1e200):
        with pytest.raises(ValueError, match="Scale them"):
            DocumentClusters(2, metric="euclidean").fit(X * scale)
    with pytest.raises(ValueError, match="NaN"):
        DocumentClusters(2).fit([[np.nan, 1.0], [1.0, 2.0]])


def test_rows_of_zeros_have_no_direction_but_a_place():
    X = np.array([[0.0, 0], [0, 0.1], [5, 5], [5, 6]])
    for rows in (X, sparse.csr_array(X)):
        found = DocumentClusters(2, random_state=0).fit(rows)
        assert_array_equal(found.labels_[:1], [-1])
        assert_array_equal(found.predict(rows), found.labels_)
    assert_array_equal(DocumentClusters(2, metric="euclidean").fit(X).labels_, [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be"),
        ({"method": "dbscan"}, "method must be one of 'kmeans', 'kmedoids', 'agglomerative'"),
        ({"metric": "wmd"}, "means of vectors.*got metric='wmd'. Use method='kmedoids'"),
        ({"vectors": np.ones((2, 2))}, "pass model=Pooling"),
        ({"n_clusters": None}, "Give n_clusters"),
        ({"n_clusters": None, "distance_threshold": 1.0}, "distance_threshold is for"),
        ({"method": "agglomerative", "distance_threshold": 1.0}, "Give n_clusters"),
        ({"method": "kmedoids", "metric": "rwmd-query"}, "when two documents are exchanged"),
        ({"method": "kmedoids", "metric": "nearness"}, "metric must be"),
        ({"method": "kmedoids", "metric": "wmd", "model": tk.LSI(2)}, "takes no model"),
        ({"method": "kmedoids", "n_clusters": 3, "max_matrix": 2}, "at most max_matrix=2"),
        ({"method": "agglomerative", "linkage": "complete", "max_matrix": 2}, "all 7 documents"),
        ({"words": ["a"]}, "texts have their own"),
        ({"model": "lsi"}, "model must be None or a transformer"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        DocumentClusters(**{"n_clusters": 2} | options).fit(TEXTS)


def test_words_that_do_not_fit_the_columns():
    for words in (["a"], "ab"):
        with pytest.raises(ValueError, match="words must be 2 words"):
            DocumentClusters(1, words=words).fit(np.eye(2))
    with pytest.raises(ValueError, match="words must be None or words"):
        DocumentClusters(1, words=5).fit(np.eye(2))


def test_numbers_and_texts_are_not_mixed():
    numbers = DocumentClusters(2, random_state=0).fit(np.eye(3))
    with pytest.raises(TypeError, match="got texts"):
        numbers.predict(TEXTS)
    with pytest.raises(TypeError, match="got numbers"):
        DocumentClusters(2, random_state=0).fit(TEXTS).predict(np.eye(3))


# ------------------------------------------------------------------ contract


def same(a, b):
    assert_array_equal(a.labels_, b.labels_)
    assert a.inertia_ == b.inertia_
    for one, other in zip(a.clusters_, b.clusters_, strict=True):
        assert repr(one) == repr(other)
        assert_array_equal(one.distances, other.distances)


@pytest.mark.parametrize("max_matrix", [3, 2000])
@pytest.mark.parametrize("method", METHODS)
def test_copies_refits_and_threads(method, max_matrix):
    model = asked(method, max_matrix=max_matrix, n_neighbors=2).fit(TEXTS)
    same(clone(model).fit(TEXTS), model)
    same(clone(model).set_params(n_jobs=3).fit(TEXTS), model)
    same(clone(model).fit(CATS).fit(TEXTS), model)
    other = METHODS[METHODS.index(method) - 1]
    refit = asked(other).fit(TEXTS).set_params(method=method, model=MODELS[method])
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
def test_progress_and_a_fit_that_fails(method, max_matrix):
    told = []
    model = asked(method, max_matrix=max_matrix, n_neighbors=2)
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
    fresh = asked(method)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(TEXTS, progress=stop)
    with pytest.raises(NotFittedError):
        fresh.predict(TEXTS)


def test_in_a_pipeline_and_a_grid():
    texts, labels = (CATS + MONEY) * 3, ([0] * 3 + [1] * 4) * 3
    pipeline = make_pipeline(tk.Pooling(), DocumentClusters(2, random_state=0))
    assert adjusted_rand_score(pipeline.fit_predict(texts), labels) == 1
    grid = {"n_clusters": [2, 3], "method": ["kmedoids", "agglomerative"]}
    search = GridSearchCV(
        DocumentClusters(random_state=0),
        grid,
        cv=2,
        scoring="adjusted_rand_score",
        error_score="raise",
    ).fit(texts, labels)
    assert search.best_score_ == 1
    assert search.best_params_["n_clusters"] == 2


# ------------------------------------------------------------------ real texts


def test_topics_of_real_texts_come_apart(shared_data):
    with gzip.open(shared_data / "classification" / "classic.jsonl.gz", "rt") as lines:
        documents = [json.loads(line) for line in lines]
    chosen = [d for d in documents if d["label"] in ("cran", "med") and len(d["text"]) > 200][::8]
    texts, labels = [d["text"] for d in chosen], [d["label"] for d in chosen]
    found = DocumentClusters(2, random_state=0).fit(texts)
    assert adjusted_rand_score(labels, found.labels_) > 0.9
    wings, patients = ({word for word, _ in cluster.words} for cluster in found.clusters_)
    assert {"flow", "pressure", "theory"} <= wings
    assert {"treatment", "growth", "clinical"} <= patients
