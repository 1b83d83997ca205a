"""The command line as a newcomer meets it."""

import json
import subprocess
import sys

import pytest

from textkin.cli import main


@pytest.fixture(scope="module")
def demo():
    """What `textkin demo` prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "textkin", "demo"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_the_demo_compares_the_sentences_of_the_paper(demo):
    assert "to 'The President greets the press in Chicago': 5.005" in demo.stdout
    assert "obama    ━━━▶ president" in demo.stdout
    assert "The nearer one is 'The President greets the press in Chicago'" in demo.stdout
    assert "proven optimal" in demo.stdout


def test_the_demo_searches_the_standard_library(demo):
    assert "shutil.rmtree" in demo.stdout
    assert "statistics.median" in demo.stdout
    assert "What to try next" in demo.stdout


def test_the_demo_is_silent_about_progress_in_a_pipe(demo):
    assert demo.stderr == ""


def test_the_demo_as_json(capsys):
    assert main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    near, far = found["comparisons"]
    assert near["distance"] < far["distance"]
    for record in [near, far, *(question["best"] for question in found["questions"])]:
        contributions = sum(move["contribution"] for move in record["flow"])
        assert contributions == pytest.approx(record["distance"], rel=1e-9)
    for question in found["questions"]:
        assert question["best"]["distance"] == question["hits"][0]["distance"]
        distances = [hit["distance"] for hit in question["hits"]]
        assert distances == sorted(distances)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dmo"], "No such command 'dmo'"),
        (["demo", "--jason"], "No such option"),
        (["demo", "extra"], "extra"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line
    assert "--help'" in line


def test_help_and_version(capsys):
    assert main([]) == 0
    assert "Commands:" in capsys.readouterr().out
    assert main(["demo", "--help"]) == 0
    assert "Example: textkin demo --json" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("textkin ")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ValueError("two\nlines"), 2, "textkin: two lines"),
        (OSError("no such file"), 2, "textkin: no such file"),
        (KeyboardInterrupt(), 130, "textkin: interrupted"),
    ],
)
def test_errors_inside_a_command_become_one_line(capsys, monkeypatch, error, code, message):
    def fail(**_):
        raise error

    monkeypatch.setattr("textkin.cli._demo.run_demo", fail)
    assert main(["demo"]) == code
    assert capsys.readouterr().err.strip() == message


def test_a_bug_is_not_hidden(monkeypatch):
    def fail(**_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("textkin.cli._demo.run_demo", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["demo"])
