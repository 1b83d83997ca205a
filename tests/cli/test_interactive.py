"""Interactive search: lines in, text out; then through a pipe and on a terminal."""

import io
import os
import pty
import re
import select
import signal
import sys
import time

import pytest

from textkin import Index
from textkin.cli import main
from textkin.cli._asking import Request
from textkin.cli._drawing import Look
from textkin.cli._interactive import HELP, Session
from textkin.cli._interactive import converse as read_and_answer

TEXTS = {
    "cats": "Cats purr and sleep on the mat",
    "dogs": "Dogs bark at cats",
    "birds": "Birds sing in the morning",
    "mat": "The mat is red",
    "sleep": "Sleep on it, sleep well",
    "stocks": "Stocks fell in the morning",
}


@pytest.fixture
def path(tmp_path):
    with Index.create(tmp_path / "p.kin") as index:
        index.add(
            {"id": id, "text": text, "year": 2010 + place}
            for place, (id, text) in enumerate(TEXTS.items())
        )
    return tmp_path / "p.kin"


@pytest.fixture
def index(path):
    with Index.open(path) as index:
        yield index


@pytest.fixture
def session(index):
    return Session(index, Request())


def ids(answer):
    """The ids of the hits in an answer, with the marks before their ranks."""
    return re.findall(r"^([+-]?) ?\s*\d+  +-?[\d.]+  (\S+)$", answer, re.MULTILINE)


def found(answer):
    return [id for _, id in ids(answer)]


def test_a_line_is_a_query(session, index):
    answer = session.answer("  cats on the mat \n")
    assert found(answer) == index.search("cats on the mat").ids
    assert "Cats purr and sleep on the mat" in answer
    assert answer.splitlines()[-1].startswith("6 hits among 6 documents in ")
    assert not session.ended
    assert session.answer("   ") == ""


def test_marks_move_the_query(session, index):
    session.answer("cats")
    answer = session.answer("+1 -2")
    hits = index.search("cats")
    expected = hits.feedback(relevant=[hits[0].id], nonrelevant=[hits[1].id])
    assert found(answer) == expected.ids
    assert {id: mark for mark, id in ids(answer) if mark} == {hits[0].id: "+", hits[1].id: "-"}
    assert "bark" in session.answer("query")
    again = session.answer("+1, +2")
    assert found(again) == expected.feedback(relevant=expected.ids[:2]).ids
    assert {mark for mark, _ in ids(again)} == {"+", ""}  # the last mark of a document counts


def test_a_mark_twice_counts_once_and_both_ways_is_told(session, index):
    session.answer("cats")
    hits = index.search("cats")
    assert found(session.answer("+1 +1")) == hits.feedback(relevant=[hits[0].id]).ids
    before = session.answer("query")
    told = session.answer("+1 -1")
    assert found(told) == []
    assert told
    assert session.answer("query") == before


def test_marks_of_another_page_and_unknown_numbers(session, index):
    session.answer("k 1")
    session.answer("sleep mat")
    first, second = index.search("sleep mat", k=2).ids
    assert found(session.answer("next")) == [second]
    assert session.answer("+3") == "No hit has the number 3; there are 1 to 2."
    marks = {id: mark for mark, id in ids(session.answer("+1") + session.answer("next"))}
    assert marks.get(first) == "+"


def test_marks_are_nothing_else(session):
    assert "Nothing was searched yet" in session.answer("+1")
    session.answer("cats")
    told = session.answer("-1 cats")
    assert told.startswith("Marks are + and - with the number of a hit")
    assert found(session.answer("search -1 cats")) == found(session.answer("cats"))
    assert found(session.answer("+cats")) == found(session.answer("cats"))  # no number: words


def test_pages_end(session, index):
    session.answer("k 3")
    every = index.search("the mat sleep morning cats", k=10).ids
    pages = found(session.answer("the mat sleep morning cats")) + found(session.answer("next"))
    assert pages == every[:6]
    assert session.answer("next") == "There are no more hits."
    assert found(session.answer("undo")) == every[:3]


def test_another_ranking_takes_words_and_marks_along(session, index):
    session.answer("cats")
    session.answer("+1")
    answer = session.answer("by tfidf")
    hits = index.search("cats", by="tfidf")
    first = index.search("cats").ids[0]
    assert found(answer) == hits.feedback(relevant=[first]).ids
    assert session.prompt == "tfidf> "
    assert found(session.answer("undo")) == index.search("cats").feedback(relevant=[first]).ids
    assert session.prompt == "bm25> "


def test_a_wrong_ranking_changes_nothing(session):
    assert "by must be" in session.answer("by nothing")
    assert session.prompt == "bm25> "
    session.answer("cats")
    assert "by must be" in session.answer("by nothing")
    assert found(session.answer("by trains to cats")) == found(session.answer("trains cats by to"))


def test_a_filter(session, index):
    assert session.answer("where year>=2013") == ""
    assert (
        found(session.answer("the mat"))
        == index.search("the mat", where={"year": {">=": 2013}}).ids
    )
    assert found(session.answer("where")) == index.search("the mat").ids
    before = session.answer("query")
    assert found(session.answer("where year >=")) == []
    assert session.answer("query") == before
    assert (
        found(session.answer("undo")) == index.search("the mat", where={"year": {">=": 2013}}).ids
    )


def test_undo_to_the_beginning(session):
    assert session.answer("undo") == "There is nothing to undo."
    session.answer("cats")
    first = session.answer("undo")
    assert first == "Back at the beginning."
    assert "Nothing was searched yet" in session.answer("query")
    assert "Nothing was searched yet" in session.answer("why 1")


def test_what_is_looked_at(session, index):
    session.answer("cats mat")
    assert "cats" in session.answer("why 1")
    assert session.answer("show 1") == f"cats\n\n{TEXTS['cats']}"
    assert session.answer("show 9") == "No hit has the number 9; there are 1 to 3."
    assert found(session.answer("similar 1")) == index.similar("cats").ids
    assert (
        found(session.answer("+1"))
        == index.similar("cats").feedback(relevant=index.similar("cats").ids[:1]).ids
    )


def test_words_that_are_commands_can_be_searched_for(index):
    with_commands = {"id": "w", "text": "why undo the next query where k is by similar"}
    index.add([with_commands])
    session = Session(index, Request())
    for line in (
        "why undo it",
        "next query",
        "search next",
        "search where",
        "similar things",
        "k is it",
    ):
        assert found(session.answer(line))[0] == "w"
    assert "search what?" in session.answer("search")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("why", "why which hit? Its number follows, as in `why 2`; `search why` looks for"),
        ("Show", "show which hit?"),
        ("similar ", "similar which hit?"),
        ("by", "by which ranking? Its name follows, as in `by tfidf`"),
        ("k", "k how many? A number follows, as in `k 20`; `search k` looks"),
        ("K ten", "k how many? A number follows, as in `k 20`; `search k ten` looks"),
        ("HELP", HELP),
        ("Undo", "Back at the beginning."),
    ],
)
def test_a_lone_command_is_no_search(session, line, message):
    session.answer("cats")
    before = session._turn
    assert session.answer(line).startswith(message)
    assert line == "Undo" or session._turn is before


def test_capital_letters_make_no_difference_to_commands(session, index):
    session.answer("K 1")
    session.answer("cats")
    assert found(session.answer("NEXT")) == index.search("cats", k=1, offset=1).ids
    assert found(session.answer("By TfIdf")) == []  # names of rankings are what they are
    assert session.answer("Q") == ""
    assert session.ended


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TypeError("k must be a number"), "k must be a number"),
        (OSError(5, "Input/output error", "p.kin/a"), "p.kin/a: Input/output error."),
        (ImportError("it needs textkin[stem]"), "it needs textkin[stem]"),
        (KeyError("no document has the id 'x'"), "no document has the id 'x'"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_no_error_ends_a_session(session, monkeypatch, error, message):
    session.answer("cats")
    before = session._turn

    def fail(*_):
        raise error

    monkeypatch.setattr(Request, "find", fail)
    assert session.answer("dogs") == message
    assert session._turn is before


def test_errors_are_in_the_words_of_commands(session):
    told = session.answer("by nothing")
    assert told.startswith("by must be one of 'bm25', ")
    assert told.endswith("'hybrid'; got 'nothing'.")
    assert session.answer("k 0").startswith("k must be")
    assert session.answer("where year >=").startswith("where: expected a value")


def test_words_that_no_document_has(session):
    answer = session.answer("xyzzy cats")
    assert "xyzzy" in answer
    assert len(found(answer)) == 2
    answer = session.answer("xyzzy")
    assert found(answer) == []
    assert "no hits" in answer
    assert "xyzzy" in answer


def test_help_and_the_end(session):
    assert session.answer("?") == HELP
    assert session.answer("help") == HELP
    assert all(len(line) < 100 for line in HELP.splitlines())
    for name in session._commands:
        assert re.search(rf"\b{name}\b", HELP)
    assert session.answer("q") == ""
    assert session.ended


def test_a_hostile_document_does_not_drive_a_terminal(tmp_path):
    with Index.create(tmp_path / "e.kin") as index:
        index.add([{"id": "e\x1b[2J", "text": "cats \x1b[31m\r\u202ered"}])
        session = Session(index, Request(), Look(terminal=True))
        told = session.answer("cats") + session.answer("why 1") + session.answer("\x1b[2Jcats")
    assert "\x1b" not in told
    assert "\r" not in told
    assert "\u202e" not in told


def test_ctrl_c_leaves_the_state(session, index, monkeypatch):
    session.answer("cats")
    before = session.answer("query")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("textkin.cli._interactive.hit_lines", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.answer("dogs")
    monkeypatch.undo()
    assert session.answer("query") == before


def test_ctrl_c_leaves_a_running_search_on_a_terminal(session, monkeypatch, capsys):
    """The next line is read then; in a pipe the whole command ends."""
    lines = iter(["slow", "cats", "q"])
    answer = session.answer

    def slow(line):
        if line.strip() == "slow":
            raise KeyboardInterrupt
        return answer(line)

    monkeypatch.setattr(session, "answer", slow)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    read_and_answer(session)
    assert found(capsys.readouterr().out) == ["dogs", "cats"]
    session.ended = False
    monkeypatch.setattr("sys.stdin", io.StringIO("slow\ncats\n"))
    with pytest.raises(KeyboardInterrupt):
        read_and_answer(session)


def test_ctrl_c_leaves_the_first_query_too(session, monkeypatch, capsys):
    lines = iter(["cats", "q"])
    answer = session.answer

    def slow(line):
        if line == "search slow":
            raise KeyboardInterrupt
        return answer(line)

    monkeypatch.setattr(session, "answer", slow)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    read_and_answer(session, "search slow")
    assert found(capsys.readouterr().out) == ["dogs", "cats"]


def test_what_the_output_cannot_write_does_not_end_a_session(index, monkeypatch):
    index.add([{"id": "z", "text": "\u017c\u00f3\u0142w"}])
    output = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr("sys.stdout", output)
    monkeypatch.setattr("sys.stdin", io.StringIO("\u017c\u00f3\u0142w\ncats\n"))
    read_and_answer(Session(index, Request(), Look(unicode=False)))
    output.flush()
    told = output.buffer.getvalue().decode("latin-1")
    assert told.startswith("The output is written as latin-1, which has no '\\u017c'; set PYTHON")
    assert found(told) == ["dogs", "cats"]


def test_times_in_ascii(index):
    answer = Session(index, Request(), Look(unicode=False)).answer("cats")
    assert answer.isascii()


@pytest.fixture
def converse(path, monkeypatch, capsys):
    """Give lines to an interactive search; returns what it prints."""

    def converse(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode()), "utf-8"))
        assert main(["search", str(path), *arguments]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return converse


def test_lines_of_a_pipe(converse):
    told = converse("cats\n+1\nby nothing\nq\nnever read\n", "-i", "-k", "2")
    assert len(found(told)) == 4
    assert "by must be" in told
    assert "never" not in told
    assert "\x1b" not in told


def test_the_first_query_can_be_given_and_the_end_of_the_pipe_ends(converse):
    told = converse("+1", "--interactive", "cats")
    assert found(told)[0] == "dogs"
    assert "+" in {mark for mark, _ in ids(told)}
    assert converse("", "-i") == ""


class Terminal:
    """A child on a terminal of its own."""

    def __init__(self, arguments):
        self.pid, self.handle = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.environ.update(TERM="xterm", COLUMNS="80", LINES="40")
            os.environ.pop("NO_COLOR", None)
            os.execv(arguments[0], arguments)
        self.text = ""

    def until(self, wanted, seconds=60):
        """Read until something is on the screen, and return what came before and with it."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self.handle], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited for {wanted!r}; there is {self.text!r}"
            try:
                new = os.read(self.handle, 4096)
            except OSError:  # the child is gone
                new = b""
            assert new, f"ended before {wanted!r}; there is {self.text!r}"
            self.text += new.decode("utf-8", "replace")
        before, _, self.text = self.text.partition(wanted)
        return before + wanted

    def interrupt(self, wanted):
        """Press Ctrl-C until something is on the screen.

        Python looks for a signal before it waits for a key: one that comes in between waits too.
        """
        for _ in range(20):
            self.type("\x03")
            try:
                return self.until(wanted, seconds=3)
            except AssertionError:
                continue
        return self.until(wanted, seconds=0)

    def type(self, text):
        os.write(self.handle, text.encode())

    def code(self):
        while True:
            try:
                if not os.read(self.handle, 4096):
                    break
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.handle)


@pytest.fixture
def terminal(path):
    terminal = Terminal([sys.executable, "-X", "utf8", "-m", "textkin", "search", str(path)])
    yield terminal
    terminal.close()


def test_a_terminal(terminal):
    told = terminal.until("bm25> ")
    assert "6 documents. Words to look for, ? for help, q to end." in told
    terminal.type("cats\n")
    told = terminal.until("bm25> ")
    assert "\x1b[1mCats\x1b[22m purr" in told  # matched words are bold
    terminal.type("half a line")
    terminal.until("half a line")
    terminal.interrupt("bm25> ")  # a new line
    terminal.type("+1\n")
    terminal.until("hits among")
    terminal.until("bm25> ")
    terminal.type("\x04")  # Ctrl-D
    assert terminal.code() == 0
