"""The Word Mover family: exact distance with flow and certificate, bounds, exact search."""

from textkin.transport._certificate import Certificate, Verification
from textkin.transport._compare import compare
from textkin.transport._comparison import Bounds, Comparison
from textkin.transport._costs import reference_costs
from textkin.transport._exclusion import SearchCertificate, SearchVerification
from textkin.transport._mover import WordMover
from textkin.transport._neighbors import Neighbors, SearchStats
from textkin.transport._plan import TransportPlan, optimal_transport
from textkin.transport._streams import NeighborBlock, PairBlock
from textkin.vectors._encode import Coverage

__all__ = [
    "Bounds",
    "Certificate",
    "Comparison",
    "Coverage",
    "NeighborBlock",
    "Neighbors",
    "PairBlock",
    "SearchCertificate",
    "SearchStats",
    "SearchVerification",
    "TransportPlan",
    "Verification",
    "WordMover",
    "compare",
    "optimal_transport",
    "reference_costs",
]
