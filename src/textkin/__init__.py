"""textkin: compare texts, find similar documents, and explain the results.

The public names below load on first use, so that ``import textkin`` is fast.
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.corpus import TokenVectors as TokenVectors
    from textkin.distance import (
        pairwise_distances as pairwise_distances,
        pairwise_similarities as pairwise_similarities,
    )
    from textkin.evaluate import evaluate_search as evaluate_search
    from textkin.index import Hybrid as Hybrid, Index as Index
    from textkin.learn import (
        DocumentClustering as DocumentClustering,
        FisherKernelClassifier as FisherKernelClassifier,
        NearestNeighborClassifier as NearestNeighborClassifier,
        RocchioClassifier as RocchioClassifier,
        find_duplicates as find_duplicates,
    )
    from textkin.models import (
        CountingGrid as CountingGrid,
        FisherKernel as FisherKernel,
        FisherVector as FisherVector,
        LDA as LDA,
        LSI as LSI,
        MSDA as MSDA,
        PLSA as PLSA,
        ParagraphVector as ParagraphVector,
        Pooling as Pooling,
        WTMF as WTMF,
    )
    from textkin.reading import read as read
    from textkin.text import BagOfWords as BagOfWords, Vocabulary as Vocabulary
    from textkin._base import load as load
    from textkin.transport import (
        TokenMover as TokenMover,
        WordMover as WordMover,
        compare as compare,
    )
    from textkin.vectors import WordVectors as WordVectors
    from textkin.weighting import BM25 as BM25, SIF as SIF, TfIdf as TfIdf
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "corpus": ["TokenVectors"],
            "textkin._base": ["load"],
            "distance": ["pairwise_distances", "pairwise_similarities"],
            "evaluate": ["evaluate_search"],
            "index": ["Hybrid", "Index"],
            "learn": [
                "DocumentClustering",
                "FisherKernelClassifier",
                "NearestNeighborClassifier",
                "RocchioClassifier",
                "find_duplicates",
            ],
            "models": [
                "CountingGrid",
                "FisherKernel",
                "FisherVector",
                "LDA",
                "LSI",
                "MSDA",
                "PLSA",
                "ParagraphVector",
                "Pooling",
                "WTMF",
            ],
            "reading": ["read"],
            "text": ["BagOfWords", "Vocabulary"],
            "transport": ["TokenMover", "WordMover", "compare"],
            "vectors": ["WordVectors"],
            "weighting": ["BM25", "SIF", "TfIdf"],
        },
        subpackages=(
            "corpus",
            "distance",
            "evaluate",
            "exceptions",
            "explain",
            "index",
            "learn",
            "models",
            "reading",
            "run",
            "text",
            "transport",
            "vectors",
            "weighting",
        ),
    )

__all__ = [
    "BM25",
    "LDA",
    "LSI",
    "MSDA",
    "PLSA",
    "SIF",
    "WTMF",
    "BagOfWords",
    "CountingGrid",
    "DocumentClustering",
    "FisherKernel",
    "FisherKernelClassifier",
    "FisherVector",
    "Hybrid",
    "Index",
    "NearestNeighborClassifier",
    "ParagraphVector",
    "Pooling",
    "RocchioClassifier",
    "TfIdf",
    "TokenMover",
    "TokenVectors",
    "Vocabulary",
    "WordMover",
    "WordVectors",
    "__version__",
    "compare",
    "evaluate_search",
    "find_duplicates",
    "load",
    "pairwise_distances",
    "pairwise_similarities",
    "read",
]

try:
    __version__ = version("textkin")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0+unknown"
