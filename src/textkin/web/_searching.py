"""From a request to hits: searches, documents like one, feedback, votes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textkin.index._records import is_text
from textkin.index._searching import _scope
from textkin.index.ranking._asking import Asking
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._filters import Condition, Filter
from textkin.index.ranking._hits import Hits, find
from textkin.index.ranking._snippets import Snippets
from textkin.index.ranking._view import View
from textkin.text import Document
from textkin.web import _answers as answers
from textkin.web._checking import (
    check_page,
    check_pseudo,
    check_rounds,
    check_text,
    checked_filter,
)
from textkin.web._problems import Problem
from textkin.web._requests import Asked, Classifying, Feedback, Round, Searching, Similar
from textkin.web._store import Store, state_of

__all__ = ["Question", "classify", "feedback", "piece_list", "row_named", "search"]

_SNIPPET = 240


class Question:
    """A query bound to one state of the index, as its ranking wants it, moved by feedback.

    Parameters
    ----------
    store : Store
        The index.
    view : View
        Its state.
    text, id : str or None
        What is looked for: a text, or documents like one.
    by : str
        The ranking.
    where : Filter or None
        The filter.
    rounds : sequence of Round
        Feedback, one round after the other.
    """

    def __init__(
        self,
        store: Store,
        view: View,
        *,
        text: str | None,
        id: str | None,
        by: str,
        where: Filter | None = None,
        threshold: float | None = None,
        k: int = 1,
        offset: int = 0,
        rounds: Sequence[Round] = (),
    ) -> None:
        store.checked_by(view, by)
        scope = _scope(view, where)
        row = None
        if id is not None:
            row = row_named(view, id, "id")
            others = np.ones(view.n_rows, np.bool_) if scope.rows is None else scope.rows.copy()
            others[row] = False
            scope = replace(scope, rows=others)
        # One more than asked for tells whether there is another page.
        self.asking: Asking = store.index._asking(
            view, by, k + 1, offset, threshold, scope, text, id
        )
        ranker = self.asking.ranker
        self.query = ranker.of_row(row) if row is not None else ranker.of_text(text or "")
        self.first = self.query
        for number, marks in enumerate(rounds):
            self._move(marks, number)

    def hits(self) -> Hits:
        """Find the best documents."""
        return find(self.asking, self.query)

    def hits_before(self) -> Hits:
        """Find what the query finds without feedback."""
        return find(replace(self.asking, rounds=0), self.first)

    def move_to_best(self, m: int) -> None:
        """Take the best documents for relevant."""
        asking = self.asking
        most = min(m, max(1, asking.view.n_rows))
        best = asking.ranker.best(self.query, most, asking.threshold, asking.scope.rows)
        self._moved(best.rows.tolist(), [], Rocchio(gamma=0.0))

    def _move(self, marks: Round, number: int) -> None:
        both = set(marks.relevant) & set(marks.nonrelevant)
        if both:
            raise Problem(
                "invalid",
                f"A document is relevant or it is not; {_shown(min(both))} is in both lists of "
                f"round {number + 1}.",
                "rounds",
            )
        view = self.asking.view
        good, bad = (
            [row_named(view, id, "rounds") for id in dict.fromkeys(ids)]
            for ids in (marks.relevant, marks.nonrelevant)
        )
        self._moved(good, bad, Rocchio())

    def _moved(self, good: list[int], bad: list[int], how: Rocchio) -> None:
        if good or bad:
            self.query = self.asking.ranker.moved(self.query, good, bad, how)
        self.asking = replace(self.asking, rounds=self.asking.rounds + 1)


def search(store: Store, asked: Searching | Similar) -> answers.Found:
    """Answer a search."""
    hits = _question(store, asked).hits()
    return answers.Found(**_found(hits, asked))


def feedback(store: Store, asked: Feedback) -> answers.FeedbackFound:
    """Answer a search moved by feedback, with what it was before."""
    check_pseudo(store.limits, asked.pseudo)
    question = _question(store, asked)
    before = question.hits_before()
    if asked.pseudo is not None:
        question.move_to_best(asked.pseudo)
    hits = question.hits()
    ranks = {hit.id: hit.rank for hit in before[: asked.k]}
    found = _found(hits, asked)
    found["hits"] = [hit.model_copy(update={"was": ranks.get(hit.id)}) for hit in found["hits"]]
    words = before.query.words
    return answers.FeedbackFound(
        **found,
        before=answers.Before(
            words=None if words is None else dict(words),
            hits=[answers.BeforeHit(id=id, rank=rank) for id, rank in ranks.items()],
        ),
    )


def classify(store: Store, asked: Classifying) -> answers.Classified:
    """Let the nearest documents that have a label vote."""
    check_page(store.limits, asked.k, 0)
    check_text(store.limits, asked.text, "text")
    question = Question(
        store,
        store.view(),
        text=asked.text,
        id=asked.id,
        by=asked.by,
        where=Condition(asked.field, "exists"),  # a field may be called "not"
        k=asked.k,
    )
    hits = question.hits()
    near = [hit for hit in hits[: asked.k] if _is_label(_label(hit.document, asked.field))]
    labels = [_label(hit.document, asked.field) for hit in near]
    # In the order of the nearest; True, 1 and 1.0 are equal, and three labels.
    votes = Counter((type(label), label) for label in labels)
    shares = [
        answers.Share(label=label, share=number / len(near))
        for (_, label), number in votes.most_common()
    ]
    notes = list(hits.notes)
    if not near and not notes:
        notes = [f"No document with a {asked.field} has anything in common with this text."]
    pieces = Snippets.of(hits._asking.view)
    return answers.Classified(
        label=shares[0].label if shares else None,
        shares=shares,
        neighbors=[
            answers.Neighbour(
                id=hit.id,
                label=label,
                score=hit.score,
                vote=1 / len(near),
                snippet=piece_list(pieces, hit.text, hits),
            )
            for hit, label in zip(near, labels, strict=True)
        ],
        notes=notes,
        state=state_of(hits._asking.view),
    )


def row_named(view: View, id: str, field: str) -> int:
    """Return the row of a document, or say that there is none."""
    row = view.row_of(id) if is_text(id) else None
    if row is None:
        raise Problem("not_found", f"No document has the id {_shown(id)}.", field)
    return row


def piece_list(snippets: Snippets, text: str, hits: Hits) -> list[answers.SnippetPiece]:
    """Return the passage of a text that has most words of the query."""
    return [
        answers.SnippetPiece(text=piece.text, match=piece.matched)
        for piece in snippets.find(text, hits._snippet_words, _SNIPPET)
    ]


def _question(store: Store, asked: Asked) -> Question:
    text = getattr(asked, "query", None)
    check_page(store.limits, asked.k, asked.offset)
    check_text(store.limits, text)
    check_rounds(store.limits, asked.rounds)
    return Question(
        store,
        store.view(),
        text=text,
        id=getattr(asked, "id", None),
        by=asked.by,
        where=checked_filter(store.limits, asked.where),
        threshold=asked.threshold,
        k=asked.k,
        offset=asked.offset,
        rounds=asked.rounds,
    )


def _found(hits: Hits, asked: Asked) -> dict[str, Any]:
    view = hits._asking.view
    shown = hits[: asked.k]
    snippets = Snippets.of(view)
    lengths = view.lengths[hits._rows[: asked.k]].tolist()
    query = hits.query
    return {
        "query": answers.QuerySeen(
            text=query.text,
            id=query.like,
            words=None if query.words is None else dict(query.words),
            rounds=query.rounds,
        ),
        "by": asked.by,
        "ascending": hits.ascending,
        "offset": asked.offset,
        "k": asked.k,
        "more": len(hits) > asked.k,
        "hits": [
            answers.FoundHit(
                rank=hit.rank,
                id=hit.id,
                score=hit.score,
                label=hit.label,
                metadata=dict(hit.metadata),
                snippet=piece_list(snippets, hit.text, hits),
                length=length,
            )
            for hit, length in zip(shown, lengths, strict=True)
        ],
        "notes": list(hits.notes),
        "stats": {name: float(value) for name, value in hits.stats.items()},
        "state": state_of(view),
        "seconds": float(hits.stats["seconds"]),
    }


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
