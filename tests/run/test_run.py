"""Thread counts follow scikit-learn's convention; progress bars appear only on terminals."""

import io
import re
import sys
import warnings

import pytest

from textkin.run import effective_jobs, progress_bar, stream_bar, working
from textkin.run._resources import usable_cores


@pytest.mark.parametrize(("asked", "expected"), [(None, 1), (1, 1), (7, 7), (2**70, 2**31 - 1)])
def test_n_jobs_gives_that_many_threads(asked, expected):
    assert effective_jobs(asked) == expected


def test_negative_n_jobs_counts_down_from_all_cores():
    assert effective_jobs(-1) == usable_cores()
    assert effective_jobs(-2) == max(1, usable_cores() - 1)
    assert effective_jobs(-1000) == 1


@pytest.mark.parametrize(
    ("asked", "error"), [(0, ValueError), ("2", ValueError), (True, ValueError)]
)
def test_invalid_n_jobs_raises(asked, error):
    with pytest.raises(error, match="n_jobs must"):
        effective_jobs(asked)


def test_progress_bar_without_terminal_yields_none(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress_bar("working") as callback:
        assert callback is None


def on_terminal(monkeypatch):
    """Replace standard error by a wide terminal; call it in a test, as pytest replaces it too."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", Terminal())
    return sys.stderr


def shown_on(terminal):
    """Return the text that a terminal shows, without colors."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


def test_progress_bar_shows_percentage_on_terminal(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar("working") as callback:
        callback(1, 2)
    told = shown_on(terminal)
    assert "working" in told
    assert "50%" in told
    assert "/s" not in told


def test_progress_bar_with_units_shows_rate(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with progress_bar("[checking]", "documents") as callback:
        callback(0, 0)  # the total is unknown
        callback(1500, 3000)
    told = shown_on(terminal)
    assert "[checking]" in told
    assert re.search(r"50% 1,500 documents  [\d,]+/s", told)


def test_stream_bar_shows_items_rates_and_remaining_time(monkeypatch):
    terminal = on_terminal(monkeypatch)
    with stream_bar("adding", "documents") as (read, made):
        read(1_000_000, 4_000_000)
        made(20_000, 0)
        read(2_000_000, 4_000_000)
    told = shown_on(terminal)
    assert re.search(r"50% 20,000 documents  [\d,]+/s  [\d,.]+ MB/s [-\d:]+ left", told)


def test_stream_bar_without_terminal_yields_none(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with stream_bar("adding", "documents") as progress:
        assert progress == (None, None)


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_nothing_is_shown_without_terminal(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("working") as callback, working("working"):
        assert callback is None
    assert stream is None or stream.getvalue() == ""


def test_spinner_leaves_output_streams_unchanged(monkeypatch):
    terminal, output = on_terminal(monkeypatch), sys.stdout
    with working("[looking]"):
        assert sys.stdout is output
        assert sys.stderr is terminal
    assert "[looking]" in shown_on(terminal)


def test_warnings_appear_below_spinner(monkeypatch):
    terminal, told = on_terminal(monkeypatch), []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr("warnings.showwarning", lambda message, *_: told.append(str(message)))
        with working("looking"):
            warnings.warn("careful", UserWarning, stacklevel=1)
            assert told == []
    assert told == ["careful"]
    assert "careful" not in terminal.getvalue()
