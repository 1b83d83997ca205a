"""Digests are the same in each run, and a different result is reported."""

import json
import sys

import numpy as np
import pytest
from scipy import sparse

from support import load_script


@pytest.fixture(scope="module")
def digests():
    return load_script("scripts/digests.py")


@pytest.mark.parametrize("name", ["documents_read", "distances", "measures"])
def test_section_run_twice_gives_the_same_digests(digests, name):
    first = digests.run_section(name)
    assert len(first) >= 10
    assert f"{name}/the rest" not in first
    assert digests.run_section(name) == first


def test_digest_depends_on_type_shape_and_order(digests):
    values = [
        1, 1.0, True, "1", None, [1], [[1]], [1, 2], [2, 1], {"a": 1}, {"b": 1}, b"1",
        np.arange(4), np.arange(4.0), np.arange(4).reshape(2, 2), sparse.eye_array(2).tocsr(),
    ]  # fmt: skip
    assert len({digests.digest(value) for value in values}) == len(values)
    assert digests.digest({2, 1}) == digests.digest({1, 2})
    with pytest.raises(TypeError, match="object has no digest"):
        digests.digest(object())


def test_failing_entry_reports_its_exception_and_others_continue(digests, monkeypatch):
    def failing(put, folder):
        put("broken", lambda: 1 / 0)
        put("sound", 1)
        raise ValueError(f"no file {folder}")

    monkeypatch.setitem(digests.SECTIONS, "failing", failing)
    assert digests.run_section("failing") == {
        "failing/broken": "ZeroDivisionError: division by zero",
        "failing/sound": digests.digest(1),
        "failing/the rest": "ValueError: no file FOLDER",
    }


def test_compare_reports_differences_and_exits_with_1(digests, monkeypatch, tmp_path, capsys):
    def small(put, folder):
        put("equal", 1)
        put("changed", lambda: [1.0, "text"])
        put("added", np.arange(3))

    monkeypatch.setattr(digests, "SECTIONS", {"small": small, "other": small})
    path = tmp_path / "before.json"

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["digests.py", "--only", "small", *arguments])
        digests.main()
        return capsys.readouterr().out

    assert run("-o", str(path)) == ""
    before = json.loads(path.read_text())
    assert before == json.loads(run())
    with pytest.raises(SystemExit, match="0"):
        run("--compare", str(path))
    assert capsys.readouterr().out == "0 of 3 digests differ\n"
    added = before.pop("small/added")
    changed, before["small/changed"] = before["small/changed"], "0"
    before |= {"small/gone": "1", "other/equal": "of a section that does not run"}
    path.write_text(json.dumps(before))
    with pytest.raises(SystemExit, match="1"):
        run("--compare", str(path))
    assert capsys.readouterr().out.splitlines() == [
        f"new      small/added: {added}",
        f"differs  small/changed: 0 -> {changed}",
        "missing  small/gone: 1",
        "3 of 3 digests differ",
    ]


def test_unknown_section_is_an_error(digests):
    with pytest.raises(SystemExit, match="no section is called 'nothing'"):
        digests.chosen(["nothing"])


def test_stable_text_has_no_paths_times_or_versions(digests, tmp_path):
    text = f'{tmp_path}/a 2026-01-02T03:04:05+00:00 in 1.5 s "seconds": 0.25, 0.1.0.dev0'
    assert digests.stable(text, tmp_path) == 'FOLDER/a TIME in DURATION "seconds": SECONDS, VERSION'
