"""What clients get: the bodies of answers."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from textkin.web._problems import Code

__all__ = [
    "Added",
    "Aligned",
    "AlignedPiece",
    "Answer",
    "Before",
    "BeforeHit",
    "Classified",
    "Deleted",
    "DocumentList",
    "Explanation",
    "Failure",
    "FeedbackFound",
    "Flowing",
    "Found",
    "FoundHit",
    "Health",
    "LabelCount",
    "ListedDocument",
    "MetadataField",
    "Neighbour",
    "Part",
    "Partner",
    "QuerySeen",
    "RankingSeen",
    "Rest",
    "Share",
    "SnippetPiece",
    "Stats",
    "StoredDocument",
    "Updated",
    "Value",
]

Label: TypeAlias = str | bool | int | float | None


class Answer(BaseModel):
    """What a client gets."""

    model_config = ConfigDict(frozen=True)


class Error(Answer):
    """What went wrong."""

    code: Code = Field(
        description="Which kind, for programs: codes stay as they are, messages need not."
    )
    message: str = Field(description="What was expected, what came, and the way out.")
    field: str | None = Field(description="The part of the request that is meant.")
    unknown: dict[str, list[str]] | None = Field(
        default=None,
        description="Of the code `wordless`: each text that cannot be compared, by its field, with "
        "the first of its words that have no vector. An empty list: no words but stop words.",
    )


class Failure(Answer):
    """What a request gets that cannot be answered as asked."""

    error: Error


class Health(Answer):
    """That the server answers."""

    status: Literal["ok"]
    version: str


class RankingSeen(Answer):
    """A ranking or a measure that may be asked for by its name."""

    name: str
    title: str
    kind: Literal["words", "transport", "model", "hybrid"]
    ascending: bool = Field(description="Whether small scores are near: they are distances.")
    description: str


class Value(Answer):
    """A value of a field, and how many documents have it."""

    value: Label
    count: int


class MetadataField(Answer):
    """A field of the metadata."""

    name: str
    count: int = Field(description="Documents that have it.")
    values: list[Value] = Field(description="The most frequent ones.")


class LabelCount(Answer):
    """A label, and how many documents have it."""

    label: Label
    count: int


class Stats(Answer):
    """What is in the index, and what may be asked."""

    title: str
    documents: int
    words: int
    bytes: int
    state: str = Field(description="Changes whenever the index does.")
    writable: bool = Field(description="Whether documents may be added, with the token.")
    settings: dict[str, Any] = Field(description="How texts are read.")
    rankings: list[RankingSeen]
    measures: list[RankingSeen] = Field(description="What `POST /api/compare` takes.")
    representations: list[RankingSeen] = Field(
        description="What `GET /api/map` and `GET /api/clusters` take."
    )
    fields: list[MetadataField]
    labels: list[LabelCount]
    limits: dict[str, float]
    notes: list[str]


class SnippetPiece(Answer):
    """A part of a passage."""

    text: str
    match: bool


class QuerySeen(Answer):
    """What was looked for."""

    text: str | None
    id: str | None
    words: dict[str, float] | None = Field(
        description="The words that count, with their weights; null for a ranking without words."
    )
    rounds: int


class FoundHit(Answer):
    """A document that was found."""

    rank: int
    id: str
    score: float
    label: Label
    metadata: dict[str, Any]
    snippet: list[SnippetPiece]
    length: int = Field(description="Its words.")
    was: int | None = Field(
        default=None, description="Its rank before feedback; null if it was not on the page."
    )


class Found(Answer):
    """A page of hits, the best first."""

    query: QuerySeen
    by: str
    ascending: bool
    offset: int
    k: int
    more: bool = Field(description="Whether there is a page after this one.")
    hits: list[FoundHit]
    notes: list[str]
    stats: dict[str, float]
    state: str
    seconds: float


class BeforeHit(Answer):
    """A hit of the query before feedback."""

    id: str
    rank: int


class Before(Answer):
    """The query before feedback, and what it found."""

    words: dict[str, float] | None
    hits: list[BeforeHit]


class FeedbackFound(Found):
    """A page of hits of a query that feedback has moved."""

    before: Before


class Rest(Answer):
    """Parts that are not told one by one, summed up."""

    count: int
    value: float


class Part(Answer):
    """A part of a score."""

    name: str
    value: float
    share: float
    note: str
    parts: list["Part"] = Field(description="What it is the sum of, where it is one.")
    rest: Rest | None = Field(description="What is not told of its parts.")


class Flowing(Answer):
    """A move of a flow."""

    source: str
    target: str
    mass: float
    cost: float
    contribution: float
    share: float


class Partner(Answer):
    """A word of the other text that a word moves to."""

    word: int = Field(description="Its number on the other side.")
    mass: float
    cost: float


class AlignedPiece(Answer):
    """A part of a text; joined, the parts are the text."""

    text: str
    word: int | None = Field(default=None, description="Its number; null for what does not count.")
    level: int | None = Field(
        default=None, description="0 (near) to 6 (far); null for a word that stays, too."
    )
    cost: float | None = None
    adds: float | None = None
    reason: Literal["stop", "unknown"] | None = Field(
        default=None, description="Why a word does not count."
    )
    partners: list[Partner] = []


class Aligned(Answer):
    """Both texts, each word with how far it travelled."""

    a: list[AlignedPiece]
    b: list[AlignedPiece]


class Explanation(Answer):
    """Parts that sum to a score."""

    kind: Literal["flow", "contributions", "evidence"]
    score: float
    score_name: str
    parts: list[Flowing | Part]
    rest: Rest | None
    verified: bool | None = Field(
        description="Whether the proof that no flow is cheaper holds; null where there is none."
    )
    svg: str | None = Field(description="A drawing; styled by `/explain.css`.")
    aligned: Aligned | None
    notes: list[str]
    bounds: dict[str, float] | None = None
    coverage: dict[str, Any] | None = None
    state: str


class Share(Answer):
    """A label, and its share of the votes."""

    label: Label
    share: float


class Neighbour(Answer):
    """A document that votes."""

    id: str
    label: Label
    score: float
    vote: float
    snippet: list[SnippetPiece]


class Classified(Answer):
    """The label that the nearest documents vote for."""

    label: Label
    shares: list[Share]
    neighbors: list[Neighbour]
    notes: list[str]
    state: str


class ListedDocument(Answer):
    """A document of a list."""

    id: str
    label: Label
    metadata: dict[str, Any]
    start: str = Field(description="The beginning of its text.")


class DocumentList(Answer):
    """A page of documents, in the order in which they were added."""

    documents: list[ListedDocument]
    total: int
    notes: list[str]
    state: str


class StoredDocument(Answer):
    """A document of the index."""

    id: str
    text: str
    label: Label
    metadata: dict[str, Any]
    words: int
    state: str


class Added(Answer):
    """What was added."""

    added: int
    ids: list[str]
    state: str


class Updated(Answer):
    """What became of a document."""

    updated: int
    added: int
    unchanged: int
    state: str


class Deleted(Answer):
    """What was deleted."""

    deleted: int
    state: str
