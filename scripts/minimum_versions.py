"""Print the lowest declared version of each package, as requirements for pip.

``name>=1.2`` in ``pyproject.toml`` becomes ``name==1.2``. The extras are included, and the packages
of the tests. `EXCLUDED` are packages that the tests of `make test-minimums` do not need.

python scripts/minimum_versions.py
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXCLUDED = {"torch", "schemathesis", "playwright"}  # large, or for browsers
_DECLARED = re.compile(r"([\w.-]+(?:\[\w+\])?)[>=]=([0-9.]+)(?:,.*)?")
EXTRAS = ("stem", "lemma", "static", "parquet", "dask", "web", "plot", "ann", "evaluate", "test")


def minimum_versions() -> list[str]:
    """Return the requirements, sorted by name."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    declared = [*project["dependencies"]]
    for extra in EXTRAS:
        declared += project["optional-dependencies"][extra]
    found: dict[str, str] = {}
    for requirement in declared:
        parts = _DECLARED.fullmatch(requirement)
        if parts is None:
            raise ValueError(f"{requirement!r} must have a lowest version: name>=1.2")
        name, version = parts.groups()
        if name.partition("[")[0] in EXCLUDED:
            continue
        if found.setdefault(name, version) != version:
            raise ValueError(f"{name} has the lowest versions {found[name]} and {version}")
    return sorted(f"{name}=={version}" for name, version in found.items())


if __name__ == "__main__":
    print("\n".join(minimum_versions()))
