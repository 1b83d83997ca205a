"""Tests that CITATION.cff agrees with the package."""

import re
import tomllib

from support import ROOT

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def field(name):
    [value] = re.findall(rf"^{name}: (.+)$", CITATION, re.MULTILINE)
    return value.strip('"')


def test_version_equals_version_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert field("version") == project["version"]
    assert field("title").startswith(f"{project['name']}:")


def test_licenses_match_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for license_name in re.findall(r"^  - (BSD|Apache)", CITATION, re.MULTILINE):
        assert license_name in project["license"]
    assert re.findall(r"^  - BSD", CITATION, re.MULTILINE)
