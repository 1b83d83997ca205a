"""Readers of documents: files, folders, tables, data sets, and other iterables."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.reading._document import (
        BadRow as BadRow,
        Document as Document,
        FIELD_SEPARATOR as FIELD_SEPARATOR,
        Label as Label,
        Meter as Meter,
        Place as Place,
        Row as Row,
        join_fields as join_fields,
    )
    from textkin.reading._fields import (
        Fields as Fields,
        TEXTS_HINT as TEXTS_HINT,
        TEXT_HINT as TEXT_HINT,
        TextNames as TextNames,
        text_names as text_names,
    )
    from textkin.reading._folder import (
        Entry as Entry,
        FolderSource as FolderSource,
        Walk as Walk,
        check_patterns as check_patterns,
    )
    from textkin.reading._formats import (
        FileOptions as FileOptions,
        file_lines as file_lines,
        file_rows as file_rows,
    )
    from textkin.reading._items import Items as Items, Source as Source, make_items as make_items
    from textkin.reading._passages import Passage as Passage, paragraphs as paragraphs
    from textkin.reading._read import (
        Documents as Documents,
        SKIP_HINT as SKIP_HINT,
        Skipped as Skipped,
        read as read,
        record_iteration as record_iteration,
        same_reader as same_reader,
        source_of as source_of,
        with_text_fields as with_text_fields,
    )
    from textkin.reading._samples import (
        Docstring as Docstring,
        standard_library_docstrings as standard_library_docstrings,
    )
    from textkin.reading._sources import FileSource as FileSource, MemorySource as MemorySource
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_document": [
                "BadRow",
                "Document",
                "FIELD_SEPARATOR",
                "Label",
                "Meter",
                "Place",
                "Row",
                "join_fields",
            ],
            "_fields": ["Fields", "TEXTS_HINT", "TEXT_HINT", "TextNames", "text_names"],
            "_folder": ["Entry", "FolderSource", "Walk", "check_patterns"],
            "_formats": ["FileOptions", "file_lines", "file_rows"],
            "_items": ["Items", "Source", "make_items"],
            "_passages": ["Passage", "paragraphs"],
            "_read": [
                "Documents",
                "SKIP_HINT",
                "Skipped",
                "read",
                "record_iteration",
                "same_reader",
                "source_of",
                "with_text_fields",
            ],
            "_samples": ["Docstring", "standard_library_docstrings"],
            "_sources": ["FileSource", "MemorySource"],
        },
    )

__all__ = [
    "Docstring",
    "Document",
    "Documents",
    "Passage",
    "Skipped",
    "paragraphs",
    "read",
    "standard_library_docstrings",
]
