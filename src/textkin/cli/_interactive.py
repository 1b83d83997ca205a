"""Interactive search: commands read from the terminal, and relevance feedback."""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import typer

from textkin.cli._documents import parse_filters
from textkin.cli._errors import describe_error
from textkin.cli._output import Look, draw, one_line, safe_text
from textkin.cli._search import describe_hits, describe_query, describe_suggestions, hit_lines
from textkin.run import working

if TYPE_CHECKING:
    from textkin.index import Hit, Hits, Index, SearchRequest

__all__ = ["HELP", "Session", "converse"]

HELP = """\
words to search for  a new search; type `search WORDS` if the first word is a command
                    operators: "exact phrase" +required -excluded label:sport
+1 +3 -2            mark hits as relevant or not, and search again with the refined query
next                show the next page
why 2               show the parts that sum to the score of a hit
show 2              show the whole text of a hit
similar 2           find documents similar to a hit
query               show the words of the query with their weights
ranking wmd         change the ranking; keep the words and marks
where year>=2015    only documents that fulfill a condition; `where` alone: all documents
k 20                set the number of hits per page
undo                undo the last step
?                   show this help
q                   quit (or Ctrl-D); Ctrl-C cancels a running search"""

_MARK = re.compile(r"([+-])\s*(\d{1,9})")
_PARTS = 12  # number of parts of an explanation
_OPTIONS = {"k": "k", "offset": "next", "ranking": "ranking", "where": "where"}
_NO_MORE = "There are no more hits."


@dataclass(frozen=True, slots=True)
class _Turn:
    """Latest search of an interactive session: its request and its hits.

    Attributes
    ----------
    request : SearchRequest
        Search request.
    hits : Hits or None
        Page of hits. If None, nothing was searched yet.
    seen : mapping of int to Hit
        Hits of this query shown up to now, on all pages, by rank.
    """

    request: "SearchRequest"
    hits: "Hits | None" = None
    seen: "Mapping[int, Hit]" = field(default_factory=dict)


class Session:
    """Interactive search session: takes input lines, returns output text.

    Parameters
    ----------
    index : Index
        Open index.
    request : SearchRequest
        Ranking, filter, and number of hits of the first search; its query is empty.
    look : Look, optional
        Capabilities of the output.

    Attributes
    ----------
    ended : bool
        True after the user quits.
    """

    def __init__(self, index: "Index", request: "SearchRequest", look: Look | None = None) -> None:
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
            "ranking": self._ranking,
            "where": self._where,
            "k": self._k,
            "undo": self._undo,
        }

    @property
    def prompt(self) -> str:
        """Input prompt, which shows the current ranking."""
        ranking = self._turn.request.ranking
        return f"{ranking if isinstance(ranking, str) else type(ranking).__name__.lower()}> "

    def answer(self, line: str) -> str:
        """Execute a command or a query, and return the text to print.

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
            return _describe(error)

    # ------------------------------------------------------------------ searches

    @property
    def _turn(self) -> _Turn:
        return self._turns[-1]

    def _search(self, text: str) -> str:
        if not text:
            return "search must be followed by words, as in `search black cat`."
        return self._ask_anew(query=text)

    def _similar(self, rank: str) -> str:
        return self._ask_anew(like=self._hit(rank, "similar").id)

    def _mark(self, line: str) -> str:
        from textkin.index import FeedbackRound

        self._asked()
        marks = _MARK.findall(line)
        if _MARK.sub("", line).strip(" ,"):
            raise ValueError(
                f"Marks must be + or - with the number of a hit, such as +1 -2; got {line!r}. "
                "To search for the words, type `search` before them."
            )
        signs: dict[str, set[str]] = {"+": set(), "-": set()}
        chosen: dict[str, list[str]] = {"+": [], "-": []}
        for sign, rank in marks:
            id = self._hit(rank).id
            if id not in signs[sign]:
                signs[sign].add(id)
                chosen[sign].append(id)
        marked = FeedbackRound(tuple(chosen["+"]), tuple(chosen["-"]))
        return self._ask(self._turn.request.with_feedback(marked))

    def _next(self, _: str) -> str:
        self._asked()
        request = self._turn.request.next_page()
        hits = self._index.find(request)
        return self._take(request, hits, self._turn.seen) if len(hits) else _NO_MORE

    def _ranking(self, name: str) -> str:
        if not name:
            raise ValueError(_needs("ranking", "the name of a ranking", "ranking tfidf"))
        return self._change(replace(self._turn.request, ranking=name, offset=0))

    def _where(self, condition: str) -> str:
        where = parse_filters([condition] if condition else [], "where")
        return self._change(replace(self._turn.request, where=where, offset=0))

    def _k(self, number: str) -> str:
        if not number.isdecimal():
            raise ValueError(_needs("k", "a number of hits", "k 20", number))
        return self._change(replace(self._turn.request, k=int(number), offset=0))

    def _undo(self, _: str) -> str:
        if len(self._turns) == 1:
            return "There is nothing to undo."
        self._turns.pop()
        return self._shown() if self._turn.hits is not None else "Back at the start."

    # ------------------------------------------------------------------ details

    def _why(self, rank: str) -> str:
        return draw(self._hit(rank, "why").explain(), limit=_PARTS, look=self._look)

    def _show(self, rank: str) -> str:
        document = self._hit(rank, "show").document
        text = safe_text(document.text, terminal=self._look.terminal)
        return f"{one_line([document.id], self._look.width)}\n\n{text.rstrip()}"

    def _query(self, _: str) -> str:
        return "\n".join(describe_query(self._asked()))

    # ------------------------------------------------------------------ helpers

    def _change(self, request: "SearchRequest") -> str:
        """Repeat the last search with a changed request, and return the text to print."""
        if self._turn.hits is not None:
            return self._ask(request)
        self._index.find(request)  # raises an error for an invalid request
        self._turns.append(_Turn(request))
        return ""

    def _ask_anew(self, *, query: str | None = None, like: str | None = None) -> str:
        """Search for a new query without feedback, and return the text to print."""
        request = self._turn.request
        return self._ask(replace(request, query=query, like=like, offset=0, rounds=()))

    def _ask(self, request: "SearchRequest") -> str:
        return self._take(request, self._index.find(request), {})

    def _take(self, request: "SearchRequest", hits: "Hits", before: "Mapping[int, Hit]") -> str:
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
        notes = [*hits.notes, *describe_suggestions(hits)]
        return "\n".join([*lines, *notes, describe_hits(hits, unicode=self._look.unicode)])

    def _asked(self) -> "Hits":
        if self._turn.hits is None:
            raise ValueError("This command requires a search. Type the words to search for first.")
        return self._turn.hits

    def _hit(self, rank: str, command: str = "") -> "Hit":
        if not rank:
            raise ValueError(_needs(command, "the number of a hit", f"{command} 2"))
        self._asked()
        seen = self._turn.seen
        found = seen.get(int(rank))
        if found is None:
            there = f"hits shown are {min(seen)} to {max(seen)}" if seen else "no hits are shown"
            raise ValueError(f"The number must be the number of a hit; got {int(rank)}; {there}.")
        return found


def converse(session: Session, first: str | None = None) -> None:
    """Read lines from standard input and print the answers of a session, until the end."""
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
            typer.echo(_describe(error))
        except KeyboardInterrupt:
            if not terminal:
                raise
            typer.echo("")


def _line(prompt: str | None) -> str | None:
    """Return the next line of standard input, or None at its end."""
    try:
        if prompt is not None:
            return input(prompt)
        line = sys.stdin.readline()
    except EOFError:
        typer.echo("")
        return None
    return line or None


def _edit_lines() -> None:
    """Enable line editing and history at the prompt, if Python supports it."""
    with suppress(ImportError):
        import readline  # noqa: F401 (input() uses it)


def _is_command(name: str, rest: str) -> bool:
    """Return True if a line is a command, not a query that starts with the same word."""
    if name in ("next", "query", "undo"):
        return not rest
    if name in ("why", "show", "similar"):
        return not rest or rest.isdecimal()
    if name in ("ranking", "k"):
        return len(rest.split()) <= 1
    return True


def _needs(command: str, what: str, such: str, got: str = "") -> str:
    """Return the message for a command without its argument."""
    words = f"{command} {got}".strip()
    return (
        f"{command} must be followed by {what}, as in `{such}`. To search for the word itself, "
        f"type `search {words}`."
    )


def _describe(error: Exception) -> str:
    """Return the message of an error with session commands in place of parameters."""
    message = describe_error(error, _OPTIONS.get)
    return " ".join((message, *getattr(error, "__notes__", ())))
