"""Hypothesis profiles: "ci" runs the examples that a test states, and the default a share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
from hypothesis import given, settings, strategies as st

counts = {"stated": 0, "few": 0, "unstated": 0}

@settings(max_examples=80)
@given(st.integers())
def test_stated(number):
    counts["stated"] += 1

@settings(max_examples=7)
@given(st.integers())
def test_few(number):
    counts["few"] += 1

class TestMethod:
    @given(st.integers())
    def test_unstated(self, number):
        counts["unstated"] += 1

def test_zzz_counts():
    print("counts", *counts.values())
"""


@pytest.mark.parametrize(
    ("profile", "counts"),
    [
        pytest.param("default", "counts 10 5 12", marks=pytest.mark.slow),
        ("ci", "counts 80 7 100"),
    ],
)
def test_profile_decides_the_number_of_examples(tmp_path, profile, counts):
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text("utf-8"), "utf-8")
    (tmp_path / "test_counts.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-qs", "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"HYPOTHESIS_PROFILE": profile, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert counts in done.stdout
