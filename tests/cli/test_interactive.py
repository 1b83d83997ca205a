"""Interactive search: answers to lines, then through a pipe and on a terminal."""

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
from textkin.cli._interactive import HELP, Session
from textkin.cli._interactive import converse as read_and_answer
from textkin.cli._output import Look
from textkin.index import SearchRequest

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
    with Index.create(tmp_path / "p.kin", language=None) as index:
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
    return Session(index, SearchRequest(""))


def ids(answer):
    """Return the IDs of the hits in an answer, with their marks."""
    return re.findall(r"^([+-]?) ?\s*\d+  +-?[\d.]+  (\S+)$", answer, re.MULTILINE)


def found(answer):
    return [id for _, id in ids(answer)]


def test_line_is_a_query(session, index):
    answer = session.answer("  cats on the mat \n")
    assert found(answer) == index.search("cats on the mat").ids
    assert "Cats purr and sleep on the mat" in answer
    assert answer.splitlines()[-1].startswith("6 hits among 6 documents in ")
    assert not session.ended
    assert session.answer("   ") == ""


def test_marks_refine_the_query(session, index):
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


def test_repeated_mark_counts_once_and_contradiction_raises(session, index):
    session.answer("cats")
    hits = index.search("cats")
    assert found(session.answer("+1 +1")) == hits.feedback(relevant=[hits[0].id]).ids
    before = session.answer("query")
    told = session.answer("+1 -1")
    assert found(told) == []
    assert told
    assert session.answer("query") == before


def test_marks_of_other_pages_and_unknown_numbers(session, index):
    session.answer("k 1")
    session.answer("sleep mat")
    first, second = index.search("sleep mat", k=2).ids
    assert found(session.answer("next")) == [second]
    assert (
        session.answer("+3")
        == "The number must be the number of a hit; got 3; hits shown are 1 to 2."
    )
    marks = {id: mark for mark, id in ids(session.answer("+1") + session.answer("next"))}
    assert marks.get(first) == "+"


def test_invalid_marks_raise(session):
    assert "This command requires a search" in session.answer("+1")
    session.answer("cats")
    told = session.answer("-1 cats")
    assert told.startswith("Marks must be + or - with the number of a hit")
    assert found(session.answer("search -1 cats")) == found(session.answer("cats"))
    # words, as there is no number
    assert found(session.answer("+cats")) == found(session.answer("cats"))


def test_next_after_the_last_page(session, index):
    session.answer("k 3")
    every = index.search("the mat sleep morning cats", k=10).ids
    pages = found(session.answer("the mat sleep morning cats")) + found(session.answer("next"))
    assert pages == every[:6]
    assert session.answer("next") == "There are no more hits."
    assert found(session.answer("undo")) == every[:3]


def test_ranking_keeps_words_and_marks(session, index):
    session.answer("cats")
    session.answer("+1")
    answer = session.answer("ranking tfidf")
    hits = index.search("cats", ranking="tfidf")
    first = index.search("cats").ids[0]
    assert found(answer) == hits.feedback(relevant=[first]).ids
    assert session.prompt == "tfidf> "
    assert found(session.answer("undo")) == index.search("cats").feedback(relevant=[first]).ids
    assert session.prompt == "bm25> "


def test_unknown_ranking_changes_nothing(session):
    assert "ranking must be" in session.answer("ranking nothing")
    assert session.prompt == "bm25> "
    session.answer("cats")
    assert "ranking must be" in session.answer("ranking nothing")
    assert found(session.answer("ranking trains to cats")) == found(
        session.answer("trains cats ranking to")
    )


def test_where_filters(session, index):
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


def test_undo_to_the_start(session):
    assert session.answer("undo") == "There is nothing to undo."
    session.answer("cats")
    first = session.answer("undo")
    assert first == "Back at the start."
    assert "This command requires a search" in session.answer("query")
    assert "This command requires a search" in session.answer("why 1")


def test_why_and_show(session, index):
    session.answer("cats mat")
    assert "cats" in session.answer("why 1")
    assert session.answer("show 1") == f"cats\n\n{TEXTS['cats']}"
    assert (
        session.answer("show 9")
        == "The number must be the number of a hit; got 9; hits shown are 1 to 3."
    )
    assert found(session.answer("similar 1")) == index.similar("cats").ids
    assert (
        found(session.answer("+1"))
        == index.similar("cats").feedback(relevant=index.similar("cats").ids[:1]).ids
    )


def test_command_words_can_be_searched(index):
    with_commands = {"id": "w", "text": "why undo the next query where k is ranking similar"}
    index.add([with_commands])
    session = Session(index, SearchRequest(""))
    for line in (
        "why undo it",
        "next query",
        "search next",
        "search where",
        "similar things",
        "k is it",
    ):
        assert found(session.answer(line))[0] == "w"
    assert "search must be followed by words" in session.answer("search")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("why", "why must be followed by the number of a hit, as in `why 2`. To search for the"),
        ("Show", "show must be followed by the number of a hit"),
        ("similar ", "similar must be followed by the number of a hit"),
        ("ranking", "ranking must be followed by the name of a ranking, as in `ranking tfidf`"),
        ("k", "k must be followed by a number of hits, as in `k 20`. To search for the word"),
        ("K ten", "k must be followed by a number of hits, as in `k 20`."),
        ("HELP", HELP),
        ("Undo", "Back at the start."),
    ],
)
def test_command_without_argument_is_not_a_query(session, line, message):
    session.answer("cats")
    before = session._turn
    assert session.answer(line).startswith(message)
    assert line == "Undo" or session._turn is before


def test_commands_ignore_case(session, index):
    session.answer("K 1")
    session.answer("cats")
    assert found(session.answer("NEXT")) == index.search("cats", k=1, offset=1).ids
    assert found(session.answer("By TfIdf")) == []  # names of rankings are case-sensitive
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
def test_errors_do_not_end_the_session(session, monkeypatch, error, message):
    session.answer("cats")
    before = session._turn

    def fail(*_):
        raise error

    monkeypatch.setattr(Index, "find", fail)
    assert session.answer("dogs") == message
    assert session._turn is before


def test_errors_name_commands(session):
    told = session.answer("ranking nothing")
    assert told.startswith("ranking must be one of 'bm25', ")
    assert told.endswith("'hybrid'; got 'nothing'.")
    assert session.answer("k 0").startswith("k must be")
    assert session.answer("where year >=").startswith("where: expected a value")


def test_unknown_words(session):
    answer = session.answer("xyzzy cats")
    assert "xyzzy" in answer
    assert len(found(answer)) == 2
    answer = session.answer("xyzzy")
    assert found(answer) == []
    assert "no hits" in answer
    assert "xyzzy" in answer


def test_help_and_quit(session):
    assert session.answer("?") == HELP
    assert session.answer("help") == HELP
    assert all(len(line) < 100 for line in HELP.splitlines())
    for name in session._commands:
        assert re.search(rf"\b{name}\b", HELP)
    assert session.answer("q") == ""
    assert session.ended


def test_hostile_document_does_not_control_the_terminal(tmp_path):
    with Index.create(tmp_path / "e.kin", language=None) as index:
        index.add([{"id": "e\x1b[2J", "text": "cats \x1b[31m\r\u202ered"}])
        session = Session(index, SearchRequest(""), Look(terminal=True))
        told = session.answer("cats") + session.answer("why 1") + session.answer("\x1b[2Jcats")
    assert "\x1b" not in told
    assert "\r" not in told
    assert "\u202e" not in told


def test_ctrl_c_keeps_the_state(session, index, monkeypatch):
    session.answer("cats")
    before = session.answer("query")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("textkin.cli._interactive.hit_lines", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.answer("dogs")
    monkeypatch.undo()
    assert session.answer("query") == before


def test_ctrl_c_cancels_a_running_search_on_a_terminal(session, monkeypatch, capsys):
    """On a terminal, the next line is read; in a pipe, the command ends."""
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


def test_ctrl_c_cancels_the_first_query(session, monkeypatch, capsys):
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


def test_unencodable_output_does_not_end_the_session(index, monkeypatch):
    index.add([{"id": "z", "text": "\u017c\u00f3\u0142w"}])
    output = io.TextIOWrapper(io.BytesIO(), "latin-1")
    monkeypatch.setattr("sys.stdout", output)
    monkeypatch.setattr("sys.stdin", io.StringIO("\u017c\u00f3\u0142w\ncats\n"))
    read_and_answer(Session(index, SearchRequest(""), Look(unicode=False)))
    output.flush()
    told = output.buffer.getvalue().decode("latin-1")
    assert told.startswith("The output encoding latin-1 has no '\\u017c'. Set PYTHON")
    assert found(told) == ["dogs", "cats"]


def test_times_in_ascii(index):
    answer = Session(index, SearchRequest(""), Look(unicode=False)).answer("cats")
    assert answer.isascii()


@pytest.fixture
def converse(path, monkeypatch, capsys):
    """Send lines to an interactive search, and return its output."""

    def converse(lines, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode()), "utf-8"))
        assert main(["search", str(path), *arguments]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return converse


def test_lines_from_a_pipe(converse):
    told = converse("cats\n+1\nranking nothing\nq\nnever read\n", "-i", "-k", "2")
    assert len(found(told)) == 4
    assert "ranking must be" in told
    assert "never" not in told
    assert "\x1b" not in told


def test_first_query_argument_and_end_of_pipe(converse):
    told = converse("+1", "--interactive", "cats")
    assert found(told)[0] == "dogs"
    assert "+" in {mark for mark, _ in ids(told)}
    assert converse("", "-i") == ""


class Terminal:
    """Child process on a pseudo-terminal."""

    def __init__(self, arguments):
        self.pid, self.handle = pty.fork()
        if self.pid == 0:  # pragma: no cover
            os.environ.update(TERM="xterm", COLUMNS="80", LINES="40")
            os.environ.pop("NO_COLOR", None)
            os.execv(arguments[0], arguments)
        self.text = ""

    def until(self, wanted, seconds=60):
        """Read until a text appears on the screen; return the screen up to the text."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self.handle], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited for {wanted!r}; there is {self.text!r}"
            try:
                new = os.read(self.handle, 4096)
            except OSError:  # the child has ended
                new = b""
            assert new, f"ended before {wanted!r}; there is {self.text!r}"
            self.text += new.decode("utf-8", "replace")
        before, _, self.text = self.text.partition(wanted)
        return before + wanted

    def interrupt(self, wanted):
        """Press Ctrl-C until a text appears on the screen.

        Python checks for a signal before it waits for a key, so a signal in between waits too.
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


def test_terminal(terminal):
    told = terminal.until("bm25> ")
    assert "6 documents. Type words to search for, ? for help, or q to quit." in told
    terminal.type("cats\n")
    told = terminal.until("bm25> ")
    assert "\x1b[1mCats\x1b[22m purr" in told  # query words are bold
    terminal.type("half a line")
    terminal.until("half a line")
    terminal.interrupt("bm25> ")  # starts a new line
    terminal.type("+1\n")
    terminal.until("hits among")
    terminal.until("bm25> ")
    terminal.type("\x04")  # Ctrl-D
    assert terminal.code() == 0
