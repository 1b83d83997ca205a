"""Interactive search: lines in, text out, and hits that are marked to refine the query."""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import typer

from textkin.cli._asking import Request, Round
from textkin.cli._drawing import Look, drawn
from textkin.cli._printing import one_line, shown
from textkin.cli._showing import hit_lines, query_lines, summary
from textkin.cli._wording import reason, reworded
from textkin.run import working

if TYPE_CHECKING:
    from textkin.index import Hit, Hits, Index

__all__ = ["HELP", "Session", "converse"]

HELP = """\
words to look for   a new search; `search WORDS` where they begin with one of the words below
+1 +3 -2            hits that are right, and hits that are not: the query moves, and is asked again
next                the next page
why 2               the parts that sum to the score of a hit
show 2              its whole text
similar 2           documents like it
query               the words of the query with their weights
by wmd              another ranking, with the same words and marks
where year>=2015    only documents for which this holds; `where` alone: all
k 20                how many hits a page has
undo                back to what was before
?                   this help
q                   the end (or Ctrl-D); Ctrl-C leaves a search that takes too long"""

_MARK = re.compile(r"([+-])\s*(\d{1,9})")
_PARTS = 12  # of an explanation
_NO_MORE = "There are no more hits."


@dataclass(frozen=True, slots=True)
class _Turn:
    """A request and what was shown for it.

    Attributes
    ----------
    request : Request
        What was asked.
    hits : Hits or None
        The page; None before the first search.
    seen : mapping of int to Hit
        By rank, all hits of this query that were shown: those of pages before too.
    """

    request: Request
    hits: "Hits | None" = None
    seen: "Mapping[int, Hit]" = field(default_factory=dict)


class Session:
    """An interactive search without its terminal.

    Parameters
    ----------
    index : Index
        An open index.
    request : Request
        The ranking, the filter and the number of hits to begin with.
    look : Look, optional
        What the output can show.

    Attributes
    ----------
    ended : bool
        Whether the user has left.
    """

    def __init__(self, index: "Index", request: Request, look: Look | None = None) -> None:
        self.ended = False
        self._index = index
        self._look = look or Look()
        self._turns = [_Turn(request)]
        self._commands: dict[str, Callable[[str], str]] = {
            "search": self._search,
            "similar": self._similar,
            "next": self._next,
            "why": self._why,
            "show": self._show,
            "query": self._query,
            "by": self._by,
            "where": self._where,
            "k": self._k,
            "undo": self._undo,
        }

    @property
    def prompt(self) -> str:
        """What to write before a line is typed: the ranking."""
        return f"{self._turn.request.by}> "

    def answer(self, line: str) -> str:
        """Do what a line says, and return what to show.

        A command that fails changes nothing.
        """
        line = line.strip()
        if not line:
            return ""
        command, *more = line.split(maxsplit=1)
        command, rest = command.lower(), more[0] if more else ""
        if command in ("q", "quit", "exit") and not rest:
            self.ended = True
            return ""
        if command in ("?", "help") and not rest:
            return HELP
        try:
            if line[0] in "+-" and _MARK.match(line):
                return self._mark(line)
            if command in self._commands and _is_command(command, rest):
                return self._commands[command](rest)
            return self._search(line)
        except (KeyError, ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            return _told(error)

    # ------------------------------------------------------------------ what is asked

    @property
    def _turn(self) -> _Turn:
        return self._turns[-1]

    def _search(self, text: str) -> str:
        if not text:
            return "search what? Words follow it."
        return self._ask(_new(self._turn.request, text=text))

    def _similar(self, rank: str) -> str:
        return self._ask(_new(self._turn.request, id=self._hit(rank, "similar").id))

    def _mark(self, line: str) -> str:
        self._asked()
        marks = _MARK.findall(line)
        if _MARK.sub("", line).strip(" ,"):
            raise ValueError(
                f"Marks are + and - with the number of a hit, such as +1 -2; got {line!r}. "
                "`search` before it looks for the words."
            )
        signs: dict[str, set[str]] = {"+": set(), "-": set()}
        chosen: dict[str, list[str]] = {"+": [], "-": []}
        for sign, rank in marks:
            id = self._hit(rank).id
            if id not in signs[sign]:
                signs[sign].add(id)
                chosen[sign].append(id)
        request = self._turn.request
        marked = Round(tuple(chosen["+"]), tuple(chosen["-"]))
        return self._ask(replace(request, page=1, rounds=(*request.rounds, marked)))

    def _next(self, _: str) -> str:
        self._asked()
        request = replace(self._turn.request, page=self._turn.request.page + 1)
        hits = request.find(self._index)
        return self._take(request, hits, self._turn.seen) if len(hits) else _NO_MORE

    def _by(self, name: str) -> str:
        if not name:
            raise ValueError(_needs("by", "which ranking? Its name", "by tfidf"))
        return self._change(replace(self._turn.request, by=name, ranking=None, page=1))

    def _where(self, condition: str) -> str:
        where = (condition,) if condition else ()
        return self._change(replace(self._turn.request, where=where, page=1))

    def _k(self, number: str) -> str:
        if not number.isdecimal():
            raise ValueError(_needs("k", "how many? A number", "k 20", number))
        return self._change(replace(self._turn.request, k=int(number), page=1))

    def _undo(self, _: str) -> str:
        if len(self._turns) == 1:
            return "There is nothing to undo."
        self._turns.pop()
        return self._shown() if self._turn.hits is not None else "Back at the beginning."

    # ------------------------------------------------------------------ what is looked at

    def _why(self, rank: str) -> str:
        return drawn(self._hit(rank, "why").explain(), limit=_PARTS, look=self._look)

    def _show(self, rank: str) -> str:
        document = self._hit(rank, "show").document
        text = shown(document.text, terminal=self._look.terminal)
        return f"{one_line([document.id], self._look.width)}\n\n{text.rstrip()}"

    def _query(self, _: str) -> str:
        return "\n".join(query_lines(self._asked()))

    # ------------------------------------------------------------------ helpers

    def _change(self, request: Request) -> str:
        """Ask the same of another ranking or filter; without words yet, try it with none."""
        if self._turn.hits is not None:
            return self._ask(request)
        replace(request, text="").find(self._index)  # so that a mistake is told now
        self._turns.append(_Turn(request))
        return ""

    def _ask(self, request: Request) -> str:
        return self._take(request, request.find(self._index), {})

    def _take(self, request: Request, hits: "Hits", before: "Mapping[int, Hit]") -> str:
        turn = _Turn(request, hits, {**before, **{hit.rank: hit for hit in hits}})
        self._turns.append(turn)
        try:
            return self._shown()
        except BaseException:  # Ctrl-C while documents are fetched
            self._turns.remove(turn)
            raise

    def _shown(self) -> str:
        hits = self._asked()
        marks = {
            id: sign
            for marked in self._turn.request.rounds
            for sign, ids in (("+", marked.relevant), ("-", marked.nonrelevant))
            for id in ids
        }
        lines = hit_lines(hits, self._look, marks=marks)
        return "\n".join([*lines, *hits.notes, summary(hits, unicode=self._look.unicode)])

    def _asked(self) -> "Hits":
        if self._turn.hits is None:
            raise ValueError("Nothing was searched yet: type the words to look for.")
        return self._turn.hits

    def _hit(self, rank: str, command: str = "") -> "Hit":
        if not rank:
            raise ValueError(_needs(command, "which hit? Its number", f"{command} 2"))
        self._asked()
        seen = self._turn.seen
        found = seen.get(int(rank))
        if found is None:
            there = f"there are {min(seen)} to {max(seen)}" if seen else "there are none"
            raise ValueError(f"No hit has the number {int(rank)}; {there}.")
        return found


def converse(session: Session, first: str | None = None) -> None:
    """Answer a first line, then those of standard input, until the user leaves."""
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if terminal:
        _edit_lines()
    while not session.ended:
        try:
            line, first = first, None
            if line is None:
                line = _line(session.prompt if terminal else None)
            if line is None:
                break
            with working("Searching"):
                told = session.answer(line)
            if told:
                typer.echo(told, color=True)
        except UnicodeEncodeError as error:
            typer.echo(_told(error))
        except KeyboardInterrupt:
            if not terminal:
                raise
            typer.echo("")


def _line(prompt: str | None) -> str | None:
    """Return the next line, or None at the end."""
    try:
        if prompt is not None:
            return input(prompt)
        line = sys.stdin.readline()
    except EOFError:
        typer.echo("")
        return None
    return line or None


def _edit_lines() -> None:
    """Let arrow keys edit lines and bring back those before, where Python can."""
    with suppress(ImportError):
        import readline  # noqa: F401 (input() uses it then)


def _new(request: Request, *, text: str | None = None, id: str | None = None) -> Request:
    return replace(request, text=text, id=id, page=1, rounds=())


def _is_command(name: str, rest: str) -> bool:
    """Tell a command from a query that begins with the same word."""
    if name in ("next", "query", "undo"):
        return not rest
    if name in ("why", "show", "similar"):
        return not rest or rest.isdecimal()
    if name in ("by", "k"):
        return len(rest.split()) <= 1
    return True


def _needs(command: str, what: str, such: str, got: str = "") -> str:
    """Say what a command lacks, and how to look for the word itself."""
    words = f"{command} {got}".strip()
    return f"{command} {what} follows, as in `{such}`; `search {words}` looks for the words."


def _told(error: Exception) -> str:
    """Return what an error says, with the words that are typed here."""
    message = " ".join((reworded(reason(error)), *getattr(error, "__notes__", ())))
    message = message.replace("-k and --page ask", "k and next ask")
    return re.sub(r"--(by|k|where)\b", r"\1", message)
