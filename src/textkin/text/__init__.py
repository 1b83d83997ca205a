"""From documents to counted words: readers, tokeniser, stop words, vocabulary and bags."""

from textkin.text._bags import BagOfWords
from textkin.text._counting import Counted, count_words
from textkin.text._docstrings import Docstring, standard_library_docstrings
from textkin.text._stop_words import remove_stop_words, smart_words, stop_word_set
from textkin.text._tokenise import tokenize
from textkin.text._vocabulary import Vocabulary
from textkin.text.reading import Document, Documents, Passage, Skipped, paragraphs, read

__all__ = [
    "BagOfWords",
    "Counted",
    "Docstring",
    "Document",
    "Documents",
    "Passage",
    "Skipped",
    "Vocabulary",
    "count_words",
    "paragraphs",
    "read",
    "remove_stop_words",
    "smart_words",
    "standard_library_docstrings",
    "stop_word_set",
    "tokenize",
]
