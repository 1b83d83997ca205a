"""Load test of a server: runs without errors and reports. Nothing is timed here."""

import json

import pytest

from support import load_script, run_benchmark

pytest.importorskip("uvicorn")
pytest.importorskip("httpx")
serving = load_script("benchmarks/serve.py")


def test_requests_are_reproducible_and_of_all_kinds():
    documents = serving.collection(300)
    one, other = serving.Mixed(documents, 1), serving.Mixed(documents, 1)
    asked = [one.next() for _ in range(300)]
    assert asked == [other.next() for _ in range(300)]
    assert {kind for kind, *_ in asked} == set(serving.MIX)
    assert sum(serving.MIX.values()) == 100
    assert len({document["id"] for document in documents}) == 300


def test_quantiles():
    times = [n / 1000 for n in range(1, 101)]
    assert serving.quantile(times, 0.5) == pytest.approx(51)
    assert serving.quantile(times, 0.99) == pytest.approx(100)
    assert serving.quantile([0.002], 0.99) == pytest.approx(2)


@pytest.mark.slow
def test_short_load(tmp_path):
    path = tmp_path / "serve.json"
    arguments = ["--documents", 200, "--clients", 4, "--seconds", 1.5, "--out", path]
    done = run_benchmark("serve.py", *arguments)
    assert done.returncode == 0, done.stderr
    assert "0 errors" in done.stdout
    found = json.loads(path.read_text())["load"]
    assert found["requests"] > 0
    assert found["documents_added"] >= serving.TOGETHER
    assert found["exit_code"] == 0
    assert found["memory_mb"]["at_the_end"] > 0
    assert "add" in found["milliseconds"]
