"""What a search for duplicates compared, and what it can say about two documents of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.explain import Contributions
from textkin.learn._documents import are_numbers, part
from textkin.learn._hashing import keys_of_texts
from textkin.learn._measures import Measure
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import text_of
from textkin.transport import Comparison

__all__ = ["Compared", "Duplicate"]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document that repeats another.

    Attributes
    ----------
    position : int
        Where it stands among the documents.
    id : str or None
        Its id, if it has one.
    text : str
        Its text, or its words; empty where documents are rows of numbers.
    distance : float
        How far it is from the document that it repeats; 0 if it is equal.
    reason : str
        Why it counts as a duplicate: "same text", "same words", the distance beside the
        threshold; "representative" for the document of a group that the others repeat.
    """

    position: int
    id: str | None
    text: str
    distance: float
    reason: str

    @property
    def name(self) -> str:
        """Its id, or its position where it has none."""
        return str(self.position) if self.id is None else self.id

    def to_dict(self) -> dict[str, Any]:
        """Return position, id, distance and reason in plain types."""
        return {
            "position": self.position,
            "id": self.id,
            "distance": self.distance,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Documents, and how they were compared.

    Attributes
    ----------
    documents : list, or rows of numbers
        Those of the set, then those of the other set.
    n_documents : int
        How many are of the set.
    by : str
        "text", "bag", or the name of a metric.
    threshold : float or None
        The largest distance of duplicates; None for equal documents.
    measure : Measure or None
        With all documents; None for equal documents.
    stop_words : str, None, path or collection of str
        Words that do not count.
    """

    documents: Any
    n_documents: int
    by: str
    threshold: float | None
    measure: Measure | None
    stop_words: StopWords

    def id(self, position: int) -> str | None:
        """Return the id of a document, None if it has none."""
        if are_numbers(self.documents):
            return None
        found = getattr(self.documents[position], "id", None)
        return found if isinstance(found, str) else None

    def text(self, position: int) -> str:
        """Return the text of a document, or its words; nothing for numbers."""
        if are_numbers(self.documents):
            return ""
        text = text_of(self.documents[position])
        if isinstance(text, str):
            return text
        return " ".join(text) if isinstance(text, list | tuple) else ""

    def duplicates(
        self, of: int, positions: Int64Array, distances: Float64Array
    ) -> tuple[Duplicate, ...]:
        """Return documents that repeat one; positions are those in their own set."""
        reasons = self._reasons(of, positions, distances)
        return tuple(
            self.duplicate(at, distance, reason)
            for at, distance, reason in zip(
                positions.tolist(), distances.tolist(), reasons, strict=True
            )
        )

    def duplicate(self, at: int, distance: float, reason: str) -> Duplicate:
        """Return a document with what is known of it."""
        position = at if at < self.n_documents else at - self.n_documents
        return Duplicate(position, self.id(at), self.text(at), distance, reason)

    def explain(self, position: int, of: int) -> Comparison | Contributions | None:
        """Return why one document is as far from another as it is, if there is more to say."""
        if self.measure is None:
            return None
        numbers = are_numbers(self.documents)
        query = part(self.documents, [position]) if numbers else self.documents[position]
        return self.measure.explain(query, of)

    def said(self) -> str:
        """Return in words what makes documents duplicates."""
        if self.threshold is None:
            return "the same text" if self.by == "text" else "the same words"
        return f"{self.by} at most {self.threshold:g}"

    def _reasons(self, of: int, positions: Int64Array, distances: Float64Array) -> list[str]:
        if self.by == "text":
            return ["same text"] * len(positions)
        reasons = [self._reason(distance) for distance in distances.tolist()]
        equal = np.flatnonzero(distances == 0)
        if are_numbers(self.documents) or not len(equal):
            return reasons
        documents = part(self.documents, [of, *positions[equal].tolist()])
        if not self.text(of) and any(_has_vectors(document) for document in documents):
            return reasons  # tokens with vectors of their own
        for same, of_words in (("same words", False), ("same text", True)):
            stop_words = None if of_words else self.stop_words
            keys = keys_of_texts(documents, ordered=of_words, stop_words=stop_words)
            for at, key in zip(equal.tolist(), keys[1:], strict=True):
                if key == keys[0]:
                    reasons[at] = same
        return reasons

    def _reason(self, distance: float) -> str:
        if self.threshold is None:
            return "same words"
        if distance <= self.threshold:
            return f"{self.by} {distance:.4g} <= {self.threshold:g}"
        return f"{self.by} {distance:.4g}, linked by others"


def _has_vectors(document: object) -> bool:
    return hasattr(document, "vectors") or isinstance(document, np.ndarray)
