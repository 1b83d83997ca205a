"""A certificate that was tampered with in any way is refused."""

from dataclasses import replace

import numpy as np
import pytest

from textkin import CertificateError
from textkin.transport import WordMover, optimal_transport


@pytest.fixture
def certificate(rng):
    vectors = rng.normal(size=(30, 8)).astype(np.float32)
    found = WordMover(vectors).explain(rng.integers(0, 3, 30), rng.integers(0, 3, 30))
    found.verify()
    return found.certificate


def test_verification_reports_what_it_found(certificate):
    found = certificate.verify()
    assert found.gap == found.plan_cost - found.bound
    assert 0 <= found.gap <= found.allowed
    assert found.plan_cost == pytest.approx(certificate.distance, rel=1e-6)


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_a_wrong_distance_is_refused(certificate, factor):
    with pytest.raises(CertificateError, match="The distance is given as"):
        replace(certificate, distance=certificate.distance * factor).verify()


def test_a_worse_plan_is_refused(certificate):
    """Two moves exchange part of their targets: the marginals still hold, the cost does not."""
    sources, targets = certificate.sources, certificate.targets
    first, second = next(
        (i, j)
        for i in range(len(sources))
        for j in range(i)
        if sources[i] != sources[j] and targets[i] != targets[j]
    )
    part = certificate.masses[[first, second]].min()
    rest = certificate.masses.copy()
    rest[[first, second]] -= part
    worse = replace(
        certificate,
        sources=np.append(sources, sources[[first, second]]),
        targets=np.append(targets, targets[[second, first]]),
        masses=np.append(rest, [part, part]),
    )
    with pytest.raises(CertificateError, match="a gap of"):
        worse.verify()


def test_a_plan_that_misses_a_marginal_is_refused(certificate):
    masses = certificate.masses.copy()
    masses[0] *= 0.99
    with pytest.raises(CertificateError, match=r"The plan moves .* at source"):
        replace(certificate, masses=masses).verify()


def test_a_negative_mass_is_refused(certificate):
    with pytest.raises(CertificateError, match="negative or not finite"):
        replace(certificate, masses=-certificate.masses).verify()


def test_masses_that_do_not_sum_to_one_are_refused(certificate):
    with pytest.raises(CertificateError, match="source masses sum to"):
        replace(certificate, source_masses=certificate.source_masses * 2).verify()


def test_potentials_above_a_cost_prove_nothing(certificate):
    raised = certificate.source_potentials.copy()
    raised[0] += certificate.distance
    with pytest.raises(CertificateError, match="prove only"):
        replace(certificate, source_potentials=raised).verify()


@pytest.mark.parametrize("field", ["source_potentials", "target_potentials", "distance"])
@pytest.mark.parametrize("factor", [np.nan, np.inf])
def test_nan_and_infinity_prove_nothing(certificate, field, factor):
    with np.errstate(invalid="ignore"), pytest.raises(CertificateError):
        replace(certificate, **{field: getattr(certificate, field) * factor}).verify()


@pytest.mark.parametrize(
    "change",
    [
        lambda c: {"sources": c.sources - 100},
        lambda c: {"targets": c.targets + 100},
        lambda c: {"targets": c.targets[:-1]},
        lambda c: {"masses": c.masses[:0], "sources": c.sources[:0], "targets": c.targets[:0]},
        lambda c: {"source_potentials": c.source_potentials[:-1]},
        lambda c: {"target_vectors": c.target_vectors[:-1]},
    ],
)
def test_a_certificate_out_of_shape_is_refused(certificate, change):
    with pytest.raises(CertificateError, match=r"do not fit the masses|The costs have shape"):
        replace(certificate, **change(certificate)).verify()


def test_another_cost_is_refused(certificate):
    with pytest.raises(CertificateError):
        replace(certificate, cost="sqeuclidean").verify()


def test_an_unknown_cost_is_refused(certificate):
    with pytest.raises(ValueError, match="cost must be one of 'euclidean'"):
        replace(certificate, cost="manhattan").verify()


def test_a_named_cost_needs_vectors(certificate):
    with pytest.raises(CertificateError, match="has no vectors"):
        replace(certificate, source_vectors=None).verify()


def test_a_constant_may_move_between_the_two_sides(certificate):
    """Raising all potentials by as much as they then exceed the costs proves the same."""
    raised = replace(certificate, source_potentials=certificate.source_potentials + 1)
    assert raised.verify().bound == pytest.approx(certificate.verify().bound)


def test_the_tolerance_is_checked(certificate):
    with pytest.raises(ValueError, match="tolerance must be a finite number at least 0; got -1"):
        certificate.verify(tolerance=-1)


def test_plan_as_a_matrix(rng):
    a, b, costs = rng.random(4), rng.random(6), rng.random((4, 6))
    plan = optimal_transport(a, b, costs)
    matrix = plan.matrix()
    np.testing.assert_allclose(matrix.sum(axis=1), a / a.sum(), atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=0), b / b.sum(), atol=1e-12)
    assert np.sum(matrix * costs) == pytest.approx(plan.cost)


@pytest.mark.parametrize(
    ("a", "b", "costs", "message"),
    [
        ([1], [1], [[1, 2]], r"costs must have shape \(1, 1\)"),
        ([1, 1], [1], [[1], [-1]], "costs must be finite and not negative"),
        ([1, 1], [1], [[1], [np.nan]], "costs must be finite and not negative"),
        ([0, 0], [1], [[1], [1]], "source_masses must be finite, not negative and not all zero"),
        ([1], [-1], [[1]], "target_masses must be finite, not negative and not all zero"),
        ([1], [np.inf], [[1]], "target_masses must be finite"),
        ([], [1], np.zeros((0, 1)), "source_masses must be a list of numbers"),
        ([[1]], [1], [[1]], "source_masses must be a list of numbers"),
    ],
)
def test_bad_transport_problems(a, b, costs, message):
    with pytest.raises(ValueError, match=message):
        optimal_transport(a, b, costs)


def test_masses_of_any_size():
    costs = [[0.0, 1.0], [1.0, 0.0]]
    assert optimal_transport([1e300, 1e300], [1e-300, 3e-300], costs).cost == pytest.approx(0.25)
    assert optimal_transport([1e-200, 1], [1, 1e-200], costs).cost == pytest.approx(1.0)
