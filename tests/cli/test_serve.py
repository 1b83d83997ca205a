"""``textkin serve`` as a person types it."""

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
from textkin.web import _needed

TOKEN = "a-token-that-only-tests-have"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TEXTKIN_TOKEN", raising=False)
    with Index.create("p.kin") as index:
        index.add([{"id": "cats", "text": "Cats purr"}])
    return tmp_path


@pytest.fixture
def refused(here, capsys):
    """Run a command that is refused; returns the one line that says why."""

    def refused(*arguments):
        assert main(["serve", *map(str, arguments)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        [line] = said.err.splitlines()
        return line

    return refused


def test_an_index_or_the_demo(refused):
    assert "INDEX, or pass --demo" in refused()
    assert "not both" in refused("p.kin", "--demo")


def test_an_index_that_is_not_there(refused):
    assert "nothing.kin" in refused("nothing.kin", "--port", 0)


def test_a_port_that_is_in_use(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("p.kin", "--port", port)
    assert f"Port {port} is in use" in said
    assert "--port 0" in said


def test_an_address_of_another_machine(refused):
    assert "--host must be an address of this machine" in refused("p.kin", "--host", "192.0.2.1")


def test_a_token_that_anybody_could_guess(refused, monkeypatch):
    Path("token").write_text("1234\n")
    assert "16 characters" in refused("p.kin", "--port", 0, "--token-file", "token")
    Path("token").write_text("\n")
    assert "empty" in refused("p.kin", "--port", 0, "--token-file", "token")
    assert "No such file" in refused("p.kin", "--port", 0, "--token-file", "none")
    monkeypatch.setenv("TEXTKIN_TOKEN", "short")
    assert "16 characters" in refused("p.kin", "--port", 0)


def test_a_demo_that_has_nowhere_to_be(refused, here, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(here / "p.kin" / "catalogue.sqlite"))
    said = refused("--demo", "--port", 0)
    assert "temporary files" in said
    assert "Not a directory" in said
    assert "TMPDIR" in said


def test_without_the_extra_the_command_to_install_it_is_told(refused, monkeypatch):
    monkeypatch.setattr(_needed, "find_spec", lambda _name: None)
    assert "pip install 'textkin[web]'" in refused("p.kin")


def started(*arguments, **environment):
    """Start a server; returns the process and what it said before the first request."""
    process = subprocess.Popen(
        [sys.executable, "-m", "textkin", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        encoding="utf-8",
    )
    return process, process.stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_when_told(here, number):
    process, line = started("p.kin", TEXTKIN_TOKEN=TOKEN)
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert "p.kin, 1 document" in line
        assert "Ctrl-C ends it" in line
        with urllib.request.urlopen(f"{address}api/document?id=cats", timeout=60) as answer:
            assert b"Cats purr" in answer.read()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert err.splitlines()[-1] == "textkin: ended."
    assert "GET /api/document 200" in err
    assert "cats" not in err
    assert "nobody can write" not in err
    with Index.open("p.kin") as index:  # and it is whole
        index.verify()


def test_the_demo_leaves_nothing_behind(here):
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
    assert "nobody can write" in err
    assert "GET" not in err


@pytest.mark.parametrize(("number", "seconds"), [(signal.SIGINT, 0), (signal.SIGTERM, 0.8)])
def test_a_signal_ends_the_demo_while_it_is_made(here, number, seconds):
    """Also where signals are ignored at first, as in the background of a script."""
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
        end = time.monotonic() + 60
        while not list(here.glob("textkin-*")):  # it has begun
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


def test_serving_others_is_warned_of(here, capsys, monkeypatch):
    import textkin.web._serving as serving

    seen = {}

    def serve(index, settings, made, *, started, ending):
        seen.update(settings=settings, name=made.getsockname()[0], documents=len(index))
        return True

    monkeypatch.setattr(serving, "serve", serve)
    Path("token").write_text(f"{TOKEN}\n")
    arguments = ["--host", "0.0.0.0", "--port", "0", "--token-file", "token", "--max-k", "7"]
    assert main(["serve", "p.kin", *arguments]) == 0
    said = capsys.readouterr()
    assert "everybody who reaches this machine can read" in said.err
    assert seen["name"] == "0.0.0.0"
    assert seen["settings"].hosts is None
    assert seen["settings"].token == TOKEN
    assert seen["settings"].limits.k == 7
    assert seen["documents"] == 1
