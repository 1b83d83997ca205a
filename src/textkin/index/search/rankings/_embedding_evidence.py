"""Explanations of embedding similarity by passages and words (Shapley values)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textkin.explain import Contribution, Contributions, shortened
from textkin.text import word_spans

if TYPE_CHECKING:
    from textkin.index.search.rankings._models import ModelQuery

__all__ = ["embedding_evidence"]

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_MOST_PASSAGES = 8
_MOST_PARTS = 12  # words of a single sentence
_MOST_QUERY_WORDS = 16
_MOST_WORDS = 8  # parts of a passage
_REFINED = 2  # passages whose words are explained
_NAMED = 3  # query words in a note
_LONGEST = 60  # columns of a passage
_ROUNDING = 1e-6
_DIFFERENT = 0.999  # cosine below which a stored vector differs from the encoder's

Span = tuple[int, int]
ScoreOf = Callable[["ModelQuery", "ModelQuery"], float]
Encode = Callable[[Sequence[str]], "list[ModelQuery]"]


class _Unit(NamedTuple):
    """Passage or word of a text, with its contribution to the score."""

    span: Span
    value: float
    note: str = ""


def embedding_evidence(
    query: "ModelQuery",
    document: "ModelQuery",
    score: float,
    score_of: ScoreOf,
    encode: Encode | None,
) -> Contributions:
    r"""Explain the similarity of two embeddings by encoding the document without passages.

    The part of a passage is its Shapley value over the orders in which passages follow one another
    in the text, from any start and in both directions: the mean gain of the score when the
    passage is added to the passages before it. With up to three passages, this is the exact Shapley
    value. The two passages with the largest parts are divided into words in the same way. A note
    names the words of the query whose omission changes most what the score loses without a passage.

    .. math:: \phi_i = \frac{1}{2n} \sum_{\pi} s(P_i^\pi \cup \{i\}) - s(P_i^\pi)

    Parameters
    ----------
    query, document : ModelQuery
        Vectors with their texts, if known.
    score : float
        Score of the two vectors.
    score_of : callable
        Function that scores two vectors.
    encode : callable or None
        Encoder of texts; without it, only the vectors can be described.

    References
    ----------
    Shapley, "A Value for n-Person Games", 1953. Castro, Gomez and Tejada, "Polynomial Calculation
    of the Shapley Value Based on Sampling", Computers & Operations Research 36, 2009.
    """
    if encode is None or not document.text:
        return _without_texts(query, document, score, missing_encoder=encode is None)
    text = document.text
    spans = _passages(text)
    n = len(spans)
    words = _words(query.text) if query.text else []
    asked = [] if query.text is None else [_without(query.text, span) for span in words]
    arcs = _arcs(n)
    encoded = encode([text, *(_joined_text(text, spans, arc) for arc in arcs), *asked])
    whole, parts_of, queries = encoded[0], encoded[1 : 1 + len(arcs)], encoded[1 + len(arcs) :]
    vectors = dict(zip(arcs, parts_of, strict=True))
    vectors[tuple(range(n))] = whole
    empty = whole._replace(vector=np.zeros_like(whole.vector), length=0.0)
    nothing = score_of(query, empty)
    scores = {arc: score_of(query, vector) for arc, vector in vectors.items()}
    units = []
    for at, (span, value) in enumerate(zip(spans, _shapley(n, scores, nothing), strict=True)):
        others = tuple(other for other in range(n) if other != at)
        without = vectors[others] if others else empty
        lost = score_of(query, whole) - score_of(query, without)
        # Share of each query word in the score that is lost without the passage
        shared = [lost - (score_of(one, whole) - score_of(one, without)) for one in queries]
        units.append(_Unit(span, value, _note(query.text or "", words, shared, lost)))
    refined = _refined(text, units, query, score_of, encode) if n > 1 else {}
    parts = [
        Contribution(_name(text, unit.span), unit.value, unit.note, refined.get(unit.span, ()))
        for unit in units
    ]
    rest = score - sum(unit.value for unit in units) - nothing
    if abs(rest) > _ROUNDING * max(1.0, abs(score)):
        parts.append(Contribution("the stored vector", rest, _rest_note(document, whole)))
    elif parts:  # rounding
        parts[0] = replace(parts[0], value=parts[0].value + rest)
    if nothing:
        parts.append(Contribution("an empty text", nothing, "the length of the query's vector"))
    return Contributions.of(parts, score)


def _arcs(n: int) -> list[tuple[int, ...]]:
    """Return all runs of consecutive passages on a circle, except the full circle."""
    return [
        tuple(sorted((start + step) % n for step in range(length)))
        for length in range(1, n)
        for start in range(n)
    ]


def _shapley(n: int, scores: dict[tuple[int, ...], float], nothing: float) -> Iterator[float]:
    """Yield the Shapley value of each passage over the cyclic orders of passages."""
    gains = np.zeros(n)
    for start in range(n):
        for step in (1, -1):
            before: set[int] = set()
            reached = nothing
            for place in range(n):
                at = (start + step * place) % n
                before.add(at)
                score = scores[tuple(sorted(before))]
                gains[at] += score - reached
                reached = score
    yield from (gains / (2 * n)).tolist()


def _joined_text(text: str, spans: Sequence[Span], arc: Sequence[int]) -> str:
    """Join the texts of a run of passages, each up to the start of the next."""
    ends = [span[0] for span in spans[1:]] + [len(text)]
    return "".join(text[spans[at][0] : ends[at]] for at in arc)


def _without_texts(
    query: "ModelQuery", document: "ModelQuery", score: float, *, missing_encoder: bool
) -> Contributions:
    """Explain the similarity of two vectors without texts: by lengths and angle."""
    both = query.length * document.length
    cosine = float(query.vector @ document.vector) / both if both else 0.0
    angle = float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    note = f"lengths {query.length:.3g} and {document.length:.3g}, angle {angle:.0f} degrees"
    if missing_encoder:
        note += "; for passages and words, open the index with the encoder"
    return Contributions.of([Contribution("the two vectors", score, note)], score)


def _refined(
    text: str, units: Sequence[_Unit], query: "ModelQuery", score_of: ScoreOf, encode: Encode
) -> dict[Span, tuple[Contribution, ...]]:
    """Split the contributions of the largest passages into contributions of words.

    The words are the passages of a passage that is encoded alone. The difference between the score
    of this text and the part of the passage is one more part.
    """
    found = {}
    for unit in sorted(units, key=lambda unit: -abs(unit.value))[:_REFINED]:
        passage = text[slice(*unit.span)]
        words = _words(passage, _MOST_WORDS)
        if len(words) < 2:
            continue
        arcs = _arcs(len(words))
        encoded = encode([passage, *(_joined_text(passage, words, arc) for arc in arcs)])
        empty = encoded[0]._replace(vector=np.zeros_like(encoded[0].vector), length=0.0)
        nothing = score_of(query, empty)
        scores = dict(zip(arcs, (score_of(query, one) for one in encoded[1:]), strict=True))
        scores[tuple(range(len(words)))] = score_of(query, encoded[0])
        values = list(_shapley(len(words), scores, nothing))
        parts = [
            Contribution(_name(passage, word), value)
            for word, value in zip(words, values, strict=True)
        ]
        parts.append(Contribution("with the other passages", unit.value - sum(values)))
        found[unit.span] = tuple(sorted(parts, key=lambda part: -abs(part.value)))
    return found


def _note(text: str, words: Sequence[Span], shared: Sequence[float], value: float) -> str:
    """Return a note that names the query words most similar to a passage."""
    if len(words) < 2:
        return ""
    sign = 1.0 if value >= 0 else -1.0
    order = sorted(range(len(shared)), key=lambda at: -sign * shared[at])
    named = [_name(text, words[at]) for at in order[:_NAMED] if sign * shared[at] > 0]
    return f"with {', '.join(named)}" if named else ""


def _rest_note(document: "ModelQuery", whole: "ModelQuery") -> str:
    both = document.length * whole.length
    cosine = float(document.vector @ whole.vector) / both if both else 0.0
    if cosine < _DIFFERENT:
        return f"the stored vector differs from the encoder's (cosine {cosine:.2f})"
    return "rounded when it was stored"


def _passages(text: str) -> list[Span]:
    """Return the spans of at most 8 sentences or passages, or 12 parts of one sentence."""
    found = _joined(list(_sentences(text)), _MOST_PASSAGES)
    if len(found) < 2:
        found = _words(text, _MOST_PARTS)
    return found or [(0, len(text))]


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for end, following in [(m.start(), m.end()) for m in _SENTENCE.finditer(text)] + [
        (len(text), len(text))
    ]:
        if text[start:end].strip():
            yield start, end
        start = following


def _words(text: str, most: int = _MOST_QUERY_WORDS) -> list[Span]:
    """Return the spans of the words of a text, joined to at most `most` spans."""
    return _joined(list(word_spans(text)), most)


def _joined(spans: list[Span], most: int) -> list[Span]:
    """Merge adjacent spans until at most `most` are left."""
    each = -(-len(spans) // most) if spans else 1
    groups = [spans[at : at + each] for at in range(0, len(spans), each)]
    return [(group[0][0], group[-1][1]) for group in groups]


def _without(text: str, span: Span) -> str:
    return f"{text[: span[0]]}{text[span[1] :]}"


def _name(text: str, span: Span) -> str:
    return shortened(" ".join(text[span[0] : span[1]].split()), _LONGEST)
