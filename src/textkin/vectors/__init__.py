"""Word vectors: a table of words and their vectors, its file formats, the built-in ones."""

from textkin.vectors._repairs import Repairs
from textkin.vectors._word_vectors import WordVectors

__all__ = ["Repairs", "WordVectors"]
