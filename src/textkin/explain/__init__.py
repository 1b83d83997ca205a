"""Explanations: parts that sum to a score, and how they are shown. Knows no method."""

from textkin.explain._aligned import AlignedPiece, AlignedText, Partner, Place
from textkin.explain._contributions import Contributions
from textkin.explain._evidence import Evidence, EvidenceList, Neighbor
from textkin.explain._explanation import Contribution, Drawing, Explanation
from textkin.explain._flow import Flow, Move, Rest
from textkin.explain._group_map import Group, GroupMap
from textkin.explain._html import flow_html
from textkin.explain._stylesheet import stylesheet
from textkin.explain._svg import flow_svg
from textkin.explain._text import flow_text
from textkin.explain._topics import Topic, Topics
from textkin.explain._word_map import MapCell, WordMap
from textkin.explain._words import shortened

__all__ = [
    "AlignedPiece",
    "AlignedText",
    "Contribution",
    "Contributions",
    "Drawing",
    "Evidence",
    "EvidenceList",
    "Explanation",
    "Flow",
    "Group",
    "GroupMap",
    "MapCell",
    "Move",
    "Neighbor",
    "Partner",
    "Place",
    "Rest",
    "Topic",
    "Topics",
    "WordMap",
    "flow_html",
    "flow_svg",
    "flow_text",
    "shortened",
    "stylesheet",
]
