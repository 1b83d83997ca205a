from textkin.distance import distances, similarities
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
from textkin.learn import (
    DocumentClusters,
    FisherKernelClassifier,
    NearestNeighborClassifier,
    RocchioClassifier,
    find_duplicates,
)
from textkin.models import (
    LDA,
    LSI,
    MSDA,
    PLSA,
    WTMF,
    CountingGrid,
    FisherKernel,
    FisherVector,
    GaussianMixture,
    ParagraphVector,
    Pooling,
    VonMisesFisherMixture,
)
from textkin.text import BagOfWords, Vocabulary, read
from textkin.transport import TokenIdf, TokenMover, TokenVectors, WordMover, compare
from textkin.vectors import WordVectors
from textkin.weighting import BM25, SIF, TfIdf

__all__ = [
    "BM25",
    "LDA",
    "LSI",
    "MSDA",
    "PLSA",
    "SIF",
    "WTMF",
    "AddError",
    "BagOfWords",
    "CertificateError",
    "CountingGrid",
    "DamagedIndexError",
    "DocumentClusters",
    "EmptyDocumentError",
    "FisherKernel",
    "FisherKernelClassifier",
    "FisherVector",
    "GaussianMixture",
    "Index",
    "IndexLockedError",
    "IndexWarning",
    "NearestNeighborClassifier",
    "ParagraphVector",
    "Pooling",
    "RocchioClassifier",
    "TfIdf",
    "TokenIdf",
    "TokenMover",
    "TokenVectors",
    "VectorFileWarning",
    "Vocabulary",
    "VocabularyWarning",
    "VonMisesFisherMixture",
    "WordMover",
    "WordVectors",
    "__version__",
    "compare",
    "distances",
    "find_duplicates",
    "read",
    "similarities",
]

__version__: str

def __dir__() -> list[str]: ...
