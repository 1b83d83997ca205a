"""Run the Python examples of pages, and compare or update the output that the pages show.

A page shows output in a ``text`` block directly after a ``python`` block. The blocks of a page run
in order, in one namespace and in an empty folder; indented code is not run. In a ``console`` block,
a line ``$ textkin ...`` is a command, and the lines below it are its output. If a page shows a
figure (``![...](images/NAME.svg)``) and its code writes a file with that name, the stored figure
must be the same. A page with ``<!-- needs: gensim -->`` runs only if these packages are installed::

    python scripts/run_pages.py                     # all pages; exit status 1 if an output differs
    python scripts/run_pages.py docs/classify.md --write
"""

import argparse
import contextlib
import importlib.util
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
EITHER = re.compile(f"{BLOCK.pattern}|{SESSION.pattern}", re.DOTALL)
FIGURE = re.compile(r"!\[[^\]]*\]\((images/[^)]+\.svg)\)")


def pages() -> list[Path]:
    """Return the pages that have Python examples."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in every if "```python\n" in page.read_text(encoding="utf-8")]


def missing_packages(text: str) -> list[str]:
    """Return the packages that a page needs (``<!-- needs: gensim -->``) and that are missing."""
    needed = re.findall(r"^<!-- needs: (.*) -->$", text, re.MULTILINE)
    names = " ".join(needed).split()
    return [name for name in names if importlib.util.find_spec(name) is None]


def commands(session: str) -> list[str]:
    """Return the arguments of the textkin commands in a console session."""
    return re.findall(r"^\$ textkin (.*)$", session, re.MULTILINE)


def _session_output(session: str) -> str:
    """Run the commands of a console session, and return the session with their output."""
    from textkin.cli import main as textkin

    lines = []
    for command in commands(session):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = textkin(shlex.split(command))
        if status:
            raise ValueError(f"textkin {command} has exit status {status}")
        lines.append(f"$ textkin {command}\n{output.getvalue()}")
    return "".join(lines)


def updated(text: str, name: str) -> str:
    """Run the examples of a page in the current folder, and return the page with their output.

    Parameters
    ----------
    text : str
        Text of the page.
    name : str
        Name of the page, for tracebacks.

    Raises
    ------
    ValueError
        If an example prints something, and no block shows it, or a command fails.
    """
    space: dict[str, Any] = {"__name__": "page"}

    def again(match: re.Match[str]) -> str:
        code, shown, session = match.groups()
        if code is None:
            runs = name != "README.md"  # its session needs a file; tests/test_examples.py has it
            return f"```console\n{_session_output(session)}```" if runs else match[0]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, name, "exec"), space)
        if shown is None:
            if output.getvalue():
                raise ValueError(f"{name}: an example prints {output.getvalue()!r} without a block")
            return match[0]
        return f"```python\n{code}```\n\n```text\n{output.getvalue()}```"

    return EITHER.sub(again, text)


def changed_figures(text: str, page: Path) -> dict[Path, Path]:
    """Return the stored figures that differ from the figures written by the examples.

    Parameters
    ----------
    text : str
        Text of the page.
    page : Path
        Path of the page; its examples have run in the current folder.

    Returns
    -------
    dict
        Path of the written figure for the path of each stored one.
    """
    found = {}
    for link in FIGURE.findall(text):
        stored, drawn = page.parent / link, Path(Path(link).name)
        if drawn.exists() and not (stored.exists() and stored.read_bytes() == drawn.read_bytes()):
            found[stored] = drawn
    return found


def main() -> int:
    """Check or update pages, and return 1 if an output differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", type=Path, help="pages (default: all)")
    parser.add_argument("--write", action="store_true", help="update the output in the pages")
    arguments = parser.parse_args()
    os.environ["COLUMNS"] = "80"
    differ = 0
    for page in [path.resolve() for path in arguments.pages] or pages():
        text = page.read_text(encoding="utf-8")
        if missing := missing_packages(text):
            print(f"{page.name}: skipped, because it needs {', '.join(missing)}")
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = updated(text, page.name)
            figures = changed_figures(new, page)
            if arguments.write:
                for stored, drawn in figures.items():
                    stored.parent.mkdir(exist_ok=True)
                    stored.write_bytes(drawn.read_bytes())
        for stored in figures:
            print(f"{page.name}: {stored.name} differs")
            differ = 1
        if new != text:
            print(f"{page.name}: the output differs")
            differ = 1
            if arguments.write:
                page.write_text(new, encoding="utf-8")
    return 0 if arguments.write else differ


if __name__ == "__main__":
    sys.exit(main())
