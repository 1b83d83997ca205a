"""Threads are counted as scikit-learn counts them; progress is silent unless asked for."""

import io

import pytest

from textkin.run import effective_jobs, progress_bar, working
from textkin.run._jobs import usable_cores


@pytest.mark.parametrize(("asked", "expected"), [(None, 1), (1, 1), (7, 7)])
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


def test_a_bar_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress_bar("working") as callback:
        callback(1, 2)
    assert "working" in terminal.getvalue()


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("working") as callback, working("working"):
        assert callback is None
    assert stream is None or stream.getvalue() == ""
