"""The Word Mover family: exact distance with flow and certificate, and its lower bounds."""

from textkin.transport._certificate import Certificate, Verification
from textkin.transport._compare import compare
from textkin.transport._comparison import Bounds, Comparison
from textkin.transport._costs import reference_costs
from textkin.transport._encode import Coverage
from textkin.transport._mover import WordMover
from textkin.transport._plan import TransportPlan, optimal_transport

__all__ = [
    "Bounds",
    "Certificate",
    "Comparison",
    "Coverage",
    "TransportPlan",
    "Verification",
    "WordMover",
    "compare",
    "optimal_transport",
    "reference_costs",
]
