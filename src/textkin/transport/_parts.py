"""Lower bounds of the distance explained: the parts that sum to each of them."""

from typing import Literal

import numpy as np

from textkin import _core
from textkin._typing import Float64Array
from textkin.explain import Contribution, Contributions, Flow
from textkin.transport._comparison import bounds_of_rows
from textkin.transport._costs import CostName, reference_costs
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space

__all__ = ["Side", "centroid_parts", "relaxed_flow"]

Side = Literal["both", "source", "target"]


def relaxed_flow(
    space: Space,
    first: Encoded,
    a: _core.Documents,
    second: Encoded,
    b: _core.Documents,
    cost: CostName,
    side: Side,
) -> Flow:
    """Return the relaxed distance of two documents as mass that moves.

    Each word of one side goes, or comes, the nearest way, whatever room there is: the words of
    the other side have the mass that meets them there, and those that nothing meets are not in
    the flow.

    Parameters
    ----------
    space : Space
        The vectors.
    first, second : Encoded
        The documents, each the only row.
    a, b : Documents
        The same as the core holds them; neither is empty.
    cost : str
        What moving a word costs.
    side : {"both", "source", "target"}
        Whose masses are kept; "both": those that give the larger sum, of equals the source's.

    Returns
    -------
    Flow
        Its contributions sum to the bound within 1e-6, its score is the bound as the search
        reports it.
    """
    bounds = bounds_of_rows(space, a, b, cost)
    if side == "both":
        side = "source" if bounds.source >= bounds.target else "target"
    ours, theirs = (a.words(0), b.words(0)) if side == "source" else (b.words(0), a.words(0))
    masses = (first if side == "source" else second).masses(0, ours)
    costs = reference_costs(space.table[ours], space.table[theirs], cost)
    nearest = costs.argmin(axis=1)
    met, place = np.unique(nearest, return_inverse=True)
    kept = [*zip(map(space.name, ours.tolist()), masses.tolist(), strict=True)]
    arrived = np.bincount(place, masses).tolist()
    others = [*zip(map(space.name, theirs[met].tolist()), arrived, strict=True)]
    moves = [
        (i, j, masses.item(i), costs.item(i, nearest[i])) for i, j in enumerate(place.tolist())
    ]
    if side == "source":
        return Flow.of(kept, others, moves, score=bounds.source)
    return Flow.of(others, kept, [(j, i, *rest) for i, j, *rest in moves], score=bounds.target)


def centroid_parts(
    space: Space,
    first: Encoded,
    a: _core.Documents,
    second: Encoded,
    b: _core.Documents,
    cost: CostName,
) -> Contributions:
    r"""Return the distance of two centroids as what each word adds to it.

    Parameters
    ----------
    space, first, a, second, b, cost
        As for `relaxed_flow`.

    Returns
    -------
    Contributions
        Of word w, whose shares of the documents are :math:`p_w` and :math:`q_w`,
        :math:`(p_w - q_w)\,(x_w - m) \cdot u`, with the unit vector u from one centroid to the
        other and the point m half-way: more of a word that lies on the side of its document
        drives them apart. For the squared cost u is the difference of the centroids itself, for
        the cosine half of it. They sum to the score as far as float64 goes.
    """
    masses: dict[int, list[float]] = {}
    for at, (encoded, documents) in enumerate(((first, a), (second, b))):
        words = documents.words(0)
        for row, mass in zip(words.tolist(), encoded.masses(0, words).tolist(), strict=True):
            masses.setdefault(row, [0.0, 0.0])[at] = mass
    rows = list(masses)
    shares: Float64Array = np.array([masses[row] for row in rows])
    points = space.table[rows].astype(np.float64)
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
            Contribution(space.name(row), value, f"{100 * ours:.3g} % against {100 * theirs:.3g} %")
            for row, value, (ours, theirs) in zip(
                rows, values.tolist(), shares.tolist(), strict=True
            )
        ],
        score=bounds_of_rows(space, a, b, cost).centroid,
    )
