"""Build the documentation site in build/docs, with warnings as errors.

Sphinx reads pages from build/docs-source, where this script collects them: the pages of docs/,
pages from other folders, and pages of the reference, which are made from the installed package.
`make docs` runs it in its own environment. It needs no network.
"""

import argparse
import contextlib
import importlib
import io
import os
import re
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STAGED = ROOT / "build" / "docs-source"
SITE = ROOT / "build" / "docs"

# Pages of the site that are outside of docs/, by path in the repository.
OTHER_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
}
LINK = re.compile(r"(!?\[[^\]\n]*(?:\[[^\]\n]*\][^\]\n]*)*\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")

# Public modules, in the order of the reference, with a title.
MODULES = {
    "textkin": "Main entry points",
    "textkin.text": "Words and counts",
    "textkin.weighting": "Weights",
    "textkin.vectors": "Word vectors",
    "textkin.distance": "Pairwise measures",
    "textkin.transport": "Transport distances",
    "textkin.models": "Models",
    "textkin.learn": "Classification, clusters, and duplicates",
    "textkin.index": "Index and search",
    "textkin.explain": "Explanations",
    "textkin.evaluate": "Evaluation",
    "textkin.reading": "Reading",
    "textkin.run": "Processes, threads, and progress",
    "textkin.web": "Server",
    "textkin.exceptions": "Errors and warnings",
}


def staged_path(target: Path) -> Path:
    """Return the path of a file of the repository in the staged pages."""
    relative = target.relative_to(ROOT)
    if str(relative) in OTHER_PAGES:
        return STAGED / OTHER_PAGES[str(relative)]
    if relative.parts[0] == "docs":
        return STAGED.joinpath(*relative.parts[1:])
    if str(relative) == "README.md":
        return STAGED / "index.rst"
    if relative.parts[0] == "examples" and relative.suffix == ".py":
        return STAGED / "examples" / f"{relative.stem}.md"
    return STAGED / "files" / relative


def with_staged_links(text: str, source: Path) -> str:
    """Return a page whose links to files of the repository lead to their staged copies.

    Parameters
    ----------
    text : str
        Text of the page.
    source : Path
        Path of the page in the repository.
    """
    here = staged_path(source).parent

    def again(match: re.Match[str]) -> str:
        start, link, place = match.groups()
        if ":" in link:
            return match[0]
        target = (source.parent / link).resolve()
        if target.is_dir():  # there is no page of a folder
            return f"{start}{os.path.relpath(STAGED / 'gallery.md', here)}"
        staged = staged_path(target)
        if staged.is_relative_to(STAGED / "files") and staged.suffix in ("", ".md"):
            staged = staged.with_name(f"{target.name}.txt")  # a download, not a page
        if staged.is_relative_to(STAGED / "files") and target.is_file():
            staged.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, staged)
        return f"{start}{os.path.relpath(staged, here)}{place or ''}"

    return LINK.sub(again, text)


def stage_pages() -> None:
    """Copy pages, figures, and the configuration into the folder that Sphinx reads."""
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.copytree(ROOT / "docs", STAGED)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = with_staged_links(page.read_text(encoding="utf-8"), page)
        staged_path(page).write_text(text, encoding="utf-8")
    for name in OTHER_PAGES:
        page = ROOT / name
        text = with_staged_links(page.read_text(encoding="utf-8"), page)
        staged_path(page).write_text(text, encoding="utf-8")


def check_tutorials() -> None:
    """Run the tutorials with the installed package, and raise if an output or figure differs."""
    import run_pages

    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = run_pages.updated(text, page.name)
            figures = run_pages.changed_figures(new, page)
        if new != text or figures:
            raise SystemExit(f"{page.name}: run python scripts/run_pages.py {page} --write")


def titled(title: str, mark: str = "=") -> str:
    """Return a heading in reStructuredText."""
    return f"{title}\n{mark * len(title)}\n\n"


def write_api_pages() -> None:
    """Write a page per public module, with its names; autosummary writes a page per name."""
    folder = STAGED / "api"
    folder.mkdir()
    top = set(importlib.import_module("textkin").__all__)
    entries = []
    for module, title in MODULES.items():
        loaded = importlib.import_module(module)
        names = [name for name in loaded.__all__ if not name.startswith("__")]
        if module != "textkin":
            names = [
                name
                for name in names
                if not (name in top and getattr(loaded, name) is getattr(textkin(), name))
            ]
        rows = "\n".join(f"   {name}" for name in names)
        page = titled(f"{title}: {module}")
        page += f".. currentmodule:: {module}\n\n"
        page += f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{rows}\n"
        (folder / f"{module}.rst").write_text(page, encoding="utf-8")
        entries.append(f"   {module}")
    page = titled("Python API")
    page += "All public names, from their docstrings.\n\n.. toctree::\n   :maxdepth: 1\n\n"
    (folder / "index.rst").write_text(page + "\n".join(entries) + "\n", encoding="utf-8")


def textkin() -> object:
    """Return the package."""
    return importlib.import_module("textkin")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def write_command_page() -> None:
    """Write the options of every command, from the Typer application."""
    import typer

    from textkin.cli import app

    parts = [
        "# Commands and options",
        "All options, as `textkin COMMAND --help` prints them. [The command line]"
        "(command-line.md) explains the commands, with examples.",
    ]

    def walk(command: Any, context: Any, level: int) -> None:  # noqa: ANN401 (Typer's own classes)
        parts.append(f"{'#' * level} {context.command_path}")
        parts.append((command.help or "").strip())
        if not getattr(command, "commands", {}):
            pieces = " ".join(command.collect_usage_pieces(context))
            parts.append(f"```text\n{context.command_path} {pieces}\n```")
        records = [p.get_help_record(context) for p in command.get_params(context)]
        rows = [(f"`{names}`", text) for names, text in filter(None, records)]
        parts.append(table(("Option", "Meaning"), rows))
        if command.epilog and command.epilog.startswith("Example: "):
            parts.append(f"```text\n{command.epilog.removeprefix('Example: ')}\n```")
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, typer.Context(inner, info_name=name, parent=context), min(level + 1, 3))

    command = typer.main.get_command(app)
    walk(command, typer.Context(command, info_name="textkin"), 2)
    (STAGED / "commands.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _type_of(schema: dict[str, Any]) -> str:
    """Describe the type of a JSON value."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type_of(each) for each in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items', {}))}"
    return str(schema.get("type", "any value"))


def write_http_page() -> None:
    """Write the routes and the bodies of the HTTP API, from its OpenAPI description."""
    from textkin import Index
    from textkin.web import create_app

    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(f"{folder}/docs.kin", language=None) as index,
    ):
        index.add(["a document"])
        description = create_app(index).openapi()
    parts = [
        "# HTTP API",
        "Routes and bodies of `textkin serve`, from its OpenAPI description (`/openapi.json`). "
        "[Explore documents in the browser](web.md#the-http-api) explains them.",
        "## Routes",
    ]
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            parts.append(f"### {method.upper()} {path}")
            parts.append(route.get("description", route.get("summary", "")).strip())
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            if body:
                parts.append(f"Body: {_type_of(body['schema'])}.")
            if route.get("parameters"):
                rows = [
                    (f"`{p['name']}`", _type_of(p["schema"]), p.get("description", ""))
                    for p in route["parameters"]
                ]
                parts.append(table(("Parameter", "Type", "Meaning"), rows))
            rows = [
                (
                    status,
                    _type_of(r.get("content", {}).get("application/json", {}).get("schema", {})),
                    r["description"],
                )
                for status, r in sorted(route["responses"].items())
            ]
            parts.append(table(("Status", "Body", "Meaning"), rows))
    parts.append("## Bodies")
    for name, schema in sorted(description["components"]["schemas"].items()):
        parts.append(f"### {name}")
        parts.append(schema.get("description", "").strip())
        needed = schema.get("required", [])
        rows = [
            (
                f"`{field}`" + (" (required)" if field in needed else ""),
                _type_of(value),
                value.get("description", ""),
            )
            for field, value in schema.get("properties", {}).items()
        ]
        if rows:
            parts.append(table(("Field", "Type", "Meaning"), rows))
    (STAGED / "http-api.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


@contextlib.contextmanager
def _running_in(folder: Path, script: Path) -> Iterator[io.StringIO]:
    """Run a block in a folder, as the given script, and collect what it prints."""
    output, argv = io.StringIO(), sys.argv
    sys.argv = [str(script)]
    sys.path.insert(0, str(script.parent))
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(output):
            yield output
    finally:
        sys.argv = argv
        sys.path.remove(str(script.parent))


def write_gallery() -> None:
    """Run every example, and write a page with its code, output, and figures, and an index."""
    folder = STAGED / "examples"
    folder.mkdir()
    entries = []
    for script in sorted((ROOT / "examples").glob("*.py")):
        code = script.read_text(encoding="utf-8")
        doc, _, body = code.removeprefix('"""').partition('"""')
        title, _, more = doc.strip().partition("\n")
        more = more.replace(f"python examples/{script.name}", "").strip()
        with tempfile.TemporaryDirectory() as work:
            with _running_in(Path(work), script) as output:
                stopped = ""
                try:
                    runpy.run_path(str(script), run_name="__main__")
                except SystemExit as end:  # a package is missing
                    stopped = str(end.code or "")
            figures = []
            for drawn in sorted(Path(work).rglob("*.svg"))[:4]:
                kept = folder / f"{script.stem}-{drawn.name}"
                shutil.copyfile(drawn, kept)
                figures.append(f"![Figure of the example]({kept.name})")
        parts = [f"# {title.rstrip('.')}", more, f"`python examples/{script.name}`"]
        parts.append(f"```python\n{body.strip()}\n```")
        if output.getvalue():
            parts += ["Output:", f"```text\n{output.getvalue().rstrip()}\n```"]
        if stopped:
            parts.append(f"This page was built without running the example: {stopped}")
        (folder / f"{script.stem}.md").write_text(
            "\n\n".join(part for part in [*parts, *figures] if part) + "\n", encoding="utf-8"
        )
        entries.append(f"examples/{script.stem}")
    page = [
        "# Examples",
        "Complete scripts, each with its output. They are in the folder `examples` of a checkout.",
        "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(entries) + "\n```",
    ]
    (STAGED / "gallery.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


def unwritten_pages() -> list[str]:
    """Return the pages without a file in the site; parallel builds of Sphinx lost some."""
    pages = (
        path.relative_to(STAGED).with_suffix("")
        for suffix in ("*.md", "*.rst")
        for path in STAGED.rglob(suffix)
        if path.relative_to(STAGED).parts[0] not in ("files", "_templates")
    )
    return sorted(str(page) for page in pages if not (SITE / f"{page}.html").exists())


def main() -> int:
    """Build the site, and return Sphinx's exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep-going", action="store_true", help="warnings are not errors")
    arguments = parser.parse_args()
    from sphinx.cmd.build import main as sphinx

    os.environ["COLUMNS"] = "80"
    check_tutorials()
    stage_pages()
    write_api_pages()
    write_command_page()
    write_http_page()
    write_gallery()
    shutil.rmtree(SITE, ignore_errors=True)
    options = ["-q", "-b", "html", "-d", str(ROOT / "build" / "docs-cache")]
    if not arguments.keep_going:
        options += ["-W", "--keep-going"]
    status = sphinx([*options, str(STAGED), str(SITE)])
    if lost := unwritten_pages():
        print(f"Sphinx wrote no page for {', '.join(lost)}.")
        return 1
    if not status:
        print(f"The site is {SITE.relative_to(ROOT) / 'index.html'}.")
    return status


if __name__ == "__main__":
    sys.exit(main())
