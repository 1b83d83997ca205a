"""Classification, clustering, and duplicate search by distances of documents."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.learn._cluster_words import Cluster as Cluster
    from textkin.learn._clustering import DocumentClustering as DocumentClustering
    from textkin.learn._duplicate_groups import (
        DuplicateGroup as DuplicateGroup,
        Duplicates as Duplicates,
        Repeat as Repeat,
        Repeats as Repeats,
    )
    from textkin.learn._duplicate_results import Duplicate as Duplicate
    from textkin.learn._duplicates import find_duplicates as find_duplicates
    from textkin.learn._equal_rows import (
        first_of_equals as first_of_equals,
        keys_of_texts as keys_of_texts,
    )
    from textkin.learn._fisher_kernel_classifier import (
        FisherKernelClassifier as FisherKernelClassifier,
    )
    from textkin.learn._kmeans import count_distinct_rows as count_distinct_rows
    from textkin.learn._layout import map_layout as map_layout
    from textkin.learn._measure import Measure as Measure
    from textkin.learn._neighbors import NearestNeighborClassifier as NearestNeighborClassifier
    from textkin.learn._rocchio import RocchioClassifier as RocchioClassifier
    from textkin.learn._transport_measure import TransportMeasure as TransportMeasure
    from textkin.learn._tuning import Tuning as Tuning, hold_out as hold_out
    from textkin.learn._voting import (
        Ballot as Ballot,
        VoteName as VoteName,
        Voting as Voting,
        shares_of_classes as shares_of_classes,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_cluster_words": ["Cluster"],
            "_clustering": ["DocumentClustering"],
            "_duplicate_groups": ["DuplicateGroup", "Duplicates", "Repeat", "Repeats"],
            "_duplicate_results": ["Duplicate"],
            "_duplicates": ["find_duplicates"],
            "_equal_rows": ["first_of_equals", "keys_of_texts"],
            "_fisher_kernel_classifier": ["FisherKernelClassifier"],
            "_kmeans": ["count_distinct_rows"],
            "_layout": ["map_layout"],
            "_measure": ["Measure"],
            "_neighbors": ["NearestNeighborClassifier"],
            "_rocchio": ["RocchioClassifier"],
            "_transport_measure": ["TransportMeasure"],
            "_tuning": ["Tuning", "hold_out"],
            "_voting": ["Ballot", "VoteName", "Voting", "shares_of_classes"],
        },
    )

__all__ = [
    "Cluster",
    "DocumentClustering",
    "Duplicate",
    "DuplicateGroup",
    "Duplicates",
    "FisherKernelClassifier",
    "NearestNeighborClassifier",
    "Repeat",
    "Repeats",
    "RocchioClassifier",
    "Tuning",
    "count_distinct_rows",
    "find_duplicates",
    "map_layout",
]
