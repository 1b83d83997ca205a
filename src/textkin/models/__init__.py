"""Models over bags: documents become vectors in a space of topics."""

from textkin._saving import load_estimator

__all__ = ["load_estimator"]
