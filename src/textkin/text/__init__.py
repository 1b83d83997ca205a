"""From documents to counted words: readers, tokeniser, stop words, word forms and bags."""

from textkin.text._bags import BagOfWords
from textkin.text._counting import Counted, count_words
from textkin.text._docstrings import Docstring, standard_library_docstrings
from textkin.text._lemma import Lemmatizer
from textkin.text._normalisers import word_normalizer
from textkin.text._stem import Stemmer
from textkin.text._stop_lists import StopList, stop_list, stop_lists
from textkin.text._stop_words import remove_stop_words, smart_words, stop_word_set
from textkin.text._tokenise import tokenize
from textkin.text._tokens import Tokens
from textkin.text._vocabulary import Vocabulary
from textkin.text._wordnet import WordNetLemmas
from textkin.text.reading import Document, Documents, Passage, Skipped, paragraphs, read

__all__ = [
    "BagOfWords",
    "Counted",
    "Docstring",
    "Document",
    "Documents",
    "Lemmatizer",
    "Passage",
    "Skipped",
    "Stemmer",
    "StopList",
    "Tokens",
    "Vocabulary",
    "WordNetLemmas",
    "count_words",
    "paragraphs",
    "read",
    "remove_stop_words",
    "smart_words",
    "standard_library_docstrings",
    "stop_list",
    "stop_lists",
    "stop_word_set",
    "tokenize",
    "word_normalizer",
]
