"""Parser of query operators: "phrases", +required, -excluded, and field:value."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from textkin.exceptions import ParameterError
from textkin.index.search._filters import (
    Filter,
    Scalar,
    checked_field,
    condition,
    group,
    read_scalar,
    scalar,
)

__all__ = [
    "OPERATOR_MARKS",
    "SYNTAXES",
    "Clause",
    "FieldClause",
    "ParsedQuery",
    "Syntax",
    "parse_query",
]

Syntax: TypeAlias = Literal["auto", "operators", "plain"]
"""Syntax of query texts; "auto" reads operators only in short queries."""

SYNTAXES = ("auto", "operators", "plain")
_LONGEST = 16  # maximum number of words of a query with operators, for "auto"
_MOST = 32  # maximum number of operators; each field is read from all documents

OPERATOR_MARKS = frozenset('"\u201c+-:')
"""Characters of operators: a text without any of them has no operator."""

# An operator begins at the start of a word, and a quote also ends there. A sign must precede a
# letter or a quote: "-5" and "+1" are numbers, "a - b" is a dash, and "C++" ends with the sign.
_OPERATOR = re.compile(
    r"""(?<!\S)(?P<sign>[+-]?)(?:
        (?:"(?P<straight>[^"]*)"|\u201c(?P<curly>[^\u201c\u201d]*)\u201d)(?=[\s.,;:!?)]|\Z)
      | (?P<field>[^\W\d][\w.\-]*):(?P<comparison>[<>]=?|)
        (?:"(?P<quoted>[^"]*)"|(?P<value>-?\w[^\s"]*))(?!\S)
      | (?P<word>(?<=[+-])[^\W\d][^\s"]*)(?!\S)
    )""",
    re.VERBOSE,
)
_RANGE = re.compile(r"(?P<low>\S+?)\.\.(?P<high>\S+)")
_TRAILING = ",;"
_WORDS = ("straight", "curly", "word", "quoted", "value")  # groups of `_OPERATOR`
_ORDERED = ("number", "string")  # kinds of values that can be compared by size


@dataclass(frozen=True, slots=True)
class Clause:
    """Word or phrase that a query requires or excludes.

    Attributes
    ----------
    text : str
        One word or a phrase, without the operator.
    excluded : bool
        True if documents must not contain it.
    field : str or None
        Text field that must contain it, or None for any.
    """

    text: str
    excluded: bool = False
    field: str | None = None

    @property
    def written(self) -> str:
        """The words, with the prefix of their field."""
        return self.text if self.field is None else str(self)

    def __str__(self) -> str:
        quoted = f'"{self.text}"'
        return quoted if self.field is None else f"{self.field}:{quoted}"


@dataclass(frozen=True, slots=True)
class FieldClause:
    """Condition on a field in a query, such as ``year:2015``.

    Attributes
    ----------
    field : str
        Name of the field.
    where : Filter
        Condition on the field.
    start, end : int
        Span in the query text.
    """

    field: str
    where: Filter
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """Parsed query: the text to rank by, required and excluded phrases, and field conditions.

    Attributes
    ----------
    given : str
        Text of the query, with all operators.
    text : str
        Text to rank by: required words and phrases are included, without their operators. Excluded
        words and fields are not.
    clauses : tuple of Clause
        Required and excluded words and phrases.
    fields : tuple of FieldClause
        Field prefixes.
    too_long : bool
        True if the text has operators that were not read, because it is too long.
    unknown_fields : tuple of str
        Field prefixes that are text, because no document has the field.
    text_fields : tuple of str
        Text fields of the index.
    """

    given: str
    text: str
    clauses: tuple[Clause, ...] = ()
    fields: tuple[FieldClause, ...] = ()
    too_long: bool = False
    unknown_fields: tuple[str, ...] = ()
    text_fields: tuple[str, ...] = ()

    @property
    def where(self) -> Filter | None:
        """Filter of all field conditions in the query, or None."""
        return group("and", [one.where for one in self.fields]) if self.fields else None

    def with_known(self, known: Container[str]) -> "ParsedQuery":
        """Return the query with conditions on unknown fields turned back into text."""
        fields = tuple(one for one in self.fields if one.field in known)
        if len(fields) == len(self.fields):
            return self
        clauses, text = _pieces(self.given, {one.start for one in fields}, self.text_fields)
        unknown = dict.fromkeys(one.field for one in self.fields if one.field not in known)
        return replace(
            self, text=text, clauses=clauses, fields=fields, unknown_fields=tuple(unknown)
        )


def parse_query(
    text: str, syntax: Syntax = "auto", text_fields: tuple[str, ...] = ()
) -> ParsedQuery:
    r"""Parse the operators of a query text into a `ParsedQuery`.

    Parameters
    ----------
    text : str
        Text of the query.
    syntax : {"auto", "operators", "plain"}, default="auto"
        With "auto", operators are read in texts of one line with at most 16 words: longer texts
        are prose, whose quotation marks and dashes mean something else. With "operators", they are
        always read, and with "plain" never.
    text_fields : tuple of str, default=()
        Text fields of the index. A prefix with such a name requires words in this field.

    Returns
    -------
    ParsedQuery
        Words to rank by, and conditions.

    Raises
    ------
    ParameterError
        If the text has more than 32 operators, or compares a text field by size.

    Notes
    -----
    ======================  ===================================================================
    ``"new york"``          The words must occur next to each other, in this order.
    ``+paris``              The word must occur.
    ``-hotel``              The word must not occur; also ``-"grand hotel"``.
    ``label:sport``         The field must have the value; also ``author:"Jane Doe"``,
                            ``year:>=2010``, ``year:2010..2015``, and ``-label:spam``. In a text
                            field: the word or phrase must occur there, as in ``title:cats``.
    ======================  ===================================================================

    An operator begins at the start of a word. Therefore these are ordinary text: ``well-known``,
    ``C++``, ``a - b``, ``-5``, ``+1``, ``http://example.org``, ``5" disk``, and a quotation mark
    that is never closed.

    Examples
    --------
    >>> found = parse_query('"new york" +pizza best -cheap year:>=2010')
    >>> found.text
    'new york pizza best'
    >>> [(clause.text, clause.excluded) for clause in found.clauses]
    [('new york', False), ('pizza', False), ('cheap', True)]
    >>> str(found.where)
    'year >= 2010 or year >= "2010"'
    >>> parse_query("well-known C++ -5").clauses
    ()
    """
    if syntax == "plain":
        return ParsedQuery(text, text)
    found = [*_OPERATOR.finditer(text)]
    if not found:
        return ParsedQuery(text, text)
    if syntax == "auto" and ("\n" in text.strip() or len(text.split()) > _LONGEST):
        return ParsedQuery(text, text, too_long=True)
    if len(found) > _MOST:
        raise ParameterError(
            "query",
            f"a text with at most {_MOST} operators",
            str(len(found)),
            "Pass `syntax='plain'` to read the text without operators.",
        )
    of_metadata = (one for one in found if one["field"] not in text_fields)
    fields = tuple(clause for one in of_metadata if (clause := _field_clause(one)) is not None)
    clauses, ranked = _pieces(text, {one.start for one in fields}, text_fields)
    return ParsedQuery(text, ranked, clauses, fields, text_fields=text_fields)


def _pieces(
    text: str, fields: Container[int], text_fields: Container[str]
) -> tuple[tuple[Clause, ...], str]:
    """Return the clauses of a text, and the text to rank by.

    `fields` are the starts of the prefixes that filter documents.
    """
    clauses: dict[Clause, None] = {}
    kept: list[str] = []
    at = 0
    for one in _OPERATOR.finditer(text):
        kept.append(text[at : one.start()])
        at = one.end()
        field = one["field"]
        if field is not None and field not in text_fields:
            if one.start() not in fields:
                kept.append(one.group())
            continue
        if one["comparison"]:
            raise ParameterError(
                "query",
                f"a word or phrase after the prefix of the text field {field!r}",
                one.group(),
                "Only metadata can be compared by size.",
            )
        words = next(one[name] for name in _WORDS if one[name] is not None)
        clause = Clause(words.strip(), one["sign"] == "-", field)
        if any(map(str.isalnum, words)):
            clauses[clause] = None
        if not clause.excluded:
            kept.append(words)
    kept.append(text[at:])
    return tuple(clauses), " ".join("".join(kept).split()) if at else text


def _field_clause(found: "re.Match[str]") -> FieldClause | None:
    """Convert a regex match to a `FieldClause`, or return None if it is not one."""
    if found["field"] is None:
        return None
    try:
        field = checked_field(found["field"])
        where = _condition(field, found["comparison"], found["quoted"], found["value"])
    except ValueError:  # a number that is too large, or an unpaired surrogate
        return None
    if where is None:
        return None
    if found["sign"] == "-":
        where = group("not", [where])
    return FieldClause(field, where, found.start(), found.end())


def _condition(field: str, comparison: str, quoted: str | None, value: str | None) -> Filter | None:
    """Create the filter of a field condition, for numbers and numeric strings alike."""
    if quoted is not None:
        return _either(field, comparison or "==", [scalar(quoted, "the value")])
    text = (value or "").rstrip(_TRAILING)
    between = None if comparison else _RANGE.fullmatch(text)
    if between is None:
        return _either(field, comparison or "==", _values(text))
    low, high = _values(between["low"]), _values(between["high"])
    pairs = [(one, other) for one in low for other in high if one.kind == other.kind in _ORDERED]
    return group(
        "or",
        [
            group("and", [condition(field, ">=", [one]), condition(field, "<=", [other])])
            for one, other in pairs
        ],
    )


def _either(field: str, comparison: str, values: Iterable[Scalar]) -> Filter:
    if comparison == "==":
        return condition(field, "==", values)
    ordered = [value for value in values if value.kind in _ORDERED]
    return group("or", [condition(field, comparison, [value]) for value in ordered])


def _values(text: str) -> list[Scalar]:
    """Return the possible filter values of a text: as JSON number or constant, and as a string.

    The fields of CSV files are strings.
    """
    return list(dict.fromkeys([read_scalar(text), scalar(text, "the value")]))
