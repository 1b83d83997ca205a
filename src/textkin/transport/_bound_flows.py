"""Explanations of lower bounds of the Word Mover's Distance: the word moves that sum to a bound."""

from typing import Literal

import numpy as np

from textkin._base import Float64Array
from textkin.corpus import DocumentRows, VectorTable
from textkin.explain import Contribution, Contributions, Flow
from textkin.transport._comparison import bounds_of_rows
from textkin.transport._solver import CostName, reference_costs

__all__ = ["Side", "centroid_parts", "relaxed_flow"]

Side = Literal["both", "source", "target"]


def relaxed_flow(
    table: VectorTable,
    first: DocumentRows,
    second: DocumentRows,
    cost: CostName,
    side: Side,
) -> Flow:
    """Explain the Relaxed Word Mover's Distance (RWMD) of two documents as a flow of words.

    Each word of one side moves to (or comes from) the nearest word of the other side, without a
    limit on the mass there. Words of the other side that receive nothing are not in the flow.

    Parameters
    ----------
    table : VectorTable
        Word vectors.
    first, second : DocumentRows
        Nonempty documents, each in the only row.
    cost : str
        Cost of moving a word.
    side : {"both", "source", "target"}
        Document whose masses the relaxation keeps. "both": the larger relaxation; ties go to the
        source.

    Returns
    -------
    Flow
        Flow whose contributions sum to the bound within 1e-6. Its score is the bound as the search
        reports it.
    """
    a, b = first.documents(), second.documents()
    bounds = bounds_of_rows(table, a, b, cost)
    if side == "both":
        side = "source" if bounds.source >= bounds.target else "target"
    ours, theirs = (a.words(0), b.words(0)) if side == "source" else (b.words(0), a.words(0))
    masses = (first if side == "source" else second).shares_of(0, ours)
    costs = reference_costs(table.vectors[ours], table.vectors[theirs], cost)
    nearest = costs.argmin(axis=1)
    met, place = np.unique(nearest, return_inverse=True)
    kept = [*zip(map(table.name, ours.tolist()), masses.tolist(), strict=True)]
    arrived = np.bincount(place, masses).tolist()
    others = [*zip(map(table.name, theirs[met].tolist()), arrived, strict=True)]
    moves = [
        (i, j, masses.item(i), costs.item(i, nearest[i])) for i, j in enumerate(place.tolist())
    ]
    if side == "source":
        return Flow.of(kept, others, moves, score=bounds.source)
    return Flow.of(others, kept, [(j, i, *rest) for i, j, *rest in moves], score=bounds.target)


def centroid_parts(
    table: VectorTable,
    first: DocumentRows,
    second: DocumentRows,
    cost: CostName,
) -> Contributions:
    r"""Split the distance between two document centroids into one contribution per word.

    Parameters
    ----------
    table, first, second, cost
        Parameters of `relaxed_flow`.

    Returns
    -------
    Contributions
        Contributions of the words. For a word w with shares :math:`p_w` and :math:`q_w` of the
        documents, it is :math:`(p_w - q_w)\,(x_w - m) \cdot u`, with the unit vector u from one
        centroid to the other and the midpoint m between them. A word that is on the side of the
        document in which it is more frequent drives the centroids apart. For the squared cost, u
        is the difference of the centroids, and for the cosine cost, half of it. The contributions
        sum to the score within float64 rounding.
    """
    a, b = first.documents(), second.documents()
    masses: dict[int, list[float]] = {}
    for at, (rows_of, documents) in enumerate(((first, a), (second, b))):
        words = documents.words(0)
        for row, mass in zip(words.tolist(), rows_of.shares_of(0, words).tolist(), strict=True):
            masses.setdefault(row, [0.0, 0.0])[at] = mass
    rows = list(masses)
    shares: Float64Array = np.array([masses[row] for row in rows])
    points = table.vectors[rows].astype(np.float64)
    one, other = shares.T @ points
    apart = one - other
    if cost == "euclidean":
        length = float(np.linalg.norm(apart))
        apart = apart / length if length > 0 else apart
    elif cost == "cosine":
        apart = apart / 2
    values = (shares[:, 0] - shares[:, 1]) * ((points - (one + other) / 2) @ apart)
    return Contributions.of(
        [
            Contribution(table.name(row), value, f"{100 * ours:.3g} % against {100 * theirs:.3g} %")
            for row, value, (ours, theirs) in zip(
                rows, values.tolist(), shares.tolist(), strict=True
            )
        ],
        score=bounds_of_rows(table, a, b, cost).centroid,
    )
