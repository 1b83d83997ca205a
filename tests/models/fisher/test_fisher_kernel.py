"""The Fisher kernel compared with its equations and METHODS 8.4."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from textkin.models import PLSA, FisherKernel, load_estimator
from textkin.models.fisher._scores import fisher_kernel

DOCUMENTS = np.array([[4.0, 5, 1], [1, 5, 4]])


def model_of(words, weights):
    """Return a PLSA with given parameters."""
    words = np.array(words, dtype=float)
    plsa = PLSA(len(words), fold_in_iter=5000)
    plsa.components_, plsa.topic_weights_ = words, np.array(weights, dtype=float)
    plsa.document_topics_ = np.full((1, len(words)), 1 / len(words))
    plsa.inverse_temperature_, plsa.n_features_in_ = 1.0, words.shape[1]
    return plsa


def kernel_of(*models, **parameters):
    kernel = FisherKernel([len(model.components_) for model in models], **parameters)
    kernel.models_, kernel.information_ = list(models), []
    kernel.n_features_in_ = models[0].n_features_in_
    return kernel


@pytest.fixture
def worked_example():
    return model_of([[0.5, 0.5, 0], [0, 0.5, 0.5]], [0.5, 0.5])


def test_kernel_matches_worked_example(worked_example):
    first = kernel_of(worked_example, word_weight=0).similarity(DOCUMENTS)
    second = kernel_of(worked_example, topic_weight=0).similarity(DOCUMENTS)
    assert_allclose(first, [[1.36, 0.64], [0.64, 1.36]], atol=1e-5)
    assert_allclose(second, [[0.68, 0.32], [0.32, 0.68]], atol=1e-5)
    both = kernel_of(worked_example).similarity(DOCUMENTS)
    assert_allclose(both, first + second)
    one = kernel_of(worked_example, normalize=True).similarity(DOCUMENTS)
    assert_allclose(one, [[1, 0.4705882], [0.4705882, 1]], atol=1e-5)


def test_scores_match_worked_example(worked_example):
    features = kernel_of(worked_example).transform(DOCUMENTS).toarray()[0]
    assert_allclose(features[:2], np.array([0.8, 0.2]) / np.sqrt(0.5), atol=1e-5)
    words = features[2:].reshape(3, 2)
    assert_allclose(words[:, 0], [0.5656854, 0.5656854, 0], atol=1e-5)
    assert_allclose(words[:, 1], [0, 0.1414214, 0.1414214], atol=1e-5)


def test_single_factor_weights_shared_words_by_rarity():
    one = model_of([[0.25, 0.5, 0.25]], [1])
    found = kernel_of(one, topic_weight=0).similarity(DOCUMENTS)
    assert found[0, 1] == pytest.approx(0.82)
    assert_allclose(kernel_of(one, word_weight=0).similarity(DOCUMENTS), 1)


def test_kernels_of_several_models_are_added(worked_example):
    one = model_of([[0.25, 0.5, 0.25]], [1])
    both = kernel_of(worked_example, one)
    alone = kernel_of(worked_example).similarity(DOCUMENTS) + kernel_of(one).similarity(DOCUMENTS)
    assert_allclose(both.similarity(DOCUMENTS), alone)
    assert both.transform(DOCUMENTS).shape == (2, 2 * 4 + 1 * 4)


def test_documents_without_common_words_share_topics(worked_example):
    apart = [[1, 0, 0], [0, 1, 0]]
    assert kernel_of(worked_example, topic_weight=0).similarity(apart)[0, 1] == 0
    assert kernel_of(worked_example, word_weight=0).similarity(apart)[0, 1] > 0


def reference_kernel(bags, model, exact=False):
    """Return K1 + K2 of the reference implementation."""
    topics = model.transform(bags)
    return fisher_kernel(bags, topics, model.components_, model.topic_weights_, exact=exact)


@st.composite
def collections(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bags = rng.poisson(draw(st.sampled_from([0.5, 2.0])), (draw(st.integers(2, 8)), 7))
    bags[:, 0] += 1
    return bags.astype(float), draw(st.integers(1, 5))


@given(collections(), st.booleans())
@settings(max_examples=30)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernel_equals_reference_and_is_positive_semidefinite(collection, exact):
    bags, number = collection
    kernel = FisherKernel(
        [number], topic_model=PLSA(max_iter=20, topic_word_prior=1.05), exact=exact, random_state=0
    ).fit(bags)
    found = kernel.similarity(bags)
    assert_allclose(found, reference_kernel(bags, kernel.models_[0], exact), rtol=1e-8, atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > -1e-9 * np.trace(found)
    features = kernel.transform(bags)
    assert_allclose((features @ features.T).toarray(), found, rtol=1e-9)


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(0)
    words = np.zeros((2, 20))
    words[0, :12], words[1, 8:] = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    labels = np.arange(60) % 2
    return np.array([rng.multinomial(12, words[label]) for label in labels]).astype(float), labels


def test_simplified_score_is_exact_at_maximum_likelihood(collection):
    bags, _ = collection
    model = PLSA(2, fold_in_iter=20_000, tol=1e-9, max_iter=2000)
    kernel = FisherKernel(2, topic_model=model, random_state=0).fit(bags)
    expected = kernel.similarity(bags)
    kernel.exact = True
    assert_allclose(kernel.similarity(bags), expected, atol=1e-3)


def test_diagonal_information_normalizes_every_coordinate(collection):
    bags, _ = collection
    kernel = FisherKernel(2, information="diagonal", random_state=0).fit(bags)
    plain = FisherKernel(2, random_state=0).fit(bags).transform(bags).toarray()
    squares = (plain**2).mean(axis=0)
    assert_allclose(kernel.information_[0], squares)
    known = squares > 0
    expected = plain[:, known] / np.sqrt(squares[known] + 1e-3 * squares[known].mean())
    assert_allclose(kernel.transform(bags).toarray()[:, known], expected)
    found = kernel.similarity(bags)
    assert np.linalg.eigvalsh(found).min() > -1e-9 * np.trace(found)


def test_vector_space_adds_the_cosine(collection):
    bags, _ = collection
    kernel = FisherKernel(2, normalize=True, random_state=0).fit(bags)
    plain = kernel.similarity(bags[:5], bags)
    kernel.vector_space = 2.0
    unit = bags / np.linalg.norm(bags, axis=1, keepdims=True)
    assert_allclose(kernel.similarity(bags[:5], bags), plain + 2 * unit[:5] @ unit.T)
    assert kernel.transform(bags).shape[1] == 2 * 21 + 20


def test_documents_without_known_words_have_similarity_zero(collection):
    bags = np.hstack([collection[0], np.zeros((60, 1))])
    kernel = FisherKernel([1, 2], normalize=True, random_state=0).fit(bags)
    strange = np.zeros((2, 21))
    strange[1, 20] = 3
    assert_array_equal(kernel.similarity(strange, bags), 0)
    assert kernel.transform(strange).nnz == 0


@pytest.mark.parametrize("prior", [1.0, 1.1])
def test_scale_of_weights_does_not_matter(prior):
    model = PLSA(doc_topic_prior=prior)
    kernel = FisherKernel(2, topic_model=model, random_state=0).fit(DOCUMENTS * 2.0**700)
    usual = kernel.similarity(DOCUMENTS * 2.0**120)
    assert np.isfinite(usual).all()
    assert_array_equal(kernel.similarity(DOCUMENTS * 2.0**1020), usual)
    assert_array_equal(kernel.similarity(DOCUMENTS * 2.0**700), usual)


def test_block_size_does_not_matter(collection, monkeypatch):
    bags, _ = collection
    kernel = FisherKernel([1, 3], information="diagonal", random_state=0).fit(bags)
    whole, features = kernel.similarity(bags[:7], bags), kernel.transform(bags)
    monkeypatch.setattr("textkin.models.fisher._fisher_kernel._BLOCK", 150)
    assert_allclose(kernel.similarity(bags[:7], bags), whole)
    assert_array_equal(kernel.transform(bags).toarray(), features.toarray())
    assert_allclose(kernel.fit(bags).similarity(bags[:7], bags), whole)


def test_models_use_all_texts_and_the_classifier_uses_labels(collection):
    bags, labels = collection
    kernel = FisherKernel([1, 2], normalize=True, random_state=0).fit(bags)
    classifier = LinearSVC(random_state=0).fit(kernel.transform(bags[:4]), labels[:4])
    assert classifier.score(kernel.transform(bags[4:]), labels[4:]) > 0.9


def test_parameters_of_the_topic_model_are_used(collection):
    bags, _ = collection
    told = []
    model = PLSA(99, topic_word_prior=1.5, n_init=2, max_iter=50)
    kernel = FisherKernel([1, 2], topic_model=model, random_state=0)
    kernel.fit(bags, progress=lambda *step: told.append(step))
    assert [m.n_components for m in kernel.models_] == [1, 2]
    assert all(m.topic_word_prior == 1.5 for m in kernel.models_)
    assert {total for _, total in told} == {200}
    assert max(done for done, _ in told) <= 200
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert kernel.n_iter_ == max(m.n_iter_ for m in kernel.models_) > 0
    assert kernel.converged_ is True
    with pytest.warns(ConvergenceWarning):
        assert (
            not FisherKernel([1, 2], topic_model=PLSA(max_iter=2), random_state=0)
            .fit(bags)
            .converged_
        )
    with pytest.raises(NotFittedError):
        FisherKernel().n_iter_  # noqa: B018


def test_progress_is_reported_and_can_stop(collection, fitted, monkeypatch):
    bags, _ = collection
    monkeypatch.setattr("textkin.models.fisher._fisher_kernel._BLOCK", 800)
    told = []
    fitted.transform(bags, progress=lambda *step: told.append(step))
    assert len(told) > 2
    assert told[-1] == (60, 60)
    told.clear()
    fitted.similarity(bags[:40], bags, progress=lambda *step: told.append(step))
    assert len(told) > 3
    assert told[-1] == (2400, 2400)
    assert told == sorted(set(told))

    def enough(done, total):
        raise RuntimeError("enough")

    for work in (fitted.transform, fitted.similarity):
        with pytest.raises(RuntimeError, match="enough"):
            work(bags, progress=enough)


def test_n_components_as_array_and_changed_after_fit(collection):
    bags, _ = collection
    kernel = FisherKernel(np.array([1, 2]), random_state=0).fit(bags)
    expected = FisherKernel([1, 2], random_state=0).fit(bags).similarity(bags)
    assert_array_equal(kernel.similarity(bags), expected)
    kernel.n_components = 7
    assert kernel.transform(bags).shape[1] == len(kernel.get_feature_names_out()) == 3 * 21
    assert_array_equal(kernel.similarity(bags), expected)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be an integer"),
        ({"n_components": []}, ValueError, "list of such integers"),
        ({"n_components": [2, 0]}, ValueError, "list of such integers"),
        ({"n_components": 2.5}, TypeError, "n_components"),
        ({"n_components": np.array([])}, ValueError, "list of such integers"),
        ({"n_components": np.array([[1, 2]])}, ValueError, "list of such integers"),
        ({"n_components": np.array([1.5])}, ValueError, "list of such integers"),
        ({"topic_model": "plsa"}, ValueError, "topic_model must be None or a PLSA"),
        ({"topic_weight": -1}, ValueError, "topic_weight"),
        ({"information": "full"}, ValueError, "information must be one of"),
        ({"vector_space": np.nan}, ValueError, "vector_space"),
    ],
)
def test_invalid_parameters_raise(parameters, error, message):
    with pytest.raises(error, match=message):
        FisherKernel(**parameters).fit(DOCUMENTS)


@pytest.fixture(scope="module")
def fitted(collection):
    model = PLSA(topic_word_prior=1.1)
    return FisherKernel(
        [1, 2], topic_model=model, information="diagonal", vector_space=0.5, random_state=0
    ).fit(collection[0])


def test_batches_equal_single_rows_in_both_precisions(collection, fitted):
    bags = sparse.csr_array(collection[0])
    for dtype in (np.float32, np.float64):
        batch = fitted.transform(bags.astype(dtype))
        assert batch.dtype == dtype
        for at in (0, 7):
            alone = fitted.transform(bags[at].astype(dtype))
            assert_array_equal(alone.toarray(), batch[[at]].toarray())
    assert fitted.transform(bags[:0]).shape == (0, 3 * 21 + 20)
    assert fitted.similarity(bags[:0], bags).shape == (0, 60)
    assert len(fitted.get_feature_names_out()) == 3 * 21 + 20


def test_pickle_and_save(collection, fitted, tmp_path):
    bags, _ = collection
    expected = fitted.similarity(bags)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).similarity(bags), expected)
    fitted.save(tmp_path / "kernel")
    for again in (FisherKernel.load(tmp_path / "kernel"), load_estimator(tmp_path / "kernel")):
        assert again.get_params(deep=False).keys() == fitted.get_params(deep=False).keys()
        assert again.topic_model.topic_word_prior == 1.1
        assert_array_equal(again.similarity(bags), expected)


def test_inconsistent_saved_kernel_raises(collection, tmp_path):
    kernel = FisherKernel(2, random_state=0).fit(collection[0])
    kernel.models_ = kernel.models_ * 2
    kernel.save(tmp_path / "kernel")
    with pytest.raises(ValueError, match=r"is invalid.*models_ and information_ must match"):
        FisherKernel.load(tmp_path / "kernel")


def test_pipeline_and_grid_search(collection):
    bags, labels = collection
    pipeline = make_pipeline(FisherKernel(2, normalize=True, random_state=0), LinearSVC())
    search = GridSearchCV(pipeline, {"fisherkernel__n_components": [1, [1, 2]]}, cv=2)
    assert search.fit(bags, labels).best_score_ > 0.9


def test_seed_and_threads_give_the_same(collection):
    bags, _ = collection
    one = FisherKernel([2, 3], random_state=4).fit(bags).similarity(bags)
    two = FisherKernel([2, 3], random_state=4, n_jobs=2).fit(bags).similarity(bags)
    assert_array_equal(one, two)
    assert not np.array_equal(FisherKernel([2, 3], random_state=5).fit(bags).similarity(bags), one)


def test_each_part_is_normalized_individually(worked_example):
    one = model_of([[0.25, 0.5, 0.25]], [1])
    first = [kernel_of(m, word_weight=0, normalize=True) for m in (worked_example, one)]
    second = [kernel_of(m, topic_weight=0, normalize=True) for m in (worked_example, one)]
    topics = sum(kernel.similarity(DOCUMENTS) for kernel in first) / 2
    words = sum(kernel.similarity(DOCUMENTS) for kernel in second) / 2
    for a, b, share in ((1, 1, 0.5), (3, 0.5, 6 / 7), (0, 2, 0), (1e308, 1e308, 0.5)):
        kernel = kernel_of(worked_example, one, topic_weight=a, word_weight=b, normalize="each")
        found = kernel.similarity(DOCUMENTS)
        assert_allclose(found, share * topics + (1 - share) * words, rtol=1e-9)
        assert_allclose(np.diag(found), 1)
    both = kernel_of(worked_example, one, normalize="each", vector_space=2.0).similarity(DOCUMENTS)
    plain = kernel_of(worked_example, one, normalize="each").similarity(DOCUMENTS)
    cosine = DOCUMENTS @ DOCUMENTS.T / 42
    assert_allclose(both, plain + 2 * cosine, rtol=1e-9)


def test_normalized_parts_with_zero_weights_are_zero(worked_example):
    kernel = kernel_of(worked_example, topic_weight=0, word_weight=0, normalize="each")
    assert_array_equal(kernel.similarity(DOCUMENTS), 0)
    empty = kernel_of(worked_example, normalize="each").similarity([[0.0, 0, 0]], DOCUMENTS)
    assert_array_equal(empty, 0)
    assert kernel_of(worked_example, normalize="each").transform(np.zeros((0, 3))).shape == (0, 8)


@pytest.mark.parametrize("information", ["identity", "diagonal"])
def test_batches_of_normalized_parts_equal_single_documents(collection, information, tmp_path):
    bags, _ = collection
    kernel = FisherKernel(
        [1, 3], normalize="each", exact=True, information=information, random_state=0
    ).fit(bags)
    whole = kernel.transform(bags)
    for row in (0, 7, 59):
        assert_array_equal(kernel.transform(bags[[row]]).toarray(), whole[[row]].toarray())
    assert_allclose(whole.multiply(whole).sum(axis=1), 1)
    kernel.save(tmp_path / "kernel")
    again = load_estimator(tmp_path / "kernel")
    assert again.normalize == "each"
    assert_array_equal(again.transform(bags).toarray(), whole.toarray())
    with pytest.raises(ValueError, match="normalize must be one of True, False, 'each'"):
        kernel.set_params(normalize="all").transform(bags)
