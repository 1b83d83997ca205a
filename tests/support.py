"""Helpers that several test files import (the folder `tests` is on pytest's path)."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def load_script(relative: str) -> ModuleType:
    """Import a script of the repository; scripts find each other in their own folder."""
    path = ROOT / relative
    sys.path.insert(0, str(path.parent))
    try:
        return importlib.import_module(path.stem)
    finally:
        sys.path.remove(str(path.parent))
