"""The document store: documents in a folder, safe against crashes, for any number of readers."""

from textkin.index._adding import Changes
from textkin.index._index import Index
from textkin.index._info import IndexInfo
from textkin.index._part_files import Parts
from textkin.index.ranking import (
    Cascade,
    ClusterRanking,
    Filter,
    Hit,
    Hits,
    ModelRanking,
    Query,
    RankFusion,
    TermRanking,
    TransportRanking,
    WeightedSum,
    parse_filter,
    rocchio,
)

__all__ = [
    "Cascade",
    "Changes",
    "ClusterRanking",
    "Filter",
    "Hit",
    "Hits",
    "Index",
    "IndexInfo",
    "ModelRanking",
    "Parts",
    "Query",
    "RankFusion",
    "TermRanking",
    "TransportRanking",
    "WeightedSum",
    "parse_filter",
    "rocchio",
]
