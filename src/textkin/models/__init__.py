"""Models that turn documents, mostly bags of words, into dense vectors."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.models._fit_blocks import fit_blocks as fit_blocks
    from textkin.models._msda import MSDA as MSDA
    from textkin.models.embedding._paragraph import ParagraphVector as ParagraphVector
    from textkin.models.embedding._training import seed_of as seed_of
    from textkin.models.embedding._training_corpus import read_corpus as read_corpus
    from textkin.models.embedding._word_training import (
        check_words as check_words,
        train_on_corpus as train_on_corpus,
        train_word_vectors as train_word_vectors,
        word_training as word_training,
    )
    from textkin.models.factors._lsi import LSI as LSI
    from textkin.models.factors._wtmf import WTMF as WTMF
    from textkin.models.fisher._fisher_kernel import (
        FisherKernel as FisherKernel,
        N_COMPONENTS as N_COMPONENTS,
    )
    from textkin.models.fisher._fisher_vector import FisherVector as FisherVector
    from textkin.models.mixture._gaussian import DiagonalGaussianMixture as DiagonalGaussianMixture
    from textkin.models.mixture._von_mises_fisher import (
        VonMisesFisherMixture as VonMisesFisherMixture,
    )
    from textkin.models.pooling._pooling import Pooling as Pooling
    from textkin._base import load_estimator as load_estimator
    from textkin.models.topics._counting_grid import CountingGrid as CountingGrid
    from textkin.models.topics._lda import LDA as LDA
    from textkin.models.topics._plsa import PLSA as PLSA
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_fit_blocks": ["fit_blocks"],
            "_msda": ["MSDA"],
            "embedding._paragraph": ["ParagraphVector"],
            "embedding._training": ["seed_of"],
            "embedding._training_corpus": ["read_corpus"],
            "embedding._word_training": [
                "check_words",
                "train_on_corpus",
                "train_word_vectors",
                "word_training",
            ],
            "factors._lsi": ["LSI"],
            "fisher._fisher_kernel": ["FisherKernel", "N_COMPONENTS"],
            "fisher._fisher_vector": ["FisherVector"],
            "mixture._gaussian": ["DiagonalGaussianMixture"],
            "mixture._von_mises_fisher": ["VonMisesFisherMixture"],
            "pooling._pooling": ["Pooling"],
            "topics._counting_grid": ["CountingGrid"],
            "topics._lda": ["LDA"],
            "topics._plsa": ["PLSA"],
            "textkin._base": ["load_estimator"],
            "factors._wtmf": ["WTMF"],
        },
    )

__all__ = [
    "LDA",
    "LSI",
    "MSDA",
    "PLSA",
    "WTMF",
    "CountingGrid",
    "DiagonalGaussianMixture",
    "FisherKernel",
    "FisherVector",
    "ParagraphVector",
    "Pooling",
    "VonMisesFisherMixture",
    "fit_blocks",
    "load_estimator",
    "train_word_vectors",
]
