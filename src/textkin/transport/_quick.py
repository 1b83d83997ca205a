"""The short way to the distance of two bags."""

from scipy import sparse

from textkin import _core
from textkin.vectors._space import Space

__all__ = ["distance_of_bags"]

_CSR = (sparse.csr_array, sparse.csr_matrix)


def distance_of_bags(space: Space, a: object, b: object, cost: str) -> float | None:
    """Return the distance of two one-row bags that are in order, without any detour.

    Whatever is out of the ordinary gives None, and goes the long way, where every case has its
    check and every mistake its message.
    """
    if space.known is not None or space.lookup is not None:
        return None
    if not (isinstance(a, _CSR) and isinstance(b, _CSR)):
        return None
    table = space.table
    shape = (1, len(table))
    if a.shape != shape or b.shape != shape:
        return None
    return _core.distance_of_bags(
        table, a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, cost
    )
