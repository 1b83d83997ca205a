"""Write the typing block of each package `__init__` from its table of lazy names.

A package `__init__` has one list of its names: the table passed to `lazy_names`. Type checkers need
import statements instead, so this script writes them into the `if TYPE_CHECKING:` block above the
table. `python scripts/write_exports.py` updates the files; with `--check` it only lists the files
that are out of date and exits with 1.
"""

import argparse
import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "textkin"
WIDTH = 100


def table_of(text: str) -> tuple[ast.If, dict[str, list[str]]] | None:
    """Return the typing block of an `__init__` and its table, or None without a table."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for call in ast.walk(ast.Module(node.orelse, [])):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "lazy_names":
                    return node, ast.literal_eval(call.args[1])
    return None


def typing_block(package: str, table: dict[str, list[str]]) -> str:
    """Return the import statements that define the same names as `table`."""
    lines: list[str] = []
    for module in sorted(table):
        names = [f"{name} as {name}" for name in sorted(table[module])]
        path = module if module.startswith("textkin.") else f"{package}.{module}"
        line = f"    from {path} import {', '.join(names)}"
        if len(line) <= WIDTH:
            lines.append(line)
        else:
            lines.append(f"    from {path} import (")
            lines.extend(f"        {name}," for name in names)
            lines.append("    )")
    return "\n".join(lines)


def typed_names(package: str, block: ast.If) -> dict[str, list[str]]:
    """Return the table that corresponds to the import statements of a typing block."""
    return {
        node.module.removeprefix(f"{package}."): sorted(alias.name for alias in node.names)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
    }


def updated(path: Path) -> str:
    """Return the text of an `__init__` with its typing block written from the table."""
    text = path.read_text(encoding="utf-8")
    found = table_of(text)
    if found is None:
        return text
    node, table = found
    package = ".".join(["textkin", *path.parent.relative_to(SOURCE).parts])
    if typed_names(package, node) == {module: sorted(names) for module, names in table.items()}:
        return text  # only the order may differ
    lines = text.split("\n")
    lines[node.body[0].lineno - 1 : node.body[-1].end_lineno] = [typing_block(package, table)]
    return "\n".join(lines)


def main() -> int:
    """Update or check every package."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="list files that are out of date")
    check = parser.parse_args().check
    stale = [p for p in sorted(SOURCE.rglob("__init__.py")) if updated(p) != p.read_text("utf-8")]
    for path in stale:
        print(path.relative_to(SOURCE.parents[1]))
        if not check:
            path.write_text(updated(path), encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
