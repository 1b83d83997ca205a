"""``textkin serve`` from the user's view."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

from textkin import Index
from textkin.cli import main
from textkin.web import _app

TOKEN = "a-token-that-only-tests-have"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TEXTKIN_TOKEN", raising=False)
    with Index.create("p.kin", language=None) as index:
        index.add([{"id": "cats", "text": "Cats purr"}])
    return tmp_path


@pytest.fixture
def refused(here, capsys):
    """Run a command that fails, and return its error line."""

    def refused(*arguments):
        assert main(["serve", *map(str, arguments)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        [line] = said.err.splitlines()
        return line

    return refused


def test_either_index_or_demo(refused):
    assert "either the folder of an INDEX or --demo" in refused()
    assert "Pass either" in refused("p.kin", "--demo")


def test_missing_index_raises(refused):
    assert "nothing.kin" in refused("nothing.kin", "--port", 0)


def test_port_in_use_raises(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("p.kin", "--port", port)
    assert f"Port {port} is in use" in said
    assert "--port 0" in said


def test_address_of_another_computer_raises(refused):
    assert "--host must be an address of this computer" in refused("p.kin", "--host", "192.0.2.1")


def test_short_token_raises(refused, monkeypatch):
    Path("token").write_text("1234\n")
    assert "16 characters" in refused("p.kin", "--port", 0, "--token-file", "token")
    Path("token").write_text("\n")
    assert "empty" in refused("p.kin", "--port", 0, "--token-file", "token")
    assert "No such file" in refused("p.kin", "--port", 0, "--token-file", "none")
    monkeypatch.setenv("TEXTKIN_TOKEN", "short")
    assert "16 characters" in refused("p.kin", "--port", 0)


def test_demo_without_temporary_folder_raises(refused, here, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(here / "p.kin" / "catalogue.sqlite"))
    said = refused("--demo", "--port", 0)
    assert "temporary files" in said
    assert "Not a directory" in said
    assert "TMPDIR" in said


def test_missing_extra_prints_install_command(refused, monkeypatch):
    monkeypatch.setattr(_app, "find_spec", lambda _name: None)
    assert "pip install 'textkin[web]'" in refused("p.kin")


def started(*arguments, **environment):
    """Start a server, and return the process and its first output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "textkin", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        encoding="utf-8",
    )
    return process, process.stdout.readline()


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_serves_and_stops_on_signal(here, number):
    process, line = started("p.kin", TEXTKIN_TOKEN=TOKEN)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert "p.kin, 1 document" in line
        assert "Ctrl-C to stop" in line
        with urllib.request.urlopen(f"{address}api/document?id=cats", timeout=60) as answer:
            assert b"Cats purr" in answer.read()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert err.splitlines()[-1] == "textkin: stopped."
    assert "GET /api/document 200" in err
    assert "cats" not in err
    assert "the server is read-only" not in err
    with Index.open("p.kin") as index:  # the index is intact
        index.verify()


def test_demo_deletes_its_files(here):
    process, line = started("--demo", "--quiet", TMPDIR=str(here))
    try:
        assert "standard library" in line
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        with urllib.request.urlopen(f"{address}api/health", timeout=60) as answer:
            assert answer.status == 200
        assert list(here.glob("textkin-*"))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert not list(here.glob("textkin-*"))
    assert "the server is read-only" in err
    assert "GET" not in err


@pytest.mark.parametrize(
    ("number", "seconds"),
    [(signal.SIGINT, 0), pytest.param(signal.SIGTERM, 0.8, marks=pytest.mark.slow)],
)
def test_signal_stops_the_demo_during_creation(here, number, seconds):
    """Also if signals are ignored at first, as in the background of a script."""
    before = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    code = f"{before}import sys; from textkin.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", "--demo", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(here)},
        encoding="utf-8",
    )
    try:
        end = time.monotonic() + 300  # a loaded computer takes long to start a process
        while not list(here.glob("textkin-*")):  # it has started
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode in (0, 130), err
    assert "Traceback" not in err
    assert not list(here.glob("textkin-*"))


def test_public_address_prints_warning(here, capsys, monkeypatch):
    seen = {}

    def serve(index, settings, made, *, started, ending):
        seen.update(settings=settings, name=made.getsockname()[0], documents=len(index))
        return True

    monkeypatch.setattr("textkin.web.serve", serve)
    Path("token").write_text(f"{TOKEN}\n")
    arguments = ["--host", "0.0.0.0", "--port", "0", "--token-file", "token", "--max-k", "7"]
    assert main(["serve", "p.kin", *arguments]) == 0
    said = capsys.readouterr()
    assert "everyone who can reach this computer can read" in said.err
    assert seen["name"] == "0.0.0.0"
    assert seen["settings"].hosts is None
    assert seen["settings"].token == TOKEN
    assert seen["settings"].limits.k == 7
    assert seen["documents"] == 1
