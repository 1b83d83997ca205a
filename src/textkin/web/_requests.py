"""Request bodies, with examples for ``textkin serve --demo``, and their limits."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    FiniteFloat,
    model_validator,
)

from textkin.index import Filter, parse_filter
from textkin.web._errors import Problem
from textkin.web._limits import MOST_LISTED, Limits

__all__ = [
    "AddBody",
    "ClassifyBody",
    "CompareBody",
    "DocumentReference",
    "ExplainBody",
    "FeedbackBody",
    "Marks",
    "NewDocument",
    "ReplaceBody",
    "SearchBody",
    "SearchFields",
    "SimilarBody",
    "check_page",
    "check_pseudo",
    "check_rounds",
    "check_text",
    "checked_filter",
    "limited",
]

_MOST_FIELDS = 50  # maximum number of fields in a filter; each is read from all documents


def one_of_two(first: str, second: str, examples: list[Any]) -> ConfigDict:
    """Return the schema of a body that requires exactly one of two text fields."""
    text, none = {"type": "string"}, {"type": "null"}
    branches: list[Any] = [
        {"required": [given], "properties": {given: text, other: none}}
        for given, other in ((first, second), (second, first))
    ]
    extra: dict[str, Any] = {"examples": examples, "oneOf": branches}
    return ConfigDict(json_schema_extra=extra)


def limited(limit: str, **schema: Any) -> Any:  # noqa: ANN401 (stands where Field does)
    """Return a field bounded by a limit of the settings; the description shows the number."""
    return Field(json_schema_extra={"x-limit": limit}, **schema)


class Body(BaseModel):
    """Request body; unknown names and wrong types are errors.

    Only the first error is reported. A body of 2 MB can have a million errors, and listing them
    would take 1 GB and most of a minute.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _one_unknown_field(cls, given: Any) -> Any:  # noqa: ANN401 (JSON)
        known = cls.model_fields
        if not isinstance(given, dict) or len(given) <= len(known):
            return given
        unknown = next(name for name in given if name not in known)
        return {name: given[name] for name in (*known, unknown) if name in given}


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        said = f"must be valid Unicode; character {error.start} is a lone surrogate"
        raise ValueError(said) from None
    return text


def _whole_number(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return 10 for 10.0, which JSON and the description do not tell from each other."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_whole_number)  # last, so that the bounds stay in the description
Text: TypeAlias = Annotated[str, AfterValidator(_whole), limited("query")]
_MOST = 1_000_000_000  # upper bound of all numbers; the settings have lower limits
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=10_000)]
RankingName: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        description="Name of a ranking: one of `rankings` of `GET /api/stats`.",
        json_schema_extra={"x-names": "rankings"},
    ),
]
Where: TypeAlias = Annotated[
    str | dict[Any, Any] | None,  # parsed and checked separately
    Field(
        description='Filter for documents: a mapping such as `{"year": {">=": 2010}}`, or '
        "text such as `year >= 2010 and lang in (en, de)`."
    ),
]
SyntaxName: TypeAlias = Annotated[
    Literal["auto", "operators", "plain"],
    Field(
        description='Whether operators of the query are read: `"exact phrase"`, `+required`, '
        "`-excluded`, `label:sport`. `auto`: in a query of one line with at most 16 words."
    ),
]
Label: TypeAlias = str | bool | int | FiniteFloat | None


class Marks(Body):
    """Round of relevance feedback: relevant and nonrelevant documents."""

    relevant: Annotated[list[Id], FailFast(), limited("marks", max_length=MOST_LISTED)] = []
    nonrelevant: Annotated[list[Id], FailFast(), limited("marks", max_length=MOST_LISTED)] = []


class SearchFields(Body):
    """Fields shared by all searches."""

    ranking: RankingName = "bm25"
    k: Annotated[
        int, limited("k", ge=1, le=_MOST, description="Maximum number of hits."), _WHOLE
    ] = 10
    offset: Annotated[
        int,
        limited("offset", ge=0, le=_MOST, description="Number of hits to skip."),
        _WHOLE,
    ] = 0
    where: Where = None
    threshold: Annotated[
        FiniteFloat | None,
        Field(description="Minimum score of a hit, or maximum distance."),
    ] = None
    rounds: Annotated[list[Marks], FailFast(), limited("rounds", max_length=MOST_LISTED)] = []
    syntax: SyntaxName = "auto"


class SearchBody(SearchFields):
    """Search for a text."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "delete a directory with all its contents", "k": 3},
                {"query": '"regular expression" -match', "k": 3},
                {
                    "query": "pick a winner at random",
                    "ranking": "wmd",
                    "where": "label in (random, secrets)",
                    "k": 5,
                },
            ]
        }
    )

    query: Text


class SimilarBody(SearchFields):
    """Search for documents similar to a document of the index."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "shutil.rmtree", "ranking": "tfidf", "k": 3}]}
    )

    id: Id


class _TextOrId(Body):
    query: Text | None = None
    id: Id | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.query is None) == (self.id is None):
            raise ValueError("pass either a query or an id")
        return self


class FeedbackBody(SearchFields, _TextOrId):
    """Search with feedback, compared with the search before feedback."""

    model_config = one_of_two(
        "query",
        "id",
        [
            {
                "query": "lock",
                "k": 5,
                "rounds": [
                    {
                        "relevant": ["logging.Handler.acquire"],
                        "nonrelevant": ["mailbox.Mailbox.lock"],
                    }
                ],
            },
            {"query": "median of data", "pseudo": 5},
        ],
    )

    pseudo: Annotated[
        int | None,
        limited(
            "k",
            ge=1,
            le=_MOST,
            description="Number of top hits to treat as relevant, after all rounds.",
        ),
        _WHOLE,
    ] = None


class ExplainBody(_TextOrId):
    """Request to explain the score of a document."""

    model_config = one_of_two(
        "query",
        "id",
        [
            {"query": "erase a folder", "document": "shutil.rmtree", "ranking": "wmd"},
            {"id": "shutil.rmtree", "document": "shutil.copytree", "ranking": "bm25"},
        ],
    )

    document: Id
    ranking: RankingName = "bm25"
    where: Where = None
    rounds: Annotated[list[Marks], FailFast(), limited("rounds", max_length=MOST_LISTED)] = []
    syntax: SyntaxName = "auto"
    pseudo: Annotated[int | None, limited("k", ge=1, le=_MOST), _WHOLE] = None
    limit: Annotated[int, Field(ge=1, le=500, description="Number of parts to list."), _WHOLE] = 12


class DocumentReference(Body):
    """Reference to a document of the index, instead of a text."""

    id: Id


class CompareBody(Body):
    """Two texts, or documents, to compare."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "a": "Obama speaks to the media in Illinois",
                    "b": "The President greets the press in Chicago",
                },
                {"a": "Delete a whole folder", "b": {"id": "shutil.rmtree"}, "ranking": "tfidf"},
            ]
        }
    )

    a: Text | DocumentReference
    b: Text | DocumentReference
    ranking: Annotated[
        str,
        Field(
            max_length=200,
            description="Name of a measure: one of `measures` of `GET /api/stats`.",
            json_schema_extra={"x-names": "measures"},
        ),
    ] = "wmd"
    limit: Annotated[int, Field(ge=1, le=500, description="Number of parts to list."), _WHOLE] = 20


class ClassifyBody(Body):
    """Text, or document, to label by its neighbors."""

    model_config = one_of_two(
        "text",
        "id",
        [
            {"text": "Draw a sample without replacement", "ranking": "bm25", "k": 5},
            {"id": "shutil.rmtree", "ranking": "wmd"},
        ],
    )

    text: Text | None = None
    id: Id | None = None
    ranking: RankingName = "wmd"
    k: Annotated[
        int, limited("k", ge=1, le=_MOST, description="Number of voting neighbors."), _WHOLE
    ] = 5
    field: Annotated[
        str, Field(min_length=1, max_length=200, description="`label`, or a metadata field.")
    ] = "label"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.id is None):
            raise ValueError("pass either a text or an id")
        return self


class NewDocument(Body):
    """Document to add."""

    id: Annotated[
        Id | None, Field(description="New ID; without an ID, a document gets a number.")
    ] = None
    text: Annotated[str, AfterValidator(_whole), limited("text")]
    label: Label = None
    metadata: dict[Any, Any] = {}  # parsed and checked separately


class AddBody(Body):
    """Documents to add: all of them, or none if one is invalid."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "documents": [
                        {
                            "id": "notes/today",
                            "text": "A note on moving words between documents",
                            "label": "notes",
                            "metadata": {"year": 2026},
                        }
                    ]
                }
            ]
        }
    )

    documents: Annotated[
        list[NewDocument],
        FailFast(),
        limited("documents", min_length=1, max_length=MOST_LISTED),
    ]


class ReplaceBody(Body):
    """New content for an existing or new document."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "A note and its result", "label": "notes", "metadata": {}}]
        }
    )

    text: Annotated[str, AfterValidator(_whole), limited("text")]
    label: Label = None
    metadata: dict[Any, Any] = {}  # parsed and checked separately


def check_page(limits: Limits, k: int, offset: int) -> None:
    """Raise if `k` or `offset` exceeds its limit."""
    if k > limits.k:
        raise Problem(
            "invalid", f"k must be at most {limits.k}; got {k}. For more hits, use offset.", "k"
        )
    if offset > limits.offset:
        raise Problem(
            "invalid",
            f"offset must be at most {limits.offset:,}; got {offset}. Use a more specific query "
            "or a filter.",
            "offset",
        )


def check_pseudo(limits: Limits, pseudo: int | None) -> None:
    """Raise if `pseudo` exceeds its limit."""
    if pseudo is not None and pseudo > limits.k:
        raise Problem("invalid", f"pseudo must be at most {limits.k}; got {pseudo}.", "pseudo")


def check_text(limits: Limits, text: str | None, field: str = "query") -> None:
    """Raise if a query text is too long."""
    if text is not None and len(text) > limits.query:
        raise Problem(
            "too_large",
            f"A query text must have at most {limits.query:,} characters; got {len(text):,}. "
            "Use a part of it.",
            field,
        )


def check_rounds(limits: Limits, rounds: list[Marks]) -> None:
    """Raise if there are too many rounds of feedback, or too many marks in a round."""
    if len(rounds) > limits.rounds:
        raise Problem(
            "too_large",
            f"There must be at most {limits.rounds} rounds of feedback; got {len(rounds)}. Drop "
            "the first rounds.",
            "rounds",
        )
    if any(len(marks.relevant) + len(marks.nonrelevant) > limits.marks for marks in rounds):
        raise Problem("too_large", f"A round must have at most {limits.marks} marks.", "rounds")


def checked_filter(limits: Limits, where: Any) -> Filter | None:  # noqa: ANN401 (JSON)
    """Return the filter of a request, or raise if it is too long."""
    if _length(where, limits.where) > limits.where:
        raise Problem(
            "too_large",
            f"A filter must have at most {limits.where:,} characters. Use fewer values, or add a "
            "field to the documents that expresses the condition.",
            "where",
        )
    try:
        made = None if where is None else parse_filter(where)
    except (TypeError, ValueError) as error:
        raise Problem("invalid", str(error), "where") from error
    if made is not None and len(made.fields) > _MOST_FIELDS:
        raise Problem(
            "too_large",
            f"A filter must have at most {_MOST_FIELDS} fields; got {len(made.fields):,}.",
            "where",
        )
    return made


def _length(where: object, most: int) -> int:
    """Return the approximate length of a filter as JSON; stop counting above the limit."""
    total = 0
    left = [where]
    while left and total <= most:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(value)
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
        total += len(value) if isinstance(value, str) else 1
    return total
