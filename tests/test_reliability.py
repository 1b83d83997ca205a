"""The page about reliability quotes the stored results of the attacks."""

import json

import pytest

from support import ROOT, load_script

table = load_script("scripts/reliability_table.py")
PAGE = (ROOT / "docs" / "reliability.md").read_text("utf-8")


def test_page_matches_the_stored_results():
    assert table.written(PAGE) == PAGE, (
        "run python scripts/reliability_table.py --write docs/reliability.md"
    )


def test_stored_results_have_commits_and_no_findings():
    for file in table.read("attack*.json"):
        assert not file["commit"].endswith("-dirty")
        assert not [each for each in file["targets"] if each["finding"]]
    for file in table.read("endurance*.json"):
        assert not file["threads"]["problems"]
        for name, found in file["calls"].items():
            assert (
                found["different"] == found["grown_descriptors"] == found["grown_threads"] == 0
            ), name


def test_each_target_has_a_description():
    from fuzz.targets import TARGETS

    assert set(table.TARGETS) == set(TARGETS)


def test_inputs_of_runs_of_one_commit_are_added(tmp_path):
    run = {"target": "filters", "inputs": 1000, "finding": None}
    for name, commit in [("a", "1111"), ("b", "1111"), ("c", "2222")]:
        facts = {"commit": commit, "targets": [run]}
        (tmp_path / f"attack-{name}.json").write_text(json.dumps(facts))
    rows = table.attacks(tmp_path).splitlines()[2:]
    assert [row.split(" | ")[2:4] for row in rows] == [["2,000", "1111"], ["1,000", "2222"]]


def test_page_without_markers_raises():
    with pytest.raises(ValueError, match="markers of attacks once; got 0"):
        table.written("# A page")
