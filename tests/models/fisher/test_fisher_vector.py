"""Fisher vectors compared with worked examples, the reference, and properties of scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from textkin import BagOfWords, FisherVector, WordVectors
from textkin.models import LSI, DiagonalGaussianMixture, VonMisesFisherMixture
from textkin.models.fisher._scores import fisher_vector

BOTH = ["vmf", "gmm"]
ALL_PARTS = ("means", "variances", "weights")
ROOTS = "tangent", "diagonal", "isotropic"  # formulas with the square root of the length
SPHERE = ["tangent", "diagonal", "isotropic", "paper", "none"]


def gaussians(weights, means, variances):
    """Return a mixture of Gaussians with given parameters."""
    mixture = DiagonalGaussianMixture(len(weights))
    mixture.weights_ = np.asarray(weights, dtype=np.float64)
    mixture.means_ = np.asarray(means, dtype=np.float64)
    mixture.covariances_ = np.asarray(variances, dtype=np.float64)
    return _fitted(mixture)


def spheres(weights, means, kappas):
    mixture = VonMisesFisherMixture(len(weights))
    mixture.weights_ = np.asarray(weights, dtype=np.float64)
    mixture.means_ = np.asarray(means, dtype=np.float64)
    mixture.kappas_ = np.asarray(kappas, dtype=np.float64)
    return _fitted(mixture)


def _fitted(mixture):
    mixture.n_iter_, mixture.converged_ = 1, True
    mixture.n_features_in_ = mixture.means_.shape[1]
    return mixture


def vectors_of(bags, vectors, mixture, **parameters):
    parameters = {"norm": None, **parameters}
    fisher = FisherVector(
        vectors=np.asarray(vectors, dtype=np.float64), mixture=mixture, **parameters
    )
    return fisher.fit(bags).transform(bags)


# ---------------------------------------------------------------------- worked examples


def test_one_gaussian_matches_worked_example():
    """METHODS 14, test A."""
    mixture = gaussians([1], [[0]], [[4]])
    bags, words = [[1, 1]], [[1], [3]]

    def found(**parameters):
        return vectors_of(np.array(bags), words, mixture, **parameters)

    assert_allclose(found(parts=ALL_PARTS), [[1, 0.1767767, 0]], atol=1e-7)
    both = ("means", "variances")
    assert_allclose(found(parts=both, power=0.5), [[1, 0.4204482]], atol=1e-7)
    assert_allclose(found(parts=both, power=0.5, norm="l2"), [[0.9218345, 0.3875837]], atol=1e-7)


def test_two_gaussians_match_worked_example():
    """METHODS 14, test B."""
    mixture = gaussians([0.5, 0.5], [[-1], [1]], [[1], [1]])
    found = vectors_of(np.array([[1, 1]]), [[1], [1e-30]], mixture, parts=ALL_PARTS)
    wanted = [0.5221318, -0.3535534, 0.1788044, -0.4403985, -0.2692642, 0.2692642]
    assert_allclose(found, [wanted], atol=1e-7)


@pytest.mark.parametrize(
    ("information", "wanted"),
    [
        ("paper", [3.3647535, 0.9631496, 0, 1.4352466, 1.4368504, 0]),
        ("diagonal", [1.6488804, 0.6194028, 0, 0.9230089, 0.7041213, 0]),
        ("tangent", [0, 0.6194028, 0, 0.9230089, 0, 0]),
    ],
)
def test_two_directions_match_worked_example(information, wanted):
    """METHODS 16.6."""
    mixture = spheres([0.5, 0.5], np.eye(3)[:2], [2, 2])
    words = [[0.6, 0.8, 0], [5, 0, 0]]  # lengths do not matter
    found = vectors_of(
        np.array([[1, 1]]),
        words,
        mixture,
        information=information,
        divide_by_length=False,
    )
    assert_allclose(found, [wanted], atol=2e-7)


# Results of fisher_vector of scikit-image 0.26 for the documents below: weights, means, and
# variances, with the opposite sign.
OF_SCIKIT_IMAGE = np.concatenate(
    [
        [-0.528803, 0.346183],
        [-0.028179, 0.041153, -0.160937, 1.013317],
        [-0.018167, -0.050063, 0.489754, -1.719019],
    ]
)


def scikit_image_case():
    random = np.random.default_rng(3)
    mixture = gaussians(
        [0.3, 0.7], random.normal(size=(2, 2)).round(2), random.uniform(0.5, 2, (2, 2)).round(2)
    )
    return mixture, random.normal(size=(6, 2)).round(2), np.array([[1, 0, 2, 0, 1, 3.0]])


def as_scikit_image(found):
    means, variances, weights = np.split(found, [4, 8], axis=1)
    return np.hstack([weights, means, -variances])


def test_results_equal_stored_scikit_image_results():
    mixture, words, bags = scikit_image_case()
    found = vectors_of(bags, words, mixture, parts=ALL_PARTS)
    assert_allclose(as_scikit_image(found)[0], OF_SCIKIT_IMAGE, atol=1e-6)


def test_stored_results_equal_scikit_image():
    feature = pytest.importorskip("skimage.feature")
    from sklearn.mixture import GaussianMixture as Theirs

    mixture, words, bags = scikit_image_case()
    theirs = Theirs(2, covariance_type="diag")
    theirs.weights_, theirs.means_ = mixture.weights_, mixture.means_
    theirs.covariances_ = mixture.covariances_
    theirs.precisions_cholesky_ = 1 / np.sqrt(mixture.covariances_)
    tokens = np.repeat(words, bags[0].astype(int), axis=0)
    wanted = feature.fisher_vector(tokens, theirs)
    found = vectors_of(bags, words, mixture, parts=ALL_PARTS)
    assert_allclose(as_scikit_image(found)[0], wanted, atol=1e-6)
    improved = feature.fisher_vector(tokens, theirs, improved=True)
    found = vectors_of(bags, words, mixture, parts=ALL_PARTS, power=0.5, norm="l2")
    assert_allclose(as_scikit_image(found)[0], improved, atol=1e-6)


# ---------------------------------------------------------------------- against the reference


@st.composite
def cases(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, k, n_words = draw(st.integers(2, 20)), draw(st.integers(1, 6)), draw(st.integers(1, 30))
    weights = random.dirichlet(np.ones(k)) * 0.9 + 0.1 / k
    means = random.normal(size=(k, d)) * draw(st.sampled_from([0.1, 1, 3]))
    words = random.normal(size=(n_words, d))
    counts = random.integers(0, 3, size=(3, n_words)) * draw(st.sampled_from([1, 0.5, 1000]))
    if draw(st.booleans()):
        mixture = gaussians(weights, means, random.uniform(0.2, 3, size=(k, d)))
        information = draw(st.sampled_from(["diagonal", "none"]))
        parts = draw(st.sampled_from([ALL_PARTS, ("means",), ("variances",), ("weights",)]))
        return mixture, words, counts, information, parts
    directions = means / np.linalg.norm(means, axis=1, keepdims=True)
    mixture = spheres(weights, directions, random.uniform(0.01, 60, size=k))
    parts = draw(st.sampled_from([("means",), ("means", "weights"), ("weights",)]))
    return mixture, words, counts, draw(st.sampled_from(SPHERE)), parts


@given(cases())
@settings(max_examples=80)
def test_vectors_equal_reference(case):
    mixture, words, counts, information, parts = case
    words = words.astype(np.float32).astype(np.float64)
    found = vectors_of(
        counts,
        words,
        mixture,
        information=information,
        parts=parts,
        divide_by_length=False,
    )
    for row, own in zip(found, counts, strict=True):
        wanted = fisher_vector(own, words, mixture, information, parts) if own.any() else 0 * row
        # Rounding error of single precision without cancellation.
        size = abs(wanted).max() + own.sum() ** (0.5 if information in ROOTS else 1)
        assert_allclose(row, wanted, rtol=0, atol=1e-5 * size)


def test_divide_by_length_power_and_norm():
    mixture, words, bags = scikit_image_case()
    total = bags.sum()
    for information, power in (("diagonal", 0.5), ("none", 1)):
        mean = vectors_of(bags, words, mixture, information=information)
        whole = vectors_of(bags, words, mixture, information=information, divide_by_length=False)
        assert_allclose(whole, mean * total**power, rtol=1e-6)
        assert_array_equal(
            vectors_of(bags, words, mixture, information=information, norm="l2"),
            vectors_of(
                bags,
                words,
                mixture,
                information=information,
                norm="l2",
                divide_by_length=False,
            ),
        )
    mean = vectors_of(bags, words, mixture)
    assert_allclose(
        vectors_of(bags, words, mixture, power=0.3), np.sign(mean) * abs(mean) ** 0.3, rtol=1e-6
    )
    assert_allclose(vectors_of(7 * bags, words, mixture), mean, rtol=1e-6)


def test_hard_posteriors():
    mixture, words, bags = scikit_image_case()
    found = vectors_of(bags, words, mixture, parts=("weights",), hard=True, information="none")
    best = mixture.predict(words)
    shares = np.bincount(best, bags[0], 2) / bags.sum()
    assert_allclose(found[0], shares - mixture.weights_, atol=1e-7)


# ---------------------------------------------------------------------- properties of scores


@pytest.mark.parametrize("model", BOTH)
def test_mean_score_of_sampled_tokens_is_zero(model):
    """METHODS 16.6; other kinds of information for "vmf" have a common offset."""
    random = np.random.default_rng(5)
    if model == "vmf":
        means = random.normal(size=(3, 8))
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        mixture = spheres([0.2, 0.5, 0.3], means, [30, 5, 12])
    else:
        mixture = gaussians([0.2, 0.5, 0.3], random.normal(size=(3, 8)), np.full((3, 8), 0.4))
    n = 40_000
    tokens = mixture.sample(n, random_state=0)[0]
    each = vectors_of(sparse.eye_array(n, format="csr"), tokens, mixture)
    # A normal number deviates by this many standard errors once in a billion cases.
    errors = each.std(axis=0) / np.sqrt(n)
    assert (abs(each.mean(axis=0)) < 6 * errors).all()
    if model == "vmf":
        offset = vectors_of(np.ones((1, n)), tokens, mixture, information="isotropic")
        assert np.abs(offset).max() > 0.5


@pytest.mark.parametrize("model", BOTH)
def test_information_of_hard_components_is_one(model):
    """With almost hard posteriors, F^(-1/2) gives every coordinate variance 1."""
    apart = 1000 * np.eye(4)[:2]
    if model == "vmf":
        mixture = spheres([0.4, 0.6], np.eye(4)[:2], [400, 700])
    else:
        mixture = gaussians([0.4, 0.6], apart, np.full((2, 4), 2.0))
    n = 40_000
    tokens = mixture.sample(n, random_state=1)[0]
    each = vectors_of(sparse.eye_array(n, format="csr"), tokens, mixture)
    variances = (each.astype(np.float64) ** 2).mean(axis=0).reshape(2, 4)
    if model == "vmf":  # the part along the mean is 0
        assert_allclose(np.diag(variances[:, :2]), 0, atol=1e-6)
        np.fill_diagonal(variances[:, :2], 1)
    assert_allclose(variances, 1, atol=0.05)


# ---------------------------------------------------------------------- fitting


def collection(n_words=60, n_documents=40):
    random = np.random.default_rng(11)
    words = random.normal(size=(n_words, 6)) + 3 * np.repeat(np.eye(6)[:3], n_words // 3, axis=0)
    return random.poisson(0.3, size=(n_documents, n_words)).astype(float), words


@pytest.mark.parametrize("model", BOTH)
def test_mixture_is_fitted_to_words_that_occur(model):
    bags, words = collection()
    bags[:, 5] = 0
    kind = {"vmf": VonMisesFisherMixture, "gmm": DiagonalGaussianMixture}[model]
    table = words.astype(np.float32)
    if model == "vmf":
        lengths = np.sqrt(np.einsum("ij,ij->i", table, table, dtype=np.float64))
        table = (table / lengths[:, None]).astype(np.float32)
    used = np.flatnonzero(bags.sum(axis=0))
    for fit_on, weights in (("vocabulary", None), ("tokens", bags.sum(axis=0)[used])):
        fisher = FisherVector(3, vectors=words, mixture=model, fit_on=fit_on, random_state=0).fit(
            bags
        )
        alone = kind(3, random_state=0).fit(table[used], sample_weight=weights)
        assert_array_equal(fisher.mixture_.means_, alone.means_)
        assert (fisher.n_iter_, fisher.converged_) == (alone.n_iter_, alone.converged_)
    given_one = FisherVector(vectors=words, mixture=kind(3, random_state=0), fit_on="tokens").fit(
        bags
    )
    assert_array_equal(given_one.mixture_.means_, alone.means_)
    assert not hasattr(given_one.mixture, "means_")


def test_word_vectors_of_lsi_can_be_used():
    random = np.random.default_rng(4)
    topics = [["cat", "dog", "horse", "cow", "goat"], ["car", "bus", "train", "ship", "plane"]]
    texts = [" ".join(random.choice(topics[at % 2], 5)) for at in range(40)]
    counter = BagOfWords("smart")
    lsi = LSI(4, random_state=0).fit(counter.fit_transform(texts))
    named = lsi.word_vectors(counter.vocabulary_)
    for model in BOTH:
        found = FisherVector(1, vectors=named, mixture=model, random_state=0).fit_transform(texts)
        assert found.shape == (40, 4)
        cosines = found @ found.T
        assert cosines[::2, ::2].mean() > cosines[::2, 1::2].mean() + 0.1


def test_convergence_warning_points_at_the_caller():
    bags, words = collection()
    mixture = DiagonalGaussianMixture(5, max_iter=1, tol=0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps") as told:
        FisherVector(vectors=words, mixture=mixture).fit(bags)
    assert [warning.filename for warning in told] == [__file__]


def test_named_vectors_and_matrix_give_the_same():
    bags, words = collection()
    names = [f"w{column}" for column in range(len(words))]
    documents = [np.repeat(names, row.astype(int)).tolist() for row in bags]
    named = WordVectors(names, words)
    by_name = FisherVector(4, vectors=named, random_state=0).fit_transform(documents)
    by_row = FisherVector(4, vectors=words, random_state=0).fit_transform(bags)
    assert_array_equal(by_name, by_row)


def test_paper_information_raises_for_zero_kappa():
    """A uniform component has kappa = 0, which all other kinds of information support."""
    mixture = spheres([0.5, 0.5], np.eye(2, 3), [0, 2])
    found = vectors_of(np.ones((1, 2)), np.eye(2, 3), mixture, information="diagonal")
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match=r"information='paper' requires .* smallest is 0"):
        vectors_of(np.ones((1, 2)), np.eye(2, 3), mixture, information="paper")
