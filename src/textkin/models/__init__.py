"""Models over bags: documents become vectors in a space of topics."""

from textkin._saving import load_estimator
from textkin.models.fisher_kernel import FisherKernel
from textkin.models.lda import LDA
from textkin.models.lsi import LSI
from textkin.models.plsa import PLSA
from textkin.models.wtmf import WTMF

__all__ = ["LDA", "LSI", "PLSA", "WTMF", "FisherKernel", "load_estimator"]
