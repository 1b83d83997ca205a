"""Word vectors: a table of words and their vectors, and the built-in ones."""

from textkin.vectors._word_vectors import WordVectors

__all__ = ["WordVectors"]
