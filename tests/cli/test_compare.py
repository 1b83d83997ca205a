"""``textkin compare``: texts, files, standard input, figures, and errors."""

import io
import json
import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import textkin as tk
from textkin.cli import main

A = "Obama speaks to the media in Illinois"
B = "The President greets the press in Chicago"


def test_two_texts(capsys):
    assert main(["compare", A, B]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    for part in (
        "distance  5.00511",
        "relaxed 5.00511 (one-sided 5.00511 and 5.00511), centroid 2.63353",
        "coverage  100 % and 100 %",
        "proof     no plan is cheaper by more than",
        "obama    ━━━▶ president   25.0 % × 5.588 = 1.397",
    ):
        assert part in captured.out


def test_files_and_standard_input(tmp_path, monkeypatch, capsys):
    file = tmp_path / "a.txt"
    file.write_text(A, encoding="utf-8-sig")  # a byte order mark is not a word
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(B.encode())))
    assert main(["compare", str(file), "-", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["distance"] == tk.compare(A, B).distance


def test_options_reach_the_library(capsys):
    options = ["--word-weights", "sif", "--cost", "cosine", "--unit", "--keep-stop-words", "--json"]
    assert main(["compare", A, B, *options]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = tk.compare(A, B, word_weights="sif", cost="cosine", unit=True, stop_words=None)
    chosen = {
        "vectors": None,
        "word_weights": "sif",
        "cost": "cosine",
        "unit": True,
        "stop_words": None,
    }
    assert found == {"options": chosen, **json.loads(json.dumps(expected.to_dict()))}


def test_svg_and_html(tmp_path, capsys):
    svg, html = tmp_path / "flow.svg", tmp_path / "flow.html"
    svg.write_text("old")
    assert main(["compare", A, B, "--svg", str(svg), "--html", str(html), "--top", "1"]) == 0
    ElementTree.fromstring(svg.read_text())
    assert "All 4 moves" in html.read_text()
    assert "… 3 smaller moves" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flow.html", "flow.svg"]
    assert svg.stat().st_mode & 0o777 == 0o666 & ~current_umask()


def current_umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["notes.txt", B], "There is no file 'notes.txt'. To compare it as a text, add --text."),
        (["some/where", B], "There is no file 'some/where'"),
        ([A, "the of and"], "B cannot be compared: it has no words, or only stop words."),
        (["qwertzish", B], "A cannot be compared: none of its words has a vector (coverage 0)"),
        (["", B], "A cannot be compared: it has no words"),
        (["-5 degrees", B], "put -- before a text that starts with a dash"),
        (["-", "-"], "Only one of the two texts can be standard input; got '-' twice."),
        ([A], "Missing argument"),
        ([A, B, "--cost", "manhattan"], "'manhattan' is not one of"),
        ([A, B, "--top", "0"], "--top"),
        ([A, B, "--svg", "nowhere/flow.svg"], "Folder 'nowhere' does not exist"),
        ([A, B, "--svg", "."], "is a folder"),
        ([A, B, "--html", "-"], "written to a file"),
        ([A, B, "--html", "x", "--svg", "x"], "must name different files"),
        (["na\udce9", B], "must be valid UTF-8"),
    ],
)
def test_invalid_input_prints_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("textkin: ")
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_explain_prints_both_texts(capsys):
    assert main(["compare", A, B, "--explain"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "Obama" in out.split("from ")[1]
    assert "distance: 0 (small) to 6 (large)" in out
    assert main(["compare", A, B, "--explain", "--json"]) == 0
    aligned = json.loads(capsys.readouterr().out)["aligned"]
    assert "".join(piece["text"] for piece in aligned["source"]) == A
    assert "".join(piece["text"] for piece in aligned["target"]) == B


def test_sources_are_not_overwritten(tmp_path, capsys):
    text = tmp_path / "a.txt"
    text.write_text(A)
    for option in ("--svg", "--html"):
        assert main(["compare", str(text), B, option, str(text)]) == 2
        assert f"{option} must not overwrite a source" in capsys.readouterr().err
        assert text.read_text() == A


def test_links_and_pipes_are_written_not_replaced(tmp_path):
    target, link = tmp_path / "flow.svg", tmp_path / "link.svg"
    target.write_text("old")
    link.symlink_to(target)
    assert main(["compare", A, B, "--svg", str(link)]) == 0
    assert link.is_symlink()
    assert target.read_text().startswith("<svg")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "textkin", "compare", A, B, "--svg", str(pipe)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert pipe.read_text().startswith("<svg")
        assert process.wait(60) == 0
    assert not pipe.is_file()


SLOW = pytest.mark.slow  # starts a process


@pytest.mark.parametrize("closed", ["<&-", pytest.param(">&-", marks=SLOW), "2>&-"])
def test_closed_streams(closed):
    command = f'"{sys.executable}" -m textkin compare - dog {closed}'
    if closed != "<&-":
        command = f"echo cat | {command}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if closed == "<&-" else 0)


def test_closed_pipe():
    command = f'"{sys.executable}" -m textkin demo | head -n 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("How similar are two texts?")
    assert done.stderr == ""


def test_folder_and_binary_file_raise(tmp_path, capsys):
    assert main(["compare", str(tmp_path), B]) == 2
    assert "is a folder. Pass a file" in capsys.readouterr().err
    file = tmp_path / "latin.txt"
    file.write_bytes("th\u00e9".encode("latin-1"))
    assert main(["compare", str(file), B]) == 2
    assert "must be UTF-8; byte 2 is not" in capsys.readouterr().err
    file.write_bytes(b"\x89PNG\0")
    assert main(["compare", str(file), B]) == 2
    assert "looks like a binary file" in capsys.readouterr().err


def test_text_that_looks_like_a_file(capsys):
    assert main(["compare", "press.media", "press media", "--text", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance"] == 0
    assert main(["compare", "Ends with a full stop.", "A stop."]) == 0
    assert main(["compare", "and/or press", "media"]) == 0
    assert main(["compare", "--", "-5 degrees", "cold weather"]) == 0


@pytest.mark.slow  # starts processes
def test_colors_only_on_a_terminal(tmp_path):
    command = [sys.executable, "-X", "utf8", "-m", "textkin", "compare", A, B]
    piped = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert "\x1b" not in piped.stdout + piped.stderr

    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "90", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    leader, follower = pty.openpty()
    with subprocess.Popen(
        command, stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        assert process.wait(60) == 0
    os.close(leader)
    assert b"\x1b[38;2;" in shown


@pytest.mark.slow  # starts processes
def test_ascii_output():
    done = subprocess.run(
        [sys.executable, "-m", "textkin", "compare", A, B],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert b"obama    ---> president   25.0 % x 5.588 = 1.397" in done.stdout


def test_completion_is_offered():
    done = subprocess.run(
        [sys.executable, "-m", "textkin"],
        env={
            **os.environ,
            "_TEXTKIN_COMPLETE": "complete_bash",
            "COMP_WORDS": "textkin co",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "compare" in done.stdout
