"""Text analysis: tokenizer, stop words, normalizers, vocabularies, bags of words."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.text._analyzer import (
        Preparation as Preparation,
        TermReader as TermReader,
        prepare as prepare,
        split_batches as split_batches,
        text_of as text_of,
    )
    from textkin.text._bags import BagOfWords as BagOfWords
    from textkin.text._counting import (
        ColumnFinder as ColumnFinder,
        Counted as Counted,
        count_rows as count_rows,
        count_words as count_words,
    )
    from textkin.text._languages import (
        LANGUAGES as LANGUAGES,
        Language as Language,
        find_language as find_language,
    )
    from textkin.text._normalizers import (
        Lemmatizer as Lemmatizer,
        Stemmer as Stemmer,
        stemmer_version as stemmer_version,
        word_normalizer as word_normalizer,
    )
    from textkin.text._stop_words import (
        STOP_WORDS as STOP_WORDS,
        StopList as StopList,
        StopWords as StopWords,
        remove_stop_words as remove_stop_words,
        smart_words as smart_words,
        stop_list as stop_list,
        stop_lists as stop_lists,
        stop_word_set as stop_word_set,
        stop_word_test as stop_word_test,
    )
    from textkin.text._tokenize import tokenize as tokenize
    from textkin.text._tokens import Tokens as Tokens
    from textkin.text._vocabulary import (
        Vocabulary as Vocabulary,
        unchecked_vocabulary as unchecked_vocabulary,
    )
    from textkin.text._word_spans import (
        begins_cluster as begins_cluster,
        is_unspaced as is_unspaced,
        word_spans as word_spans,
    )
    from textkin.text._wordnet import WordNetLemmas as WordNetLemmas
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_analyzer": ["Preparation", "TermReader", "prepare", "split_batches", "text_of"],
            "_bags": ["BagOfWords"],
            "_counting": ["ColumnFinder", "Counted", "count_words", "count_rows"],
            "_languages": ["LANGUAGES", "Language", "find_language"],
            "_normalizers": ["Lemmatizer", "Stemmer", "stemmer_version", "word_normalizer"],
            "_stop_words": [
                "STOP_WORDS",
                "StopList",
                "StopWords",
                "remove_stop_words",
                "smart_words",
                "stop_list",
                "stop_lists",
                "stop_word_set",
                "stop_word_test",
            ],
            "_tokenize": ["tokenize"],
            "_tokens": ["Tokens"],
            "_vocabulary": ["Vocabulary", "unchecked_vocabulary"],
            "_word_spans": ["begins_cluster", "is_unspaced", "word_spans"],
            "_wordnet": ["WordNetLemmas"],
        },
    )

__all__ = [
    "BagOfWords",
    "Counted",
    "Lemmatizer",
    "Stemmer",
    "StopList",
    "Tokens",
    "Vocabulary",
    "WordNetLemmas",
    "count_words",
    "remove_stop_words",
    "smart_words",
    "stop_list",
    "stop_lists",
    "stop_word_set",
    "tokenize",
    "word_normalizer",
]
