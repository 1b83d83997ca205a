from textkin.exceptions import (
    AddError,
    CertificateError,
    DamagedIndexError,
    EmptyDocumentError,
    IndexLockedError,
    IndexWarning,
    VectorFileWarning,
    VocabularyWarning,
)
from textkin.index import Index
from textkin.text import BagOfWords, Vocabulary, read
from textkin.transport import WordMover, compare
from textkin.vectors import WordVectors
from textkin.weighting import SIF, TfIdf

__all__ = [
    "SIF",
    "AddError",
    "BagOfWords",
    "CertificateError",
    "DamagedIndexError",
    "EmptyDocumentError",
    "Index",
    "IndexLockedError",
    "IndexWarning",
    "TfIdf",
    "VectorFileWarning",
    "Vocabulary",
    "VocabularyWarning",
    "WordMover",
    "WordVectors",
    "__version__",
    "compare",
    "read",
]

__version__: str

def __dir__() -> list[str]: ...
