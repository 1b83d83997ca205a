"""Filters on documents that are in no index."""

import json
from collections.abc import Sequence

from textkin.index.ranking._columns import Field, Passed, passed_by
from textkin.index.ranking._filters import Filter
from textkin.text import Document

__all__ = ["passed"]


def passed(documents: Sequence[Document], asked: Filter) -> Passed:
    """Return which documents a filter lets through, as it would were they in an index.

    Parameters
    ----------
    documents : sequence of Document
        Anywhere from. Where one has no label, a field ``label`` of its metadata stands for it.
    asked : Filter
        What is asked of them, see `parse_filter`.

    Examples
    --------
    >>> from textkin.index.ranking._filter_text import parse_filter
    >>> found = passed([Document("a", "", metadata={"year": 2010})], parse_filter("year>=2015"))
    >>> found.rows.tolist(), found.unknown_fields
    ([False], ())
    """
    fields = [Field(name) for name in asked.fields]
    for row, document in enumerate(documents):
        metadata = dict(document.metadata)
        own = document.label
        label = metadata.get("label") if own is None else own
        for field in fields:
            field.add(row, document.id, json.dumps(label, default=str), metadata)
    columns = {field.name: field.whole_column() for field in fields}
    return passed_by(asked, columns, len(documents))
