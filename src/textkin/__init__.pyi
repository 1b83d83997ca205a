from textkin.exceptions import (
    CertificateError,
    EmptyDocumentError,
    VectorFileWarning,
    VocabularyWarning,
)
from textkin.text import BagOfWords, Vocabulary, read
from textkin.transport import WordMover, compare
from textkin.vectors import WordVectors
from textkin.weighting import SIF, TfIdf

__all__ = [
    "SIF",
    "BagOfWords",
    "CertificateError",
    "EmptyDocumentError",
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
