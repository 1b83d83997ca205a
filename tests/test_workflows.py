"""The wheel builds for other platforms, which do not run here: their files must be consistent."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLATFORMS = {"linux-x86_64", "linux-aarch64", "macos-arm64", "macos-x86_64", "windows-x86_64"}


def test_workflow_builds_every_platform():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text("utf-8"))
    assert set(workflow) == {"name", True, "permissions", "concurrency", "jobs"}  # True: `on`
    matrix = workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    assert {entry["platform"] for entry in matrix} == PLATFORMS
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert "@" in step.get("uses", "@")
    uploads = [step for step in workflow["jobs"]["wheels"]["steps"] if "upload" in str(step)]
    assert uploads[0]["with"]["if-no-files-found"] == "error"


def test_cibuildwheel_tests_exist():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheels = settings["tool"]["cibuildwheel"]
    for word in wheels["test-command"].split():
        if word.startswith("tests/"):
            assert (ROOT / word).exists(), word
    for source in wheels["test-sources"]:
        assert (ROOT / source).exists(), source
    supported = settings["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert wheels["build"][0] == f"cp{supported}-*"
    assert settings["tool"]["scikit-build"]["wheel"]["py-api"] in wheels["build"][1]
