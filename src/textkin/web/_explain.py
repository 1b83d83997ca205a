"""Routes for explanations: scores of documents, and comparisons of texts."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from textkin.exceptions import EmptyDocumentError
from textkin.explain import (
    AlignedPiece,
    AlignedText,
    Contribution,
    Contributions,
    Explanation,
    Flow,
    shortened,
)
from textkin.index import IndexReader, RankingInfo, SearchRequest
from textkin.reading import Document
from textkin.transport import Comparison
from textkin.web import _answers as answers
from textkin.web._errors import Problem
from textkin.web._index import ServedIndex
from textkin.web._requests import (
    CompareBody,
    DocumentReference,
    ExplainBody,
    check_pseudo,
    check_rounds,
    check_text,
    checked_filter,
)
from textkin.web._search import existing, rounds_of

__all__ = ["compare", "explain"]

_NAMED = 5  # maximum number of words without a vector in an error
_COLUMNS = 40
# word pairs; a flow requires a cost table, and its certificate three such tables
_MOST_PAIRS = 10_000_000


def explain(served: ServedIndex, body: ExplainBody) -> answers.ExplanationAnswer:
    """Explain the score of a document for a query, even if it is not a hit."""
    limits = served.limits
    check_text(limits, body.query)
    check_rounds(limits, body.rounds)
    check_pseudo(limits, body.pseudo)
    where = checked_filter(limits, body.where)
    reader = served.reader()
    ranking = served.ranking(reader, body.ranking, text=body.id is None)
    query = body.query or "" if body.id is None else existing(reader, body.id, "id")
    rounds = rounds_of(reader, body.rounds, body.pseudo)
    document = existing(reader, body.document, "document")
    # A query after feedback is not a text.
    sides = {"document": document} if rounds else {"query": query, "document": document}
    _check_words(reader, ranking, sides)
    try:
        request = SearchRequest(
            body.query or "" if body.id is None else None,
            like=body.id,
            ranking=body.ranking,
            where=where,
            rounds=rounds,
            syntax=body.syntax,
        )
        found = reader.explain(body.document, request)
    except EmptyDocumentError as error:  # raised for a query after feedback
        raise _wordless({"query": []}) from error
    except LookupError as error:  # no candidate of a hybrid, or no words in the index
        raise Problem("not_found", str(error.args[0]), "document") from error
    texts = ("" if rounds else _text(query), document.text)
    return _answer(served, reader, ranking, found, texts, body.limit)


def compare(served: ServedIndex, body: CompareBody) -> answers.ExplanationAnswer:
    """Compare two texts or documents by a measure of the index."""
    reader = served.reader()
    ranking = served.ranking(reader, body.ranking, measure=True)
    if not reader.average_length:
        raise Problem(
            "invalid",
            "Measures require words, and the index has none. Add documents.",
            "ranking",
        )
    a = _side(served, reader, body.a, "a")
    b = _side(served, reader, body.b, "b")
    _check_words(reader, ranking, {"a": a, "b": b})
    found = reader.compare(a, b, body.ranking)
    return _answer(served, reader, ranking, found, (_text(a), _text(b)), body.limit)


def _side(
    served: ServedIndex, reader: IndexReader, given: str | DocumentReference, name: str
) -> str | Document:
    if isinstance(given, str):
        check_text(served.limits, given, name)
        return given
    return existing(reader, given.id, name)


def _text(side: str | Document) -> str:
    return side.text if isinstance(side, Document) else side


def _check_words(
    reader: IndexReader, ranking: RankingInfo, sides: Mapping[str, str | Document]
) -> None:
    """Raise unless the words of both sides have vectors and the number of pairs is small enough.

    In a hybrid, a part without words means that the part has not found the document.
    """
    words = {name: reader.compared_words(side, ranking.name) for name, side in sides.items()}
    compared = {name: found for name, found in words.items() if found is not None}
    empty = {
        name: [shortened(word, _COLUMNS) for word in islice(found.unknown, _NAMED)]
        for name, found in compared.items()
        if not found.known
    }
    if empty and ranking.kind == "transport":
        raise _wordless(empty)
    if ranking.name == "wcd" or len(compared) < 2:
        return
    (one, n), (other, m) = ((name, len(found.known)) for name, found in compared.items())
    if n * m > _MOST_PAIRS:
        raise Problem(
            "too_large",
            f"The texts must have at most {_MOST_PAIRS:,} pairs of different words; {one} has "
            f"{n:,} words and {other} {m:,}, so {n * m:,} pairs. Take a part of a text, or a "
            "measure without pairs, such as wcd or tfidf.",
        )


def _wordless(unknown: Mapping[str, Sequence[str]]) -> Problem:
    """Return the problem of sides without words to compare, with their unknown words."""
    sentences = [
        f"{name} must have a word with a vector; got only words such as {', '.join(words)}. "
        "Use other words, or a measure of spellings, such as tfidf."
        if words
        else f"{name} must have words other than stop words; got only stop words."
        for name, words in unknown.items()
    ]
    field = next(iter(unknown)) if len(unknown) == 1 else None
    return Problem("wordless", " ".join(sentences), field, unknown=unknown)


def _answer(
    served: ServedIndex,
    reader: IndexReader,
    ranking: RankingInfo,
    found: Explanation,
    texts: tuple[str, str],
    limit: int,
) -> answers.ExplanationAnswer:
    told: dict[str, Any] = {
        "score": found.score,
        "score_name": ranking.metric,
        "svg": found.to_svg(limit=limit, embedded=True),
        "aligned": None,
        "notes": [],
        "state": str(reader.number),
        "verified": None,
    }
    if max(map(len, texts)) <= served.limits.query:
        told["aligned"] = _aligned(reader.align(found, *texts, ranking.name))
    elif isinstance(found, Comparison | Flow):
        said = (
            f"Texts with more than {served.limits.query:,} characters are not shown word by word."
        )
        told["notes"] = [said]
    if isinstance(found, Comparison):
        facts = found.to_dict()
        told |= {
            "verified": bool(facts["proof"]["gap"] <= facts["proof"]["allowed"]),
            "bounds": facts["bounds"],
            "coverage": facts["coverage"],
        }
        return answers.ExplanationAnswer(**told, **_flow(found.flow, limit))
    if isinstance(found, Flow):
        return answers.ExplanationAnswer(**told, **_flow(found, limit))
    assert isinstance(found, Contributions)
    return answers.ExplanationAnswer(**told, **_contributions(found, limit))


def _aligned(found: AlignedText | None) -> answers.AlignedTexts | None:
    if found is None:
        return None
    a, b = ([_piece(piece) for piece in side] for side in (found.source, found.target))
    return answers.AlignedTexts(a=a, b=b)


def _piece(piece: AlignedPiece) -> answers.TextPiece:
    return answers.TextPiece(
        text=piece.text,
        word=piece.word,
        level=piece.level,
        cost=piece.cost,
        adds=piece.adds,
        reason=piece.reason,
        partners=[
            answers.PartnerWord(word=one.number, mass=one.mass, cost=one.cost)
            for one in piece.partners
        ],
    )


def _flow(flow: Flow, limit: int) -> dict[str, Any]:
    shown, smaller, free = flow.split(limit)
    count = smaller.count + free.count
    return {
        "kind": "flow",
        "parts": [
            answers.MoveEntry(
                source=move.source,
                target=move.target,
                mass=move.mass,
                cost=move.cost,
                contribution=move.contribution,
                share=flow.share(move),
            )
            for move in shown
        ],
        "rest": answers.RemainingParts(count=count, value=smaller.contribution) if count else None,
    }


def _contributions(found: Contributions, limit: int) -> dict[str, Any]:
    return {
        "kind": "contributions",
        "parts": [_part(found, part, limit) for part in found.parts[:limit]],
        "rest": _rest(found.parts[limit:]),
    }


def _rest(parts: Sequence[Contribution]) -> answers.RemainingParts | None:
    if not parts:
        return None
    return answers.RemainingParts(count=len(parts), value=sum(part.value for part in parts))


def _part(found: Contributions, part: Contribution, limit: int) -> answers.PartEntry:
    return answers.PartEntry(
        name=part.name,
        value=part.value,
        share=found.share(part),
        note=part.note,
        parts=[_part(found, inner, limit) for inner in part.parts[:limit]],
        rest=_rest(part.parts[limit:]),
    )
