"""Routes for documents: list, show, add, replace, and delete."""

import hmac

from textkin.exceptions import AddError
from textkin.explain import shortened
from textkin.index import IndexReader
from textkin.reading import Document
from textkin.web import _answers as answers
from textkin.web._errors import Problem
from textkin.web._index import ServedIndex
from textkin.web._requests import AddBody, NewDocument, ReplaceBody, checked_filter
from textkin.web._search import existing

__all__ = ["add", "check_writer", "delete", "list_documents", "replace_document", "show", "start"]

_START = 200  # width of the start of a text
_LOOKED_AT = 2000  # characters of a text to read for its start
_TRIES = 10  # number of attempts to find an unused number as an ID


def start(text: str, columns: int = _START) -> str:
    """Return the start of a text on one line."""
    return shortened(text[:_LOOKED_AT], columns)


def list_documents(
    served: ServedIndex, offset: int, limit: int, where: str
) -> answers.DocumentsAnswer:
    """List documents in the order of insertion."""
    limits = served.limits
    if limit > limits.k:
        raise Problem("invalid", f"limit must be at most {limits.k}; got {limit}.", "limit")
    checked = checked_filter(limits, where or None)
    reader = served.reader()
    rows, unknown_fields, notes = reader.select(checked)
    if unknown_fields:
        notes = *notes, f"No document has the field {', '.join(map(repr, unknown_fields))}."
    return answers.DocumentsAnswer(
        documents=[
            answers.DocumentEntry(
                id=document.id,
                label=document.label,
                metadata=dict(document.metadata),
                start=start(document.text),
            )
            for document in reader.documents(rows[offset : offset + limit])
        ],
        total=len(rows),
        notes=list(notes),
        state=str(reader.number),
    )


def show(served: ServedIndex, id: str) -> answers.DocumentAnswer:
    """Return one document."""
    reader = served.reader()
    document = existing(reader, id, "id")
    return answers.DocumentAnswer(
        id=document.id,
        text=document.text,
        label=document.label,
        metadata=dict(document.metadata),
        words=reader.length(id),
        state=str(reader.number),
    )


def check_writer(served: ServedIndex, authorization: str | None) -> None:
    """Raise unless a request may write.

    The comparison takes the same time for any wrong token.
    """
    token = served.settings.token
    if token is None:
        raise Problem(
            "read_only",
            "This server is read-only. To allow writing, start it with a token: textkin serve "
            "INDEX --token-file FILE, or set TEXTKIN_TOKEN.",
        )
    kind, _, given = (authorization or "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if kind.lower() != "bearer" or not right:
        raise Problem(
            "unauthorized",
            "Writing requires the header 'Authorization: Bearer TOKEN' with the token of this "
            f"server; got {'another token' if kind.lower() == 'bearer' else 'no token'}.",
        )


def add(served: ServedIndex, body: AddBody) -> answers.AddAnswer:
    """Add all documents, or none if one fails."""
    limits = served.limits
    if len(body.documents) > limits.documents:
        raise Problem(
            "too_large",
            f"A request must have at most {limits.documents:,} documents; got "
            f"{len(body.documents):,}. Send several requests.",
            "documents",
        )
    for document in body.documents:
        _check_text(served, document.text, "documents")
    given = {document.id for document in body.documents}
    for _ in range(_TRIES):
        ids = _ids(served.reader(), body.documents)
        records = [
            Document(id, document.text, document.label, document.metadata)
            for id, document in zip(ids, body.documents, strict=True)
        ]
        try:
            changes = served.index.add(records)
        except AddError as error:
            if error.id is None or not _is_there(served, error.id):
                raise
            if error.id in given:
                raise Problem("conflict", _taken(error.id), "documents") from error
            continue  # another request has used the number in the meantime
        reader = served.reader()
        return answers.AddAnswer(
            added=changes.added,
            ids=ids,
            state=str(reader.number),
            notes=[
                f"The documents have no vectors of {ranking.name!r}, which does not find them."
                for ranking in reader.rankings()
                if not ranking.takes_text
            ],
        )
    raise Problem("busy", "Too many clients add documents at once. Pass IDs, or try again.")


def replace_document(served: ServedIndex, id: str, body: ReplaceBody) -> answers.UpdateAnswer:
    """Add a document, or replace the document with the same ID."""
    _check_text(served, body.text, "text")
    served.reader()  # raises if the folder is gone
    changes = served.index.update([Document(id, body.text, body.label, body.metadata)])
    return answers.UpdateAnswer(
        updated=changes.updated,
        added=changes.added,
        unchanged=changes.unchanged,
        state=str(served.reader().number),
    )


def delete(served: ServedIndex, id: str) -> answers.DeleteAnswer:
    """Delete a document."""
    existing(served.reader(), id, "id")
    changes = served.index.delete(id, missing="ignore")
    if not changes.deleted:  # deleted by another request in the meantime
        raise Problem("not_found", "The document was deleted by another request.", "id")
    return answers.DeleteAnswer(deleted=changes.deleted, state=str(served.reader().number))


def _ids(reader: IndexReader, documents: list[NewDocument]) -> list[str]:
    """Return the IDs of new documents; documents without an ID get unused numbers."""
    taken = {document.id for document in documents if document.id is not None}
    number = reader.next_position
    found = []
    for document in documents:
        id = document.id
        while id is None:
            candidate = str(number)
            number += 1
            if candidate not in taken and candidate not in reader:
                id = candidate
        found.append(id)
    twice = [id for id in taken if found.count(id) > 1] if len(taken) < len(found) else []
    if twice:
        raise Problem(
            "invalid",
            f"IDs must be unique; two documents have the ID {min(twice)[:80]!r}.",
            "documents",
        )
    return found


def _is_there(served: ServedIndex, id: str) -> bool:
    return id in served.reader()


def _taken(id: str) -> str:
    return (
        f"The ID {id[:80]!r} must be new; a document has it. Nothing was added. Use another ID, or "
        "replace the document with PUT /api/document?id=..."
    )


def _check_text(served: ServedIndex, text: str, field: str) -> None:
    if len(text) > served.limits.text:
        raise Problem(
            "too_large",
            f"A document must have at most {served.limits.text:,} characters; got {len(text):,}. "
            "Split it into passages.",
            field,
        )
