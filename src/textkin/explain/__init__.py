"""Explanations: scores as sums of parts, drawn as text, SVG, and HTML."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.explain._aligned_text import (
        AlignedPiece as AlignedPiece,
        AlignedText as AlignedText,
        Partner as Partner,
        Place as Place,
    )
    from textkin.explain._aligned_drawing import aligned_html as aligned_html
    from textkin.explain._bars import Bar as Bar, bars_svg as bars_svg
    from textkin.explain._characters import (
        clean as clean,
        text_width as text_width,
        escape_markup as escape_markup,
        pad as pad,
        shortened as shortened,
    )
    from textkin.explain._contributions import Contributions as Contributions
    from textkin.explain._evidence import (
        Evidence as Evidence,
        EvidenceList as EvidenceList,
        Neighbor as Neighbor,
    )
    from textkin.explain._explanation import (
        Contribution as Contribution,
        Drawing as Drawing,
        Explanation as Explanation,
    )
    from textkin.explain._flow import Flow as Flow, Move as Move, Rest as Rest
    from textkin.explain._flow_svg import flow_svg as flow_svg
    from textkin.explain._flow_text import flow_html as flow_html, flow_text as flow_text
    from textkin.explain._group_map import Group as Group, GroupMap as GroupMap
    from textkin.explain._page import render_page as render_page, stylesheet as stylesheet
    from textkin.explain._topics import Topic as Topic, Topics as Topics
    from textkin.explain._word_map import MapCell as MapCell, WordMap as WordMap
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_aligned_text": ["AlignedPiece", "AlignedText", "Partner", "Place"],
            "_aligned_drawing": ["aligned_html"],
            "_bars": ["Bar", "bars_svg"],
            "_characters": ["clean", "text_width", "escape_markup", "pad", "shortened"],
            "_contributions": ["Contributions"],
            "_evidence": ["Evidence", "EvidenceList", "Neighbor"],
            "_explanation": ["Contribution", "Drawing", "Explanation"],
            "_flow": ["Flow", "Move", "Rest"],
            "_flow_svg": ["flow_svg"],
            "_flow_text": ["flow_html", "flow_text"],
            "_group_map": ["Group", "GroupMap"],
            "_page": ["render_page", "stylesheet"],
            "_topics": ["Topic", "Topics"],
            "_word_map": ["MapCell", "WordMap"],
        },
    )

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
    "clean",
    "flow_html",
    "flow_svg",
    "flow_text",
    "shortened",
    "stylesheet",
    "text_width",
]
