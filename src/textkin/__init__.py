"""textkin: how near are two texts, which documents are nearest to this one, and why.

The public names below load on first use, so that ``import textkin`` costs nothing.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

_HOMES = {
    "AddError": "textkin.exceptions",
    "BM25": "textkin.weighting",
    "BagOfWords": "textkin.text",
    "CertificateError": "textkin.exceptions",
    "CountingGrid": "textkin.models",
    "DamagedIndexError": "textkin.exceptions",
    "DocumentClusters": "textkin.learn",
    "EmptyDocumentError": "textkin.exceptions",
    "Index": "textkin.index",
    "IndexLockedError": "textkin.exceptions",
    "IndexWarning": "textkin.exceptions",
    "FisherKernel": "textkin.models",
    "FisherKernelClassifier": "textkin.learn",
    "FisherVector": "textkin.models",
    "GaussianMixture": "textkin.models",
    "LDA": "textkin.models",
    "LSI": "textkin.models",
    "MSDA": "textkin.models",
    "NearestNeighborClassifier": "textkin.learn",
    "PLSA": "textkin.models",
    "Pooling": "textkin.models",
    "ParagraphVector": "textkin.models",
    "RocchioClassifier": "textkin.learn",
    "SIF": "textkin.weighting",
    "TfIdf": "textkin.weighting",
    "TokenIdf": "textkin.transport",
    "TokenMover": "textkin.transport",
    "TokenVectors": "textkin.transport",
    "VectorFileWarning": "textkin.exceptions",
    "Vocabulary": "textkin.text",
    "VocabularyWarning": "textkin.exceptions",
    "VonMisesFisherMixture": "textkin.models",
    "WTMF": "textkin.models",
    "WordMover": "textkin.transport",
    "WordVectors": "textkin.vectors",
    "compare": "textkin.transport",
    "distances": "textkin.distance",
    "find_duplicates": "textkin.learn",
    "read": "textkin.text",
    "similarities": "textkin.distance",
}

_ROOMS = (
    "distance",
    "evaluate",
    "exceptions",
    "explain",
    "index",
    "learn",
    "models",
    "run",
    "text",
    "transport",
    "vectors",
    "weighting",
)

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

try:
    __version__ = version("textkin")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"


def __getattr__(name: str) -> object:
    """Load a public name from its room on first use (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"textkin.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'textkin' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
