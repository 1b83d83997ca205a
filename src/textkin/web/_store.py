"""The index behind the server: always its newest state, and one state for each answer."""

import threading
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar, cast

from textkin.index import Index
from textkin.index._catalogue import CATALOGUE, identity_of, plain_errors
from textkin.index._opening import open_catalogue
from textkin.index.ranking._choosing import NAMES, ranking_of
from textkin.index.ranking._hybrids import Hybrid
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._view import View
from textkin.web._problems import Problem
from textkin.web._settings import Limits, Settings

__all__ = ["Kind", "Named", "Store", "state_of"]

T = TypeVar("T")
Kind = Literal["words", "transport", "model", "hybrid"]

_SAID: dict[str, tuple[str, str]] = {
    "bm25": ("BM25", "Rare words of the query count more, repeated ones less and less."),
    "tfidf": ("TF-IDF", "The cosine of words weighed by how rare they are."),
    "cosine": ("Cosine of counts", "The cosine of how often each word occurs."),
    "inner": ("Counts", "How often words of both occur, multiplied and summed up."),
    "binary": ("Shared words", "How many different words both have."),
    "wmd": (
        "Word Mover's Distance",
        "How far the words of one have to travel to become the other; finds other words for it.",
    ),
    "rwmd": (
        "Relaxed Word Mover's Distance",
        "Each word goes to its nearest; never more than the Word Mover's Distance.",
    ),
    "wcd": ("Centroid distance", "How far the mean word of one is from that of the other."),
    "hybrid": ("Hybrid", "BM25, TF-IDF and the Word Mover's Distance together."),
}


class Named(NamedTuple):
    """A ranking that a client may name."""

    name: str
    title: str
    kind: Kind
    ascending: bool
    description: str


class Store:
    """An open index that many requests read and some write.

    Parameters
    ----------
    index : Index
        Open; its owner closes it.
    settings : Settings
        Of the server.
    """

    def __init__(self, index: Index, settings: Settings) -> None:
        self.index = index
        self.settings = settings
        self._mutex = threading.Lock()
        self._making = threading.Lock()
        self._made: tuple[str, object] | None = None
        # A connection of its own, without a transaction: it sees what others have written.
        self._watched = open_catalogue(index.path / CATALOGUE)

    @property
    def limits(self) -> Limits:
        """How much a request may ask for."""
        return self.settings.limits

    @property
    def title(self) -> str:
        """What the collection is called."""
        return self.settings.title or self.index.path.name

    def close(self) -> None:
        """Close what was opened here, which the index is not."""
        with self._mutex:
            self._watched.close()

    def view(self) -> View:
        """Return the newest state, also where another process has written it."""
        index = self.index
        with self._mutex:
            self.check_there()
            with plain_errors(self._watched.path):
                (number,) = self._watched.execute("SELECT number FROM state").fetchone()
            if index._snapshot().state.number < number:
                index.refresh()
            return index._view()

    def check_there(self) -> None:
        """Raise if the folder is gone: what is open could be read on, and nobody would notice."""
        try:
            same = identity_of(self._watched.path) == self._watched.file
        except OSError:
            same = False
        if not same:
            raise Problem(
                "unavailable",
                "The index is not where it was: its folder was moved or deleted, or another is "
                "there. Put it back, or start the server again.",
            )

    def facts(self, view: View, make: Callable[[View], T]) -> T:
        """Return what is counted once for each state; only that of the latest is kept."""
        state = state_of(view)
        with self._making:  # of its own: searches need not wait
            if self._made is None or self._made[0] != state:
                self._made = state, make(view)
            return cast("T", self._made[1])

    def rankings(self, view: View) -> list[Named]:
        """Return what documents may be ranked by."""
        named = [_named(name) for name in NAMES]
        for name, record in view.snapshot.models.items():
            if self.index._models.can_apply(record):
                said = f"The {record.metric} of vectors of the attached model."
                named.append(Named(name, name, "model", False, said))
        return named

    def checked_by(self, view: View, by: str, *, measure: bool = False) -> str:
        """Return the name of a ranking, or refuse one that there is not."""
        known = [
            named.name for named in self.rankings(view) if not (measure and named.kind == "hybrid")
        ]
        if by in known:
            return by
        shown = by if len(by) <= 40 else f"{by[:40]}..."
        raise Problem("invalid", f"by must be one of {', '.join(known)}; got {shown!r}.", "by")


def state_of(view: View) -> str:
    """Return what tells a state from all others."""
    return str(view.snapshot.state.number)


def _named(name: str) -> Named:
    ranking = ranking_of(name)
    kind: Kind = "model"
    if isinstance(ranking, TermRanking):
        kind = "words"
    elif isinstance(ranking, TransportRanking):
        kind = "transport"
    elif isinstance(ranking, Hybrid):
        kind = "hybrid"
    title, description = _SAID.get(name, (name, ""))
    return Named(name, title, kind, ranking.ascending, description)
