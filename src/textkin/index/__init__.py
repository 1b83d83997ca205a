"""The document store: documents in a folder, safe against crashes, for any number of readers."""

from textkin.index._adding import Changes
from textkin.index._index import Index
from textkin.index._info import IndexInfo

__all__ = ["Changes", "Index", "IndexInfo"]
