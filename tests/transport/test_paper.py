"""The worked examples of METHODS.md, section 10.7."""

import numpy as np
import pytest

from textkin.transport import WordMover, optimal_transport


def mover(points, **options):
    points = np.asarray(points, dtype=np.float32)
    return WordMover(points[:, np.newaxis] if points.ndim == 1 else points, **options)


# Zero vectors have no direction and are invalid, so all points are shifted away from the origin,
# which does not change distances.
SHIFT = 10.0


def test_1_rectangle():
    points = np.array([[0, 0], [4, 0], [0, 3], [4, 3]]) + SHIFT
    found = mover(points).explain(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1]))
    assert found.distance == pytest.approx(3, rel=1e-6)
    assert found.bounds.relaxed == pytest.approx(3, rel=1e-6)
    assert found.bounds.centroid == pytest.approx(3, rel=1e-6)
    found.verify()


def test_2_centroid_distance_above_the_relaxed_distance():
    # words 0, 1, 5, 6 on a line; documents {0, 1, 5} and {0, 6}
    a, b = np.array([1, 1, 1, 0]), np.array([1, 0, 0, 1])
    found = mover(np.array([0, 1, 5, 6]) + SHIFT).explain(a, b, feature_names=["0", "1", "5", "6"])
    assert found.distance == pytest.approx(4 / 3, rel=1e-6)
    assert found.bounds.source == pytest.approx(2 / 3, rel=1e-6)
    assert found.bounds.target == pytest.approx(1 / 2, rel=1e-6)
    assert found.bounds.relaxed == pytest.approx(2 / 3, rel=1e-6)
    assert found.bounds.centroid == pytest.approx(1, rel=1e-6)
    flow = {(move.source, move.target): move.mass for move in found.moves}
    expected = {("0", "0"): 1 / 3, ("1", "0"): 1 / 6, ("1", "6"): 1 / 6, ("5", "6"): 1 / 3}
    assert flow == pytest.approx(expected, rel=1e-12)
    found.verify()


def test_3_coinciding_centroids():
    found = mover(np.array([-1, 1, 0]) + SHIFT).explain(np.array([1, 1, 0]), np.array([0, 0, 1]))
    assert found.distance == pytest.approx(1, rel=1e-6)
    assert found.bounds.relaxed == pytest.approx(1, rel=1e-6)
    assert found.bounds.centroid == pytest.approx(0, abs=1e-6)
    found.verify()


def test_4_shared_words():
    a, b = np.array([0.75, 0.25, 0]), np.array([0.25, 0, 0.75])
    found = mover(np.array([0, 2, 3]) + SHIFT).explain(a, b, feature_names=["0", "2", "3"])
    assert found.distance == pytest.approx(1.75, rel=1e-6)
    assert found.bounds.source == pytest.approx(0.25, rel=1e-6)
    assert found.bounds.target == pytest.approx(0.75, rel=1e-6)
    assert found.bounds.centroid == pytest.approx(1.75, rel=1e-6)
    flow = {(move.source, move.target): move.mass for move in found.moves}
    assert flow == pytest.approx({("0", "0"): 0.25, ("0", "3"): 0.5, ("2", "3"): 0.25}, rel=1e-9)
    found.verify()


def test_5_costs_of_0_and_1_give_half_the_l1_distance():
    costs = 1.0 - np.eye(4)
    plan = optimal_transport([0.5, 0.3, 0.2, 0], [0.2, 0.3, 0, 0.5], costs)
    assert plan.cost == pytest.approx(0.5, rel=1e-9)
    plan.verify()


def test_common_mass_stays_in_place_only_under_a_metric():
    # {0, 1} -> {1, 2}: the squared cost is lower if the shared word 1 moves
    points = np.array([0, 1, 2]) + SHIFT
    a, b = np.array([1, 1, 0]), np.array([0, 1, 1])
    squared = mover(points, cost="sqeuclidean").explain(a, b)
    assert squared.distance == pytest.approx(1.0, rel=1e-6)
    assert mover(points).distance(a, b) == pytest.approx(1.0, rel=1e-6)
    squared.verify()


def test_sentences_of_figure_1():
    words = WordMover()
    obama = "Obama speaks to the media in Illinois"
    near = words.distance(obama, "The President greets the press in Chicago")
    far = words.distance(obama, "The band gave a concert in Japan")
    assert near < far
