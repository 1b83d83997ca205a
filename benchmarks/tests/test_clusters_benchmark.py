"""Clustering benchmark on few documents; unrequested parts of the report are kept."""

import gzip
import json

import pytest

from support import load_script

clusters = load_script("benchmarks/clusters.py")

CATS = "cats purr on the mat and kittens sleep"
MONEY = "stocks fell sharply as investors sold shares"


@pytest.fixture
def data(tmp_path):
    (tmp_path / "classification").mkdir()
    rows = [
        {"id": str(at), "text": f"{text} {at} " * 8, "label": text[:4], "split": "train"}
        for at, text in enumerate([CATS, MONEY] * 6)
    ]
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    for name in ("20news", "classic"):
        (tmp_path / "classification" / f"{name}.jsonl.gz").write_bytes(gzip.compress(lines))
    return tmp_path


def test_script_measures_a_part_and_keeps_the_others(data, monkeypatch, capsys):
    result = data / "clusters.json"
    monkeypatch.setattr(clusters, "SEEDS", 1)
    monkeypatch.setattr(clusters, "MEANS", {"default": clusters.MEANS["default"]})
    some = {name: clusters.DISTANCES[name] for name in ("k-medoids, wmd", "average, wmd")}
    monkeypatch.setattr(clusters, "DISTANCES", some)
    for part in ("20news", "classic"):
        command = ["clusters.py", "--data", str(data), "--result", str(result), "--parts", part]
        monkeypatch.setattr("sys.argv", command)
        clusters.main()
    found = json.loads(result.read_text())["results"]
    assert found["20news"]["documents"] == found["classic"]["documents"] == 12
    assert found["20news"]["rows"]["default"]["ari"] == 1
    assert found["classic"]["rows"]["k-medoids, wmd"]["nmi"] == pytest.approx(1)
    assert "ARI 1.000" in capsys.readouterr().out


def test_every_recipe_creates_an_estimator_with_a_seed():
    for recipe in (clusters.MEANS | clusters.DISTANCES).values():
        made = recipe(3, 7)
        assert (made.n_clusters, made.random_state) == (3, 7)
