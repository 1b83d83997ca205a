"""What clients get of the collection as a whole: the map, clusters and topics."""

from typing import Literal

from pydantic import Field

from textkin.web._answers import Answer

__all__ = [
    "Clusters",
    "Computing",
    "MapOfDocuments",
    "OneCluster",
    "OneTopic",
    "Start",
    "Topics",
    "WeighedWord",
]


class Computing(Answer):
    """That an answer is being computed; ask again in a moment."""

    status: Literal["computing"]
    done: int
    total: int
    state: str


class MapOfDocuments(Answer):
    """Documents in the plane, as columns."""

    by: str
    state: str
    ids: list[str]
    x: list[float]
    y: list[float]
    label: list[int] = Field(description="Into `labels`; -1 for none.")
    labels: list[str]
    cluster: list[int] = Field(description="-1 for a document with nothing to compare.")
    titles: list[str]
    total: int = Field(description="Documents of the index; more than `ids` where it is a sample.")
    notes: list[str]


class WeighedWord(Answer):
    """A word, and what it weighs."""

    word: str
    weight: float


class Start(Answer):
    """A document, and how it begins."""

    id: str
    start: str
    share: float | None = None


class OneCluster(Answer):
    """Documents that are near to each other."""

    number: int
    size: int
    words: list[WeighedWord]
    central: Start
    x: float
    y: float


class Clusters(Answer):
    """Groups of documents, the largest first; the same as on the map."""

    by: str
    clusters: list[OneCluster]
    total: int
    notes: list[str]
    state: str


class OneTopic(Answer):
    """A topic: words, and the documents that have most of it."""

    number: int
    weight: float
    words: list[WeighedWord]
    documents: list[Start]


class Topics(Answer):
    """Topics, the heaviest first."""

    topics: list[OneTopic]
    total: int
    notes: list[str]
    state: str
