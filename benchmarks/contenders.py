"""Contenders that compute the exact Word Mover's Distance of given pairs.

Each function makes the one-time preparations of a careful user (vectors in the right type, bags,
word weights, token lists), and returns a function without arguments, the timed part, that returns
the distances of all pairs. No contender tokenizes. Vectors have unit length for all contenders.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from workloads import Pairs, documents

from textkin import WordMover, _core

Distances = NDArray[np.float64] | list[float]
Contender = Callable[[], Distances]


def textkin_distance(pairs: Pairs) -> Contender:
    """Time one call of ``distance`` for each pair, on one-row bags."""
    mover = WordMover(pairs.vectors)
    # A list of one row keeps two dimensions.
    rows = [(pairs.first[[row]], pairs.second[[row]]) for row in range(len(pairs))]
    return lambda: [mover.distance(a, b) for a, b in rows]


def textkin_batch(pairs: Pairs, n_jobs: int = 1) -> Contender:
    """Time one call of ``paired`` for all pairs."""
    mover = WordMover(pairs.vectors, n_jobs=n_jobs)
    return lambda: mover.paired(pairs.first, pairs.second)


def textkin_batch_2(pairs: Pairs) -> Contender:
    """Time one call of ``paired`` for all pairs, on two threads."""
    return textkin_batch(pairs, n_jobs=2)


def textkin_batch_with(pairs: Pairs, instruction_set: str) -> Contender:
    """Time one call of ``paired`` for all pairs, with a plainer instruction set."""
    run, usual = textkin_batch(pairs), _core.instruction_set()

    def forced() -> Distances:
        _core.use_instruction_set(instruction_set)
        try:
            return run()
        finally:
            _core.use_instruction_set(usual)

    return forced


def textkin_solver(pairs: Pairs) -> Contender:
    """Time only the solver, with prepared weights and costs, as for POT's solver."""
    problems = ready_problems(pairs)
    return lambda: [_core.transport_cost(a, b, costs) for a, b, costs in problems]


def pot_solver(pairs: Pairs) -> Contender:
    """Time POT's ``emd2`` alone, without its optional steps."""
    import ot

    problems = ready_problems(pairs)
    return lambda: [
        ot.emd2(a, b, costs, check_marginals=False, center_dual=False) for a, b, costs in problems
    ]


def gensim_wmdistance(pairs: Pairs) -> Contender:
    """Time gensim's ``wmdistance`` with its defaults, on lists of known words.

    Its ``norm=True`` divides the vectors, which already have unit length, by lengths of 1 up to
    float32 rounding; all contenders thus solve the same problem.
    """
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(pairs.vectors.shape[1], count=len(pairs.words), dtype=np.float32)
    vectors.add_vectors(list(pairs.words), pairs.vectors)
    vectors.fill_norms()
    both = list(zip(pairs.tokens(pairs.first), pairs.tokens(pairs.second), strict=True))
    return lambda: [vectors.wmdistance(a, b) for a, b in both]


def pot_emd2(pairs: Pairs) -> Contender:
    """Time POT's ``emd2`` on the words of the two documents, with costs by NumPy."""
    import ot

    costs = Costs(pairs)
    both = list(zip(masses(pairs.first), masses(pairs.second), strict=True))

    def run() -> list[float]:
        return [ot.emd2(a, b, costs(i, j)) for (i, a), (j, b) in both]

    return run


def pyemd_emd(pairs: Pairs) -> Contender:
    """Time pyemd's ``emd`` on histograms over the words of both documents, with costs by NumPy.

    Its interface takes the costs between all words of the union. Version 1.1 calls POT by default,
    which is timed; its older C++ code differs from the exact answer by up to 1e-4.
    """
    import pyemd

    costs = Costs(pairs)
    both = list(zip(masses(pairs.first), masses(pairs.second), strict=True))

    def distance(
        i: NDArray[np.int32], a: NDArray[np.float64], j: NDArray[np.int32], b: NDArray[np.float64]
    ) -> float:
        union = np.union1d(i, j)
        first, second = np.zeros(len(union)), np.zeros(len(union))
        first[np.searchsorted(union, i)] = a
        second[np.searchsorted(union, j)] = b
        return pyemd.emd(first, second, costs(union, union))

    return lambda: [distance(*first, *second) for first, second in both]


class Costs:
    """Euclidean distances between words in NumPy, by one matrix product in float64."""

    def __init__(self, pairs: Pairs) -> None:
        self._vectors = pairs.vectors.astype(np.float64)
        self._squares = np.einsum("ij,ij->i", self._vectors, self._vectors)

    def __call__(self, i: NDArray[np.int32], j: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the distance of each word of `i` to each word of `j`."""
        squares = self._vectors[i] @ self._vectors[j].T
        squares *= -2
        squares += self._squares[i][:, np.newaxis]
        squares += self._squares[j]
        np.maximum(squares, 0, out=squares)
        return np.sqrt(squares, out=squares)


def ready_problems(
    pairs: Pairs,
) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]]:
    """Return the weights of both sides and the costs of each pair."""
    costs = Costs(pairs)
    both = zip(masses(pairs.first), masses(pairs.second), strict=True)
    return [(a, b, costs(i, j)) for (i, a), (j, b) in both]


def masses(bags) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Return the words of each document with their weights, which sum to one."""
    return [(words, counts / counts.sum()) for words, counts in documents(bags)]


TEXTKIN = {
    "textkin_distance": textkin_distance,
    "textkin_batch": textkin_batch,
    "textkin_batch_2": textkin_batch_2,
    "textkin_solver": textkin_solver,
}
PEERS = {
    "gensim": gensim_wmdistance,
    "POT": pot_emd2,
    "pyemd": pyemd_emd,
}
ALONE = {"POT_solver": pot_solver}


def prepare(pairs: Pairs) -> dict[str, Contender]:
    """Return the installed contenders, each prepared for the pairs."""
    ready = {name: build(pairs) for name, build in TEXTKIN.items()}
    for name in _core.instruction_sets():
        if name != _core.instruction_set():
            ready[f"textkin_batch_{name}"] = textkin_batch_with(pairs, name)
    for name, build in (PEERS | ALONE).items():
        try:
            ready[name] = build(pairs)
        except ImportError:
            continue
    return ready
