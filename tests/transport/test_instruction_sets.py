"""Every instruction set of this CPU gives exact results that agree with the others."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin import _core
from textkin.transport import WordMover, optimal_transport, reference_costs

SETS = _core.instruction_sets()
COSTS = st.sampled_from(["euclidean", "cosine", "sqeuclidean"])


@pytest.fixture(autouse=True)
def restore_instruction_set():
    usual = _core.instruction_set()
    yield
    _core.use_instruction_set(usual)


def with_each(call):
    """Return the result of `call` with each instruction set."""
    found = {}
    for name in SETS:
        _core.use_instruction_set(name)
        found[name] = call()
    return found


@st.composite
def pairs(draw):
    """Draw vectors of any dimension, some of them almost equal, and two documents."""
    dimension = draw(st.sampled_from([1, 3, 8, 13, 50, 104, 105, 300, 400]))
    words = draw(st.integers(3, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.normal(size=(words, dimension)).astype(np.float32)
    table[1] = table[0] * np.float32(1 + draw(st.sampled_from([0.0, 1e-6, 1e-3])))
    bags = rng.integers(0, 4, size=(2, words)).astype(float)
    bags[:, :2] += 1
    return table, bags[0], bags[1]


@given(pairs(), COSTS)
@settings(max_examples=60)
def test_all_instruction_sets_are_exact_and_agree(linear_program, pair, cost):
    table, a, b = pair
    mover = WordMover(table, cost=cost)
    found = with_each(lambda: mover.distance(a, b))
    unit = table
    if cost == "cosine":
        unit = (table / np.linalg.norm(table.astype(float), axis=1)[:, np.newaxis]).astype("f4")
    costs = reference_costs(unit[a > 0], unit[b > 0], cost)
    expected = linear_program(a[a > 0], b[b > 0], costs)
    for name, value in found.items():
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9 * costs.max()), name
        assert value == pytest.approx(found["baseline"], rel=1e-6, abs=1e-12), name


@given(pairs(), COSTS)
@settings(max_examples=20)
def test_batch_equals_single_pairs_bit_by_bit(pair, cost):
    table, a, b = pair
    bags = np.stack([a, b, a + b, np.roll(a, 1) + 1])
    mover = WordMover(table, cost=cost)

    def assert_same():
        both = mover.pairwise(bags)
        assert np.array_equal(both, both.T)
        mover.set_params(n_jobs=3)
        assert np.array_equal(mover.pairwise(bags), both)
        assert mover.distance(a, b) == both[0, 1] == mover.explain(a, b).distance
        mover.explain(a, b).verify()

    with_each(assert_same)


def test_equal_integer_costs_take_the_same_pivots():
    rng = np.random.default_rng(5)
    for n, m in [(5, 9), (30, 30), (70, 140)]:
        a, b, costs = rng.random(n), rng.random(m), rng.integers(0, 50, (n, m)).astype(float)
        plans = with_each(lambda a=a, b=b, costs=costs: optimal_transport(a, b, costs))
        for plan in plans.values():
            plan.verify()
            assert plan.pivots == plans["baseline"].pivots
            assert np.array_equal(plan.matrix(), plans["baseline"].matrix())


def run_with(name, code):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TEXTKIN_SIMD": name},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", SETS)
def test_environment_variable_selects_the_instruction_set(name):
    code = "from textkin import _core; print(_core.instruction_set())"
    assert run_with(name, code).stdout.strip() == name


def test_default_is_the_best_instruction_set():
    code = "from textkin import _core; print(_core.instruction_set())"
    assert run_with("", code).stdout.strip() == SETS[-1]


def test_invalid_environment_variable_raises_at_first_use():
    code = (
        "import numpy as np, textkin as tk\n"
        "mover = tk.WordMover(np.eye(3, dtype='f4'))\n"
        "try:\n"
        "    mover.distance(np.ones(3), np.eye(3)[0])\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    found = run_with("sse9", code)
    assert "TEXTKIN_SIMD" in found.stdout, found.stderr
    assert "'sse9'" in found.stdout
    assert "baseline" in found.stdout


@pytest.mark.parametrize("name", ["avx1024", "AVX2", "avx2 ", ""])
def test_unavailable_instruction_set_raises(name):
    with pytest.raises(ValueError, match="baseline"):
        _core.use_instruction_set(name)
