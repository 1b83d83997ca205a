"""The evidence behind a prediction: the documents that voted for it, and why they are near."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, overload

from textkin._validation import integer
from textkin.explain._evidence_shown import (
    evidence_html,
    evidence_page,
    evidence_svg,
    evidence_text,
)
from textkin.explain._explanation import Contribution

__all__ = ["Evidence", "EvidenceList", "Neighbor", "Reasons"]


class Reasons(Protocol):
    """What knows why the neighbours of a document are near."""

    @property
    def parts_of(self) -> str:
        """What the parts of an explanation sum to, in words."""
        ...

    def explain(self, index: int) -> Any:  # noqa: ANN401 (an explanation of its own kind)
        """Return why the document is as far from one of the corpus as it is, or None."""
        ...

    def certificate(self) -> Any:  # noqa: ANN401
        """Return the proof that no other document is nearer, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A document that voted.

    Attributes
    ----------
    index : int
        Its position in the training documents.
    id : str or None
        Its id, where it has one.
    label : object
        Its class.
    distance : float
        How far it is from the document that was classified.
    vote : float
        Its share of all votes, 0 to 1; 0 for one that was found but not asked.
    snippet : str
        How its text begins; empty for rows of numbers.
    """

    index: int
    id: str | None
    label: Any
    distance: float
    vote: float
    snippet: str

    @property
    def name(self) -> str:
        """The id, or the position where there is none."""
        return f"#{self.index}" if self.id is None else self.id

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "index": self.index,
            "id": self.id,
            "label": plain(self.label),
            "distance": self.distance,
            "vote": self.vote,
            "snippet": self.snippet,
        }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evidence:
    """Why a document has its label: the nearest training documents, and how each voted.

    Draws itself as text, SVG and HTML. Made by `NearestNeighborClassifier.evidence`.

    Attributes
    ----------
    label : object
        The predicted class.
    shares : tuple of (object, float)
        Classes and their shares of the votes, the largest first; classes without a vote are left
        out.
    neighbors : tuple of Neighbor
        The nearest first; none if the document is empty.
    empty : bool
        Whether the document has nothing to compare: its label is then the most frequent class.
    id : str or None
        The id of the document, where it has one.
    snippet : str
        How its text begins; empty for rows of numbers.
    """

    label: Any
    shares: tuple[tuple[Any, float], ...]
    neighbors: tuple[Neighbor, ...]
    empty: bool
    id: str | None = None
    snippet: str = ""
    _reasons: Reasons | None = field(default=None)

    @property
    def score(self) -> float:
        """The share of the votes that the predicted class has, 0 to 1."""
        return self.shares[0][1] if self.shares else 0.0

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """The neighbours that voted for the predicted class, each with its share of all votes.

        Of a document that has nothing to compare, the share that its class has of the training
        documents.
        """
        if not self.neighbors:
            note = "the most frequent class" if self.shares else ""
            return tuple(Contribution(str(label), share, note) for label, share in self.shares[:1])
        return votes_for(self.neighbors, self.label)

    def share(self, part: Contribution) -> float:
        """Return how much of the score a part makes up."""
        return part.value / self.score if self.score else 0.0

    @property
    def parts_of(self) -> str:
        """What the parts of an explanation sum to, such as "the distance" or "the cosine"."""
        return "" if self._reasons is None else self._reasons.parts_of

    def explain(self, rank: int = 0) -> Any:  # noqa: ANN401 (`Comparison`, `Contributions`)
        """Return why a neighbour is as far as it is.

        Parameters
        ----------
        rank : int, default=0
            Which neighbour: 0 is the nearest.

        Returns
        -------
        Comparison, Contributions or None
            For transport the flow of the words (of the exact distance, also where neighbours were
            found by a bound); for vectors the parts of the distance, or of the similarity behind
            it. None if the measure has nothing to say.

        Raises
        ------
        IndexError
            If there is no such neighbour.
        """
        integer().check("rank", rank)
        if not -len(self.neighbors) <= rank < len(self.neighbors):
            found = len(self.neighbors)
            raise IndexError(f"rank must be one of the {found} neighbours, from 0; got {rank}.")
        return None if self._reasons is None else self._reasons.explain(self.neighbors[rank].index)

    def certificate(self) -> Any:  # noqa: ANN401 (`SearchCertificate`)
        """Return the proof that no other training document is nearer, where a search skipped some.

        Returns
        -------
        SearchCertificate or None
            For transport; ``verify()`` checks it without the search, and says whether distances
            are exact (those of a bound are not). None for measures of vectors, by which every
            distance was computed.

        Raises
        ------
        ValueError
            If the evidence was pickled and loaded: the search is not kept, so search again.
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
        """Draw the votes as lines of text.

        Parameters
        ----------
        limit : int, default=12
            How many neighbours to show, the nearest first; of the others the votes are summed up.
        explained : int, default=0
            Of how many neighbours, the nearest first, to draw why they are near.
        width : int, default=80
            Columns to fill, at least 40.
        unicode : bool, default=True
            Draw with lines and blocks; False keeps the drawing (not the words) to ASCII.
        color : bool, default=False
            Colour the votes for the predicted class and those for others with the escape
            sequences of terminals.

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
        """Draw the votes as bars: a bar for each class, and inside of it its neighbours.

        Parameters
        ----------
        title : str, optional
            Above the picture; by default it says the class and its share of the votes.
        limit : int, default=12
            How many classes, and neighbours of each, to draw; the others are summed up.
        width : int, default=780
            In pixels, at least 500; the picture scales.
        embedded : bool, default=False
            Leave the style to the page around it, which has the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        return evidence_svg(self, title=title, limit=limit, width=width, embedded=embedded)

    def to_html(self, *, title: str = "", limit: int = 50, explained: int = 1) -> str:
        """Return a page with the votes and the reasons; it needs nothing from outside.

        Parameters
        ----------
        title : str, optional
            The heading.
        limit : int, default=50
            How many neighbours to show, the nearest first; of the others the votes are summed up.
        explained : int, default=1
            Of how many neighbours, the nearest first, to draw why they are near.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(0).check("explained", explained)
        return evidence_page([self], title=title, limit=1, explained=explained, neighbors=limit)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON; reasons are left out."""
        return {
            "id": self.id,
            "label": plain(self.label),
            "share": self.score,
            "empty": self.empty,
            "snippet": self.snippet,
            "shares": [{"label": plain(label), "share": share} for label, share in self.shares],
            "neighbors": [neighbor.to_dict() for neighbor in self.neighbors],
        }

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Show votes and the reason of the nearest in notebooks."""
        return evidence_html([self], explained=1)


class EvidenceList(Sequence[Evidence]):
    """The evidence behind many predictions, in the order of the documents.

    Parameters
    ----------
    items : iterable of Evidence
        One a document; a slice of a list, or some of it, is a list again.

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
    pets: 67 % of the votes of 3 neighbours
      A kitten sleeps
       vote  label  distance  document
       33 %  pets      5.178  #0  Cats purr
       33 %  pets      6.037  #1  Dogs bark at night
       33 %  money     7.983  #3  The market lost five percent
    """

    def __init__(self, items: Iterable[Evidence]) -> None:
        self._items = tuple(items)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Evidence: ...
    @overload
    def __getitem__(self, at: slice) -> "EvidenceList": ...
    def __getitem__(self, at: int | slice) -> "Evidence | EvidenceList":
        """Return the evidence of one document, or of some."""
        return EvidenceList(self._items[at]) if isinstance(at, slice) else self._items[at]

    def __iter__(self) -> Iterator[Evidence]:
        return iter(self._items)

    @property
    def labels(self) -> list[Any]:
        """The predicted classes."""
        return [item.label for item in self._items]

    def to_html(self, *, title: str = "", limit: int = 50, explained: int = 1) -> str:
        """Return one page with the evidence of all documents; it needs nothing from outside.

        Parameters
        ----------
        title : str, optional
            The heading.
        limit : int, default=50
            How many documents to show; the page says how many there are.
        explained : int, default=1
            Of how many neighbours of each, the nearest first, to draw why they are near.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(0).check("explained", explained)
        return evidence_page(self._items, title=title, limit=limit, explained=explained)

    def to_records(self) -> list[dict[str, Any]]:
        """Return one record a document in plain types, ready for JSON; see `Evidence.to_dict`."""
        return [{"document": at, **item.to_dict()} for at, item in enumerate(self._items)]

    def __repr__(self) -> str:
        shown = [f"[{at}] {item.to_text()}" for at, item in enumerate(self._items[:3])]
        more = len(self._items) - len(shown)
        said = "1 document" if len(self._items) == 1 else f"{len(self._items):,} documents"
        rest = [f"... and {more:,} more"] if more else []
        return "\n".join([f"EvidenceList: {said}", *shown, *rest])

    def _repr_html_(self) -> str:
        """Show the first documents in notebooks."""
        return evidence_html(self._items[:5], explained=0)


def votes_for(neighbors: Iterable[Neighbor], label: Any) -> tuple[Contribution, ...]:  # noqa: ANN401
    """Return the neighbours that voted for a class, the heaviest vote first."""
    voters = sorted(
        (one for one in neighbors if one.vote > 0 and one.label == label), key=lambda one: -one.vote
    )
    return tuple(
        Contribution(one.name, one.vote, " ".join((f"at {one.distance:.4g}", one.snippet)).strip())
        for one in voters
    )


def plain(label: Any) -> Any:  # noqa: ANN401
    """Return a label that JSON can hold: as it is, or in words."""
    return label if isinstance(label, str | int | float | bool) else str(label)
