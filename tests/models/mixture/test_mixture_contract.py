"""scikit-learn's own checks, and what both mixtures promise."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from textkin import GaussianMixture, VonMisesFisherMixture


@parametrize_with_checks(
    [
        GaussianMixture(2, random_state=0),
        GaussianMixture(2, hard=True, random_state=0),
        VonMisesFisherMixture(2, random_state=0),
        VonMisesFisherMixture(2, hard=True, shared_kappa=True, random_state=0),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
