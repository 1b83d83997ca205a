"""Text fields of an index, with their weights.

A document of such an index has one text, which consists of its fields, and the length of each
field. A word in a field with weight 3 counts as three words. This is BM25F (Robertson, Zaragoza,
and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004): the frequency of a word
and the length of a document are weighted sums over the fields, before saturation.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from textkin._base import Int32Array, Int64Array, abbreviate, hinted, integer
from textkin.exceptions import DamagedIndexError, ParameterError
from textkin.index.store._catalog import CATALOG, Catalog
from textkin.reading import FIELD_SEPARATOR, Document, join_fields, text_names
from textkin.text import TermReader

if TYPE_CHECKING:
    from textkin.index.store._schema import Content

__all__ = [
    "NO_FIELDS",
    "SETTING",
    "TextFields",
    "TextWeights",
    "count_weighted_words",
    "load_text_fields",
    "pack_counts",
    "text_fields_of",
]

TextWeights: TypeAlias = str | Sequence[str] | Mapping[str, int] | None
"""Names of text fields, with weights in a mapping; or None for documents with a single text."""

NO_FIELDS = "null"  # stored field lengths of a document with a single text
SETTING = "text_fields"  # name in the catalog
_MOST_FIELDS = 100
_MOST_WEIGHT = 1000
_WEIGHT = integer(1, _MOST_WEIGHT)


@dataclass(frozen=True, slots=True)
class TextFields:
    """Names and weights of the text fields of an index; fixed when an index is created.

    Attributes
    ----------
    names : tuple of str
        Names in the order of the text.
    weights : tuple of int
        Weight of each field, from 1 to 1,000.
    """

    names: tuple[str, ...]
    weights: tuple[int, ...]

    def of_document(self, document: Document) -> tuple[str, str]:
        """Return the text of a document, and the lengths of its fields as JSON.

        Raises
        ------
        ValueError
            If the document has no fields, or a field that the index does not have. The message has
            only the reason.
        """
        if not document.fields:
            raise hinted(
                ValueError,
                f"the document has one text, and the index has the text fields {self};",
                f"pass records with these fields, or read with `text={list(self.names)!r}`",
            )
        other = [name for name in document.fields if name not in self.names]
        if other:
            raise hinted(
                ValueError,
                f"the index has the text fields {self}; the document has "
                f"{', '.join(map(repr, other))};",
                self.hint,
            )
        texts = [document.fields.get(name, "") for name in self.names]
        return join_fields(texts), json.dumps([*map(len, texts)], separators=(",", ":"))

    def split(self, text: str, lengths: str) -> dict[str, str]:
        """Return the fields of a stored text.

        Raises
        ------
        ValueError
            If the lengths do not belong to the text.
        """
        found = json.loads(lengths)
        if not isinstance(found, list) or len(found) != len(self.names):
            raise ValueError("it must have the length of each text field")
        fields = {}
        end = 0
        for name, length in zip(self.names, found, strict=True):
            if type(length) is not int or length < 0:
                raise ValueError("the lengths of its text fields must be counts")
            start = end + len(FIELD_SEPARATOR) if end and length else end
            if text[end:start] != FIELD_SEPARATOR[: start - end]:
                raise ValueError("the lengths of its text fields do not belong to its text")
            end = start + length
            fields[name] = text[start:end]
        if end != len(text):
            raise ValueError("the lengths of its text fields do not belong to its text")
        return fields

    @property
    def hint(self) -> str:
        """How to add documents whose text is in other fields."""
        return (
            "rename the fields of the documents, or create another index with "
            "`Index.create(path, text=...)`"
        )

    def to_dict(self) -> dict[str, int]:
        """Return the weights by name."""
        return dict(zip(self.names, self.weights, strict=True))

    def to_json(self) -> str:
        """Return the fields as JSON for the catalog."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __str__(self) -> str:
        return " and ".join(map(repr, self.names))


def text_fields_of(text: TextWeights) -> TextFields | None:
    """Validate the parameter `text` of `Index.create`."""
    if text is None:
        return None
    names = text_names(list(text) if isinstance(text, Mapping) else text)
    if len(names) > _MOST_FIELDS:
        raise ParameterError("text", f"at most {_MOST_FIELDS} fields", str(len(names)))
    if not isinstance(text, Mapping):
        return TextFields(names, (1,) * len(names))
    for name, weight in text.items():
        if not _WEIGHT.accepts(weight):
            raise ParameterError(
                "text",
                f"names with integer weights from 1 to {_MOST_WEIGHT:,}",
                f"{abbreviate(weight, 40)} for {name!r}",
                "Omit a field to ignore it; for a ratio of 2.5 to 1, use the weights 5 and 2.",
            )
    return TextFields(names, tuple(map(int, text.values())))


def load_text_fields(catalog: Catalog) -> TextFields | None:
    """Return the text fields of an index, or None if its documents have a single text."""
    row = catalog.execute("SELECT value FROM settings WHERE name = ?", (SETTING,)).fetchone()
    if row is None:
        return None
    try:
        found = json.loads(row[0])
        if not isinstance(found, dict):
            raise TypeError("they must be a mapping")
        return text_fields_of(found)
    except (RecursionError, TypeError, ValueError) as error:
        raise DamagedIndexError(
            f"{catalog.path} is corrupt: its text fields are invalid ({error}).",
            [f"{CATALOG}: settings"],
        ) from error


def count_weighted_words(
    reader: TermReader, contents: "Sequence[Content]", fields: TextFields
) -> tuple[list[bytes], Int64Array]:
    """Count the words of documents, multiplied by the weights of their fields.

    Returns
    -------
    counts : list of bytes
        Packed counts of each document.
    lengths : ndarray of int64
        Sum of the counts of each document.
    """
    texts = [
        text
        for content in contents
        for text in fields.split(content.text, content.field_lengths).values()
    ]
    ids, starts = reader.read(texts).arrays()
    # One number for each token: document, word, and field. They fit into 63 bits: at most 100
    # fields, 2^31 words, and less than 2^25 documents, because their texts fit into a block.
    field_bits = (len(fields.names) - 1).bit_length()
    bits = field_bits + len(reader.terms).bit_length()
    rows, columns = np.divmod(np.arange(len(texts)), len(fields.names))
    keys = np.repeat(rows << bits | columns, np.diff(starts))
    keys |= ids.astype(np.int64) << field_bits
    keys.sort()
    weights = np.array(fields.weights, np.int64)[keys & (1 << field_bits) - 1]
    keys >>= field_bits
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(weights, begins) if len(begins) else weights
    found = keys[begins]
    words = (found & (1 << bits - field_bits) - 1).astype(np.int32)
    indptr = np.searchsorted(found >> bits - field_bits, np.arange(len(contents) + 1))
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return pack_counts(indptr.astype(np.int64), words, counts), np.diff(sums[indptr])


def pack_counts(indptr: Int64Array, words: Int32Array, counts: Int64Array) -> list[bytes]:
    """Pack the rows of a CSR matrix of counts, whose words ascend in each row.

    The inverse is `_core.unpack_counts`, which describes the encoding.
    """
    before = np.roll(words, 1).astype(np.int64)
    before[indptr[:-1][np.diff(indptr) > 0]] = -1  # at the start of a row
    gaps = words - before - 1
    repeated = counts > 1
    slots = np.arange(len(words)) + np.cumsum(repeated) - repeated
    values = np.zeros(len(words) + int(repeated.sum()), np.int64)
    values[slots] = gaps << 1 | repeated
    values[slots[repeated] + 1] = counts[repeated] - 2
    sizes = np.ones(len(values), np.int64)  # of each number in bytes of 7 bits
    left = values >> 7
    while left.any():
        sizes += left > 0
        left >>= 7
    ends = np.concatenate([[0], np.cumsum(sizes)])
    packed = np.empty(ends[-1], np.uint8)
    for byte in range(int(sizes.max(initial=0))):
        there = sizes > byte
        more = (sizes[there] > byte + 1).astype(np.int64) << 7
        packed[ends[:-1][there] + byte] = values[there] >> 7 * byte & 0x7F | more
    whole = packed.tobytes()
    places = ends[np.append(slots, len(values))[indptr]].tolist()
    return [whole[start:end] for start, end in pairwise(places)]
