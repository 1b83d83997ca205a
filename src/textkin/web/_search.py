"""Routes for searches, feedback, and classification by nearest documents."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from textkin.index import Condition, FeedbackRound, Hits, IndexReader, SearchRequest
from textkin.reading import Document
from textkin.web import _answers as answers
from textkin.web._errors import Problem
from textkin.web._index import ServedIndex
from textkin.web._requests import (
    ClassifyBody,
    FeedbackBody,
    Marks,
    SearchBody,
    SearchFields,
    SimilarBody,
    check_page,
    check_pseudo,
    check_rounds,
    check_text,
    checked_filter,
)

__all__ = ["classify", "existing", "feedback", "rounds_of", "search"]

_SNIPPET = 240


def search(served: ServedIndex, body: SearchBody | SimilarBody) -> answers.SearchAnswer:
    """Run a search."""
    reader = served.reader()
    return answers.SearchAnswer(**_found(reader, _hits(served, reader, body), body))


def feedback(served: ServedIndex, body: FeedbackBody) -> answers.FeedbackAnswer:
    """Run a search with feedback, and the search before feedback."""
    check_pseudo(served.limits, body.pseudo)
    reader = served.reader()
    hits = _hits(served, reader, body)
    before = _hits(served, reader, body, before=True)
    ranks = {hit.id: hit.rank for hit in before[: body.k]}
    found = _found(reader, hits, body)
    found["hits"] = [hit.model_copy(update={"was": ranks.get(hit.id)}) for hit in found["hits"]]
    words = before.query.words
    return answers.FeedbackAnswer(
        **found,
        before=answers.PreviousSearch(
            words=None if words is None else dict(words),
            hits=[answers.PreviousHit(id=id, rank=rank) for id, rank in ranks.items()],
        ),
    )


def classify(served: ServedIndex, body: ClassifyBody) -> answers.VoteAnswer:
    """Label a text by the votes of the nearest documents with a label."""
    check_page(served.limits, body.k, 0)
    check_text(served.limits, body.text, "text")
    reader = served.reader()
    served.ranking(reader, body.ranking, text=body.id is None)
    if body.id is not None:
        existing(reader, body.id, "id")
    request = SearchRequest(
        body.text or "" if body.id is None else None,
        like=body.id,
        ranking=body.ranking,
        # an object, because the text of a field called "not" would not parse
        where=Condition(body.field, "exists"),
        k=body.k,
        syntax="plain",
    )
    hits = reader.find(request)
    found = [_label(hit.document, body.field) for hit in hits]
    near = [at for at, label in enumerate(found) if _is_label(label)]
    labels = [found[at] for at in near]
    # Order of the nearest documents. True, 1, and 1.0 are equal in Python, but three labels.
    votes = Counter((type(label), label) for label in labels)
    shares = [
        answers.LabelShare(label=label, share=number / len(near))
        for (_, label), number in votes.most_common()
    ]
    notes = list(hits.notes)
    if not near and not notes:
        notes = [f"No document with a {body.field} shares a word with this text."]
    return answers.VoteAnswer(
        label=shares[0].label if shares else None,
        shares=shares,
        neighbors=[
            answers.VotingDocument(
                id=hits[at].id,
                label=label,
                score=hits[at].score,
                vote=1 / len(near),
                snippet=_pieces(hits, at),
            )
            for at, label in zip(near, labels, strict=True)
        ],
        notes=notes,
        state=str(reader.number),
    )


def existing(reader: IndexReader, id: str, field: str) -> Document:
    """Return the document with an ID; raise if no document has it."""
    document = reader.get(id)
    if document is None:
        raise Problem("not_found", f"No document has the ID {_shown(id)}.", field)
    return document


def rounds_of(
    reader: IndexReader, rounds: Sequence[Marks], pseudo: int | None = None
) -> tuple[FeedbackRound, ...]:
    """Convert the marks of a request to rounds of feedback; raise for an invalid document."""
    for number, marks in enumerate(rounds, start=1):
        both = set(marks.relevant) & set(marks.nonrelevant)
        if both:
            raise Problem(
                "invalid",
                f"A document must be either relevant or nonrelevant; {_shown(min(both))} is both "
                f"in round {number}.",
                "rounds",
            )
        for id in (*marks.relevant, *marks.nonrelevant):
            if id not in reader:
                raise Problem("not_found", f"No document has the ID {_shown(id)}.", "rounds")
    found = [FeedbackRound(tuple(one.relevant), tuple(one.nonrelevant)) for one in rounds]
    return (*found, *([] if pseudo is None else [FeedbackRound(pseudo=pseudo)]))


def _hits(
    served: ServedIndex, reader: IndexReader, body: SearchFields, *, before: bool = False
) -> Hits:
    """Run the search of a request, with or without its feedback."""
    text, id = getattr(body, "query", None), getattr(body, "id", None)
    check_page(served.limits, body.k, body.offset)
    check_text(served.limits, text)
    check_rounds(served.limits, body.rounds)
    where = checked_filter(served.limits, body.where)
    served.ranking(reader, body.ranking, text=id is None)
    if id is not None:
        existing(reader, id, "id")
    rounds = rounds_of(reader, body.rounds, getattr(body, "pseudo", None))
    request = SearchRequest(
        text or "" if id is None else None,
        like=id,
        ranking=body.ranking,
        k=body.k + 1,  # one additional hit shows if there is a next page
        offset=body.offset,
        threshold=body.threshold,
        where=where,
        rounds=() if before else rounds,
        syntax=body.syntax,
    )
    return reader.find(request)


def _found(reader: IndexReader, hits: Hits, body: SearchFields) -> dict[str, Any]:
    query = hits.query
    return {
        "query": answers.QuerySummary(
            text=query.text,
            id=query.like,
            words=None if query.words is None else dict(query.words),
            rounds=query.rounds,
            required=list(query.required),
            excluded=list(query.excluded),
            where=None if query.where is None else str(query.where),
        ),
        "ranking": body.ranking,
        "ascending": hits.ascending,
        "offset": body.offset,
        "k": body.k,
        "more": len(hits) > body.k,
        "hits": [
            answers.HitEntry(
                rank=hit.rank,
                id=hit.id,
                score=hit.score,
                label=hit.label,
                metadata=dict(hit.metadata),
                snippet=_pieces(hits, at),
                length=hit.length,
            )
            for at, hit in enumerate(hits[: body.k])
        ],
        "notes": list(hits.notes),
        "suggestions": {word: list(found) for word, found in hits.suggestions.items()},
        "stats": {name: float(value) for name, value in hits.stats.items()},
        "state": str(reader.number),
        "seconds": float(hits.stats["seconds"]),
    }


def _pieces(hits: Hits, at: int) -> list[answers.SnippetPiece]:
    """Convert the snippet of a hit to the response of the API."""
    return [
        answers.SnippetPiece(text=piece.text, match=piece.matched)
        for piece in hits.pieces(at, _SNIPPET)
    ]


def _label(document: Document, field: str) -> Any:  # noqa: ANN401 (JSON)
    if field == "label":
        return document.label
    found: Any = document.metadata
    for name in field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _is_label(value: object) -> bool:
    return isinstance(value, str | int | float)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}...")
