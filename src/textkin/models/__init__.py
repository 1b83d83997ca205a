"""Models: documents, most of them as bags, become vectors."""

from textkin._saving import load_estimator
from textkin.models.blocks import fit_blocks
from textkin.models.counting_grid import CountingGrid
from textkin.models.fisher_kernel import FisherKernel
from textkin.models.fisher_vector import FisherVector
from textkin.models.lda import LDA
from textkin.models.lsi import LSI
from textkin.models.mixture import GaussianMixture, VonMisesFisherMixture
from textkin.models.msda import MSDA
from textkin.models.paragraph import ParagraphVector
from textkin.models.plsa import PLSA
from textkin.models.pooling import Pooling
from textkin.models.wtmf import WTMF

__all__ = [
    "LDA",
    "LSI",
    "MSDA",
    "PLSA",
    "WTMF",
    "CountingGrid",
    "FisherKernel",
    "FisherVector",
    "GaussianMixture",
    "ParagraphVector",
    "Pooling",
    "VonMisesFisherMixture",
    "fit_blocks",
    "load_estimator",
]
