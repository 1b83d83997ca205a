"""Why a document has its score, and how two texts compare."""

from collections.abc import Sequence
from typing import Any

from textkin.explain import Contribution, Contributions, Explanation, Flow
from textkin.explain._aligned import AlignedPiece, AlignedText
from textkin.index.ranking._choosing import ranking_of
from textkin.index.ranking._ranking import Ranker
from textkin.index.ranking._view import View
from textkin.transport import Comparison
from textkin.web import _answers as answers
from textkin.web._checking import check_pseudo, check_rounds, check_text, checked_filter
from textkin.web._comparing import Side, aligned, check_flow, compared
from textkin.web._problems import Problem
from textkin.web._requests import Comparing, Explaining, StoredText
from textkin.web._searching import Question, row_named
from textkin.web._store import Store, state_of

__all__ = ["compare", "explain"]

_SCORE_NAMES = {
    "inner": "inner product",
    "binary": "shared words",
    "tfidf": "cosine",
    "cosine": "cosine",
    "wmd": "distance",
    "rwmd": "distance",
    "wcd": "distance",
}


def explain(store: Store, asked: Explaining) -> answers.Explanation:
    """Say why a document has its score for a query, found or not."""
    limits = store.limits
    check_text(limits, asked.query)
    check_rounds(limits, asked.rounds)
    check_pseudo(limits, asked.pseudo)
    where = checked_filter(limits, asked.where)
    view = store.view()
    question = Question(
        store,
        view,
        text=asked.query,
        id=asked.id,
        by=asked.by,
        where=where,
        rounds=asked.rounds,
    )
    row = row_named(view, asked.document, "document")
    if asked.pseudo is not None:
        question.move_to_best(asked.pseudo)
    asking = question.asking
    check_flow(asking.ranker, question.query, row)
    try:
        found = asking.ranker.explain_among(question.query, row, asking.scope.rows)
    except LookupError as error:  # no candidate of a hybrid, or an index without words
        raise Problem("not_found", str(error.args[0]), "document") from error
    moved = bool(asked.rounds) or asked.pseudo is not None  # it is no text any more
    own = asked.query if asked.id is None else _text(view, row_named(view, asked.id, "id"))
    texts = ("" if moved else own or "", _text(view, row))
    return _answer(store, asking.ranker, asked.by, found, texts, asked.limit)


def compare(store: Store, asked: Comparing) -> answers.Explanation:
    """Compare two texts or documents by a measure of the index."""
    view = store.view()
    by = store.checked_by(view, asked.by, measure=True)
    if not view.average_length:
        raise Problem(
            "invalid", "The index has no words yet, and measures need some; add documents.", "by"
        )
    sides = [_side(store, view, given, name) for given, name in ((asked.a, "a"), (asked.b, "b"))]
    ranker = ranking_of(by, view.snapshot.models).on(view)
    a, b = sides
    return _answer(store, ranker, by, compared(ranker, a, b), (a.text, b.text), asked.limit)


def _side(store: Store, view: View, given: str | StoredText, name: str) -> Side:
    if isinstance(given, str):
        check_text(store.limits, given, name)
        return Side(name, given)
    row = row_named(view, given.id, name)
    return Side(name, _text(view, row), row)


def _text(view: View, row: int) -> str:
    (document,) = view.documents([row])
    return document.text


def _answer(
    store: Store,
    ranker: Ranker[Any],
    by: str,
    found: Explanation,
    texts: tuple[str, str],
    limit: int,
) -> answers.Explanation:
    view = ranker.view
    record = view.snapshot.models.get(by)
    name = record.metric if record is not None else _SCORE_NAMES.get(by, "score")
    told: dict[str, Any] = {
        "score": found.score,
        "score_name": name,
        "svg": found.to_svg(limit=limit, embedded=True),
        "aligned": None,
        "notes": [],
        "state": state_of(view),
        "verified": None,
    }
    if max(map(len, texts)) <= store.limits.query:
        told["aligned"] = _aligned(aligned(ranker, found, texts))
    elif isinstance(found, Comparison | Flow):
        said = f"Texts of more than {store.limits.query:,} characters are not shown word by word."
        told["notes"] = [said]
    if isinstance(found, Comparison):
        facts = found.to_dict()
        told |= {
            "verified": bool(facts["proof"]["gap"] <= facts["proof"]["allowed"]),
            "bounds": facts["bounds"],
            "coverage": facts["coverage"],
        }
        return answers.Explanation(**told, **_flow(found.flow, limit))
    if isinstance(found, Flow):
        return answers.Explanation(**told, **_flow(found, limit))
    assert isinstance(found, Contributions)
    return answers.Explanation(**told, **_contributions(found, limit))


def _aligned(found: AlignedText | None) -> answers.Aligned | None:
    if found is None:
        return None
    a, b = ([_piece(piece) for piece in side] for side in (found.source, found.target))
    return answers.Aligned(a=a, b=b)


def _piece(piece: AlignedPiece) -> answers.AlignedPiece:
    return answers.AlignedPiece(
        text=piece.text,
        word=piece.word,
        level=piece.level,
        cost=piece.cost,
        adds=piece.adds,
        reason=piece.reason,
        partners=[
            answers.Partner(word=one.number, mass=one.mass, cost=one.cost) for one in piece.partners
        ],
    )


def _flow(flow: Flow, limit: int) -> dict[str, Any]:
    shown, smaller, free = flow.split(limit)
    count = smaller.count + free.count
    return {
        "kind": "flow",
        "parts": [
            answers.Flowing(
                source=move.source,
                target=move.target,
                mass=move.mass,
                cost=move.cost,
                contribution=move.contribution,
                share=flow.share(move),
            )
            for move in shown
        ],
        "rest": answers.Rest(count=count, value=smaller.contribution) if count else None,
    }


def _contributions(found: Contributions, limit: int) -> dict[str, Any]:
    return {
        "kind": "contributions",
        "parts": [_part(found, part, limit) for part in found.parts[:limit]],
        "rest": _rest(found.parts[limit:]),
    }


def _rest(parts: Sequence[Contribution]) -> answers.Rest | None:
    if not parts:
        return None
    return answers.Rest(count=len(parts), value=sum(part.value for part in parts))


def _part(found: Contributions, part: Contribution, limit: int) -> answers.Part:
    return answers.Part(
        name=part.name,
        value=part.value,
        share=found.share(part),
        note=part.note,
        parts=[_part(found, inner, limit) for inner in part.parts[:limit]],
        rest=_rest(part.parts[limit:]),
    )
