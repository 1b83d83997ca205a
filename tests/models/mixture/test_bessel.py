"""Bessel functions of the sphere, and their inverses, compared with mpmath and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special

from textkin.models import VonMisesFisherMixture
from textkin.models.mixture._bessel import bessel_ratio, kappa_of, log_normalizer

KAPPAS = 1e-3, 1.0, 30.0, 1000.0, 1e5
# log C_d and A_d for each kappa, by mpmath with 40 digits: d -> [(log C, A), ...]
BY_MPMATH = {
    2: [
        (-1.8378773164093299, 0.00049999993750001043),
        (-2.0737914249165241, 0.44638996589653451),
        (-29.222578499581281, 0.98318955536533609),
        (-997.46518595627881, 0.99949987487480428),
        (-99995.162477050726, 0.99999499998749987),
    ],
    3: [
        (-2.5310244136359519, 0.00033333331111111323),
        (-2.6924636085404864, 0.3130352854993313),
        (-28.43667968474719, 0.96666666666666667),
        (-994.93012178742721, 0.999),
        (-99990.324951601439, 0.99999),
    ],
    4: [
        (-2.9826070772587431, 0.00024999998958333399),
        (-3.1051061453278597, 0.24019372387008974),
        (-27.642304840438943, 0.95043120072108995),
        (-992.39480749347654, 0.99850037537549303),
        (-99985.48742365214, 0.99998500003750038),
    ],
    10: [
        (-3.2387428294590004, 9.9999999166666681e-5),
        (-3.2885364065453559, 0.099178382399712559),
        (-22.698452476620837, 0.85901368829239464),
        (-977.177669112346, 0.99550788285570415),
        (-99956.462203456082, 0.99995500078750787),
    ],
    50: [
        (25.47333506131737, 1.9999999992307693e-5),
        (25.463336993445265, 0.019992313385191792),
        (17.589202562285521, 0.47052758969548591),
        (-875.49997856146671, 0.97578812171736426),
        (-99762.958435470878, 0.99975502878778746),
    ],
    129: [
        (128.5585800141059, 7.7519379840374025e-6),
        (128.55470416366113, 0.00775147931626325),
        (125.15716906416776, 0.22132467308481261),
        (-673.51146397630549, 0.93801598286430963),
        (-99380.77674239198, 0.99936020160199571),
    ],
    130: [
        (130.06760971802409, 7.6923076918594228e-6),
        (130.06376368008293, 0.0076918594740874491),
        (126.69113109119492, 0.21977659375603582),
        (-670.94465553119308, 0.93754782495755287),
        (-99375.938899441127, 0.99935520478952694),
    ],
    300: [
        (427.60684049569079, 3.3333333332965416e-6),
        (427.6051738398886, 0.0033332965423815021),
        (426.11419456366568, 0.099025760266599168),
        (-230.9677383050559, 0.86155031551856448),
        (-98553.469260130661, 0.99850611004798443),
    ],
    768: [
        (1458.7211511170571, 1.3020833333311315e-6),
        (1458.7205000765919, 0.0013020811314952972),
        (1458.1356585915368, 0.039003229978287993),
        (1016.8174137588338, 0.68739958031343786),
        (-96288.885492631235, 0.99617233448394761),
    ],
    1000: [
        (2032.0577602559739, 9.9999999999900202e-7),
        (2032.0572602567234, 0.00099999900199799603),
        (2031.607962111138, 0.029973102094148555),
        (1654.5508377313324, 0.61818681291010496),
        (-95166.068317527207, 0.99501745008449839),
    ],
}


@pytest.mark.parametrize("d", BY_MPMATH)
def test_results_equal_stored_mpmath_results(d):
    logarithms, ratios = np.array(BY_MPMATH[d]).T
    assert_allclose(log_normalizer(d, KAPPAS), logarithms, rtol=1e-13, atol=1e-13)
    assert_allclose(bessel_ratio(d, KAPPAS), ratios, rtol=1e-14)


# Integer and half-integer orders alternate; from d = 130 on, only the expansion is used.
@settings(max_examples=60, deadline=None)
@given(d=st.integers(2, 1000), logarithm=st.floats(-6, 5))
def test_stored_results_equal_mpmath(d, logarithm):
    mpmath = pytest.importorskip("mpmath")
    kappa = 10.0**logarithm
    with mpmath.workdps(40):
        v, x = mpmath.mpf(d) / 2 - 1, mpmath.mpf(kappa)
        bessel = mpmath.besseli(v, x)
        c = v * mpmath.log(x) - (v + 1) * mpmath.log(2 * mpmath.pi) - mpmath.log(bessel)
        ratio = mpmath.besseli(v + 1, x) / bessel
        wrong = float(abs(log_normalizer(d, kappa) - c) / max(abs(c), 1))
        assert wrong < 1e-10
        assert float(abs(bessel_ratio(d, kappa) / ratio - 1)) < 1e-13
    # The root is as precise as the ratio: 1 - A of a narrow distribution has few digits.
    found = kappa_of(d, float(ratio), 1e6)[0]
    slope = float(1 - ratio**2 - (d - 1) * ratio / kappa)
    assert abs(found - kappa) < 1e-12 * kappa + 1e-15 / slope


def test_small_orders_equal_scipy():
    kappas = np.geomspace(1e-2, 600, 40)
    for d in (2, 3, 5, 20):
        v = 0.5 * d - 1
        logs = np.log(special.ive(v, kappas)) + kappas
        expected = v * np.log(kappas) - 0.5 * d * np.log(2 * np.pi) - logs
        assert_allclose(log_normalizer(d, kappas), expected, atol=1e-12)


def test_three_dimensions_equal_closed_forms():
    kappas = np.geomspace(1e-2, 300, 30)
    closed = np.log(kappas / (4 * np.pi * np.sinh(kappas)))
    assert_allclose(log_normalizer(3, kappas), closed, atol=1e-12)
    assert_allclose(bessel_ratio(3, kappas), 1 / np.tanh(kappas) - 1 / kappas, atol=1e-13)


@pytest.mark.parametrize(
    ("d", "kappa", "expected"),
    [
        (3, 2, -3.1262444390),
        (50, 10, 24.49167561),
        (50, 100, -29.32201834),
        (300, 1, 427.60517384),
        (300, 100, 411.74771318),
        (768, 10, 1458.65605245),
        (768, 1000, 1016.81741376),
    ],
)
def test_log_normalizer_matches_worked_example(d, kappa, expected):
    assert VonMisesFisherMixture.log_normalizer(d, kappa) == pytest.approx(expected, abs=6e-9)


@pytest.mark.parametrize(
    ("d", "kappa", "expected"),
    [(3, 2, 0.5373147207), (50, 100, 0.7836607184), (300, 100, 0.3029162570)],
)
def test_mean_length_matches_worked_example(d, kappa, expected):
    assert VonMisesFisherMixture.mean_length(d, kappa) == pytest.approx(expected, abs=6e-11)


@pytest.mark.parametrize(
    ("d", "r", "expected"), [(50, 0.5, 33.0698078), (300, 0.3, 98.8468898), (3, 0.5373147207, 2)]
)
def test_kappa_matches_worked_example(d, r, expected):
    assert kappa_of(d, r, 1e5)[0] == pytest.approx(expected, abs=6e-8)


def test_no_cancellation_where_the_logarithm_is_zero():
    zero = 60.08646695542109648158  # root for d = 50, by mpmath
    assert abs(log_normalizer(50, zero)) < 1e-13


def test_zero_kappa_is_uniform():
    for d in (2, 3, 50, 1000):
        area = np.log(2) + 0.5 * d * np.log(np.pi) - special.gammaln(0.5 * d)
        assert log_normalizer(d, 0.0) == pytest.approx(-area, abs=1e-10)
        assert bessel_ratio(d, 0.0) == 0


def test_kappa_is_bounded():
    assert_allclose(kappa_of(300, [0.0, 1e-12, 1.0, 1 - 1e-16], 1e5), [1e-6, 1e-6, 1e5, 1e5])
    assert kappa_of(2, 0.9999, 50.0) == 50


def test_largest_arguments_give_finite_results():
    for d in (2, 1000, 100_000):
        values = log_normalizer(d, [0.0, 1e-300, 1e10])
        assert np.isfinite(values).all()
        assert values[0] == pytest.approx(values[1])
        assert 0 < bessel_ratio(d, 1e10) <= 1


@pytest.mark.parametrize(
    ("d", "kappa", "error", "message"),
    [
        (1, 1.0, ValueError, "d must be an integer at least 2; got 1"),
        (2.5, 1.0, TypeError, "d must be an integer"),
        (3, -1.0, ValueError, r"kappa must be from 0 to 1e\+10; got -1"),
        (3, [1.0, np.nan], ValueError, "kappa must be"),
        (3, 1e11, ValueError, "kappa must be"),
    ],
)
def test_invalid_arguments_raise(d, kappa, error, message):
    for function in (VonMisesFisherMixture.log_normalizer, VonMisesFisherMixture.mean_length):
        with pytest.raises(error, match=message):
            function(d, kappa)
