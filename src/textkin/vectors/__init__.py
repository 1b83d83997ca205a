"""Word vectors: a table of words and their vectors, its file formats, the built-in ones."""

from textkin.vectors._cache import cache_of, cached_files, user_cache_folder
from textkin.vectors._load import format_of
from textkin.vectors._pairs import PairScores, read_word_pairs
from textkin.vectors._repairs import Repairs
from textkin.vectors._word_vectors import WordVectors

__all__ = [
    "PairScores",
    "Repairs",
    "WordVectors",
    "cache_of",
    "cached_files",
    "format_of",
    "read_word_pairs",
    "user_cache_folder",
]
