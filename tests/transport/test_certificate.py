"""Tests that any manipulated certificate raises CertificateError."""

from dataclasses import replace

import numpy as np
import pytest

from textkin.exceptions import CertificateError, ParameterError
from textkin.transport import WordMover, optimal_transport


@pytest.fixture
def certificate(rng):
    vectors = rng.normal(size=(30, 8)).astype(np.float32)
    found = WordMover(vectors).explain(rng.integers(0, 3, 30), rng.integers(0, 3, 30))
    found.verify()
    return found.certificate


def test_verify_reports_gap_and_costs(certificate):
    found = certificate.verify()
    assert found.gap == found.plan_cost - found.bound
    assert 0 <= found.gap <= found.allowed
    assert found.plan_cost == pytest.approx(certificate.distance, rel=1e-6)


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_wrong_distance_raises(certificate, factor):
    with pytest.raises(CertificateError, match="The distance is given as"):
        replace(certificate, distance=certificate.distance * factor).verify()


def test_suboptimal_plan_raises(certificate):
    """Two moves swap part of their targets: marginals stay right, but the cost is higher."""
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


def test_plan_with_wrong_marginal_raises(certificate):
    masses = certificate.masses.copy()
    masses[0] *= 0.99
    with pytest.raises(CertificateError, match=r"The plan moves .* at source"):
        replace(certificate, masses=masses).verify()


def test_negative_mass_raises(certificate):
    with pytest.raises(CertificateError, match="negative or not finite"):
        replace(certificate, masses=-certificate.masses).verify()


def test_masses_that_do_not_sum_to_one_raise(certificate):
    with pytest.raises(CertificateError, match="source masses sum to"):
        replace(certificate, source_masses=certificate.source_masses * 2).verify()


def test_potentials_above_a_cost_raise(certificate):
    raised = certificate.source_potentials.copy()
    raised[0] += certificate.distance
    with pytest.raises(CertificateError, match="prove only"):
        replace(certificate, source_potentials=raised).verify()


@pytest.mark.parametrize("field", ["source_potentials", "target_potentials", "distance"])
@pytest.mark.parametrize("factor", [np.nan, np.inf])
def test_nan_and_infinity_raise(certificate, field, factor):
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
def test_inconsistent_shapes_raise(certificate, change):
    with pytest.raises(CertificateError, match=r"must fit the masses|The costs have shape"):
        replace(certificate, **change(certificate)).verify()


def test_different_cost_raises(certificate):
    with pytest.raises(CertificateError):
        replace(certificate, cost="sqeuclidean").verify()


def test_unknown_cost_raises(certificate):
    with pytest.raises(ValueError, match="cost must be one of 'euclidean'"):
        replace(certificate, cost="manhattan").verify()


def test_named_cost_without_vectors_raises(certificate):
    with pytest.raises(CertificateError, match="must have vectors"):
        replace(certificate, source_vectors=None).verify()


def test_constant_added_to_potentials_changes_no_bound(certificate):
    """`verify` subtracts the amount by which the raised potentials exceed the costs."""
    raised = replace(certificate, source_potentials=certificate.source_potentials + 1)
    assert raised.verify().bound == pytest.approx(certificate.verify().bound)


def test_invalid_tolerance_raises(certificate):
    with pytest.raises(ValueError, match="tolerance must be a finite number at least 0; got -1"):
        certificate.verify(tolerance=-1)


def test_matrix_has_the_marginals_and_cost(rng):
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
        ([0, 0], [1], [[1], [1]], "source_weights must be finite, not negative and not all zero"),
        ([1], [-1], [[1]], "target_weights must be finite, not negative and not all zero"),
        ([1], [np.inf], [[1]], "target_weights must be finite"),
        ([], [1], np.zeros((0, 1)), "source_weights must be a list of numbers"),
        ([[1]], [1], [[1]], "source_weights must be a list of numbers"),
    ],
)
def test_invalid_transport_problems_raise(a, b, costs, message):
    with pytest.raises(ValueError, match=message):
        optimal_transport(a, b, costs)


def test_masses_of_any_size():
    costs = [[0.0, 1.0], [1.0, 0.0]]
    assert optimal_transport([1e300, 1e300], [1e-300, 3e-300], costs).cost == pytest.approx(0.25)
    assert optimal_transport([1e-200, 1], [1, 1e-200], costs).cost == pytest.approx(1.0)


def test_plan_above_the_memory_limit_raises():
    masses, costs = np.ones(2000), np.zeros((2000, 2000))
    with pytest.raises(MemoryError, match=r"2000 and 2000 distinct words or .* limit is 40\.0 MiB"):
        optimal_transport(masses, masses, costs, memory="40MB")
    assert optimal_transport([1, 1], [1], [[1], [2]], memory=1).cost == 1.5  # below 32 MB
    with pytest.raises(ParameterError, match="memory"):
        optimal_transport([1], [1], [[1]], memory="much")
