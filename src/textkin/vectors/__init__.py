"""Word vectors: the table `WordVectors`, its file formats, and built-in vectors."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.vectors._builtin import BUILTIN_PATH as BUILTIN_PATH, BuiltinName as BuiltinName
    from textkin.vectors._cache import (
        cache_of as cache_of,
        cached_files as cached_files,
        source_path as source_path,
        user_cache_folder as user_cache_folder,
    )
    from textkin.vectors._repairs import Repairs as Repairs
    from textkin.vectors._storage import format_of as format_of
    from textkin.vectors._table import column_names as column_names, row_blocks as row_blocks
    from textkin.vectors._word_vectors import (
        WordVectors as WordVectors,
        vectors_by_name as vectors_by_name,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_builtin": ["BUILTIN_PATH", "BuiltinName"],
            "_cache": ["cache_of", "cached_files", "source_path", "user_cache_folder"],
            "_repairs": ["Repairs"],
            "_storage": ["format_of"],
            "_table": ["column_names", "row_blocks"],
            "_word_vectors": ["WordVectors", "vectors_by_name"],
        },
    )

__all__ = [
    "Repairs",
    "WordVectors",
    "cache_of",
    "cached_files",
    "format_of",
    "source_path",
    "user_cache_folder",
]
