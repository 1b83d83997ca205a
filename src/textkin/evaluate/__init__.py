"""Measures, significance tests, readers of judged data, and comparisons on your own data."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.evaluate._analogies import (
        AnalogyScores as AnalogyScores,
        analogies as analogies,
        read_analogies as read_analogies,
    )
    from textkin.evaluate._collections import (
        JudgedQueries as JudgedQueries,
        RetrievalData as RetrievalData,
        read_retrieval as read_retrieval,
    )
    from textkin.evaluate._duplicate_counts import (
        DuplicateCounts as DuplicateCounts,
        duplicate_counts as duplicate_counts,
        remove_duplicates as remove_duplicates,
    )
    from textkin.evaluate._evaluation import (
        Evaluation as Evaluation,
        LabelEvaluation as LabelEvaluation,
        MethodScores as MethodScores,
        PairEvaluation as PairEvaluation,
        SearchEvaluation as SearchEvaluation,
    )
    from textkin.evaluate._labeled_data import (
        LabeledData as LabeledData,
        read_labeled as read_labeled,
    )
    from textkin.evaluate._method_comparison import (
        LABEL_METHODS as LABEL_METHODS,
        PAIR_METHODS as PAIR_METHODS,
        RANKINGS as RANKINGS,
        evaluate_labels as evaluate_labels,
        evaluate_pairs as evaluate_pairs,
        evaluate_search as evaluate_search,
    )
    from textkin.evaluate._pairs import PairData as PairData, read_pairs as read_pairs
    from textkin.evaluate._retrieval import (
        QueryScores as QueryScores,
        average_precision as average_precision,
        interpolated_precision as interpolated_precision,
        ndcg_at_k as ndcg_at_k,
        precision_at_k as precision_at_k,
        recall_at_k as recall_at_k,
        reciprocal_rank as reciprocal_rank,
    )
    from textkin.evaluate._runs import as_run as as_run
    from textkin.evaluate._significance import (
        PairedTest as PairedTest,
        paired_bootstrap as paired_bootstrap,
        paired_randomization as paired_randomization,
        paired_t_test as paired_t_test,
    )
    from textkin.evaluate._sts import (
        STSScores as STSScores,
        pearson as pearson,
        spearman as spearman,
        sts_scores as sts_scores,
    )
    from textkin.evaluate._trec import (
        read_qrels as read_qrels,
        read_run as read_run,
        write_qrels as write_qrels,
        write_run as write_run,
    )
    from textkin.evaluate._word_pairs import (
        PairScores as PairScores,
        read_word_pairs as read_word_pairs,
        word_pairs as word_pairs,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_analogies": ["AnalogyScores", "analogies", "read_analogies"],
            "_collections": ["JudgedQueries", "RetrievalData", "read_retrieval"],
            "_duplicate_counts": ["DuplicateCounts", "duplicate_counts", "remove_duplicates"],
            "_evaluation": [
                "Evaluation",
                "LabelEvaluation",
                "MethodScores",
                "PairEvaluation",
                "SearchEvaluation",
            ],
            "_labeled_data": ["LabeledData", "read_labeled"],
            "_method_comparison": [
                "LABEL_METHODS",
                "PAIR_METHODS",
                "RANKINGS",
                "evaluate_labels",
                "evaluate_pairs",
                "evaluate_search",
            ],
            "_pairs": ["PairData", "read_pairs"],
            "_retrieval": [
                "QueryScores",
                "average_precision",
                "interpolated_precision",
                "ndcg_at_k",
                "precision_at_k",
                "recall_at_k",
                "reciprocal_rank",
            ],
            "_runs": ["as_run"],
            "_significance": [
                "PairedTest",
                "paired_bootstrap",
                "paired_randomization",
                "paired_t_test",
            ],
            "_sts": ["STSScores", "pearson", "spearman", "sts_scores"],
            "_word_pairs": ["PairScores", "read_word_pairs", "word_pairs"],
            "_trec": ["read_qrels", "read_run", "write_qrels", "write_run"],
        },
    )

__all__ = [
    "AnalogyScores",
    "DuplicateCounts",
    "Evaluation",
    "JudgedQueries",
    "LabelEvaluation",
    "LabeledData",
    "MethodScores",
    "PairData",
    "PairEvaluation",
    "PairScores",
    "PairedTest",
    "QueryScores",
    "RetrievalData",
    "STSScores",
    "SearchEvaluation",
    "analogies",
    "as_run",
    "average_precision",
    "duplicate_counts",
    "evaluate_labels",
    "evaluate_pairs",
    "evaluate_search",
    "interpolated_precision",
    "ndcg_at_k",
    "paired_bootstrap",
    "paired_randomization",
    "paired_t_test",
    "pearson",
    "precision_at_k",
    "read_analogies",
    "read_labeled",
    "read_pairs",
    "read_qrels",
    "read_retrieval",
    "read_run",
    "read_word_pairs",
    "recall_at_k",
    "reciprocal_rank",
    "remove_duplicates",
    "spearman",
    "sts_scores",
    "word_pairs",
    "write_qrels",
    "write_run",
]
