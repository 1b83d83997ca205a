"""The style of all drawings in one sheet, for pages that do not allow styles inside of them."""

from textkin.explain._aligned_html import ALIGNED_STYLE
from textkin.explain._aligned_svg import WORDS_STYLE
from textkin.explain._bars import BARS_STYLE
from textkin.explain._group_map import GROUPS_STYLE
from textkin.explain._svg import FLOW_STYLE
from textkin.explain._topics import TOPICS_STYLE
from textkin.explain._word_map import MAP_STYLE

__all__ = ["stylesheet"]

_STYLES = (
    FLOW_STYLE,
    WORDS_STYLE,
    ALIGNED_STYLE,
    BARS_STYLE,
    TOPICS_STYLE,
    MAP_STYLE,
    GROUPS_STYLE,
)


def stylesheet() -> str:
    """Return the rules that embedded drawings need, for a light and for a dark ground.

    All rules are about classes inside of ``.textkin-…``, so that they change nothing else of a
    page. Served as a file of its own, it satisfies a content security policy with
    ``style-src 'self'``.

    Returns
    -------
    str
        CSS.

    See Also
    --------
    Drawing.to_svg : ``embedded=True`` leaves the style out.

    Examples
    --------
    >>> ".textkin-flow .ground{fill:#ffffff}" in stylesheet()
    True
    """
    return "\n".join(style.css for style in _STYLES) + "\n"
