"""How good is it: measures, significance, readers of judged data, and the papers' tables."""

from textkin.evaluate._cells import Cell, MissingDataError, Outcome, Task
from textkin.evaluate._classification import accuracy, error, macro_f1
from textkin.evaluate._clustering import ari, nmi
from textkin.evaluate._collections import RetrievalData, read_retrieval
from textkin.evaluate._duplicates import DuplicateCounts, duplicate_counts, remove_duplicates
from textkin.evaluate._experiment import Aim, Experiment, Method, Reference, run_experiment
from textkin.evaluate._labelled import LabelledData, read_labelled
from textkin.evaluate._pairs import PairData, read_pairs
from textkin.evaluate._report import experiment_markdown, write_page, write_results
from textkin.evaluate._results import Results
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
from textkin.evaluate._tables import Grid
from textkin.evaluate._trec import read_qrels, read_run, write_qrels, write_run
from textkin.evaluate.experiments import experiment, experiment_names

__all__ = [
    "Aim",
    "Cell",
    "DuplicateCounts",
    "Experiment",
    "Grid",
    "LabelledData",
    "Method",
    "MissingDataError",
    "Outcome",
    "PairData",
    "PairedTest",
    "QueryScores",
    "Reference",
    "Results",
    "RetrievalData",
    "STSScores",
    "Task",
    "accuracy",
    "ari",
    "as_run",
    "average_precision",
    "duplicate_counts",
    "error",
    "experiment",
    "experiment_markdown",
    "experiment_names",
    "interpolated_precision",
    "macro_f1",
    "ndcg_at_k",
    "nmi",
    "paired_bootstrap",
    "paired_randomisation",
    "paired_t_test",
    "pearson",
    "precision_at_k",
    "read_labelled",
    "read_pairs",
    "read_qrels",
    "read_retrieval",
    "read_run",
    "recall_at_k",
    "reciprocal_rank",
    "remove_duplicates",
    "run_experiment",
    "spearman",
    "sts_scores",
    "write_page",
    "write_qrels",
    "write_results",
    "write_run",
]
