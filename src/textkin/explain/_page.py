"""A page of its own around what is shown."""

from collections.abc import Iterable

from textkin.explain._frame import FONT, GROUND, INK, LINE, MUTED
from textkin.explain._words import markup

__all__ = ["page"]

_NAMES = {"ground": GROUND, "ink": INK, "muted": MUTED, "line": LINE}
_LIGHT, _DARK = (
    ";".join(f"--{name}:{pair[ground]}" for name, pair in _NAMES.items()) for ground in (0, 1)
)
_STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
body{{font:16px/1.5 {FONT};background:var(--ground);
color:var(--ink);max-width:820px;margin:2rem auto;padding:0 1rem}}
h1{{font-size:1.4rem;overflow-wrap:anywhere}}
h2{{font-size:1.1rem;overflow-wrap:anywhere}}
svg{{max-width:100%;height:auto}}
blockquote{{margin:.5rem 0;padding:.2rem 1rem;border-left:3px solid var(--line);
white-space:pre-wrap;overflow-wrap:anywhere;max-height:12rem;overflow:auto}}
table{{border-collapse:collapse;width:100%;margin:1rem 0}}
th,td{{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}}
td.words{{overflow-wrap:anywhere}}
.wide{{overflow-x:auto}}
.wide svg{{min-width:560px}}
td.number,th.number{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
th[scope=row]{{white-space:nowrap;vertical-align:top}}
caption{{text-align:left;color:var(--muted);padding:.3rem 0}}
summary{{cursor:pointer;padding:.25rem 0}}
"""


def page(title: str, body: Iterable[str], style: str = "") -> str:
    """Return a page with a heading and a body that is markup already.

    It is well-formed XML as well, so that a mistake in what it holds can be found.
    """
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<title>{markup(title)}</title>",
            f"<style>{_STYLE}{style}</style>",
            "</head>",
            "<body>",
            f"<h1>{markup(title)}</h1>",
            *body,
            "</body>",
            "</html>",
            "",
        ]
    )
