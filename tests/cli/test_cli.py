"""Main command from a newcomer's view."""

import json
import subprocess
import sys

import pytest

from textkin.cli import main


@pytest.fixture(scope="module")
def demo():
    """Return the output of `textkin demo` in a separate process."""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-m", "textkin", "demo"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_demo_compares_the_sentences_of_the_paper(demo):
    assert "to 'The President greets the press in Chicago': 5.005" in demo.stdout
    assert "obama    ━━━▶ president" in demo.stdout
    assert "The more similar one is 'The President greets the press in Chicago'" in demo.stdout
    assert "proven optimal" in demo.stdout


def test_demo_searches_the_standard_library(demo):
    assert "shutil.rmtree" in demo.stdout
    assert "statistics.median" in demo.stdout
    assert "Try next" in demo.stdout


def test_demo_prints_no_progress_in_a_pipe(demo):
    assert demo.stderr == ""


def test_demo_as_json(capsys):
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
def test_invalid_input_prints_one_line_and_exits_with_2(capsys, arguments, message):
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
def test_errors_of_commands_print_one_line(capsys, monkeypatch, error, code, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("textkin.cli._demo._search", fail)
    assert main(["demo"]) == code
    assert capsys.readouterr().err.strip() == message


def test_bugs_raise(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr("textkin.cli._demo._search", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["demo"])


def commands(command, name=()):
    """Yield every command and group with the words that call it."""
    yield name, command
    for part, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*name, part))


def test_help_shows_every_summary_whole_at_80_columns():
    from typer.main import get_command

    from textkin.cli._app import app

    described = 0
    for name, command in commands(get_command(app)):
        context = command.make_context(" ".join(("textkin", *name)), [], resilient_parsing=True)
        context.terminal_width = 80
        lines = command.get_help(context).splitlines()
        assert max(map(len, lines)) <= 80, name
        for part, child in getattr(command, "commands", {}).items():
            summary = (child.help or "").partition("\n\n")[0].replace("\n", " ")
            described += 1
            assert any(line.split(maxsplit=1) == [part, summary] for line in lines), (name, part)
    assert described >= 25
