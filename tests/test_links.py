"""Tests that links between pages lead to existing files and headings."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    plain = (re.sub(r"[`*]", "", head).strip().lower() for head in heads)
    return {"".join(c for c in h if c.isalnum() or c in " -_").replace(" ", "-") for h in plain}


def test_links_have_existing_targets():
    lost = []
    for page in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if link.startswith(("http:", "https:")):
                continue
            file, _, place = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            if not target.exists() or (place and place not in anchors(target)):
                lost.append((str(page.relative_to(ROOT)), link))
    assert lost == []
