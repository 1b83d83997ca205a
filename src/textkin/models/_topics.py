"""What the two ways of estimating LDA take and give."""

from dataclasses import dataclass

from textkin._typing import Float64Array

__all__ = ["LdaFit", "LdaSettings"]


@dataclass(frozen=True, slots=True)
class LdaSettings:
    """The parameters of LDA, all known: priors are numbers here."""

    n_components: int
    alpha: float
    beta: float
    max_iter: int
    tol: float
    burn_in: int
    n_jobs: int | None


@dataclass(frozen=True, slots=True)
class LdaFit:
    """Topics as pseudo-counts (n_components, n_words), and how they were found.

    Sampling knows the shares of topics in the documents of the fit too.
    """

    components: Float64Array
    n_iter: int
    converged: bool
    lower_bounds: list[float]
    document_topics: Float64Array | None = None
