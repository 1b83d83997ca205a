"""What clients send, with examples that work on ``textkin serve --demo``."""

from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    FiniteFloat,
    model_validator,
)

from textkin.web._settings import MOST_LISTED

__all__ = [
    "Adding",
    "Asked",
    "Classifying",
    "Comparing",
    "Explaining",
    "Feedback",
    "Limited",
    "NewDocument",
    "Replacing",
    "Round",
    "Searching",
    "Similar",
    "StoredText",
]


def Limited(limit: str, **schema: Any) -> Any:  # noqa: ANN401 (stands where Field does)
    """Return a field whose bound is a limit of the settings; the description names the number."""
    return Field(json_schema_extra={"x-limit": limit}, **schema)


class Body(BaseModel):
    """A body of a request: what is misspelt, or of another type, is refused.

    By its first fault: a body of 2 MB can have a million of them, and the list would take a
    gigabyte and most of a minute.
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
        said = f"character {error.start} is half of a surrogate pair, which is no text"
        raise ValueError(said) from None
    return text


Text: TypeAlias = Annotated[str, AfterValidator(_whole), Limited("query")]
_MOST = 1_000_000_000  # of any number; limits are below
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=10_000)]
By: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        description="A ranking by name: one of `rankings` of `GET /api/stats`.",
    ),
]
Where: TypeAlias = Annotated[
    str | dict[Any, Any] | None,  # its own reader looks at the names
    Field(
        description='What documents must fulfil: a mapping such as `{"year": {">=": 2010}}`, or '
        "the same as text, such as `year >= 2010 and lang in (en, de)`."
    ),
]
Label: TypeAlias = str | bool | int | FiniteFloat | None


class Round(Body):
    """A round of relevance feedback: which documents were right, and which were not."""

    relevant: Annotated[list[Id], FailFast(), Limited("marks", max_length=MOST_LISTED)] = []
    nonrelevant: Annotated[list[Id], FailFast(), Limited("marks", max_length=MOST_LISTED)] = []


class Asked(Body):
    """What all searches may say."""

    by: By = "bm25"
    k: Annotated[int, Limited("k", ge=1, le=_MOST, description="How many hits at most.")] = 10
    offset: Annotated[
        int, Limited("offset", ge=0, le=_MOST, description="How many better hits are passed over.")
    ] = 0
    where: Where = None
    threshold: Annotated[
        FiniteFloat | None,
        Field(description="The score that hits have at least; of a distance, at most."),
    ] = None
    rounds: Annotated[list[Round], FailFast(), Limited("rounds", max_length=MOST_LISTED)] = []


class Searching(Asked):
    """A search for a text."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "delete a directory with all its contents", "k": 3},
                {
                    "query": "pick a winner at random",
                    "by": "wmd",
                    "where": "label in (random, secrets)",
                    "k": 5,
                },
            ]
        }
    )

    query: Text


class Similar(Asked):
    """A search for documents like one of the index."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "shutil.rmtree", "by": "tfidf", "k": 3}]}
    )

    id: Id


class _TextOrId(Body):
    query: Text | None = None
    id: Id | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.query is None) == (self.id is None):
            raise ValueError("give a query or an id, and not both")
        return self


class Feedback(Asked, _TextOrId):
    """A search moved by feedback, with what it was before."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
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
            ]
        }
    )

    pseudo: Annotated[
        int | None,
        Limited(
            "k",
            ge=1,
            le=_MOST,
            description="Take so many of the best for relevant, after all rounds.",
        ),
    ] = None


class Explaining(_TextOrId):
    """A question why a document has its score."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "erase a folder", "document": "shutil.rmtree", "by": "wmd"},
                {"id": "shutil.rmtree", "document": "shutil.copytree", "by": "bm25"},
            ]
        }
    )

    document: Id
    by: By = "bm25"
    where: Where = None
    rounds: Annotated[list[Round], FailFast(), Limited("rounds", max_length=MOST_LISTED)] = []
    pseudo: Annotated[int | None, Limited("k", ge=1, le=_MOST)] = None
    limit: Annotated[int, Field(ge=1, le=500, description="Parts to tell one by one.")] = 12


class StoredText(Body):
    """A document of the index, in place of a text."""

    id: Id


class Comparing(Body):
    """Two texts, or documents, to be compared."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "a": "Obama speaks to the media in Illinois",
                    "b": "The President greets the press in Chicago",
                },
                {"a": "Delete a whole folder", "b": {"id": "shutil.rmtree"}, "by": "tfidf"},
            ]
        }
    )

    a: Text | StoredText
    b: Text | StoredText
    by: Annotated[
        str,
        Field(max_length=200, description="A measure: one of `measures` of `GET /api/stats`."),
    ] = "wmd"
    limit: Annotated[int, Field(ge=1, le=500, description="Parts to tell one by one.")] = 20


class Classifying(Body):
    """A text, or a document, to be labelled by its neighbours."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Draw a sample without replacement", "by": "bm25", "k": 5},
                {"id": "shutil.rmtree", "by": "wmd"},
            ]
        }
    )

    text: Text | None = None
    id: Id | None = None
    by: By = "wmd"
    k: Annotated[int, Limited("k", ge=1, le=_MOST, description="How many neighbours vote.")] = 5
    field: Annotated[
        str, Field(min_length=1, max_length=200, description="The label, or a field of metadata.")
    ] = "label"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.text is None) == (self.id is None):
            raise ValueError("give a text or an id, and not both")
        return self


class NewDocument(Body):
    """A document to be added."""

    id: Annotated[
        Id | None, Field(description="New; a document that brings none gets a number.")
    ] = None
    text: Annotated[str, AfterValidator(_whole), Limited("text")]
    label: Label = None
    metadata: dict[Any, Any] = {}  # its own reader looks at the names


class Adding(Body):
    """Documents to be added, all of them or none."""

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
        Limited("documents", min_length=1, max_length=MOST_LISTED),
    ]


class Replacing(Body):
    """A document as it shall be."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"text": "A note, and what came of it", "label": "notes", "metadata": {}}]
        }
    )

    text: Annotated[str, AfterValidator(_whole), Limited("text")]
    label: Label = None
    metadata: dict[Any, Any] = {}  # its own reader looks at the names
