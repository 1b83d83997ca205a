"""Distances and similarities of vectors, sets, and sequences."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.distance._edit import edit_distance as edit_distance
    from textkin.distance._metrics import VECTOR_DISTANCES as VECTOR_DISTANCES
    from textkin.distance._nearest import nearest_rows as nearest_rows, rows_below as rows_below
    from textkin.distance._pairwise import (
        pairwise_distances as pairwise_distances,
        pairwise_similarities as pairwise_similarities,
        resolve_metric as resolve_metric,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_edit": ["edit_distance"],
            "_metrics": ["VECTOR_DISTANCES"],
            "_nearest": ["nearest_rows", "rows_below"],
            "_pairwise": ["pairwise_distances", "resolve_metric", "pairwise_similarities"],
        },
    )

__all__ = ["edit_distance", "pairwise_distances", "pairwise_similarities"]
