"""Documents from wherever they are: files, folders, tables, data sets, iterables."""

from textkin.text.reading._document import Document
from textkin.text.reading._passages import Passage, paragraphs
from textkin.text.reading._read import Documents, Skipped, read

__all__ = ["Document", "Documents", "Passage", "Skipped", "paragraphs", "read"]
