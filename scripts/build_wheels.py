"""Build wheels in dist/, and test each in new environments, one per version of Python.

The stable ABI makes one wheel for Python 3.12 and newer, and Python 3.11 needs another, so a wheel
is built only if no earlier one fits. A test installs the wheel and its dependencies into an empty
environment, runs `textkin demo` in an empty folder, and runs the tutorials, whose outputs must be
the stored ones::

    python scripts/build_wheels.py 3.11 3.12 3.13
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
ENVIRONMENTS = ROOT / ".venv-wheels"
TOOLS = ["scikit-build-core>=1.1", "nanobind>=3.1,<4", "cmake", "ninja"]


def run(*command: object, folder: Path = ROOT) -> None:
    """Run a command, and end this script with its status if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = [str(word) for word in command]
    status = subprocess.run(words, cwd=folder, env=clean, check=False).returncode
    if status:
        raise SystemExit(f"{' '.join(words)} has exit status {status}")


def pip(python: Path, *arguments: object) -> list[object]:
    """Return a pip command of an environment."""
    return [python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]


def interpreter(version: str) -> str:
    """Return a Python of a version: from PATH, or from pyenv.

    Raises
    ------
    SystemExit
        If there is none.
    """
    candidates = [f"python{version}"]
    candidates += sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python")))
    for candidate in candidates:
        path = shutil.which(candidate)
        if (
            path
            and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            return path
    raise SystemExit(f"Python {version} was not found. Install it, or name other versions.")


def new_environment(version: str, folder: Path) -> Path:
    """Create an empty environment, and return its Python."""
    run(interpreter(version), "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def fits(python: Path) -> bool:
    """Return True if a wheel in dist/ can be installed for a Python."""
    command = pip(python, "install", "--dry-run", "--no-index", "--no-deps", "--find-links", DIST)
    found = subprocess.run(
        [str(w) for w in [*command, "textkin"]], capture_output=True, check=False
    )
    return found.returncode == 0


def build(version: str) -> None:
    """Build a wheel for a version of Python."""
    python = new_environment(version, ENVIRONMENTS / f"build-{version}")
    run(*pip(python, "install", *TOOLS))
    os.environ["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    run(*pip(python, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", DIST, "."))


def check(version: str) -> None:
    """Install a wheel into an empty environment, and use it there."""
    python = new_environment(version, ENVIRONMENTS / version)
    run(*pip(python, "install", "--no-index", "--no-deps", "--find-links", DIST, "textkin"))
    [wheel] = python.parent.parent.glob("lib/python*/site-packages/textkin-*.dist-info")
    name = wheel.name.removesuffix(".dist-info").removeprefix("textkin-")
    run(*pip(python, "install", "--find-links", DIST, f"textkin=={name}"))  # its dependencies
    with tempfile.TemporaryDirectory() as empty:
        run(python.parent / "textkin", "demo", folder=Path(empty))
    pages = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
    run(python, ROOT / "scripts" / "run_pages.py", *pages)
    print(f"Python {version}: the demo and {len(pages)} tutorials run.", flush=True)


def main() -> None:
    """Build and check wheels."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("versions", nargs="+", help="versions of Python, such as 3.12")
    versions = parser.parse_args().versions
    for version in versions:
        interpreter(version)
    shutil.rmtree(DIST, ignore_errors=True)
    for version in sorted(versions, key=lambda v: [int(part) for part in v.split(".")]):
        python = new_environment(version, ENVIRONMENTS / version)
        if not fits(python):
            build(version)
        check(version)
    for wheel in sorted(DIST.glob("*.whl")):
        print(f"{wheel.relative_to(ROOT)}  {wheel.stat().st_size / 2**20:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
