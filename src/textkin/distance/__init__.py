"""Measures of how near vectors, sets and sequences are: distances and similarities of all pairs."""

from textkin.distance._edit import edit_distance
from textkin.distance._pairwise import distances, similarities

__all__ = ["distances", "edit_distance", "similarities"]
