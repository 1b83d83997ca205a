"""Explanations: parts that sum to a score, and how they are shown. Knows no method."""

from textkin.explain._flow import Flow, Move
from textkin.explain._text import flow_lines

__all__ = ["Flow", "Move", "flow_lines"]
