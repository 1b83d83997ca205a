"""Response bodies of the HTTP API."""

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from textkin.web._errors import Code

__all__ = [
    "AddAnswer",
    "AlignedTexts",
    "Answer",
    "ClusterEntry",
    "ClustersAnswer",
    "DeleteAnswer",
    "DocumentAnswer",
    "DocumentEntry",
    "DocumentStart",
    "DocumentsAnswer",
    "ExplanationAnswer",
    "Failure",
    "FeedbackAnswer",
    "HealthAnswer",
    "HitEntry",
    "LabelCount",
    "LabelShare",
    "MapAnswer",
    "MetadataField",
    "MoveEntry",
    "PartEntry",
    "PartnerWord",
    "PreviousHit",
    "PreviousSearch",
    "ProgressAnswer",
    "QuerySummary",
    "RankingEntry",
    "RemainingParts",
    "SearchAnswer",
    "SnippetPiece",
    "StatsAnswer",
    "TextPiece",
    "TopicEntry",
    "TopicsAnswer",
    "UpdateAnswer",
    "ValueCount",
    "VoteAnswer",
    "VotingDocument",
    "WordWeight",
]

Label: TypeAlias = str | bool | int | float | None


class Answer(BaseModel):
    """Body of a response."""

    model_config = ConfigDict(frozen=True)


class Error(Answer):
    """Error of a request."""

    code: Code = Field(
        description="Kind of error, for programs. Codes are stable; messages may change."
    )
    message: str = Field(description="Requirement, value received, and fix.")
    field: str | None = Field(description="Part of the request that caused the error.")
    unknown: dict[str, list[str]] | None = Field(
        default=None,
        description="For the code `wordless`: texts that cannot be compared, by field, each with "
        "the first of its words without a vector. An empty list means: only stop words.",
    )


class Failure(Answer):
    """Body of a failed request."""

    error: Error


class HealthAnswer(Answer):
    """Response of a running server."""

    status: Literal["ok"]
    version: str


class RankingEntry(Answer):
    """Ranking or measure, by name."""

    name: str
    title: str
    kind: Literal["words", "transport", "model", "hybrid"]
    ascending: bool = Field(description="True for distances: a smaller score is a better match.")
    description: str
    takes_text: bool = Field(
        default=True,
        description="False if a query must be a document: there is no encoder for texts.",
    )


class ValueCount(Answer):
    """Value of a field, and its number of documents."""

    value: Label
    count: int


class MetadataField(Answer):
    """Field of the metadata."""

    name: str
    count: int = Field(description="Number of documents with the field.")
    values: list[ValueCount] = Field(description="Most frequent values.")
    type: Literal["number", "date", "time"] | None = Field(
        description="Type of all values; null for other types, or several. A time is a date with a "
        "time of day."
    )
    low: Label = Field(description="Smallest number or date.")
    high: Label = Field(description="Largest number or date.")


class LabelCount(Answer):
    """Label, and its number of documents."""

    label: Label
    count: int


class StatsAnswer(Answer):
    """Contents of the index, and the available rankings, measures, and filters."""

    title: str
    documents: int
    words: int
    bytes: int
    state: str = Field(description="Version of the index; changes with every write.")
    writable: bool = Field(description="True if the token allows adding documents.")
    settings: dict[str, Any] = Field(description="Text settings.")
    rankings: list[RankingEntry]
    measures: list[RankingEntry] = Field(description="Measures for `POST /api/compare`.")
    representations: list[RankingEntry] = Field(
        description="Vectors for `GET /api/map` and `GET /api/clusters`."
    )
    fields: list[MetadataField]
    labels: list[LabelCount]
    examples: list[str] = Field(description="Example queries.")
    limits: dict[str, float]
    notes: list[str]


class SnippetPiece(Answer):
    """Part of a snippet."""

    text: str
    match: bool


class QuerySummary(Answer):
    """Query of a search."""

    text: str | None
    id: str | None
    words: dict[str, float] | None = Field(
        description="Query words with their weights; null for a ranking without words."
    )
    rounds: int
    required: list[str] = Field(description="Words and phrases that every hit contains.")
    excluded: list[str] = Field(description="Words and phrases that no hit contains.")
    where: str | None = Field(description="Conditions from field prefixes in the query.")


class HitEntry(Answer):
    """Document in the search results."""

    rank: int
    id: str
    score: float
    label: Label
    metadata: dict[str, Any]
    snippet: list[SnippetPiece]
    length: int = Field(description="Number of words.")
    was: int | None = Field(
        default=None, description="Rank before feedback; null if the hit was not on the page."
    )


class SearchAnswer(Answer):
    """Page of hits, the best first."""

    query: QuerySummary
    ranking: str
    ascending: bool
    offset: int
    k: int
    more: bool = Field(description="True if there is a next page.")
    hits: list[HitEntry]
    notes: list[str]
    suggestions: dict[str, list[str]] = Field(
        description="Similar words of the index for query words that no document has."
    )
    stats: dict[str, float]
    state: str
    seconds: float


class PreviousHit(Answer):
    """Hit of the query before feedback."""

    id: str
    rank: int


class PreviousSearch(Answer):
    """Query before feedback, and its hits."""

    words: dict[str, float] | None
    hits: list[PreviousHit]


class FeedbackAnswer(SearchAnswer):
    """Page of hits of a query after feedback."""

    before: PreviousSearch


class RemainingParts(Answer):
    """Sum of the parts that are not listed."""

    count: int
    value: float


class PartEntry(Answer):
    """Part of a score."""

    name: str
    value: float
    share: float
    note: str
    parts: list["PartEntry"] = Field(description="Parts of this part, if it is a sum.")
    rest: RemainingParts | None = Field(description="Sum of the parts that are not listed.")


class MoveEntry(Answer):
    """Move of a flow."""

    source: str
    target: str
    mass: float
    cost: float
    contribution: float
    share: float


class PartnerWord(Answer):
    """Word of the other text that a word moves to."""

    word: int = Field(description="Number of the word in the other text.")
    mass: float
    cost: float


class TextPiece(Answer):
    """Part of a text; joined, the parts are the whole text."""

    text: str
    word: int | None = Field(
        default=None, description="Number of the word; null if it is not compared."
    )
    level: int | None = Field(
        default=None,
        description="Distance, 0 (smallest) to 6 (largest); null for a word that does not move.",
    )
    cost: float | None = None
    adds: float | None = None
    reason: Literal["stop", "unknown"] | None = Field(
        default=None, description="Reason why a word is not compared."
    )
    partners: list[PartnerWord] = []


class AlignedTexts(Answer):
    """Both texts, each word with its transport distance."""

    a: list[TextPiece]
    b: list[TextPiece]


class ExplanationAnswer(Answer):
    """Parts that sum to a score."""

    kind: Literal["flow", "contributions", "evidence"]
    score: float
    score_name: str
    parts: list[MoveEntry | PartEntry]
    rest: RemainingParts | None
    verified: bool | None = Field(
        description="True if the optimality certificate of the flow holds; null without a flow."
    )
    svg: str | None = Field(description="Drawing, styled by `/explain.css`.")
    aligned: AlignedTexts | None
    notes: list[str]
    bounds: dict[str, float] | None = None
    coverage: dict[str, Any] | None = None
    state: str


class LabelShare(Answer):
    """Label, and its share of the votes."""

    label: Label
    share: float


class VotingDocument(Answer):
    """Document that votes."""

    id: str
    label: Label
    score: float
    vote: float
    snippet: list[SnippetPiece]


class VoteAnswer(Answer):
    """Label with the most votes of the nearest documents."""

    label: Label
    shares: list[LabelShare]
    neighbors: list[VotingDocument]
    notes: list[str]
    state: str


class DocumentEntry(Answer):
    """Document of a list."""

    id: str
    label: Label
    metadata: dict[str, Any]
    start: str = Field(description="Start of the text.")


class DocumentsAnswer(Answer):
    """Page of documents, in the order of insertion."""

    documents: list[DocumentEntry]
    total: int
    notes: list[str]
    state: str


class DocumentAnswer(Answer):
    """Document of the index."""

    id: str
    text: str
    label: Label
    metadata: dict[str, Any]
    words: int
    state: str


class AddAnswer(Answer):
    """Added documents."""

    added: int
    ids: list[str]
    state: str
    notes: list[str] = Field(default=[], description="Remarks, such as missing vectors.")


class UpdateAnswer(Answer):
    """Result of adding or replacing a document."""

    updated: int
    added: int
    unchanged: int
    state: str


class DeleteAnswer(Answer):
    """Result of a deletion."""

    deleted: int
    state: str


class ProgressAnswer(Answer):
    """Progress of a computation; repeat the request after a moment."""

    status: Literal["computing"]
    done: int
    total: int
    state: str


class MapAnswer(Answer):
    """Positions of documents on a map, as columns."""

    representation: str
    state: str
    ids: list[str]
    x: list[float]
    y: list[float]
    label: list[int] = Field(description="Index into `labels`; -1 without a label.")
    labels: list[str]
    cluster: list[int] = Field(
        description="Cluster number; -1 for a document without words to compare."
    )
    titles: list[str]
    total: int = Field(description="Documents in the index; more than `ids` for a sample.")
    notes: list[str]


class WordWeight(Answer):
    """Word and its weight."""

    word: str
    weight: float


class DocumentStart(Answer):
    """Document and the start of its text."""

    id: str
    start: str
    share: float | None = None


class ClusterEntry(Answer):
    """Group of similar documents."""

    number: int
    size: int
    words: list[WordWeight]
    central: DocumentStart
    x: float
    y: float


class ClustersAnswer(Answer):
    """Clusters of documents, the largest first; the same as on the map."""

    representation: str
    clusters: list[ClusterEntry]
    total: int
    notes: list[str]
    state: str


class TopicEntry(Answer):
    """Topic: words, and the documents with the largest share of it."""

    number: int
    weight: float
    words: list[WordWeight]
    documents: list[DocumentStart]


class TopicsAnswer(Answer):
    """Topics, the heaviest first."""

    topics: list[TopicEntry]
    total: int
    notes: list[str]
    state: str
