"""Distributed search and joins of an index, over processes and machines."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.index.distributed._cluster_ranking import ClusterRanking as ClusterRanking
    from textkin.index.distributed._join import join as join, near_pairs as near_pairs
    from textkin.index.distributed._part_files import Parts as Parts
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_cluster_ranking": ["ClusterRanking"],
            "_join": ["join", "near_pairs"],
            "_part_files": ["Parts"],
        },
    )

__all__ = ["ClusterRanking", "Parts"]
