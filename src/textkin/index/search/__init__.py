"""Search in one snapshot of an index: requests, rankings, filters, and hits."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.index.search._columns import Passed as Passed, filter_documents as filter_documents
    from textkin.index.search._feedback import FeedbackRound as FeedbackRound, rocchio as rocchio
    from textkin.index.search._filter_parser import parse_filter as parse_filter
    from textkin.index.search._filters import (
        Condition as Condition,
        Filter as Filter,
        Where as Where,
        group as group,
    )
    from textkin.index.search._hits import Hit as Hit, Hits as Hits, Query as Query
    from textkin.index.search._query_parser import Syntax as Syntax
    from textkin.index.search._request import (
        NAMES as NAMES,
        RankingLike as RankingLike,
        SearchQuery as SearchQuery,
        SearchRequest as SearchRequest,
        Words as Words,
        checked_query as checked_query,
        filter_of as filter_of,
        ranking_of as ranking_of,
        vector_of as vector_of,
    )
    from textkin.index.search._searcher import Searcher as Searcher
    from textkin.index.search._snippets import Piece as Piece, Snippets as Snippets
    from textkin.index.search._state import Bag as Bag, IndexState as IndexState
    from textkin.index.search._tuning import HybridTuning as HybridTuning, tune as tune
    from textkin.index.search.rankings._base import (
        ComparedWords as ComparedWords,
        Ranking as Ranking,
        ScoredRows as ScoredRows,
        Scorer as Scorer,
        ScorerOf as ScorerOf,
    )
    from textkin.index.search.rankings._hybrids import (
        Cascade as Cascade,
        CombinedRanking as CombinedRanking,
        Hybrid as Hybrid,
        HybridScorer as HybridScorer,
        RankFusion as RankFusion,
        WeightedSum as WeightedSum,
        combination_settings as combination_settings,
    )
    from textkin.index.search.rankings._models import (
        ModelQuery as ModelQuery,
        ModelRanking as ModelRanking,
        ModelScorer as ModelScorer,
    )
    from textkin.index.search.rankings._terms import (
        TermQuery as TermQuery,
        TermRanking as TermRanking,
        TermScorer as TermScorer,
    )
    from textkin.index.search.rankings._token_ranking import (
        Rerank as Rerank,
        TokenScorer as TokenScorer,
    )
    from textkin.index.search.rankings._transport import (
        SIDES as SIDES,
        TransportQuery as TransportQuery,
        TransportRanking as TransportRanking,
        TransportScorer as TransportScorer,
        weights_key as weights_key,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_columns": ["Passed", "filter_documents"],
            "_feedback": ["FeedbackRound", "rocchio"],
            "_filter_parser": ["parse_filter"],
            "_filters": ["Condition", "Filter", "Where", "group"],
            "_hits": ["Hit", "Hits", "Query"],
            "_request": [
                "NAMES",
                "RankingLike",
                "SearchQuery",
                "SearchRequest",
                "Words",
                "checked_query",
                "filter_of",
                "ranking_of",
                "vector_of",
            ],
            "_query_parser": ["Syntax"],
            "_searcher": ["Searcher"],
            "_snippets": ["Piece", "Snippets"],
            "_state": ["Bag", "IndexState"],
            "rankings._base": ["ComparedWords", "Ranking", "ScoredRows", "Scorer", "ScorerOf"],
            "_tuning": ["HybridTuning", "tune"],
            "rankings._hybrids": [
                "combination_settings",
                "Cascade",
                "CombinedRanking",
                "Hybrid",
                "HybridScorer",
                "RankFusion",
                "WeightedSum",
            ],
            "rankings._models": ["ModelQuery", "ModelRanking", "ModelScorer"],
            "rankings._terms": ["TermQuery", "TermRanking", "TermScorer"],
            "rankings._token_ranking": ["Rerank", "TokenScorer"],
            "rankings._transport": [
                "weights_key",
                "SIDES",
                "TransportQuery",
                "TransportRanking",
                "TransportScorer",
            ],
        },
    )

__all__ = [
    "Cascade",
    "FeedbackRound",
    "Filter",
    "Hit",
    "Hits",
    "ModelRanking",
    "Query",
    "RankFusion",
    "Rerank",
    "SearchRequest",
    "TermRanking",
    "TransportRanking",
    "WeightedSum",
    "parse_filter",
    "rocchio",
]
