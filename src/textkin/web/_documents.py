"""Documents of the index: listed, shown, added, replaced, deleted."""

import hmac

import numpy as np

from textkin.exceptions import AddError
from textkin.explain import shortened
from textkin.index._searching import _scope
from textkin.index.ranking._view import View
from textkin.text import Document
from textkin.web import _answers as answers
from textkin.web._checking import checked_filter
from textkin.web._problems import Problem
from textkin.web._requests import Adding, NewDocument, Replacing
from textkin.web._searching import row_named
from textkin.web._store import Store, state_of

__all__ = ["add", "check_writer", "delete", "list_documents", "replace_document", "show", "start"]

_START = 200  # columns of the beginning of a text
_LOOKED_AT = 2000  # characters of it
_TRIES = 10  # to find a number as an id that nobody else takes


def start(text: str, columns: int = _START) -> str:
    """Return the beginning of a text on one line."""
    return shortened(text[:_LOOKED_AT], columns)


def list_documents(store: Store, offset: int, limit: int, where: str) -> answers.DocumentList:
    """List documents in the order in which they were added."""
    limits = store.limits
    if limit > limits.k:
        raise Problem("invalid", f"limit must be at most {limits.k}; got {limit}.", "limit")
    checked = checked_filter(limits, where or None)
    view = store.view()
    scope = _scope(view, checked)
    rows = np.flatnonzero(view.live if scope.rows is None else view.live & scope.rows)
    notes = list(scope.notes)
    if scope.unknown_fields:
        notes.append(f"No document has the field {', '.join(map(repr, scope.unknown_fields))}.")
    return answers.DocumentList(
        documents=[
            answers.ListedDocument(
                id=document.id,
                label=document.label,
                metadata=dict(document.metadata),
                start=start(document.text),
            )
            for document in view.documents(rows[offset : offset + limit].tolist())
        ],
        total=len(rows),
        notes=notes,
        state=state_of(view),
    )


def show(store: Store, id: str) -> answers.StoredDocument:
    """Return one document."""
    view = store.view()
    row = row_named(view, id, "id")
    (document,) = view.documents([row])
    return answers.StoredDocument(
        id=document.id,
        text=document.text,
        label=document.label,
        metadata=dict(document.metadata),
        words=int(view.lengths[row]),
        state=state_of(view),
    )


def check_writer(store: Store, authorization: str | None) -> None:
    """Raise unless a request may write.

    The token is compared in a time that does not depend on how much of it is right.
    """
    token = store.settings.token
    if token is None:
        raise Problem(
            "read_only",
            "This server only reads. Start it with a token to write: textkin serve INDEX "
            "--token-file FILE, or the variable TEXTKIN_TOKEN.",
        )
    kind, _, given = (authorization or "").partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if kind.lower() != "bearer" or not right:
        raise Problem(
            "unauthorized",
            "Writing needs the header 'Authorization: Bearer TOKEN' with the token of this "
            f"server; got {'another token' if kind.lower() == 'bearer' else 'none'}.",
        )


def add(store: Store, asked: Adding) -> answers.Added:
    """Add documents, all of them or none."""
    limits = store.limits
    if len(asked.documents) > limits.documents:
        raise Problem(
            "too_large",
            f"At most {limits.documents:,} documents in one request; got "
            f"{len(asked.documents):,}. Send them in several.",
            "documents",
        )
    for document in asked.documents:
        _check_text(store, document.text, "documents")
    given = {document.id for document in asked.documents}
    for _ in range(_TRIES):
        ids = _ids(store.view(), asked.documents)
        records = [
            Document(id, document.text, document.label, document.metadata)
            for id, document in zip(ids, asked.documents, strict=True)
        ]
        try:
            changes = store.index.add(records)
        except AddError as error:
            if error.id is None or not _is_there(store, error.id):
                raise
            if error.id in given:
                raise Problem("conflict", _taken(error.id), "documents") from error
            continue  # another request has taken the number meanwhile
        return answers.Added(added=changes.added, ids=ids, state=state_of(store.view()))
    raise Problem("busy", "Too many add documents at once; give them ids, or try again.")


def replace_document(store: Store, id: str, asked: Replacing) -> answers.Updated:
    """Add a document, or replace the one with its id."""
    _check_text(store, asked.text, "text")
    store.check_there()
    changes = store.index.update([Document(id, asked.text, asked.label, asked.metadata)])
    return answers.Updated(
        updated=changes.updated,
        added=changes.added,
        unchanged=changes.unchanged,
        state=state_of(store.view()),
    )


def delete(store: Store, id: str) -> answers.Deleted:
    """Delete a document."""
    row_named(store.view(), id, "id")
    changes = store.index.delete(id, missing="ignore")
    if not changes.deleted:  # by another request meanwhile
        raise Problem("not_found", "No document has this id any more.", "id")
    return answers.Deleted(deleted=changes.deleted, state=state_of(store.view()))


def _ids(view: View, documents: list[NewDocument]) -> list[str]:
    """Return the ids of new documents; those that bring none get numbers that are free."""
    taken = {document.id for document in documents if document.id is not None}
    number = view.snapshot.state.next_position
    found = []
    for document in documents:
        id = document.id
        while id is None:
            candidate = str(number)
            number += 1
            if candidate not in taken and view.row_of(candidate) is None:
                id = candidate
        found.append(id)
    twice = [id for id in taken if found.count(id) > 1] if len(taken) < len(found) else []
    if twice:
        raise Problem("invalid", f"Two documents have the id {min(twice)[:80]!r}.", "documents")
    return found


def _is_there(store: Store, id: str) -> bool:
    return store.view().row_of(id) is not None


def _taken(id: str) -> str:
    return (
        f"A document has the id {id[:80]!r} already, and nothing was added. Take another id, or "
        "replace it with PUT /api/document?id=..."
    )


def _check_text(store: Store, text: str, field: str) -> None:
    if len(text) > store.limits.text:
        raise Problem(
            "too_large",
            f"A document may have {store.limits.text:,} characters; got {len(text):,}. Split it "
            "into passages.",
            field,
        )
