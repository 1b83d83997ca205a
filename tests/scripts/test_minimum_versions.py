"""Lowest declared versions: every package has one, and CI installs them."""

import re
from pathlib import Path

import pytest

from support import ROOT, load_script

script = load_script("scripts/minimum_versions.py")


def test_each_package_has_a_lowest_version():
    found = script.minimum_versions()
    assert found == sorted(found)
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\d.]+", requirement) for requirement in found)
    text = (ROOT / "pyproject.toml").read_text()
    for requirement in found:
        name, version = requirement.split("==")
        assert f'"{name}>={version}"' in text, requirement
    names = {requirement.partition("==")[0] for requirement in found}
    assert {"numpy", "scipy", "scikit-learn", "simplemma", "fastapi", "pytest"} <= names
    assert not names & script.EXCLUDED


def test_different_lowest_versions_of_a_package_raise(tmp_path, monkeypatch):
    text = (
        (ROOT / "pyproject.toml").read_text().replace('lemma = ["simplemma>=', 'lemma = ["numpy>=')
    )
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.setattr(script, "PROJECT", tmp_path / "pyproject.toml")
    with pytest.raises(ValueError, match="numpy has the lowest versions"):
        script.minimum_versions()


def test_the_target_runs_existing_tests_and_ci_runs_the_target():
    makefile = (ROOT / "Makefile").read_text()
    [recipe] = re.findall(r"\ntest-minimums: .*\n((?:\t.*\n)+)", makefile)
    paths = re.findall(r"tests/\S+", recipe)
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []
    ci = ROOT / ".ci" / "run"
    if not ci.exists():  # a source distribution has no CI
        pytest.skip("no .ci/run here")
    assert "make test-minimums" in Path(ci).read_text()
