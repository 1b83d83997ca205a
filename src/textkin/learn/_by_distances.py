"""Clusters by distances alone: k-medoids and agglomerative clustering on any measure."""

from typing import Any, Literal

import numpy as np
from numpy.random import RandomState

from textkin._typing import Float64Array, Int64Array
from textkin.distance._near import NearRows
from textkin.learn._linkage import cut, graph_linkage, matrix_linkage, neighbour_graph
from textkin.learn._measures import Measure
from textkin.learn._medoids import k_medoids
from textkin.learn._pairs import Pairs, Phases
from textkin.learn._partition import Asked, Grouping, Partition, mapped, too_many
from textkin.learn._transport import TransportMeasure
from textkin.run import ProgressCallback

__all__ = ["ByDistances"]

_JUDGES = 128  # of a cluster over a graph: members that say which of them is central
_ONE_SIDED = ("rwmd-query", "rwmd-document")


class ByDistances(Grouping):
    """k-medoids or agglomerative clustering.

    Parameters
    ----------
    measure : Measure
        Without documents yet.
    method : {"kmedoids", "agglomerative"}
        Which of the two.

    Raises
    ------
    ValueError
        For a measure that depends on which of two documents is asked.
    """

    def __init__(self, measure: Measure, method: Literal["kmedoids", "agglomerative"]) -> None:
        self._measure = measure
        self._method = method
        if isinstance(measure, TransportMeasure) and measure.mover.algorithm in _ONE_SIDED:
            raise ValueError(
                f"{measure.mover.algorithm!r} changes when two documents are exchanged, and "
                "clusters need a distance that does not: choose 'rwmd', or 'wmd'."
            )

    def find(
        self,
        documents: Any,  # noqa: ANN401
        asked: Asked,
        random: RandomState,
        progress: ProgressCallback | None,
    ) -> Partition:
        """Find clusters with a central document each."""
        self._measure.fit(documents)
        pairs = Pairs(self._measure, asked.filled(self._measure.empty))
        whole = len(pairs) <= asked.max_matrix
        phases = Phases(progress, 1 if whole else 2, len(pairs))
        merges = labels = None
        if self._method == "kmedoids":
            central = k_medoids(pairs, asked, random, phases.next())
        else:
            merges, labels = _merged(pairs, asked, phases.next())
            central = _central(pairs, labels, random)
        everything = np.arange(len(pairs))
        if labels is None:
            far = pairs.between(everything, central, None if whole else phases.next())
            labels = far.argmin(axis=1)  # equally near ones by position
            own = far[everything, labels]
            far = far[:, mapped(labels, central)]
        else:  # of as many clusters as there are documents, perhaps
            some = mapped(labels, central)
            far = pairs.between(everything, central[some], None if whole else phases.next())
            own = _own(pairs, labels, central, far, some)
        phases.end()
        return Partition(pairs.positions, labels, own, far, pairs.positions[central], merges)

    def nearest(
        self,
        documents: Any,  # noqa: ANN401
        central: Int64Array,
        means: Float64Array | None,  # of clusters that have them
        progress: ProgressCallback | None,
    ) -> NearRows:
        """Compare documents with the central ones."""
        order = np.argsort(central)
        found = self._measure.nearest_of(central[order], documents, progress=progress)
        return NearRows(found.starts, order[found.rows], found.distances)


def _merged(
    pairs: Pairs, asked: Asked, progress: ProgressCallback | None
) -> tuple[Float64Array, Int64Array]:
    if len(pairs) <= asked.max_matrix:
        merges = matrix_linkage(pairs.fill(progress), asked.linkage)
    elif asked.linkage == "complete":
        raise ValueError(
            f"linkage='complete' needs the distances of all {len(pairs):,} documents from each "
            f"other, more than max_matrix={asked.max_matrix:,} allows: choose linkage='average', "
            "or raise max_matrix."
        )
    else:
        edges = neighbour_graph(pairs, asked.n_neighbors, progress)
        merges = graph_linkage(pairs, edges, asked.linkage, asked.max_matrix)
    distinct = 1 + int(np.sum(merges[:, 2] > 0))
    if asked.n_clusters is not None and asked.n_clusters > distinct:
        raise too_many(asked.n_clusters, distinct)
    return merges, cut(merges, asked.n_clusters, asked.distance_threshold)


def _central(pairs: Pairs, labels: Int64Array, random: RandomState) -> Int64Array:
    """Return the most central document of each cluster."""
    central = []
    for members in _members(labels):
        judges = members
        if pairs.matrix is None and len(members) > _JUDGES:
            judges = np.sort(random.choice(members, _JUDGES, replace=False))
        at = pairs.between(judges, judges).sum(axis=1).argmin() if len(judges) > 1 else 0
        central.append(judges[at])
    return np.array(central, dtype=np.int64)


def _own(
    pairs: Pairs,
    labels: Int64Array,
    central: Int64Array,
    far: Float64Array,
    some: Int64Array,
) -> Float64Array:
    """Return how far each is from its centre; `far` has the distances from some centres."""
    column = np.full(len(central), -1)
    column[some] = np.arange(len(some))
    own: Float64Array = far[np.arange(len(labels)), column[labels]]
    own[column[labels] < 0] = 0.0
    for cluster, members in enumerate(_members(labels)):
        if column[cluster] < 0 and len(members) > 1:
            own[members] = pairs.between(members, central[[cluster]])[:, 0]
    return own


def _members(labels: Int64Array) -> list[Int64Array]:
    """Return the places of each cluster, ascending."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])
