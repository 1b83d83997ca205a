"""Rankings of the documents of an index: which are nearest to a query, and why."""

from textkin.index.ranking._cluster import ClusterRanking
from textkin.index.ranking._feedback import rocchio
from textkin.index.ranking._filter_text import parse_filter
from textkin.index.ranking._filters import Filter
from textkin.index.ranking._hit import Hit
from textkin.index.ranking._hits import Hits, Query
from textkin.index.ranking._hybrids import Cascade, RankFusion, WeightedSum
from textkin.index.ranking._models import ModelRanking
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking

__all__ = [
    "Cascade",
    "ClusterRanking",
    "Filter",
    "Hit",
    "Hits",
    "ModelRanking",
    "Query",
    "RankFusion",
    "TermRanking",
    "TransportRanking",
    "WeightedSum",
    "parse_filter",
    "rocchio",
]
