"""Rankings of the documents of an index: which are nearest to a query, and why."""

from textkin.index.ranking._filter_text import parse_filter
from textkin.index.ranking._filters import Filter
from textkin.index.ranking._hits import Hit, Hits, Query
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking

__all__ = [
    "Filter",
    "Hit",
    "Hits",
    "Query",
    "TermRanking",
    "TransportRanking",
    "parse_filter",
]
