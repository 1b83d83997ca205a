"""Fitting over blocks: statistics of each, wherever it lies, and their sums."""

from textkin.models.blocks._fit import fit_blocks

__all__ = ["fit_blocks"]
