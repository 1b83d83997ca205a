"""Order of the subpackages, and the imports of their modules.

`tests/test_architecture.py` checks the order, and `draw_architecture.py` draws it.
"""

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "textkin"

# Subpackages by tier. A subpackage imports only from itself and from subpackages before it.
TIERS = {
    "Foundations": ("_base", "run", "device", "explain"),
    "Text and vectors": ("reading", "text", "vectors", "corpus", "weighting", "distance"),
    "Models and transport": ("models", "transport"),
    "Applications": ("index", "learn", "evaluate"),
    "Interfaces": ("web", "cli"),
}
ORDER = [name for names in TIERS.values() for name in names]
# Modules without a subpackage, which all modules may import.
SHARED = {"_core", "exceptions"}


def module_name(path: Path) -> str:
    """Return the dotted name of a module within the package."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


@cache
def imports(path: Path) -> set[tuple[str, str]]:
    """Return each (module, name) that a file imports from textkin, inside functions too."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            found.update((node.module or "", alias.name) for alias in node.names)
    return {(module, name) for module, name in found if module.split(".")[0] == "textkin"}
