"""Draw the subpackages and their imports as docs/images/architecture.svg.

The boxes and arrows come from the code: an arrow points from a subpackage to one that it imports.
Arrows that follow from other arrows are omitted. `python scripts/draw_architecture.py` writes the
file; with `--check` it only compares, and exits with 1 if the file is out of date.
"""

import argparse
import ast
import sys
import textwrap
from collections.abc import Mapping
from html import escape
from itertools import pairwise
from pathlib import Path

from subpackages import ORDER, SOURCE, TIERS, imports

FILE = Path(__file__).parents[1] / "docs" / "images" / "architecture.svg"

WIDTH, HEIGHT = 256, 88  # width of a box, in pixels
GAP = 28  # gap between the boxes of a row
LANE = 30  # width of an arrow that passes a row
SPACE = 44  # gap between rows
MARGIN = 28
HEAD = 104  # height of the title, the note, and the legend
CHARACTERS = 33  # height of a line in a box
LINES = 3  # width of text in a box
SWEEPS = 24
NOTE = "Each arrow points to an imported subpackage. Arrows that follow from others are omitted."

FILLS = ("#eef0f4", "#e4f1fa", "#e6f4ec", "#fdf3dc", "#fbe8e2")
EDGES = ("#6b7280", "#0072b2", "#00805f", "#a87400", "#c2410c")
STYLE = (
    ".architecture text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1b1b22}"
    ".architecture .title{font-size:19px;font-weight:600}"
    ".architecture .name{font-size:15px;font-weight:600}"
    ".architecture .about,.architecture .legend{font-size:12px;fill:#50505c}"
    ".architecture .arrow{fill:none;stroke:#8a8a96;stroke-width:1.5}"
    ".architecture .head{fill:#8a8a96}"
)

Graph = dict[str, set[str]]
"""Imported subpackages by subpackage."""


# ------------------------------------------------------------------ imports


def import_graph(source: Path = SOURCE) -> Graph:
    """Return the imports between subpackages that follow the order."""
    graph: Graph = {name: set() for name in ORDER}
    for path in sorted(source.rglob("*.py")):
        own = path.relative_to(source).parts[0]
        if own in graph:
            for module, name in imports(path):
                used = [*module.split(".")[1:], name][0]
                if used in graph and ORDER.index(used) < ORDER.index(own):
                    graph[own].add(used)
    return graph


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """Return the graph without imports that follow from other imports (transitive reduction)."""
    reachable: Graph = {}

    def reach(name: str) -> set[str]:
        if name not in reachable:
            reachable[name] = graph[name].union(*map(reach, graph[name]))
        return reachable[name]

    return {
        name: {used for used in uses if not any(used in reach(other) for other in uses)}
        for name, uses in graph.items()
    }


# ------------------------------------------------------------------ layout


def rows_of(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """Return a row for each subpackage, above its imports, so that arrows are short."""
    rows: dict[str, int] = {}
    for name in graph:  # in the order of imports
        rows[name] = 1 + max((rows[used] for used in graph[name]), default=-1)
    users: Graph = {name: {user for user in graph if name in graph[user]} for name in graph}
    moved = True
    while moved:
        moved = False
        for name in reversed(list(graph)):
            lowest = 1 + max((rows[used] for used in graph[name]), default=-1)
            highest = min((rows[user] for user in users[name]), default=rows[name] + 1) - 1

            def cost(row: int, name: str = name) -> tuple[int, int, int]:
                lengths = [row - rows[used] for used in graph[name]]
                lengths += [rows[user] - row for user in users[name]]
                beside = sum(rows[other] == row for other in graph if other != name)
                return sum(lengths), beside, row

            best = min(range(lowest, max(lowest, highest) + 1), key=cost)
            if cost(best) < cost(rows[name]):
                rows[name], moved = best, True
    return rows


class Layout:
    """Boxes and lanes in rows, placed by the median heuristic of Sugiyama's method.

    An arrow over several rows has a lane in each row between its ends.

    Parameters
    ----------
    graph : dict of str to set of str
        Imports to draw.
    """

    def __init__(self, graph: Mapping[str, set[str]]) -> None:
        rows = rows_of(graph)
        self.paths: dict[tuple[str, str], list[str]] = {}
        self.row = dict(rows)
        for name, uses in graph.items():
            for used in sorted(uses, key=ORDER.index):
                lanes = [f"{name}>{used}@{row}" for row in range(rows[name] - 1, rows[used], -1)]
                self.row.update({lane: int(lane.rpartition("@")[2]) for lane in lanes})
                self.paths[name, used] = [name, *lanes, used]
        self.above: dict[str, list[str]] = {item: [] for item in self.row}
        self.below: dict[str, list[str]] = {item: [] for item in self.row}
        for path in self.paths.values():
            for upper, lower in pairwise(path):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
        self.order = self._ordered()
        self.x = self._placed()

    def _ordered(self) -> list[list[str]]:
        """Return the items of each row from left to right, with few crossings."""
        order: list[list[str]] = [[] for _ in range(1 + max(self.row.values()))]
        for item, row in self.row.items():
            order[row].append(item)
        best, fewest = order, self._crossings(order)
        for sweep in range(SWEEPS):
            order = [list(row) for row in order]
            upward = sweep % 2 == 0
            rows = range(1, len(order)) if upward else range(len(order) - 2, -1, -1)
            for row in rows:
                fixed = {item: at for at, item in enumerate(order[row - 1 if upward else row + 1])}
                sides = self.below if upward else self.above
                own = {item: at for at, item in enumerate(order[row])}
                mean = {
                    item: sum(fixed[other] for other in sides[item]) / len(sides[item])
                    if sides[item]
                    else own[item]
                    for item in order[row]
                }
                order[row].sort(key=lambda item: (mean[item], own[item]))
                self._swap_neighbors(order, row)
            if (crossings := self._crossings(order)) < fewest:
                best, fewest = order, crossings
        return best

    def _swap_neighbors(self, order: list[list[str]], row: int) -> None:
        """Swap neighbors in a row while that removes crossings."""
        items, swapped = order[row], True
        while swapped:
            swapped = False
            for at in range(len(items) - 1):
                before = self._crossings(order)
                items[at], items[at + 1] = items[at + 1], items[at]
                if self._crossings(order) < before:
                    swapped = True
                else:
                    items[at], items[at + 1] = items[at + 1], items[at]

    def _crossings(self, order: list[list[str]]) -> int:
        count = 0
        for lower, upper in pairwise(order):
            at = {item: place for place, item in enumerate(lower)}
            ends = [(i, at[used]) for i, item in enumerate(upper) for used in self.below[item]]
            count += sum(
                (a - c) * (b - d) < 0 for i, (a, b) in enumerate(ends) for c, d in ends[:i]
            )
        return count

    def _placed(self) -> dict[str, float]:
        """Return the center of each item, near the mean of the items that it is connected with."""
        x: dict[str, float] = {}
        for row in self.order:
            right = 0.0
            for item in row:
                x[item] = right + self.width(item) / 2
                right += self.width(item) + GAP
            for item in row:
                x[item] -= right / 2
        for sweep in range(200):
            rows = self.order if sweep % 2 == 0 else self.order[::-1]
            for row in rows:
                wanted = []
                for item in row:
                    others = [*self.above[item], *self.below[item]]
                    # Lanes are pulled harder, so that long arrows are straight.
                    weights = [1 if self._is_box(item) or self._is_box(o) else 20 for o in others]
                    total = sum(w * x[o] for w, o in zip(weights, others, strict=True))
                    wanted.append(total / sum(weights) if others else x[item])
                x.update(zip(row, self._apart(row, wanted), strict=True))
        left = min(x[item] - self.width(item) / 2 for item in x)
        return {item: center - left for item, center in x.items()}

    def _apart(self, row: list[str], wanted: list[float]) -> list[float]:
        """Return centers closest to `wanted` (least squares) that keep the items apart."""
        # Pool adjacent violators on the centers minus the widths before them.
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (self.width(left) + self.width(right)) / 2 + GAP)
        pools: list[tuple[float, int]] = []
        for want, offset in zip(wanted, offsets, strict=True):
            pools.append((want - offset, 1))
            while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
                (a, n), (b, m) = pools[-2:]
                pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
        means = [mean for mean, count in pools for _ in range(count)]
        return [mean + offset for mean, offset in zip(means, offsets, strict=True)]

    @staticmethod
    def _is_box(item: str) -> bool:
        return "@" not in item

    def width(self, item: str) -> int:
        """Return the width of a box or lane."""
        return WIDTH if self._is_box(item) else LANE


# ------------------------------------------------------------------ drawing


def summary_of(name: str) -> list[str]:
    """Return the first sentence of the docstring of a subpackage, in lines."""
    text = (SOURCE / name / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    sentence = " ".join(docstring.split("\n\n")[0].split()).split(". ")[0]
    sentence = sentence.replace("``", "").rstrip(".")
    return textwrap.wrap(sentence, CHARACTERS, max_lines=LINES, placeholder=" …")


def drawn() -> str:
    """Return the SVG of the subpackages."""
    graph = reduced(import_graph())
    layout = Layout(graph)
    n_rows = len(layout.order)
    width = max(x + layout.width(item) / 2 for item, x in layout.x.items()) + 2 * MARGIN
    height = HEAD + n_rows * HEIGHT + (n_rows - 1) * SPACE + MARGIN

    about = "; ".join(
        f"{name} imports {', '.join(sorted(uses, key=ORDER.index))}"
        for name, uses in graph.items()
        if uses
    )
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="architecture" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        'style="max-width:100%;height:auto">',
        "<title>Subpackages of textkin and their imports</title>",
        f"<desc>{escape(about)}</desc>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="architecture-head" viewBox="0 0 10 10" refX="9" refY="5" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0 0L10 5L0 10z"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f'<text class="title" x="{MARGIN}" y="34">Subpackages of textkin and their imports</text>',
        f'<text class="legend" x="{MARGIN}" y="56">{NOTE}</text>',
        *_legend(),
    ]
    for (name, used), path in layout.paths.items():
        lines.append(
            f'<path class="arrow" d="{_curve(layout, path)}" marker-end="url(#architecture-head)">'
            f"<title>{name} imports {used}</title></path>"
        )
    for name in graph:
        lines += _box(name, layout.x[name] + MARGIN, _top(layout, name))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _tier(name: str) -> int:
    return next(at for at, names in enumerate(TIERS.values()) if name in names)


def _legend() -> list[str]:
    """Draw the colors of the tiers."""
    lines, x = [], MARGIN
    for at, tier in enumerate(TIERS):
        lines.append(
            f'<rect x="{x}" y="70" width="14" height="14" rx="3" fill="{FILLS[at]}" '
            f'stroke="{EDGES[at]}"/>'
            f'<text class="legend" x="{x + 20}" y="81.5">{escape(tier)}</text>'
        )
        x += 38 + 7 * len(tier)
    return lines


def _box(name: str, x: float, y: float) -> list[str]:
    """Draw a subpackage with the summary of its docstring."""
    at, left = _tier(name), x - WIDTH / 2
    texts = "".join(
        f'<text class="about" x="{left + 16:.0f}" y="{y + 42 + 16 * line:.0f}">'
        f"{escape(text)}</text>"
        for line, text in enumerate(summary_of(name))
    )
    return [
        f'<rect x="{left:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="8" '
        f'fill="{FILLS[at]}" stroke="{EDGES[at]}"/>'
        f'<text class="name" x="{left + 16:.0f}" y="{y + 24:.0f}">{name}</text>{texts}'
    ]


def _top(layout: Layout, item: str) -> int:
    return HEAD + (len(layout.order) - 1 - layout.row[item]) * (HEIGHT + SPACE)


def _port(layout: Layout, item: str, other: str, others: list[str]) -> float:
    """Return the end of the arrow between an item and another one on the box of the item."""
    if item in layout.x and layout.width(item) == LANE:
        return layout.x[item]
    beside = sorted(others, key=lambda one: layout.x[one])
    return layout.x[item] + WIDTH * ((beside.index(other) + 1) / (len(beside) + 1) - 0.5)


def _curve(layout: Layout, path: list[str]) -> str:
    """Return the arrow along boxes and lanes: curves between rows, lines within rows."""
    parts = []
    for upper, lower in pairwise(path):
        x0 = MARGIN + _port(layout, upper, lower, layout.below[upper])
        x1 = MARGIN + _port(layout, lower, upper, layout.above[lower])
        y0, y1 = _top(layout, upper) + HEIGHT, _top(layout, lower)
        middle = (y0 + y1) / 2
        parts.append(f"{'L' if parts else 'M'}{x0:.0f} {y0}")
        parts.append(f"C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1}")
    return "".join(parts)


def main() -> None:
    """Write the file, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only compare with the file")
    options = parser.parse_args()
    svg = drawn()
    if not options.check:
        FILE.write_text(svg, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != svg:
        print(f"{FILE.name} is out of date; run python scripts/draw_architecture.py")
        sys.exit(1)


if __name__ == "__main__":
    main()
