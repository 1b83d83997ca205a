"""Parser of filter expressions such as ``year >= 2015 and lang = "en"``."""

import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from textkin._base import abbreviate
from textkin.exceptions import ParameterTypeError
from textkin.index.search._filters import (
    DEEPEST,
    KEYWORDS,
    Filter,
    Scalar,
    Where,
    checked_field,
    condition,
    group,
    mapping_filter,
    read_scalar,
    scalar,
)

__all__ = ["parse_filter"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<operator> ==|!=|<>|<=|>=|=|<|>)
      | (?P<mark> [(),])
      | (?P<double> "(?:[^"\\]|\\.)*")
      | (?P<single> '(?:[^'\\]|\\.)*')
      | (?P<word> [^\s()=!<>,"'{}]+)
      | (?P<end> \Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST = 1 << 20


def parse_filter(where: Where) -> Filter:
    """Convert a filter expression, or a mapping of fields to values, to a `Filter`.

    Parameters
    ----------
    where : str, mapping or Filter
        Filter as text or as a mapping; see Notes. A string can also be a JSON object that
        represents a mapping.

    Returns
    -------
    Filter
        Parsed filter, the same for both forms. ``str`` returns it as text.

    Raises
    ------
    ValueError, TypeError
        If the filter is invalid. For text, the message gives the position.

    Notes
    -----
    ================================ ========================================
    text                             mapping
    ================================ ========================================
    ``year = 2015``                  ``{"year": 2015}``
    ``year >= 2010 and year < 2016`` ``{"year": {">=": 2010, "<": 2016}}``
    ``lang in (en, de)``             ``{"lang": ["en", "de"]}``
    ``lang != en``                   ``{"lang": {"!=": "en"}}``
    ``exists(doi)``                  ``{"doi": {"exists": True}}``
    ``not label = spam``             ``{"not": {"label": "spam"}}``
    ``a = 1 and b = 2``              ``{"a": 1, "b": 2}``, ``{"and": [{"a": 1}, {"b": 2}]}``
    ``a = 1 or b = 2``               ``{"or": [{"a": 1}, {"b": 2}]}``
    ``author.name = Rocchio``        ``{"author.name": "Rocchio"}``
    ================================ ========================================

    **Fields.** ``id`` and ``label`` are fields of the document; all other names are metadata
    fields. A name with dots is first looked up as a whole, and then part by part in nested
    metadata.

    **Values.** A field has one value, or one value per item of its list (nested lists included,
    also along a dotted path), or no value if it is missing. A condition holds if at least one value
    satisfies it. For a document without the field, only ``not`` holds. Therefore ``tags != x``
    selects documents with a tag that is not x, and ``not tags = x`` selects documents without the
    tag x.

    **Types.** Numbers are compared with numbers, and strings with strings, character by character
    (ISO dates sort correctly). ``true`` and ``false`` equal only themselves, and ``null`` equals
    ``null``. Values of different types are unequal, and never in a range. ``exists`` selects
    documents with a value that is not null. A document without a label has the label null.

    **Syntax.** Numbers, ``true``, ``false``, and ``null`` are written as in JSON. Anything else is
    a string. Quote a string (with single quotes, or with double quotes and JSON escapes) if it
    contains spaces, brackets, commas, operators, or quotes, or if it is a keyword or a number.
    ``not`` binds more tightly than ``and``, and ``and`` more tightly than ``or``.

    Examples
    --------
    >>> asked = parse_filter("year>=2010 and (lang in (en, de) or not label=spam) and exists(doi)")
    >>> asked
    Filter('year >= 2010 and (lang in (de, en) or not label = spam) and exists(doi)')
    >>> asked.fields
    ('year', 'lang', 'label', 'doi')
    >>> parse_filter({"year": {">=": 2010}, "lang": "en"}) == parse_filter("year>=2010 and lang=en")
    True
    """
    if isinstance(where, Filter):
        return where
    if isinstance(where, Mapping):
        return mapping_filter(where)
    if not isinstance(where, str):
        raise ParameterTypeError(
            "where",
            "a mapping such as {'year': 2015}, a text such as 'year >= 2010', or a Filter",
            type(where).__name__,
        )
    if where.lstrip().startswith("{"):
        return mapping_filter(_json_object(where))
    if len(where) > _LONGEST:
        raise ValueError(
            f"where must have at most {_LONGEST:,} characters as text; got {len(where):,}. "
            "Pass a mapping."
        )
    return _Parser(where).whole()


class _Token(NamedTuple):
    kind: str  # name of a group in _TOKEN
    text: str
    start: int


class _Parser:
    """Recursive-descent parser of filter expressions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._next = self._token()

    def whole(self) -> Filter:
        if self._next.kind == "end":
            raise ValueError(
                "where must not be empty text; pass a filter such as 'year >= 2010', or None."
            )
        found = self._either()
        if self._next.kind != "end":
            self._fail("expected 'and', 'or' or the end here")
        return found

    def _either(self) -> Filter:
        return self._joined("or", self._all)

    def _all(self) -> Filter:
        return self._joined("and", self._one)

    def _joined(self, word: str, read: Callable[[], Filter]) -> Filter:
        parts = [read()]
        while self._is_word(word):
            self._take()
            parts.append(read())
        return group(word, parts)

    def _one(self) -> Filter:
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"filters must not be nested deeper than {DEEPEST}")
        try:
            if self._is_word("not"):
                self._take()
                return group("not", [self._one()])
            if self._is_mark("("):
                self._take()
                found = self._either()
                self._expect(")")
                return found
            return self._condition()
        finally:
            self._depth -= 1

    def _condition(self) -> Filter:
        start = self._take_name("a field, 'not' or '('")
        if start.kind == "word" and start.text.lower() == "exists" and self._is_mark("("):
            self._take()
            field = self._take_name("the name of a field")
            self._expect(")")
            return condition(self._field(field), "exists")
        field_name = self._field(start)
        if self._is_word("in"):
            return self._membership(field_name)
        if self._is_word("not"):
            self._take()
            if not self._is_word("in"):
                self._fail("expected 'in' after 'not' here")
            return group("not", [self._membership(field_name)])
        if self._next.kind != "operator":
            self._fail(
                f"expected an operator after the field {abbreviate(field_name, 40)} (one of =, !=, "
                "<, <=, >, >=, in); quote names that contain spaces"
            )
        operator = self._take().text
        place = self._next
        value = self._value()
        try:
            return condition(field_name, "!=" if operator == "<>" else operator, [value])
        except TypeError as error:
            self._fail(str(error).rstrip("."), place)

    def _membership(self, field: str) -> Filter:
        self._take()
        self._expect("(")
        values: list[Scalar] = []
        while not self._is_mark(")"):
            values.append(self._value())
            if not self._is_mark(","):
                break
            self._take()
        self._expect(")")
        return condition(field, "in", values)

    def _value(self) -> Scalar:
        token = self._next
        if token.kind not in ("word", "single", "double"):
            self._fail("expected a value here: a number, true, false, null, or a string")
        if token.kind == "word":
            if token.text.lower() in KEYWORDS:
                self._fail(
                    f"expected a value here; quote the keyword {token.text!r} to use it as a value"
                )
            try:
                value = read_scalar(token.text)
            except ValueError as error:
                self._fail(str(error))
        else:
            value = scalar(self._unquoted(token), "a string")
        self._take()
        return value

    # ------------------------------------------------------------------ tokens

    def _token(self) -> _Token:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            start = len(self._text) - len(self._text[self._at :].lstrip())
            place = _Token("wrong", self._text[start], start)
            if place.text in "\"'":
                self._fail(f"the quote {place.text} that opens here is never closed", place)
            self._fail(f"unexpected {place.text!r}; quote values that contain it", place)
        kind = str(found.lastgroup)
        return _Token(kind, found[kind], found.start(kind))

    def _take(self) -> _Token:
        taken = self._next
        self._at = taken.start + len(taken.text)
        self._next = self._token()
        return taken

    def _take_name(self, expected: str) -> _Token:
        token = self._next
        keyword = token.kind == "word" and token.text.lower() in KEYWORDS
        if token.kind not in ("word", "single", "double") or keyword:
            self._fail(f"expected {expected} here")
        return self._take()

    def _field(self, token: _Token) -> str:
        try:
            return checked_field(token.text if token.kind == "word" else self._unquoted(token))
        except ValueError as error:
            self._fail(str(error).rstrip("."), token)

    def _unquoted(self, token: _Token) -> str:
        text = token.text
        if token.kind == "single":
            text = '"' + re.sub(r'\\.|"', _in_double_quotes, text[1:-1], flags=re.DOTALL) + '"'
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            self._fail(
                "this string has an invalid JSON escape; write \\\\ for a backslash",
                token,
            )

    def _is_word(self, word: str) -> bool:
        return self._next.kind == "word" and self._next.text.lower() == word

    def _is_mark(self, mark: str) -> bool:
        return self._next.kind == "mark" and self._next.text == mark

    def _expect(self, mark: str) -> None:
        if not self._is_mark(mark):
            self._fail(f"expected {mark!r} here")
        self._take()

    def _fail(self, reason: str, token: _Token | None = None) -> NoReturn:
        at = (token or self._next).start
        before = self._text[max(0, at - 30) : at]
        rest = self._text[at : at + 30]
        seen = f"{before}<here>{rest}"
        raise ValueError(f"where: {reason} (character {at + 1}: {seen!r}).")


def _in_double_quotes(found: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])


def _json_object(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except (RecursionError, ValueError) as error:
        place = f" (character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ValueError(
            f"where must be a JSON object if it starts with {{; invalid JSON: {reason}{place}."
        ) from None
    assert isinstance(found, dict)
    return found
