"""Contents of the wheel and the source distribution, and licenses of their dependencies."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from importlib import metadata
from itertools import chain
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MEBIBYTE = 1 << 20
# Suffixes of the files in a wheel; others, such as caches or data of a developer, are errors.
CODE = {".py", ".pyi", ".typed"}
PAGE = {".js", ".css", ".html", ".svg"}
DATA = {".npz", ".txt", ".md", ".gz", ".json", ".tsv"}
OPEN = re.compile(r"\b(BSD|MIT|Apache|PSF|Python Software Foundation|ISC|HPND|MPL-2\.0)\b", re.I)


def tracked() -> set[str]:
    """Return the files of the checkout."""
    done = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return {name for name in done.stdout.split("\0") if name}


def build(kind: str, folder: Path) -> Path:
    """Build a distribution with the tools of this environment, without downloads."""
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    code = (
        f"from scikit_build_core.build import build_{kind} as b; print('made', b({str(folder)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return folder / done.stdout.strip().splitlines()[-1].removeprefix("made ")


@pytest.mark.slow  # builds an archive
def test_source_distribution_has_the_files_of_the_checkout(tmp_path):
    files = tracked()
    with tarfile.open(build("sdist", tmp_path)) as archive:
        members = archive.getmembers()
    top = f"textkin-{PROJECT['version']}"
    names = {member.name.removeprefix(f"{top}/") for member in members}
    assert all(member.isfile() for member in members), "no links, and no folders of their own"
    assert all(member.name.startswith(f"{top}/") for member in members)
    assert not [name for name in names if ".." in PurePosixPath(name).parts]
    # The stub of the core is ignored by git, and lies in the sources of some developers.
    assert names - files <= {"PKG-INFO", "src/textkin/_core.pyi"}
    missing = {name.split("/")[0] for name in files - names}
    assert missing <= {".ci", ".github", ".gitignore", ".codespell-ignore", "benchmarks"}
    left_out = [name for name in files - names if name.startswith("benchmarks/")]
    assert all(name.startswith("benchmarks/results/") for name in left_out)
    assert {"src/core/transport/simplex.cpp", "CMakeLists.txt", "LICENSE"} <= names
    assert sum(member.size for member in members) < 64 * MEBIBYTE


@pytest.mark.slow  # compiles the core if it has changed
def test_wheel_has_only_the_package(tmp_path):
    files = tracked()
    path = build("wheel", tmp_path)
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        info = f"textkin-{PROJECT['version']}.dist-info"
        described = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
        entries = archive.read(f"{info}/entry_points.txt").decode()
    names = {each.filename for each in infos}
    assert {name.split("/")[0] for name in names} == {"textkin", info}
    inside = {name for name in names if name.startswith("textkin/")}
    compiled = {name for name in inside if name.endswith((".so", ".pyd"))}
    assert len(compiled) == 1
    generated = {*compiled, "textkin/_core.pyi"}
    assert {f"src/{name}" for name in inside - generated} <= files
    assert {PurePosixPath(name).suffix for name in inside - compiled} <= CODE | PAGE | DATA | {""}
    sources = {name for name in files if name.startswith("src/textkin/")}
    assert sources <= {f"src/{name}" for name in inside}
    for license_file in PROJECT["license-files"]:
        assert f"{info}/licenses/{license_file}" in names
    assert described["License-Expression"] == PROJECT["license"]
    assert described["Requires-Python"] == PROJECT["requires-python"]
    assert entries.replace(" ", "").split() == ["[console_scripts]", "textkin=textkin.__main__:run"]
    assert sum(each.file_size for each in infos) < 64 * MEBIBYTE
    assert all(each.external_attr >> 28 in (0, 0o10) for each in infos), "no links"


def test_license_files_exist_and_name_each_license():
    texts = {name: (ROOT / name).read_text("utf-8") for name in PROJECT["license-files"]}
    assert PROJECT["license"] == "BSD-3-Clause AND Apache-2.0 AND LicenseRef-WordNet"
    assert "BSD 3-Clause" in texts["LICENSE"]
    assert any("Apache License" in text for text in texts.values())
    assert any("WordNet" in text and "Princeton" in text for text in texts.values())
    data = [path for path in (ROOT / "src/textkin").rglob("data") if path.is_dir()]
    for folder in data:
        described = (folder / "README.md").read_text("utf-8")
        assert re.search("licen[sc]e", described, re.I), folder
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix in (".npz", ".gz"):
                assert file.name in described or (file.parent / "LICENSE").exists(), file


@pytest.mark.parametrize(
    "requirement", [re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]]
)
def test_dependency_has_a_permissive_license(requirement):
    facts = metadata.metadata(requirement)
    stated = " ".join(
        [
            facts.get("License-Expression") or facts.get("License") or "",
            *[line for line in facts.get_all("Classifier", []) if line.startswith("License")],
        ]
    )
    assert OPEN.search(stated), stated[:200]
    assert not re.search(r"\bA?GPL\b|GPLv", stated.split("\n")[0])


def test_package_imports_only_declared_packages():
    """A package that is imported without a declaration comes from an unknown place."""
    declared = set()
    for line in chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        declared.add(re.match(r"[\w-]+", line)[0].lower().replace("-", "_"))
    names = {
        "scikit_learn": "sklearn",
        "pystemmer": "Stemmer",
        "pytrec_eval_terrier": "pytrec_eval",
        "dask": "dask",
    }
    # joblib, packaging and others come with a declared package
    allowed = {names.get(name, name) for name in declared} | {
        "joblib",
        "distributed",
        "starlette",
        "pydantic",
        "click",
        "cloudpickle",
        "triton",
        "textkin",
        "_typeshed",  # for type checkers only
        "anyio",
        "h11",
        "httptools",
    }
    found: dict[str, str] = {}
    for path in (ROOT / "src/textkin").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for module in modules:
                top = module.split(".")[0]
                if top not in sys.stdlib_module_names:
                    found[top] = str(path)
    assert not {name: place for name, place in found.items() if name not in allowed}
