"""The document store: documents in a folder, safe against crashes, for any number of readers."""

from textkin.index._adding import Changes
from textkin.index._index import Index
from textkin.index._info import IndexInfo
from textkin.index.ranking import Filter, Hit, Hits, Query, parse_filter

__all__ = ["Changes", "Filter", "Hit", "Hits", "Index", "IndexInfo", "Query", "parse_filter"]
