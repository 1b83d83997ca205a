"""The rooms of docs/architecture.md: each may import only from rooms above it."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "textkin"

ROOMS = [
    "run",
    "device",
    "explain",
    "text",
    "vectors",
    "weighting",
    "distance",
    "models",
    "transport",
    "index",
    "learn",
    "evaluate",
    "web",
    "cli",
]
OUTSIDE = {"_core", "_folders", "_saving", "_typing", "_validation", "exceptions"}


def imported_names(source: str) -> set[str]:
    """Every textkin name that a module imports, at the top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name.split(".")[0] == "textkin"}


def forbidden(room: str, name: str) -> bool:
    parts = name.split(".")
    if len(parts) == 1 or parts[1] in OUTSIDE or parts[1] == room:
        return False
    if parts[1] not in ROOMS:  # a public name from the top: only surfaces may take it
        return room not in ("cli", "web")
    return ROOMS.index(parts[1]) > ROOMS.index(room)


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_room_imports_only_from_rooms_above_it(path):
    room = path.relative_to(SOURCE).parts[0]
    assert room in ROOMS, f"{room}/ is not a room of the architecture"
    wrong = sorted(name for name in imported_names(path.read_text()) if forbidden(room, name))
    assert not wrong, f"{room}/ may not import {wrong}"


def test_the_walk_sees_a_wrong_import():
    names = imported_names("def f():\n    from textkin.transport import WordMover\n")
    assert any(forbidden("text", name) for name in names)
    assert not any(forbidden("cli", name) for name in names)


@pytest.mark.parametrize("name", sorted(OUTSIDE - {"_core"}))
def test_what_lies_outside_of_the_rooms_imports_none_of_them(name):
    names = imported_names((SOURCE / f"{name}.py").read_text())
    assert all(part.split(".")[1] in OUTSIDE for part in names if "." in part)
