"""Write the notebooks of the tutorials, from the same pages.

Text becomes Markdown cells, a Python block a code cell with its output, and a command of a console
block a cell that starts with ``!``. Links lead to the pages of the site's source::

    python scripts/write_notebooks.py            # writes docs/tutorials/*.ipynb
    python scripts/write_notebooks.py --check    # exit status 1 if a notebook is stale
"""

import argparse
import json
import sys
from typing import Any

import run_pages

TUTORIALS = run_pages.ROOT / "docs" / "tutorials"


def _cell(kind: str, number: int, text: str, output: str | None = None) -> dict[str, Any]:
    """Return a cell; its text is a list of lines, as nbformat stores it."""
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": text.strip("\n").splitlines(keepends=True),
    }
    if kind == "code":
        cell["execution_count"] = None
        cell["outputs"] = []
        if output:
            lines = output.splitlines(keepends=True)
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}]
    return cell


def notebook(page: str) -> str:
    """Return a page as a notebook, in JSON.

    Parameters
    ----------
    page : str
        Text of the page, in Markdown.
    """
    cells: list[dict[str, Any]] = []

    def add(kind: str, text: str, output: str | None = None) -> None:
        if text.strip():
            cells.append(_cell(kind, len(cells), text, output))

    at = 0
    for match in run_pages.BLOCK.finditer(page):
        code, session = match["code"], match["session"]
        if code is None and session is None:
            continue
        add("markdown", page[at : match.start()])
        if code is not None:
            add("code", code, match["shown"])
        else:
            lines = session.splitlines(keepends=True)
            output = "".join(line for line in lines if not line.startswith("$ "))
            add("code", "".join(f"!{c[2:]}" for c in lines if c.startswith("$ ")), output)
        at = match.end()
    add("markdown", page[at:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write or check the notebooks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    stale = 0
    for page in sorted(TUTORIALS.glob("*.md")):
        target = page.with_suffix(".ipynb")
        new = notebook(page.read_text(encoding="utf-8"))
        if target.exists() and target.read_text(encoding="utf-8") == new:
            continue
        stale = 1
        print(f"{target.name} is {'stale' if check else 'written'}")
        if not check:
            target.write_text(new, encoding="utf-8")
    return stale if check else 0


if __name__ == "__main__":
    sys.exit(main())
