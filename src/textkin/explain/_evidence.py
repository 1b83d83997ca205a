"""`Evidence`: the neighbors that voted for a predicted label, with explanations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, Protocol, overload

from textkin._base import DrawnResult, TableResult, integer
from textkin.explain._bars import Bar, bars_svg
from textkin.explain._characters import shortened
from textkin.explain._evidence_drawing import (
    evidence_html,
    evidence_page,
    evidence_svg,
    evidence_text,
)
from textkin.explain._explanation import Contribution

__all__ = ["Evidence", "EvidenceList", "Neighbor", "Reasons"]

_SNIPPET = 160  # columns


class Reasons(Protocol):
    """Interface that explains the distances between a document and its neighbors."""

    @property
    def parts_of(self) -> str:
        """Quantity that the parts of an explanation sum to, such as "the distance"."""
        ...

    def explain(self, index: int) -> Any:  # noqa: ANN401 (an explanation of its own kind)
        """Return an explanation of the distance to the training document `index`, or None."""
        ...

    def certificate(self) -> Any:  # noqa: ANN401
        """Return a certificate that no other training document is nearer, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Neighbor:
    """Training document that votes for its label: ID, label, distance, vote, and text.

    Attributes
    ----------
    index : int
        Position in the training documents.
    id : str or None
        ID of the document, if any.
    label : object
        Class of the document.
    distance : float
        Distance to the classified document.
    vote : float
        Fraction of all votes, 0 to 1; 0 if it is not among the voting neighbors.
    text : str
        Start of the text; empty for rows of numbers.
    """

    index: int
    id: str | None
    label: Any
    distance: float
    vote: float
    text: str

    @property
    def snippet(self) -> str:
        """First characters of the text on one line; empty for a document that is a vector."""
        return shortened(self.text, _SNIPPET)

    @property
    def name(self) -> str:
        """ID of the training document, or "#" and its position if it has no ID."""
        return f"#{self.index}" if self.id is None else self.id

    def to_dict(self) -> dict[str, Any]:
        """Return ID, label, distance, vote, and text as a dict of JSON types."""
        return {
            "index": self.index,
            "id": self.id,
            "label": json_label(self.label),
            "distance": self.distance,
            "vote": self.vote,
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evidence(DrawnResult):
    """Evidence for one predicted label: nearest training documents with their votes.

    Draws itself as text, SVG, and HTML. Created by `NearestNeighborClassifier.evidence`.

    Attributes
    ----------
    label : object
        Predicted class.
    shares : tuple of (object, float)
        Classes and their fractions of the votes, in descending order; classes without votes are
        omitted.
    neighbors : tuple of Neighbor
        Neighbors in ascending order of distance; empty if the document is empty.
    empty : bool
        True if the document has nothing to compare. The label is then the most frequent class.
    id : str or None
        ID of the document, if any.
    text : str
        Start of the text; empty for rows of numbers.
    """

    label: Any
    shares: tuple[tuple[Any, float], ...]
    neighbors: tuple[Neighbor, ...]
    empty: bool
    id: str | None = None
    text: str = ""
    _reasons: Reasons | None = field(default=None)

    @property
    def snippet(self) -> str:
        """First characters of the text on one line; empty for a document that is a vector."""
        return shortened(self.text, _SNIPPET)

    @property
    def score(self) -> float:
        """Share of all votes for the predicted label, 0 to 1."""
        return self.shares[0][1] if self.shares else 0.0

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """Contribution of each neighbor that voted for the predicted label.

        For a document with nothing to compare, the fraction of training documents in its class.
        """
        if not self.neighbors:
            note = "the most frequent class" if self.shares else ""
            return tuple(Contribution(str(label), share, note) for label, share in self.shares[:1])
        return select_votes(self.neighbors, self.label)

    def share(self, part: Contribution) -> float:
        """Return the fraction of the predicted label's votes that a neighbor cast."""
        return part.value / self.score if self.score else 0.0

    @property
    def parts_of(self) -> str:
        """Quantity that the parts of `explain` sum to, such as "the distance"."""
        return "" if self._reasons is None else self._reasons.parts_of

    def explain(self, rank: int = 0) -> Any:  # noqa: ANN401 (`Comparison`, `Contributions`)
        """Explain the distance between the document and the neighbor with a rank.

        Parameters
        ----------
        rank : int, default=0
            Rank of the neighbor; 0 is the nearest.

        Returns
        -------
        Comparison, Contributions or None
            For transport, the flow of the words (of the exact distance, even if the neighbors were
            found by a bound). For vectors, the parts of the distance, or of the underlying
            similarity. None if the metric has no explanation.

        Raises
        ------
        IndexError
            If there is no such neighbor.
        """
        integer().check("rank", rank)
        if not -len(self.neighbors) <= rank < len(self.neighbors):
            found = len(self.neighbors)
            raise IndexError(
                f"rank must be less than the number of neighbors ({found}); got {rank}."
            )
        return None if self._reasons is None else self._reasons.explain(self.neighbors[rank].index)

    def certificate(self) -> Any:  # noqa: ANN401 (`SearchCertificate`)
        """Return the certificate that no other training document is nearer, or None.

        Returns
        -------
        SearchCertificate or None
            Certificate for transport; ``verify()`` checks it independently of the search, and
            reports whether distances are exact (the distances of a bound are not). None for vector
            metrics, which compute every distance.

        Raises
        ------
        ValueError
            If the evidence was unpickled: the search is not stored, so search again.
        """
        return None if self._reasons is None else self._reasons.certificate()

    def to_text(
        self,
        *,
        limit: int = 12,
        explained: int = 0,
        width: int = 80,
        unicode: bool = True,
        color: bool = False,
    ) -> str:
        """Return labels, votes, and neighbors as lines of text.

        Parameters
        ----------
        limit : int, default=12
            Maximum number of neighbors, the nearest first; the votes of the rest are summed up.
        explained : int, default=0
            Number of neighbors, the nearest first, whose explanations are drawn.
        width : int, default=80
            Width in columns, at least 40.
        unicode : bool, default=True
            If True, draw with lines and blocks; otherwise the drawing (not the words) is ASCII.
        color : bool, default=False
            If True, color the votes for the predicted class and for other classes with terminal
            escape sequences.

        Returns
        -------
        str
            Lines without a newline at the end. Control characters are replaced.
        """
        integer(1).check("limit", limit)
        integer(0).check("explained", explained)
        integer(40).check("width", width)
        return evidence_text(
            self, limit=limit, explained=explained, width=width, unicode=unicode, color=color
        )

    def to_svg(
        self, *, title: str = "", limit: int = 12, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw a bar for the votes of each label, with its neighbors, as SVG.

        Parameters
        ----------
        title : str, optional
            Title above the figure. If empty, the class and its share of the votes.
        limit : int, default=12
            Maximum number of classes, and of neighbors per class; the rest is summed up.
        width : int, default=780
            Width in pixels, at least 500; the figure scales.
        embedded : bool, default=False
            If True, omit the style; the surrounding page must have the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        return evidence_svg(self, title=title, limit=limit, width=width, embedded=embedded)

    def to_html(self, *, title: str = "", limit: int = 50, explained: int = 1) -> str:
        """Return an HTML page with votes, neighbors, and explanations of distances.

        Parameters
        ----------
        title : str, optional
            Heading.
        limit : int, default=50
            Maximum number of neighbors, the nearest first; the votes of the rest are summed up.
        explained : int, default=1
            Number of neighbors, the nearest first, whose explanations are drawn.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(0).check("explained", explained)
        return evidence_page([self], title=title, limit=1, explained=explained, neighbors=limit)

    def to_dict(self) -> dict[str, Any]:
        """Return label, votes, and neighbors as a dict of JSON types."""
        return {
            "id": self.id,
            "label": json_label(self.label),
            "share": self.score,
            "empty": self.empty,
            "snippet": self.snippet,
            "shares": [
                {"label": json_label(label), "share": share} for label, share in self.shares
            ],
            "neighbors": [neighbor.to_dict() for neighbor in self.neighbors],
        }

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: votes, and the nearest neighbor explained."""
        return evidence_html([self], explained=1)


class EvidenceList(DrawnResult, TableResult, Sequence[Evidence]):
    """Evidence for the predicted labels of several documents, in their order.

    Parameters
    ----------
    items : iterable of Evidence
        One evidence per document. A slice, or a list of positions, returns an `EvidenceList`.

    Examples
    --------
    >>> from textkin import NearestNeighborClassifier
    >>> texts = ["Cats purr", "Dogs bark at night", "Stocks fell", "The market lost five percent"]
    >>> knn = NearestNeighborClassifier(n_neighbors=3)
    >>> knn = knn.fit(texts, ["pets", "pets", "money", "money"])
    >>> evidence = knn.evidence(["A kitten sleeps", "Investors sold their shares"])
    >>> evidence.labels
    ['pets', 'money']
    >>> evidence[0]
    pets: 67 % of the votes of 3 neighbors
      A kitten sleeps
       vote  label  distance  document
       33 %  pets      5.178  #0  Cats purr
       33 %  pets      6.037  #1  Dogs bark at night
       33 %  money     7.983  #3  The market lost five percent
    """

    def __init__(
        self,
        items: Iterable[Evidence],
        index: Any = None,  # noqa: ANN401 (pandas is untyped)
    ) -> None:
        self._items = tuple(items)
        self._index = index

    def _frame_index(self) -> Any:  # noqa: ANN401
        return self._index

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> "EvidenceList": ...
    def __getitem__(self, at: int | slice) -> "Evidence | EvidenceList":
        """Return the `Evidence` of one document, or a slice as `EvidenceList`."""
        if not isinstance(at, slice):
            return self._items[at]
        return EvidenceList(self._items[at], None if self._index is None else self._index[at])

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._items)

    @property
    def labels(self) -> list[Any]:
        """Predicted label of each document."""
        return [item.label for item in self._items]

    def to_html(self, *, title: str = "", limit: int = 50, explained: int = 1) -> str:
        """Return an HTML page with the evidence of all documents.

        Parameters
        ----------
        title : str, optional
            Heading.
        limit : int, default=50
            Maximum number of documents; the page shows the total.
        explained : int, default=1
            Number of neighbors per document, the nearest first, whose explanations are drawn.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(0).check("explained", explained)
        return evidence_page(self._items, title=title, limit=limit, explained=explained)

    def to_svg(
        self, *, title: str = "", limit: int = 50, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the score of each predicted class as a bar.

        Parameters
        ----------
        title : str, optional
            Title above the figure. The default is the number of documents.
        limit : int, default=50
            Maximum number of documents; the title shows the total.
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
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        shown = self._items[:limit]
        total = "1 document" if len(self) == 1 else f"{len(self):,} documents"
        counted = total if len(shown) == len(self) else f"the first {len(shown):,} of {total}"
        bars = [
            Bar(f"{at} {item.label}", item.score, nan, item.snippet, (at == len(shown) - 1,))
            for at, item in enumerate(shown)
        ]
        return bars_svg(
            bars,
            title=title or f"Predicted classes of {counted}",
            about=f"Predicted classes of {counted}, each with its score.",
            width=width,
            embedded=embedded,
            legend="bar: score of the class",
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict per document: label, votes, and neighbors; see `Evidence.to_dict`."""
        return [{"document": at, **item.to_dict()} for at, item in enumerate(self._items)]

    def __repr__(self) -> str:
        shown = [f"[{at}] {item.to_text()}" for at, item in enumerate(self._items[:3])]
        more = len(self._items) - len(shown)
        said = "1 document" if len(self._items) == 1 else f"{len(self._items):,} documents"
        rest = [f"... and {more:,} more"] if more else []
        return "\n".join([f"EvidenceList: {said}", *shown, *rest])

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks display: evidence of the first documents."""
        return evidence_html(self._items[:5], explained=0)


def select_votes(neighbors: Iterable[Neighbor], label: Any) -> tuple[Contribution, ...]:  # noqa: ANN401
    """Return the votes of neighbors for one label as contributions, largest first."""
    voters = sorted(
        (one for one in neighbors if one.vote > 0 and one.label == label), key=lambda one: -one.vote
    )
    return tuple(
        Contribution(one.name, one.vote, " ".join((f"at {one.distance:.4g}", one.snippet)).strip())
        for one in voters
    )


def json_label(label: Any) -> Any:  # noqa: ANN401
    """Return a label as a JSON type: unchanged, or converted to a string."""
    return label if isinstance(label, str | int | float | bool) else str(label)
