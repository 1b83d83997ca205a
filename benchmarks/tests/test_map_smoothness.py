"""Benchmark of the map in a real browser, with the duration of frames."""

import json
import shutil
import subprocess
import sys

import pytest

from support import ROOT, load_script, run_benchmark

smooth = load_script("benchmarks/map_smoothness.py")


def test_invented_positions_fill_the_map():
    found = smooth.made_up(500)
    places = found["/api/map"]
    assert len(places["ids"]) == len(places["x"]) == len(places["label"]) == 500
    assert (min(places["x"]), max(places["x"])) == (0, 1)
    assert (min(places["y"]), max(places["y"])) == (0, 1)
    assert set(places["label"]) == set(range(smooth.GROUPS))


@pytest.mark.slow
def test_run_reports_frame_durations(tmp_path):
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        pytest.skip("no Chromium is installed")
    out = tmp_path / "smooth.json"
    # In a separate process: two Playwright instances cannot share a thread.
    script = [sys.executable, str(ROOT / "benchmarks" / "map_smoothness.py")]
    run = subprocess.run(
        [*script, "--points", "300", "--steps", "3", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(out.read_text())
    assert found["points"] == 300
    assert set(found["screens"]) == set(smooth.SCREENS)
    for acts in found["screens"].values():
        assert set(acts) == set(smooth.ACTIONS)
        for act in ("pan", "zoom", "filter"):
            assert acts[act]["drawn_frames"] > 0
            assert acts[act]["between_frames"]["median"] > 0
    assert "300 points" in run.stdout


def test_missing_browser_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    run = run_benchmark("map_smoothness.py", "--out", tmp_path / "smooth.json")
    assert run.returncode == 1
    assert "Chromium was not found" in run.stderr
