"""One document that a search found, fetched when it is looked at."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textkin.explain import AlignedText, Explanation
from textkin.index.ranking._snippets import Marks, Snippets, marked
from textkin.text import Document
from textkin.text.reading._document import Label, shortened

if TYPE_CHECKING:
    from textkin.index.ranking._hits import Hits

__all__ = ["Hit"]

_SNIPPET = 160


class Hit:
    """A document that was found. Two are equal if they are the same place of the same hits.

    See Also
    --------
    Hits : All of them.
    """

    __slots__ = ("_hits", "_place")

    def __init__(self, hits: "Hits", place: int) -> None:
        self._hits = hits
        self._place = place

    @property
    def rank(self) -> int:
        """Its place among all that was found, from 1."""
        return self._hits.offset + self._place + 1

    @property
    def score(self) -> float:
        """How near it is; of a distance (`Hits.ascending`), small is near."""
        return float(self._hits.scores[self._place])

    @property
    def distance(self) -> float:
        """The score of a ranking by distances; others have none (`AttributeError`)."""
        if not self._hits.ascending:
            raise AttributeError(
                f"a hit by {self._hits.by!r} has no distance: its score is higher the nearer it "
                "is. Use hit.score."
            )
        return self.score

    @property
    def id(self) -> str:
        """The id of the document."""
        return self._hits.ids[self._place]

    @property
    def document(self) -> Document:
        """The document as it was when it was found; fetched with its neighbours, and kept."""
        return self._hits._document(self._place)

    @property
    def text(self) -> str:
        """The text of the document."""
        return self.document.text

    @property
    def label(self) -> Label:
        """The label of the document."""
        return self.document.label

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the document."""
        return self.document.metadata

    def snippet(
        self,
        width: int = _SNIPPET,
        marks: Marks = None,
        escape: Callable[[str], str] | None = None,
    ) -> str:
        """Return the passage of the text that has most of the words of the query.

        Words match as the index counts them, and rare words weigh more; of a ranking by transport
        or by a model the words are marked that query and document share.

        Parameters
        ----------
        width : int, default=160
            Columns of a terminal that it takes at most, marks not counted; from 10 to 10,000.
        marks : pair of str, callable or None, default=None
            What is put around matched words, such as ``("**", "**")``, or what turns one into
            what is shown.
        escape : callable, default=None
            Applied to all that comes from the text, before the marks, such as `html.escape`.

        Returns
        -------
        str
            On one line: white space collapsed, control characters replaced, whole words. An
            ellipsis stands where the text goes on. Empty for an empty text.
        """
        hits = self._hits
        snippets = Snippets.of(hits._asking.view)
        return marked(snippets.find(self.text, hits._snippet_words, width), marks, escape)

    def explain(self) -> Explanation:
        """Return the parts that sum to the score."""
        hits = self._hits
        asking, row = hits._asking, int(hits._rows[self._place])
        return asking.ranker.explain_among(hits._query, row, asking.scope.rows)

    def aligned(self) -> AlignedText | None:
        """Return query and document whole, with each word as far as it travels.

        Returns
        -------
        AlignedText or None
            Of a ranking by transport ("wmd", "rwmd"); None for others, and after feedback, when
            the query is no text any more.
        """
        hits = self._hits
        return hits._asking.ranker.aligned(hits._query, int(hits._rows[self._place]))

    def to_dict(self) -> dict[str, Any]:
        """Return rank, score, id, label, metadata and snippet, as JSON can hold them."""
        return {
            "rank": self.rank,
            "score": self.score,
            "id": self.id,
            "label": self.label,
            "metadata": dict(self.metadata),
            "snippet": self.snippet(),
        }

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Hit) and self._hits is other._hits
        return same and isinstance(other, Hit) and self._place == other._place

    def __hash__(self) -> int:
        return hash((id(self._hits), self._place))

    def __repr__(self) -> str:
        return f"Hit(rank={self.rank}, id={shortened(self.id)}, score={self.score:.6g})"
