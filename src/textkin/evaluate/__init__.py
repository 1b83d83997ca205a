"""How good is it: measures, tests of significance, readers of judged data."""

from textkin.evaluate._classification import accuracy, error, macro_f1
from textkin.evaluate._clustering import ari, nmi
from textkin.evaluate._retrieval import (
    QueryScores,
    average_precision,
    interpolated_precision,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from textkin.evaluate._runs import as_run
from textkin.evaluate._significance import (
    PairedTest,
    paired_bootstrap,
    paired_randomisation,
    paired_t_test,
)
from textkin.evaluate._sts import STSScores, pearson, spearman, sts_scores

__all__ = [
    "PairedTest",
    "QueryScores",
    "STSScores",
    "accuracy",
    "ari",
    "as_run",
    "average_precision",
    "error",
    "interpolated_precision",
    "macro_f1",
    "ndcg_at_k",
    "nmi",
    "paired_bootstrap",
    "paired_randomisation",
    "paired_t_test",
    "pearson",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
    "spearman",
    "sts_scores",
]
