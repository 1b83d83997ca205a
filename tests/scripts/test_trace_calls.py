"""The files that a call enters, in order, and their table."""

import re

import pytest

from support import load_script


@pytest.fixture(scope="module")
def trace_calls():
    return load_script("scripts/trace_calls.py")


@pytest.fixture(scope="module")
def walk(trace_calls):
    return trace_calls.trace("tk.read")


def test_walk_has_each_file_once_in_the_order_of_the_calls(trace_calls, walk):
    assert len(set(walk.steady)) == len(walk.steady)
    assert len(walk.first) >= 3
    assert len(walk.steady) >= 3
    for file in walk.steady:
        assert (trace_calls.package_folder() / f"{file}.py").is_file()


def test_table_has_a_row_for_each_walk_and_a_sum(trace_calls, walk):
    heads, rule, row, total = trace_calls.table([walk])
    assert heads == "| call | files | with first call | files in order |"
    assert rule == "|---|---:|---:|---|"
    count, first, files = re.fullmatch(
        r"\| `tk\.read` \| (\d+) \| \((\d+)\) \| (.+) \|", row
    ).groups()
    assert files.split(", ") == walk.steady
    assert int(count) == len(walk.steady)
    assert int(first) == len(walk.first)
    assert total == f"| all | {count} | ({first}) | |"


def test_tracer_ignores_imports_and_other_folders(trace_calls, tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    (package / "used.py").write_text(
        "def call():\n    import imported\n    return imported.VALUE\n"
    )
    (package / "imported.py").write_text("def value():\n    return 1\nVALUE = value()\n")
    monkeypatch.syspath_prepend(package)
    from importlib import import_module

    used = import_module("used")
    tracer = trace_calls.Tracer(package)
    assert tracer.record(lambda _: used.call(), 0) == ["used"]
    assert tracer.record(lambda _: import_module("imported").value(), 0) == ["imported"]


def test_page_gets_the_table_between_its_marks(trace_calls):
    page = f"Before\n{trace_calls.BEGIN}\nold\n{trace_calls.END}\nAfter\n"
    new = trace_calls.written(page, ["| a |"])
    assert new == f"Before\n{trace_calls.BEGIN}\n\n| a |\n\n{trace_calls.END}\nAfter\n"
    assert trace_calls.written(new, ["| a |"]) == new
    with pytest.raises(ValueError, match="the page must have one line"):
        trace_calls.written("no marks", [])
