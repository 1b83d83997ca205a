"""Threads are counted as scikit-learn counts them; progress is silent unless asked for."""

import io
import re
import sys
import warnings

import pytest

from textkin.run import effective_jobs, progress_bar, stream_bar, working
from textkin.run._jobs import usable_cores


@pytest.mark.parametrize(("asked", "expected"), [(None, 1), (1, 1), (7, 7), (2**70, 2**31 - 1)])
def test_a_number_is_that_many_threads(asked, expected):
    assert effective_jobs(asked) == expected


def test_negative_numbers_count_down_from_all_cores():
    assert effective_jobs(-1) == usable_cores()
    assert effective_jobs(-2) == max(1, usable_cores() - 1)
    assert effective_jobs(-1000) == 1


@pytest.mark.parametrize(
    ("asked", "error"), [(0, ValueError), ("2", ValueError), (True, ValueError)]
)
def test_what_is_no_number_of_threads(asked, error):
    with pytest.raises(error, match="n_jobs must"):
        effective_jobs(asked)


def test_no_bar_in_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress_bar("working") as callback:
        assert callback is None


def on_terminal(monkeypatch):
    """Make standard error a wide terminal; in the test itself, for pytest puts its own there."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    return sys.stderr


def shown_on(terminal):
    """Return what a terminal shows, without colours."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


def test_a_bar_on_a_terminal(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar("working") as callback:
        callback(1, 2)
    told = shown_on(terminal)
    assert "working" in told
    assert "50%" in told
    assert "/s" not in told


def test_a_bar_may_tell_how_many_a_second(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar("[checking]", "documents") as callback:
        callback(0, 0)  # nobody knows how many there are
        callback(1500, 3000)
    told = shown_on(terminal)
    assert "[checking]" in told
    assert re.search(r"50% 1,500 documents  [\d,]+/s", told)


def test_a_stream_tells_items_and_megabytes_a_second_and_the_time_left(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with stream_bar("adding", "documents") as (read, made):
        read(1_000_000, 4_000_000)
        made(20_000, 0)
        read(2_000_000, 4_000_000)
    told = shown_on(terminal)
    assert re.search(r"50% 20,000 documents  [\d,]+/s  [\d,.]+ MB/s [-\d:]+ left", told)


def test_no_stream_in_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with stream_bar("adding", "documents") as progress:
        assert progress == (None, None)


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("working") as callback, working("working"):
        assert callback is None
    assert stream is None or stream.getvalue() == ""


def test_what_turns_on_a_terminal_leaves_the_streams_alone(monkeypatch):
    terminal, output = on_terminal(monkeypatch), sys.stdout
    with working("[looking]"):
        assert sys.stdout is output
        assert sys.stderr is terminal
    assert "[looking]" in shown_on(terminal)


def test_warnings_are_told_below_what_turns(monkeypatch):
    terminal, told = on_terminal(monkeypatch), []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr("warnings.showwarning", lambda message, *_: told.append(str(message)))
        with working("looking"):
            warnings.warn("careful", UserWarning, stacklevel=1)
            assert told == []
    assert told == ["careful"]
    assert "careful" not in terminal.getvalue()
