"""`Hits` and `Hit`: search results, which read their documents on first access."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from operator import index as whole_number
from typing import Any, NoReturn, overload

import numpy as np

from textkin._base import DrawnResult, Float64Array, Int32Array, TableResult, abbreviate, integer
from textkin.explain import AlignedText, Explanation, shortened
from textkin.index.search._columns import Passed
from textkin.index.search._feedback import FeedbackRound, shown_ids
from textkin.index.search._filters import Filter
from textkin.index.search._hits_drawing import hits_html, hits_page, hits_svg, hits_text
from textkin.index.search._request import RankingLike, SearchRequest
from textkin.index.search._snippets import Marks, Piece, Snippets, marked
from textkin.index.search._state import IndexState
from textkin.index.search._suggestions import Spelling
from textkin.index.search._term_space import TermSpace
from textkin.index.search.rankings._base import ScoredRows, Scorer
from textkin.index.store import is_text
from textkin.reading import FIELD_SEPARATOR, Document, Label, join_fields
from textkin.text import tokenize

__all__ = ["Hit", "Hits", "Query", "find_hits", "moved_query"]

_PAGE = 64  # documents fetched together
_SNIPPET = 160
_CONDITIONS = 200  # maximum width of the conditions of a query in a note
_TITLE = "title"  # field or metadata
_DATES = ("date", "published")  # fields of the metadata with a date
_CORRECTED = 8  # maximum number of unknown words with suggestions
_NAMED = 8  # maximum number of unknown words listed in a note


@dataclass(frozen=True, slots=True)
class Query:
    """Query as shown to the user: text, document ID, or words with weights.

    Attributes
    ----------
    text : str or None
        Text of the query; None for words with weights, or a document.
    words : mapping of str to float, or None
        Words that contribute to scores, with their weights in the ranking, largest first; None for
        a ranking without words. If you pass them to `Index.search`, you get the same hits, except
        for a hybrid: its parts have different weights, and these are the weights of its first part.
    like : str or None
        ID of the document for which similar documents were requested.
    rounds : int
        Number of rounds of relevance feedback; they do not change `text` and `like`.
    required, excluded : tuple of str
        Words and phrases that the operators of `text` require and exclude; with the prefix of a
        text field, such as ``title:cats``, in this field.
    where : Filter or None
        Conditions from the field prefixes of `text`, in addition to the filter of the request.
    """

    text: str | None
    words: Mapping[str, float] | None
    like: str | None = None
    rounds: int = 0
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    where: Filter | None = None


def find_hits(
    request: SearchRequest,
    scorer: Scorer[Any],
    query: Any,  # noqa: ANN401 (of the scorer)
    passed: Passed,
    started: float | None = None,
) -> "Hits":
    """Rank the selected documents for a query, and return one page as `Hits`.

    Parameters
    ----------
    request : SearchRequest
        The request.
    scorer : Scorer
        Scorer of the ranking.
    query : object
        Query in the form of the scorer, after all rounds of feedback.
    passed : Passed
        Documents that may be found.
    started : float, optional
        Start time of the search, in seconds of `time.perf_counter`.
    """
    started = time.perf_counter() if started is None else started
    limit = min(request.offset + request.k, max(1, scorer.state.n_rows))
    ranked = _best(scorer, query, limit, request.threshold, passed)
    return Hits(request, scorer, query, passed, ranked, time.perf_counter() - started)


def _best(
    scorer: Scorer[Any],
    query: Any,  # noqa: ANN401 (of the scorer)
    limit: int,
    threshold: float | None,
    passed: Passed,
) -> ScoredRows:
    if passed.phrases is not None:
        return passed.phrases.best(scorer, query, limit, threshold, passed.rows)
    return scorer.best(query, limit, threshold, passed.rows)


def moved_query(
    request: SearchRequest,
    scorer: Scorer[Any],
    query: Any,  # noqa: ANN401 (of the scorer)
    passed: Passed,
    round: FeedbackRound,
    best: ScoredRows | None = None,
) -> Any:  # noqa: ANN401 (of the scorer)
    """Apply one round of relevance feedback to a scorer's query.

    Parameters
    ----------
    request, scorer, query, passed
        Arguments of `find_hits` before the round.
    round : FeedbackRound
        Round of feedback to apply.
    best : ScoredRows, optional
        Best documents of the query, if enough of them are known.

    Raises
    ------
    KeyError
        If no document has one of the IDs.
    """
    state = scorer.state
    if round.pseudo is not None:
        if best is None:
            most = min(round.pseudo, max(1, state.n_rows))
            best = _best(scorer, query, most, request.threshold, passed)
        marked: tuple[list[int], list[int]] = best.rows[: round.pseudo].tolist(), []
    else:
        marked = _marked_rows(state, round)
    return scorer.moved(query, *marked, round) if any(marked) else query


class Hits(DrawnResult, TableResult, Sequence["Hit"]):
    """Sequence of search hits, best first; created by `Index.search`.

    Hits are a sequence of `Hit`. They fetch IDs, texts, and metadata from the index on first
    access. Hits belong to the snapshot in which they were found: you can read, explain, and refine
    them after the index was changed or closed (its files stay open as long as the hits exist).

    Attributes
    ----------
    request : SearchRequest
        Request of the search.
    scores : ndarray of float64
        Score of each hit, in descending order, or in ascending order if scores are distances.
    offset : int
        Number of better hits that were skipped.

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

    _record_fields = ("rank", "score", "id", "label", "snippet")

    def __init__(
        self,
        request: SearchRequest,
        scorer: Scorer[Any],
        query: Any,  # noqa: ANN401 (of the scorer)
        passed: Passed,
        ranked: ScoredRows,
        seconds: float = 0.0,
    ) -> None:
        self.request = request
        self._scorer = scorer
        self._state = scorer.state
        self._query = query
        self._passed = passed
        self._ranked = ranked
        self._seconds = seconds
        self.offset = request.offset
        self._rows = ranked.rows[self.offset :]
        self._fetched: dict[int, list[Document]] = {}
        self.scores: Float64Array = ranked.scores[self.offset :]

    # ------------------------------------------------------------------ sequence protocol

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
            raise IndexError(f"position must be below {len(self)}, the number of hits; got {at}")
        return Hit(self, place)

    def __iter__(self) -> Iterator["Hit"]:
        return (Hit(self, place) for place in range(len(self)))

    # ------------------------------------------------------------------ request and result

    @cached_property
    def ids(self) -> list[str]:
        """Document IDs of the hits, best first."""
        return self._state.ids(self._rows)

    @property
    def ranking(self) -> RankingLike:
        """Ranking that the search used, as given: a name or an object."""
        return self.request.ranking

    @property
    def ascending(self) -> bool:
        """True if scores are distances (small is best), False if they are similarities."""
        return self._scorer.ascending

    @property
    def where(self) -> Filter | None:
        """Filter of the search on ID, label, and metadata, or None."""
        return self.request.where

    @cached_property
    def query(self) -> Query:
        """Query of the search: text, document ID, or words with weights."""
        request, parsed = self.request, self._passed.parsed
        words = self._scorer.words_of(self._query)
        text = request.query if isinstance(request.query, str) else None
        found = Query(text, words, request.like, len(request.rounds))
        if parsed is None:
            return found
        return replace(
            found,
            required=tuple(one.written for one in parsed.clauses if not one.excluded),
            excluded=tuple(one.written for one in parsed.clauses if one.excluded),
            where=parsed.where,
        )

    @cached_property
    def stats(self) -> Mapping[str, float]:
        """Numbers of searched and scored documents, and times in seconds, by name.

        ``documents`` is the number of documents in the index. ``searched`` is the number of
        documents that the filter selects, without the document itself for `Index.similar`.
        ``seconds`` is the time of the search. The ranking adds its own counts. For a query with
        phrases, ``verified`` is the number of documents whose texts were read to find them; then
        ``searched`` counts the documents before this check.
        """
        return {
            "documents": self._state.n_documents,
            "searched": self._n_searched,
            "seconds": self._seconds,
            **self._ranked.stats,
        }

    @cached_property
    def unknown_words(self) -> tuple[str, ...]:
        """Query words that occur in no document of the index."""
        counting = self.query.words or {}
        written = self._written()
        words = [word for word in written if word not in counting]
        words = [
            word for word, is_term in zip(words, self._terms.is_term(words), strict=True) if is_term
        ]
        numbers = self._terms.numbers_of_words(words)
        known = self._frequencies(numbers)
        names = iter(self._terms.names(numbers[numbers >= 0]))
        counted = [number >= 0 and next(names) in counting for number in numbers.tolist()]
        return tuple(
            written[word]
            for word, n, counts in zip(words, known, counted, strict=True)
            if n == 0 and not counts
        )

    @cached_property
    def suggestions(self) -> Mapping[str, tuple[str, ...]]:
        """Words of the index with a spelling similar to each unknown query word.

        A suggestion differs by at most two edits (one in words of three or four characters): a
        character inserted, deleted, or replaced, or two adjacent characters exchanged. There are at
        most three, the most similar first, and of these the most frequent first. The search does
        not use them.
        """
        words = self.unknown_words[:_CORRECTED] if self._text is not None else ()
        if not words:
            return {}
        spelling, frequencies = Spelling.of(self._state), self._state.frequencies
        found = {word: spelling.suggest(word, frequencies) for word in words}
        return {word: tuple(self._state.names(ids)) for word, ids in found.items() if ids}

    def _written(self) -> dict[str, str]:
        """Return the first spelling in the query of each word, by its indexed form."""
        reading = self._state.reading
        if self._text is None or reading.ngram_range[0] > 1:
            return {word: word for word in self._asked_words}
        words = list(dict.fromkeys(tokenize(self._text, lowercase=reading.lowercase)))
        found: dict[str, str] = {}
        for word, forms in zip(words, Snippets.of(self._state).forms(words), strict=True):
            for form in forms:
                found.setdefault(form, word)
        return found

    @property
    def ranking_notes(self) -> tuple[str, ...]:
        """Notes of the ranking about this search; they are part of `notes`."""
        return self._ranked.notes

    @property
    def unknown_fields(self) -> tuple[str, ...]:
        """Fields of the filter that are in no document."""
        return self._passed.unknown_fields

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the user, such as unknown words or fields; usually empty."""
        return tuple(self._find_notes())

    def _find_notes(self) -> Iterator[str]:
        if not self._state.n_documents:
            yield "The index is empty."
            return
        request, found = self.request, len(self) > 0
        if self.unknown_fields:
            yield f"No document has the field{_listed(self.unknown_fields)}."
        yield from self._passed.notes
        if request.where is not None and not self.unknown_fields and not self._n_searched:
            yield "The filter matches no documents."
        yield from self._syntax_notes(found)
        # A model may ignore words that occur in the index.
        if not found and not self._asked_words and not self.query.words and not request.rounds:
            which = "query" if request.like is None else "document"
            yield f"The {which} has no words that can be scored."
        elif self.unknown_words and self._scorer.reads_words:
            yield f"No document has the word{_listed(self.unknown_words)}."
        elif not found and not self.offset and self.query.words == {} and not self.ranking_notes:
            yield "No word of the query has a weight in this ranking."
        yield from self.ranking_notes

    def _syntax_notes(self, found: bool) -> Iterator[str]:
        """Yield remarks about operators in the query, such as unknown fields."""
        parsed = self._passed.parsed
        if parsed is None:
            return
        if parsed.too_long and not found:
            yield (
                "The query is long, so its quotation marks and signs are text; "
                "use the syntax 'operators' to read them."
            )
        for field in parsed.unknown_fields:
            yield f"No document has the field '{shortened(field, 40)}', so '{field}:' is text."
        if not found and not self.offset and (parsed.clauses or parsed.fields):
            conditions = [
                *(f"{'without' if one.excluded else 'with'} {one}" for one in parsed.clauses),
                *(str(one.where) for one in parsed.fields),
            ]
            shown = shortened(", ".join(conditions), _CONDITIONS)
            yield (
                f"No document with a word of the query fulfills: {shown}. "
                "Use the syntax 'plain' to search without operators."
            )

    def pieces(self, i: int, width: int = _SNIPPET) -> list[Piece]:
        """Return the snippet of hit `i` as pieces of text, with matched words marked.

        Parameters
        ----------
        i : int
            Position of the hit, from 0.
        width : int, default=160
            Maximum width in terminal columns, from 10 to 10,000.

        Returns
        -------
        list of Piece
            Pieces, each with its text and a flag for matches.
        """
        return self._pieces(self[i].document, width, [*self[i].document.fields.values()])

    def _snippet(self, place: int, width: int) -> list[Piece]:
        """Return the snippet of a hit whose title is shown above it."""
        document = self._document(place)
        return self._pieces(document, width, self._without_title(document.fields))

    def _pieces(self, document: Document, width: int, texts: Sequence[str]) -> list[Piece]:
        """Return a passage of a document from the texts of its fields, if it has fields."""
        snippets = Snippets.of(self._state)
        if not document.fields:
            return snippets.find(document.text, self._snippet_words, width, self._terms)
        fields = [*filter(None, texts)]
        ends = [*accumulate(len(text) + len(FIELD_SEPARATOR) for text in fields)]
        text = join_fields(fields)
        return snippets.find(text, self._snippet_words, width, self._terms, ends[:-1])

    def _without_title(self, fields: Mapping[str, str]) -> list[str]:
        """Return the texts of fields, without the title if the others have matching words."""
        others = [text for name, text in fields.items() if text and name != _TITLE]
        snippets = Snippets.of(self._state)
        if any(snippets.count(text, self._snippet_words, self._terms) for text in others):
            return others
        return [*fields.values()]

    # ------------------------------------------------------------------ next page and feedback

    def next(self) -> "Hits":
        """Return the next page of hits; empty after the last page."""
        return find_hits(self.request.next_page(), self._scorer, self._query, self._passed)

    def feedback(
        self,
        relevant: "Iterable[str | Hit]" = (),
        nonrelevant: "Iterable[str | Hit]" = (),
        *,
        alpha: float = 1.0,
        beta: float = 0.75,
        gamma: float = 0.15,
        max_terms: int | None = 50,
    ) -> "Hits":
        """Search again with a query moved toward relevant documents (Rocchio feedback).

        Rocchio's formula: the new query is alpha times the old query, plus beta times the mean of
        the relevant documents, minus gamma times the mean of the nonrelevant documents; negative
        weights are dropped. Each round starts from the query of the previous round,
        ``hits.query.words``.

        Parameters
        ----------
        relevant, nonrelevant : iterables of str or Hit
            Documents of the index by ID, whether or not they are hits; each counts once. Without
            any documents, the query does not change.
        alpha, beta, gamma : float, default=1, 0.75, 0.15
            Factors, at least 0; alpha and beta must not both be 0.
        max_terms : int or None, default=50
            Maximum number of words in the new query; words with the largest weights stay. If None,
            no limit.

        Returns
        -------
        Hits
            First page of hits for the new query, with the same ranking, filter, and threshold.

        Raises
        ------
        KeyError
            If no document has one of the IDs.
        ValueError, TypeError
            If an ID is in both lists, or a value is invalid.

        References
        ----------
        J. J. Rocchio, "Relevance feedback in information retrieval", in The SMART Retrieval
        System, 1971.
        """
        ids = _ids("relevant", relevant), _ids("nonrelevant", nonrelevant)
        return self._moved(FeedbackRound(*ids, None, alpha, beta, gamma, max_terms))

    def pseudo_feedback(
        self,
        k: int = 10,
        *,
        alpha: float = 1.0,
        beta: float = 0.75,
        max_terms: int | None = 50,
    ) -> "Hits":
        """Search again with the best `k` hits as relevant documents.

        Parameters
        ----------
        k : int, default=10
            Number of hits to treat as relevant: the best hits of the search, also on later pages.
            If there are fewer, all hits.
        alpha, beta, max_terms
            As for `feedback`; gamma is 0.

        Returns
        -------
        Hits
            Hits, as for `feedback`.
        """
        integer(1).check("k", k)
        found = len(self._ranked.rows)
        # Otherwise, the search must be repeated.
        known = found >= k or found < self.offset + self.request.k
        round = FeedbackRound(pseudo=k, alpha=alpha, beta=beta, max_terms=max_terms)
        return self._moved(round, self._ranked if known else None)

    def _moved(self, round: FeedbackRound, best: ScoredRows | None = None) -> "Hits":
        started = time.perf_counter()
        request, scorer, passed = self.request, self._scorer, self._passed
        moved = moved_query(request, scorer, self._query, passed, round, best)
        return find_hits(request.with_feedback(round), scorer, moved, passed, started)

    # ------------------------------------------------------------------ output

    def __repr__(self) -> str:
        after = f" after {self.offset}" if self.offset else ""
        return f"Hits({len(self)}{after} by {self.ranking!r})"

    def __str__(self) -> str:
        return hits_text(self)

    def _repr_html_(self) -> str:
        return hits_html(self)

    def to_text(self, width: int = 80, *, marks: Marks = None) -> str:
        """Return a text table of the hits: rank, score, ID, and snippet; then the notes.

        Parameters
        ----------
        width : int, default=80
            Width of the table in columns, at least 40.
        marks : pair of str, callable or None
            Strings to put around matched words, or a function that formats a matched word.

        Returns
        -------
        str
            Lines without a final newline. Control characters in documents are replaced.
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
        """Draw the scores of the hits as an SVG bar chart.

        Parameters
        ----------
        title : str, optional
            Title above the figure.
        explained : int, default=0
            Number of best hits for which to draw the parts that sum to the score.
        limit : int, default=5
            Maximum number of parts per hit, largest first; the rest is summed.
        width : int, default=780
            Width in pixels, at least 500; the figure scales.
        embedded : bool, default=False
            If True, omit the style sheet, because the page contains
            `textkin.explain.stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element with escaped text.
        """
        integer(0).check("explained", explained)
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        return hits_svg(
            self, title=title, explained=explained, limit=limit, width=width, embedded=embedded
        )

    def to_html(self, *, title: str = "", explained: int = 10, limit: int = 12) -> str:
        """Return an HTML page of the hits with snippets and expandable explanations.

        Parameters
        ----------
        title : str, optional
            Heading. The default is the query.
        explained : int, default=10
            Number of best hits whose score is explained.
        limit : int, default=12
            Maximum number of parts per figure, largest first; the rest is summed.

        Returns
        -------
        str
            A self-contained HTML document without scripts or external resources. Text is escaped.
        """
        integer(0).check("explained", explained)
        integer(1).check("limit", limit)
        return hits_page(self, title=title, explained=explained, limit=limit)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat dict per hit: rank, score, ID, label, metadata, and snippet.

        Returns
        -------
        list of dict
            A field of the metadata keeps its name, or becomes ``metadata.NAME`` if its name is one
            of the others.

        Examples
        --------
        >>> import tempfile
        >>> from textkin import Index
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = Index.create(f"{folder.name}/papers.kin")
        >>> _ = index.add([{"id": "a", "text": "Cats purr", "year": 2015}])
        >>> index.search("cats").to_csv().splitlines()[0]
        'rank,score,id,label,year,snippet'
        >>> index.close()
        >>> folder.cleanup()
        """
        return [hit.to_record() for hit in self]

    def to_dict(self) -> dict[str, Any]:
        """Return query, hits with snippets, statistics, and notes as a dict of JSON types."""
        query = self.query
        return {
            "query": {
                "text": query.text,
                "like": query.like,
                "words": None if query.words is None else dict(query.words),
                "rounds": query.rounds,
                "required": list(query.required),
                "excluded": list(query.excluded),
                "where": None if query.where is None else str(query.where),
            },
            "ranking": self.ranking if isinstance(self.ranking, str) else repr(self.ranking),
            "where": None if self.where is None else str(self.where),
            "ascending": self.ascending,
            "offset": self.offset,
            "hits": [hit.to_dict() for hit in self],
            "stats": {name: _plain(value) for name, value in self.stats.items()},
            "notes": list(self.notes),
            "suggestions": {word: list(found) for word, found in self.suggestions.items()},
        }

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "Hits belong to an open index and cannot be pickled or copied; use hits.to_dict()."
        )

    def _document(self, place: int) -> Document:
        page = place // _PAGE
        if page not in self._fetched:
            rows = self._rows[page * _PAGE : (page + 1) * _PAGE]
            self._fetched[page] = self._state.documents(rows)
        return self._fetched[page][place % _PAGE]

    def _matches(self, place: int) -> dict[str, int]:
        """Return the number of matching words in each text field of a hit."""
        snippets = Snippets.of(self._state)
        counts = {
            name: snippets.count(text, self._snippet_words, self._terms)
            for name, text in self._document(place).fields.items()
        }
        return {name: count for name, count in counts.items() if count}

    @cached_property
    def _snippet_words(self) -> dict[str, float]:
        """Query words to mark in snippets, with larger weights for rare words."""
        counting = self.query.words
        words = self._asked_words if counting is None else counting
        known = self._frequencies(self._terms.numbers(list(words)))
        return {
            word: weight * math.log1p(self._state.n_documents / n)
            for (word, weight), n in zip(words.items(), known, strict=True)
            if n > 0 and weight > 0
        }

    @property
    def _text(self) -> str | None:
        """Query text without operators, or None for a query without text."""
        parsed, query = self._passed.parsed, self.request.query
        if parsed is not None:
            return parsed.text
        return query if isinstance(query, str) else None

    @cached_property
    def _asked_words(self) -> dict[str, float]:
        """Query words in their indexed form, with counts or weights."""
        request, state, text = self.request, self._state, self._text
        if text is not None:
            return {word: float(n) for word, n in Counter(state.read(text)).items()}
        if isinstance(request.query, tuple):
            return dict(request.query)
        row = None if request.like is None else state.row_of(request.like)
        if row is None:
            return {}
        bag = state.bag_of_row(row)
        counted = zip(bag.words.tolist(), bag.counts.tolist(), strict=True)
        return {state.words[word]: count for word, count in counted}

    @cached_property
    def _terms(self) -> TermSpace:
        return TermSpace(self._state)

    def _frequencies(self, numbers: Int32Array) -> list[int]:
        """Return the document frequency of each term number; 0 for unknown terms (-1)."""
        found = np.zeros(len(numbers), np.int64)
        known = numbers >= 0
        found[known] = self._terms.frequencies[numbers[known]]
        return found.tolist()

    @property
    def _n_searched(self) -> int:
        """Number of documents that the filter selects."""
        rows = self._passed.rows
        if rows is None:
            return self._state.n_documents
        return int(np.count_nonzero(self._state.live & rows))


def _listed(names: Sequence[str]) -> str:
    """Format names for a message: plural ending, first names, and number of others."""
    shown = ", ".join(f"'{shortened(name, 40)}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{'s' if len(names) > 1 else ''} {shown}{more}"


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(value)


class Hit:
    """Found document with its rank, score, snippet, and explanation.

    See Also
    --------
    Hits : All hits of a search.
    """

    __slots__ = ("_hits", "_place")

    def __init__(self, hits: Hits, place: int) -> None:
        self._hits = hits
        self._place = place

    @property
    def rank(self) -> int:
        """Rank of the hit over all pages, starting at 1."""
        return self._hits.offset + self._place + 1

    @property
    def score(self) -> float:
        """Score of the document; for distances (`Hits.ascending`), smaller is better."""
        return float(self._hits.scores[self._place])

    @property
    def distance(self) -> float:
        """Distance of the document; AttributeError if the ranking gives similarities."""
        if not self._hits.ascending:
            raise AttributeError(
                f"hit.distance requires a ranking by distance; got {self._hits.ranking!r}, whose "
                "scores are better if they are higher. Use hit.score."
            )
        return self.score

    @property
    def id(self) -> str:
        """ID of the found document."""
        return self._hits.ids[self._place]

    @property
    def document(self) -> Document:
        """Full document, as stored when the search ran; read on first access."""
        return self._hits._document(self._place)

    @property
    def text(self) -> str:
        """Full text of the found document."""
        return self.document.text

    @property
    def length(self) -> int:
        """Number of words of the found document, as counted by the index."""
        hits = self._hits
        return int(hits._state.lengths[hits._rows[self._place]])

    @property
    def label(self) -> Label:
        """Label of the found document, or None."""
        return self.document.label

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata fields of the found document."""
        return self.document.metadata

    @property
    def fields(self) -> dict[str, int]:
        """Number of words in each text field that match the query, as the index counts them.

        For a ranking by transport or by a model, words that occur in both the query and the
        document match. Fields without such words are omitted. Empty in an index without text
        fields.
        """
        return self._hits._matches(self._place)

    @property
    def title(self) -> str:
        """Title of the document: its field "title", or the metadata "title"; or empty."""
        title = self.document.fields.get(_TITLE) or self.metadata.get(_TITLE)
        return title if isinstance(title, str) else ""

    @property
    def heading(self) -> str:
        """Title, label, and date of the document as one line, as far as present.

        The date is the field "date" or, without it, "published".
        """
        date = next((self.metadata[name] for name in _DATES if self.metadata.get(name)), None)
        facts = [self.title, self.label, date]
        return " \u00b7 ".join(str(fact) for fact in facts if fact not in (None, ""))

    def snippet(
        self,
        width: int = _SNIPPET,
        marks: Marks = None,
        escape: Callable[[str], str] | None = None,
    ) -> str:
        """Return the passage of the text that best matches the query, with marked words.

        Words match as the index counts them, and rare words count more. For a ranking by transport
        or by a model, words that occur in both the query and the document are marked. If the
        document has a text field "title", which `heading` has, the passage is from the other
        fields, unless only the title matches.

        Parameters
        ----------
        width : int, default=160
            Maximum width in terminal columns, without the marks; from 10 to 10,000.
        marks : pair of str, callable or None, default=None
            Strings to put around matched words, such as ``("**", "**")``, or a function that
            formats a matched word.
        escape : callable, default=None
            Function that escapes text of the document before marks are added, such as
            `html.escape`.

        Returns
        -------
        str
            One line of whole words, with white space collapsed and control characters replaced. An
            ellipsis marks omitted text. The snippet of an empty text is empty.
        """
        return marked(self._hits._snippet(self._place, width), marks, escape)

    def explain(self) -> Explanation:
        """Explain the score as a sum of parts, such as words, with text and SVG output."""
        hits = self._hits
        row = int(hits._rows[self._place])
        return hits._scorer.explain_among(hits._query, row, hits._passed.rows)

    def aligned(self) -> AlignedText | None:
        """Return the texts of query and document with each word's transport distance, or None.

        Returns
        -------
        AlignedText or None
            Aligned texts for a ranking by transport ("wmd", "rwmd"). None for other rankings, and
            after feedback, because the query has no text.
        """
        hits = self._hits
        return hits._scorer.aligned(hits._query, int(hits._rows[self._place]))

    def to_record(self) -> dict[str, Any]:
        """Return rank, score, ID, label, metadata, and snippet as a flat dict."""
        found: dict[str, Any] = {
            "rank": self.rank,
            "score": self.score,
            "id": self.id,
            "label": self.label,
            **({"fields": self.fields} if self.document.fields else {}),
        }
        for name, value in self.metadata.items():
            taken = name in found or name == "snippet"
            found[f"metadata.{name}" if taken else name] = value
        return {**found, "snippet": self.snippet()}

    def to_dict(self) -> dict[str, Any]:
        """Return rank, score, ID, label, metadata, and snippet as a dict of JSON types.

        In an index with text fields, the dict has `fields`, too.
        """
        fields = {"fields": self.fields} if self.document.fields else {}
        return {
            "rank": self.rank,
            "score": self.score,
            "id": self.id,
            "label": self.label,
            "metadata": dict(self.metadata),
            **fields,
            "snippet": self.snippet(),
        }

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Hit) and self._hits is other._hits
        return same and isinstance(other, Hit) and self._place == other._place

    def __hash__(self) -> int:
        return hash((id(self._hits), self._place))

    def __repr__(self) -> str:
        return f"Hit(rank={self.rank}, id={abbreviate(self.id)}, score={self.score:.6g})"


def _marked_rows(state: IndexState, round: FeedbackRound) -> tuple[list[int], list[int]]:
    """Return the rows of the documents that a feedback round marks: relevant, nonrelevant."""
    unknown: list[str] = []
    rows = _rows(state, round.relevant, unknown), _rows(state, round.nonrelevant, unknown)
    if unknown:
        raise KeyError(
            f"no document has the ID {shown_ids(unknown)}; relevant and nonrelevant must be IDs of "
            "documents in the searched snapshot of the index."
        )
    return rows


def _ids(name: str, given: "Iterable[str | Hit]") -> tuple[str, ...]:
    """Return the distinct document IDs of given IDs or hits, in order."""
    if isinstance(given, str | Hit | Mapping) or not isinstance(given, Iterable):
        hint = " Pass a list." if isinstance(given, str | Hit) else ""
        raise TypeError(
            f"{name} must be a list of IDs or hits; got {abbreviate(given, 40)} "
            f"({type(given).__name__}).{hint}"
        )
    found: dict[str, None] = {}
    for one in given:
        if not isinstance(one, str | Hit):
            raise TypeError(
                f"{name} must contain IDs (str) or hits; got {abbreviate(one, 40)} "
                f"({type(one).__name__})."
            )
        found[one.id if isinstance(one, Hit) else one] = None
    return tuple(found)


def _rows(state: IndexState, ids: Iterable[str], unknown: list[str]) -> list[int]:
    rows = []
    for id in ids:
        row = state.row_of(id) if is_text(id) else None
        if row is None:
            unknown.append(id)
        else:
            rows.append(row)
    return rows
