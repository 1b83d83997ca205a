"""How good is it: measures, tests of significance, readers of judged data."""

from textkin.evaluate._classification import accuracy, error, macro_f1
from textkin.evaluate._clustering import ari, nmi
from textkin.evaluate._sts import STSScores, pearson, spearman, sts_scores

__all__ = [
    "STSScores",
    "accuracy",
    "ari",
    "error",
    "macro_f1",
    "nmi",
    "pearson",
    "spearman",
    "sts_scores",
]
