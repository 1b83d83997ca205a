"""Word Mover's Distance: exact, with flow, certificate, bounds, and search."""

from typing import TYPE_CHECKING

from textkin._base import lazy_names

if TYPE_CHECKING:
    from textkin.transport._bound_flows import (
        Side as Side,
        centroid_parts as centroid_parts,
        relaxed_flow as relaxed_flow,
    )
    from textkin.transport._certificate import (
        Certificate as Certificate,
        Verification as Verification,
    )
    from textkin.transport._comparison import (
        Bounds as Bounds,
        Comparison as Comparison,
        compare as compare,
        compare_rows as compare_rows,
        placed_words as placed_words,
    )
    from textkin.transport._core_search import (
        Algorithm as Algorithm,
        SearchOptions as SearchOptions,
        TRANSPORT_METRICS as TRANSPORT_METRICS,
        TransportMetric as TransportMetric,
    )
    from textkin.transport._engine import TransportEngine as TransportEngine
    from textkin.transport._neighbors import (
        MatchesOfQuery as MatchesOfQuery,
        Neighbors as Neighbors,
        NeighborsOfQuery as NeighborsOfQuery,
        SearchStats as SearchStats,
    )
    from textkin.transport._pairs import NeighborBlock as NeighborBlock, PairBlock as PairBlock
    from textkin.transport._search_certificate import (
        SearchCertificate as SearchCertificate,
        SearchVerification as SearchVerification,
    )
    from textkin.transport._solver import (
        CostName as CostName,
        TransportPlan as TransportPlan,
        optimal_transport as optimal_transport,
        reference_costs as reference_costs,
    )
    from textkin.transport._token_mover import TokenMover as TokenMover
    from textkin.transport._token_scores import (
        BertScore as BertScore,
        bert_score as bert_score,
        max_sim as max_sim,
    )
    from textkin.transport._word_mover import (
        WordMover as WordMover,
        empty_document_error as empty_document_error,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "_bound_flows": ["Side", "centroid_parts", "relaxed_flow"],
            "_certificate": ["Certificate", "Verification"],
            "_comparison": ["Bounds", "Comparison", "compare", "compare_rows", "placed_words"],
            "_core_search": [
                "Algorithm",
                "SearchOptions",
                "TRANSPORT_METRICS",
                "TransportMetric",
            ],
            "_engine": ["TransportEngine"],
            "_neighbors": ["MatchesOfQuery", "Neighbors", "NeighborsOfQuery", "SearchStats"],
            "_pairs": ["NeighborBlock", "PairBlock"],
            "_search_certificate": ["SearchCertificate", "SearchVerification"],
            "_solver": ["CostName", "TransportPlan", "optimal_transport", "reference_costs"],
            "_token_mover": ["TokenMover"],
            "_token_scores": ["BertScore", "bert_score", "max_sim"],
            "_word_mover": ["WordMover", "empty_document_error"],
        },
    )

__all__ = [
    "BertScore",
    "Bounds",
    "Certificate",
    "Comparison",
    "MatchesOfQuery",
    "NeighborBlock",
    "Neighbors",
    "NeighborsOfQuery",
    "PairBlock",
    "SearchCertificate",
    "SearchStats",
    "SearchVerification",
    "TokenMover",
    "TransportPlan",
    "Verification",
    "WordMover",
    "bert_score",
    "compare",
    "max_sim",
    "optimal_transport",
    "reference_costs",
]
