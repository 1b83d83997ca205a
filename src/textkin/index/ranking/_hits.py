"""What a search found: light, with documents fetched when they are looked at."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import index as whole_number
from typing import Any, NoReturn, overload

from textkin._typing import Float64Array
from textkin._validation import integer
from textkin.index.ranking._asking import Asking
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._filters import Filter
from textkin.index.ranking._hit import Hit
from textkin.index.ranking._hits_shown import (
    hits_html,
    hits_notes,
    hits_page,
    hits_svg,
    hits_text,
)
from textkin.index.ranking._marks import marked_rows
from textkin.index.ranking._ranking import Ranked
from textkin.index.ranking._snippets import Marks, Snippets
from textkin.text import Document, tokenize

__all__ = ["Hits", "Query", "find"]

_PAGE = 64  # documents that are fetched together


@dataclass(frozen=True, slots=True)
class Query:
    """What was looked for.

    Attributes
    ----------
    text : str or None
        What the user wrote; None for words with weights, or a document.
    words : mapping of str to float, or None
        The words that count, with their weights in the ranking, the heaviest first; None for a
        ranking without words. Given to `Index.search`, they find the same again (but by a
        hybrid, each part of which has weights of its own: these are those of the first).
    like : str or None
        The id of the document that others shall be like.
    rounds : int
        How often feedback has moved the query; `text` and `like` stay what they were.
    """

    text: str | None
    words: Mapping[str, float] | None
    like: str | None = None
    rounds: int = 0


def find(asking: Asking, query: Any, started: float | None = None) -> "Hits":  # noqa: ANN401
    """Find the best documents for a query in the form of its ranker."""
    started = time.perf_counter() if started is None else started
    limit = min(asking.offset + asking.k, max(1, asking.view.n_rows))
    ranked = asking.ranker.best(query, limit, asking.threshold, asking.scope.rows)
    return Hits(asking, query, ranked, time.perf_counter() - started)


class Hits(Sequence["Hit"]):
    """The documents that a search found, the best first; made by `Index.search`.

    A sequence of `Hit`. Ids, texts and metadata are fetched from the index when they are first
    looked at. Hits belong to the state of the index in which they were found: they can be looked
    at, explained and refined after the index was written to, and after it was closed (its files
    stay open as long as the hits are kept).

    Attributes
    ----------
    scores : ndarray of float64
        The score of each hit: descending, or ascending if it is a distance.
    offset : int
        How many better hits were passed over.

    Examples
    --------
    >>> import tempfile
    >>> from textkin import Index
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/papers.kin")
    >>> _ = index.add([
    ...     {"id": "a", "text": "Obama speaks to the media in Illinois", "year": 2015},
    ...     {"id": "b", "text": "The president greets the press in Chicago", "year": 2016},
    ...     {"id": "c", "text": "Media in Chicago, media in Illinois", "year": 2017},
    ... ])
    >>> hits = index.search("media chicago", where={"year": {">=": 2016}})
    >>> hits
    Hits(2 by 'bm25')
    >>> hits.ids, hits[0].document.metadata
    (['c', 'b'], {'year': 2017})
    >>> hits[0].snippet(marks=("*", "*"))
    '*Media* in *Chicago*, *media* in Illinois'
    >>> hits.feedback(relevant=["b"]).ids
    ['b', 'c']
    >>> print(index.search("bird"))
    No hits.
    No document has the word 'bird'.
    >>> index.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        asking: Asking,
        query: Any,  # noqa: ANN401 (of the ranker)
        ranked: Ranked,
        seconds: float = 0.0,
    ) -> None:
        self._asking = asking
        self._query = query
        self._ranked = ranked
        self._seconds = seconds
        self._rows = ranked.rows[asking.offset :]
        self._fetched: dict[int, list[Document]] = {}
        self.scores: Float64Array = ranked.scores[asking.offset :]
        self.offset = asking.offset

    # ------------------------------------------------------------------ a sequence

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> "Hit": ...
    @overload
    def __getitem__(self, at: slice) -> "list[Hit]": ...
    def __getitem__(self, at: int | slice) -> "Hit | list[Hit]":
        if isinstance(at, slice):
            return [Hit(self, place) for place in range(*at.indices(len(self)))]
        place = whole_number(at)
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} hits; got position {at}")
        return Hit(self, place)

    def __iter__(self) -> Iterator["Hit"]:
        return (Hit(self, place) for place in range(len(self)))

    # ------------------------------------------------------------------ what was asked and found

    @cached_property
    def ids(self) -> list[str]:
        """The id of each hit."""
        return self._asking.view.ids(self._rows)

    @property
    def by(self) -> object:
        """The ranking, as it was asked for."""
        return self._asking.by

    @property
    def ascending(self) -> bool:
        """Whether small scores are near: they are distances then."""
        return self._asking.ranker.ascending

    @property
    def where(self) -> Filter | None:
        """The filter, if there was one."""
        return self._asking.scope.where

    @cached_property
    def query(self) -> Query:
        """What was looked for, to look at."""
        asking = self._asking
        words = asking.ranker.words_of(self._query)
        return Query(asking.text, words, asking.like, asking.rounds)

    @cached_property
    def stats(self) -> Mapping[str, float]:
        """What the search took, by names.

        ``documents`` (of the index), ``searched`` (those that the filter lets through, and without
        the document itself in `Index.similar`), ``seconds``, and what the ranking counts.
        """
        asking = self._asking
        return {
            "documents": asking.view.n_documents,
            "searched": asking.searched(),
            "seconds": self._seconds,
            **self._ranked.stats,
        }

    @cached_property
    def unknown_words(self) -> tuple[str, ...]:
        """Words of what was asked for, as written, that no document has and that do not count."""
        asking = self._asking
        counting = self.query.words or {}
        written = self._written()
        words = [word for word in written if word not in counting]
        known = asking.frequencies(words)
        return tuple(written[word] for word, n in zip(words, known, strict=True) if n == 0)

    def _written(self) -> dict[str, str]:
        """Return the words as the index counts them, each with what was written first for it."""
        asking = self._asking
        reading = asking.view.reading
        if asking.text is None or reading.ngram_range[0] > 1:
            return {word: word for word in asking.words}
        words = list(dict.fromkeys(tokenize(asking.text, lowercase=reading.lowercase)))
        found: dict[str, str] = {}
        for word, forms in zip(words, Snippets.of(asking.view).forms(words), strict=True):
            for form in forms:
                found.setdefault(form, word)
        return found

    @property
    def ranking_notes(self) -> tuple[str, ...]:
        """What the ranking has to say about this search; a part of `notes`."""
        return self._ranked.notes

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Fields of the filter that no document has."""
        return self._asking.scope.unknown_fields

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about this search, in sentences; mostly nothing."""
        return tuple(hits_notes(self))

    # ------------------------------------------------------------------ going on

    def next(self) -> "Hits":
        """Return the next page: as many hits again, without any after the last one."""
        asking = self._asking
        return find(replace(asking, offset=asking.offset + asking.k), self._query)

    def feedback(
        self,
        relevant: "Iterable[str | Hit]" = (),
        nonrelevant: "Iterable[str | Hit]" = (),
        *,
        alpha: float = 1.0,
        beta: float = 0.75,
        gamma: float = 0.15,
        n_terms: int | None = 50,
    ) -> "Hits":
        """Move the query towards relevant documents and away from others, and search again.

        Rocchio's formula: the new query is alpha times the old one, plus beta times the mean of
        the relevant documents, minus gamma times the mean of the others; what falls below 0 is
        left out. Each round starts from the query of the round before, ``hits.query.words``.

        Parameters
        ----------
        relevant, nonrelevant : iterables of str or Hit
            Documents of the index by their ids, found or not; each counts once. Without any, the
            query stays.
        alpha, beta, gamma : float, default=1, 0.75, 0.15
            At least 0; not both of alpha and beta.
        n_terms : int or None, default=50
            How many words the new query keeps, the heaviest; None: all.

        Returns
        -------
        Hits
            The first page of what the new query finds, with the same ranking, filter and
            threshold.

        Raises
        ------
        KeyError
            If no document has one of the ids.
        ValueError, TypeError
            If an id is in both lists, or a value makes no sense.

        References
        ----------
        J. J. Rocchio, "Relevance feedback in information retrieval", in The SMART Retrieval
        System, 1971.
        """
        how = Rocchio(alpha, beta, gamma, n_terms)
        good, bad = marked_rows(self._asking.view, relevant, nonrelevant)
        return self._moved(good, bad, how)

    def pseudo_feedback(
        self,
        m: int = 10,
        *,
        alpha: float = 1.0,
        beta: float = 0.75,
        n_terms: int | None = 50,
    ) -> "Hits":
        """Take the best hits for relevant, move the query towards them, and search again.

        Parameters
        ----------
        m : int, default=10
            How many: the very best ones, whichever page this is; fewer if fewer were found.
        alpha, beta, n_terms
            As for `feedback`; gamma is 0.

        Returns
        -------
        Hits
            As for `feedback`.
        """
        how = Rocchio(alpha, beta, 0.0, n_terms)
        integer(1).check("m", m)
        asking, best = self._asking, self._ranked
        if len(best.rows) < m and len(best.rows) == asking.offset + asking.k:  # there may be more
            most = min(m, max(1, asking.view.n_rows))
            best = asking.ranker.best(self._query, most, asking.threshold, asking.scope.rows)
        return self._moved(best.rows[:m].tolist(), [], how)

    def _moved(self, relevant: Sequence[int], nonrelevant: Sequence[int], how: Rocchio) -> "Hits":
        asking, started = self._asking, time.perf_counter()
        moved = self._query
        if relevant or nonrelevant:
            moved = asking.ranker.moved(self._query, relevant, nonrelevant, how)
        return find(replace(asking, offset=0, rounds=asking.rounds + 1), moved, started)

    # ------------------------------------------------------------------ looking at it

    def __repr__(self) -> str:
        after = f" after {self.offset}" if self.offset else ""
        return f"Hits({len(self)}{after} by {self.by!r})"

    def __str__(self) -> str:
        return hits_text(self)

    def _repr_html_(self) -> str:
        return hits_html(self)

    def to_text(self, width: int = 80, *, marks: Marks = None) -> str:
        """Draw the hits as a table: rank, score, id and snippet, and below it the notes.

        Parameters
        ----------
        width : int, default=80
            Columns to fill, at least 40.
        marks : pair of str, callable or None
            What is put around matched words, or what turns one into what is shown.

        Returns
        -------
        str
            Lines without a newline at the end. Control characters of documents are replaced.
        """
        return hits_text(self, width, marks)

    def to_svg(
        self,
        *,
        title: str = "",
        explained: int = 0,
        limit: int = 5,
        width: int = 780,
        embedded: bool = False,
    ) -> str:
        """Draw the scores as bars.

        Parameters
        ----------
        title : str, optional
            Above the picture.
        explained : int, default=0
            Of how many hits, the best first, to draw the parts that sum to the score.
        limit : int, default=5
            How many parts of each, the largest first; the others are summed up.
        width : int, default=780
            In pixels, at least 500; the picture scales.
        embedded : bool, default=False
            Leave the style to the page around it, which has the rules of
            `textkin.explain.stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(0).check("explained", explained)
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        return hits_svg(
            self, title=title, explained=explained, limit=limit, width=width, embedded=embedded
        )

    def to_html(self, *, title: str = "", explained: int = 10, limit: int = 12) -> str:
        """Return a page of the hits with their passages; why opens in place.

        Parameters
        ----------
        title : str, optional
            The heading; by default what was asked for.
        explained : int, default=10
            Of how many hits, the best first, to explain the score.
        limit : int, default=12
            How many parts of each a picture shows, the largest first; the others are summed up.

        Returns
        -------
        str
            An HTML document without scripts that needs nothing from outside. Texts are escaped.
        """
        integer(0).check("explained", explained)
        integer(1).check("limit", limit)
        return hits_page(self, title=title, explained=explained, limit=limit)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it: query, hits with snippets, stats and notes."""
        query = self.query
        return {
            "query": {
                "text": query.text,
                "like": query.like,
                "words": None if query.words is None else dict(query.words),
                "rounds": query.rounds,
            },
            "by": self.by if isinstance(self.by, str) else repr(self.by),
            "where": None if self.where is None else str(self.where),
            "ascending": self.ascending,
            "offset": self.offset,
            "hits": [hit.to_dict() for hit in self],
            "stats": {name: _plain(value) for name, value in self.stats.items()},
            "notes": list(self.notes),
        }

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "Hits belong to an open index and cannot be pickled or copied; take hits.to_dict()."
        )

    def _document(self, place: int) -> Document:
        page = place // _PAGE
        if page not in self._fetched:
            rows = self._rows[page * _PAGE : (page + 1) * _PAGE]
            self._fetched[page] = self._asking.view.documents(rows)
        return self._fetched[page][place % _PAGE]

    @cached_property
    def _snippet_words(self) -> dict[str, float]:
        """The words to look for in texts: rare ones and heavy ones first."""
        asking = self._asking
        counting = self.query.words
        words = asking.words if counting is None else counting
        known = asking.frequencies(list(words))
        return {
            word: weight * math.log1p(asking.view.n_documents / n)
            for (word, weight), n in zip(words.items(), known, strict=True)
            if n > 0 and weight > 0
        }


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(value)
