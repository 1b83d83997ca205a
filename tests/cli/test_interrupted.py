"""Ctrl-C on the command line prints one line, whenever it comes."""

import os
import subprocess
import sys

import pytest

# Sends SIGINT to the command itself when it imports a module or reads its file.
_COMMAND = """
import builtins, os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
real = builtins.__import__
def interrupted(name, *others, **named):
    if name == {name!r}:
        builtins.__import__ = real
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *others, **named)
builtins.__import__ = interrupted
sys.argv = ["textkin", "cluster", {path!r}]
runpy.run_module("textkin", run_name="__main__")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
@pytest.mark.parametrize("name", ["typer", "textkin.learn", "sklearn.base"])
def test_ctrl_c_prints_one_line(tmp_path, name):
    path = tmp_path / "notes.jsonl"
    path.write_text("".join(f'{{"text": "cats purr number {at}"}}\n' for at in range(50)))
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND.format(name=name, path=str(path))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 130
    [line] = done.stderr.splitlines()
    assert line.startswith("textkin: interrupted")
    assert done.stdout == ""
