"""Run the examples of pages, and compare or update the output that the pages show.

The blocks of a page run in order, in one namespace and in an empty folder. Each block is one of:

- a ``python`` block, whose output is in the ``text`` block directly after it;
- a ``console`` block: a line ``$ textkin ...`` is a command, and the lines below it are its output;
- an ``sh`` block with one ``textkin`` command per line, whose output the page does not show;
- any block below the line "Save this as `NAME`:", which is written to the file NAME;
- a comment ``<!-- setup ... -->`` with Python code that readers do not see;
- a block that does not run, below a comment ``<!-- not run: REASON -->``, where REASON is one of
  `REASONS`.

Every other block is an error, indented blocks included. If a page shows a figure
(``![...](images/NAME.svg)``) and its code writes a file with that name, the stored figure must be
the same. A page with ``<!-- needs: gensim -->`` runs only if these packages are installed::

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
BLOCK = re.compile(
    r"^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^<!-- not run: (?P<reason>.*?) -->\n\n```.*?^```$"
    r"|^.*Save this as `(?P<file>[^`]+)`:\n\n```\w*\n(?P<content>.*?)^```$"
    r"|^```python\n(?P<code>.*?)^```(?:\n\n```text\n(?P<shown>.*?)^```)?$"
    r"|^```console\n(?P<session>.*?)^```$"
    r"|^```sh\n(?P<script>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
ANY_BLOCK = re.compile(r"^ *```.*?^ *```$|(?:(?<=\n\n)|\A)    \S.*?$", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"!\[[^\]]*\]\(((?:docs/)?images/[^)]+\.svg)\)")

REASONS = {
    "diagram",  # not code: a figure in characters
    "file layout",  # not code: names and contents of files
    "formula",  # not code
    "synopsis",  # not code: a list of commands
    "cluster",  # needs the workers of a cluster
    "data set",  # needs a data set or vectors that are not in the repository
    "download",  # downloads a model
    "GPU",
    "installation",  # installs packages
    "interactive",  # reads from a terminal
    "measurement",  # takes long, or writes stored results
    "optional packages",
    "server",
    "varying output",  # has times, or depends on the version of Python
}
"""Reasons for blocks that do not run."""


def pages() -> list[Path]:
    """Return the README and the pages in ``docs``."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def unchecked_blocks(text: str) -> list[str]:
    """Return the first line of each block of a page that neither runs nor has a valid reason.

    Parameters
    ----------
    text : str
        Text of the page.
    """
    wrong = []

    def check(match: re.Match[str]) -> str:
        reason, script = match["reason"], match["script"] or ""
        if reason is not None and reason not in REASONS:
            wrong.append(f"not run: {reason}")
        wrong.extend(line for line in _script_lines(script) if not line.startswith("textkin "))
        session = match["session"] or ""
        if session and not session.startswith("$ textkin "):
            wrong.append(session.partition("\n")[0])
        return ""

    rest = BLOCK.sub(check, text)
    return wrong + [found[0].partition("\n")[0] for found in ANY_BLOCK.finditer(rest)]


def missing_packages(text: str) -> list[str]:
    """Return the packages that a page needs (``<!-- needs: gensim -->``) and that are missing."""
    needed = re.findall(r"^<!-- needs: (.*) -->$", text, re.MULTILINE)
    names = " ".join(needed).split()
    return [name for name in names if importlib.util.find_spec(name) is None]


def _script_lines(script: str) -> list[str]:
    return [line for line in script.splitlines() if line.strip()]


def _run(command: str) -> str:
    """Run a textkin command, and return its output."""
    from textkin.cli import main as textkin

    output, errors = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = textkin(shlex.split(command, comments=True)[1:])
    if status:
        raise ValueError(f"{command} has exit status {status}: {errors.getvalue()}")
    output.seek(0)
    return output.read()


def _session_output(session: str) -> str:
    """Run the commands of a console session, and return the session with their output."""
    found = re.findall(r"^\$ (textkin .*)$", session, re.MULTILINE)
    return "".join(f"$ {command}\n{_run(command)}" for command in found)


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
        if match["session"] is not None:
            return f"```console\n{_session_output(match['session'])}```"
        if match["file"] is not None:
            Path(match["file"]).write_text(match["content"], encoding="utf-8")
        for command in _script_lines(match["script"] or ""):
            _run(command)
        code, shown = match["code"] or match["setup"], match["shown"]
        if code is None:
            return match[0]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code, name, "exec"), space)
        if match["setup"] is not None:
            return match[0]
        if shown is None:
            if output.getvalue():
                raise ValueError(f"{name}: an example prints {output.getvalue()!r} without a block")
            return match[0]
        return f"```python\n{code}```\n\n```text\n{output.getvalue()}```"

    return BLOCK.sub(again, text)


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
