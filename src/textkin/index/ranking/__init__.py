"""Rankings of the documents of an index: which are nearest to a query, and why."""

from textkin.index.ranking._hits import Hit, Hits, Query
from textkin.index.ranking._models import ModelRanking
from textkin.index.ranking._terms import TermRanking

__all__ = ["Hit", "Hits", "ModelRanking", "Query", "TermRanking"]
