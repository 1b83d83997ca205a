"""`fit_blocks`: fits on rows that come in blocks, locally or on the workers of a cluster."""

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from textkin._base import (
    BagEstimator,
    SavedEstimator,
    bag_check,
    check_params,
    rollback_on_error,
)
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.models._block_passes import Passes, Source, dense_rows, survey
from textkin.models.factors._als_blocks import fit_wtmf
from textkin.models.factors._wtmf import WTMF
from textkin.models.mixture._em_blocks import fit_mixture
from textkin.models.mixture._gaussian import DiagonalGaussianMixture
from textkin.models.mixture._von_mises_fisher import VonMisesFisherMixture
from textkin.models.topics._em_blocks import fit_plsa
from textkin.models.topics._plsa import PLSA
from textkin.run import Executor, ProgressCallback, memory_in_bytes
from textkin.weighting import BM25, SIF, TfIdf

__all__ = ["fit_blocks"]

_Estimator = TypeVar("_Estimator", bound=SavedEstimator)


@rollback_on_error
def fit_blocks(
    estimator: _Estimator,
    blocks: Iterable[Source],
    *,
    executor: Executor = None,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    memory: str | int = "512MB",
    progress: ProgressCallback | None = None,
) -> _Estimator:
    """Fit an estimator to rows in blocks, with the result of `fit` on all rows at once.

    The blocks are processed one by one, locally or on the workers of a cluster, and their results
    are summed in the order of the blocks. The fit is bit-identical for any number of workers.
    Different blocks of the same rows give the same fit except for rounding.

    Parameters
    ----------
    estimator : estimator
        A `TfIdf`, `BM25`, `SIF`, `PLSA`, `WTMF`, `DiagonalGaussianMixture` or
        `VonMisesFisherMixture`. Its `n_jobs` is the number of threads per block.
    blocks : list of array, path or callable
        Rows, in order: bags, or dense rows for a mixture. Each block is an array or a sparse
        array; the path of a file with one, written by ``scipy.sparse.save_npz`` (.npz),
        ``numpy.save`` (.npy), or safetensors with a single array; or a function without arguments
        that returns one. Each pass opens each path, or calls each function, once, on the worker;
        the rows must be the same each time. Blocks without rows are allowed.
    executor : {"threads", "joblib"}, distributed.Client or str, default=None
        Executor of the passes, see `textkin.run.map_blocks`: threads of this process, joblib, or
        a Dask cluster, as a client or the address of its scheduler.
    n_jobs : int, default=None
        Number of blocks processed concurrently, with threads and joblib.
    folder : str or Path, default=None
        Folder for data between passes: P(z|d) of PLSA, the texts of WTMF, and blocks given as
        arrays if other processes work on them. All workers must be able to read and write it. If
        None, a temporary folder of this machine. It is created if missing. After the fit it is
        empty, except for ``document_topics.npy`` of PLSA: `document_topics_` is a memory map of
        this file.
    memory : str or int, default="512MB"
        Maximum memory of a WTMF task for the sums of its words. With a smaller value, texts are
        read more often.
    progress : callable, optional
        Called like the `progress` of the estimator's `fit`, with (steps done, maximum number of
        steps), or with (blocks done, total) for a weighting. An exception raised in it stops the
        work.

    Returns
    -------
    estimator
        The estimator itself, fitted. A fit that fails or is interrupted leaves it unchanged.

    Raises
    ------
    TypeError
        If the estimator is not one of these, or a block is not an array, path, or function.
    ValueError
        If blocks have different columns, have no rows in total, or contain values that `fit`
        rejects; for PLSA with ``tempered=True``.
    RuntimeError
        If a block returns other rows than in the first pass.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the `fit` of the estimator would warn.

    See Also
    --------
    textkin.run.map_blocks : Runs a pass over the blocks.

    Notes
    -----
    The initialization is the same as in `fit`, regardless of the blocks. PLSA samples P(z|d) of
    all documents, then the words; a block receives the state of the random generator at its first
    row. k-means++ of mixtures samples from all rows, or, with more than 131,072 rows, from a
    sample by position, both here and in `fit`.

    A worker holds one block per thread, and the parameters. If a worker dies, its block is
    processed again, with the same result: a pass reads only results of earlier passes. Fits are
    bit-identical on CPUs of one type with the same versions of the libraries.

    Examples
    --------
    >>> import numpy as np
    >>> from textkin.models import PLSA, fit_blocks
    >>> bags = np.array([[4, 3, 0, 0], [5, 4, 0, 0], [0, 0, 3, 4], [0, 0, 5, 4]])
    >>> parts = fit_blocks(PLSA(2, random_state=0), [bags[:1], bags[1:]])
    >>> whole = PLSA(2, random_state=0).fit(bags)
    >>> np.allclose(parts.components_, whole.components_, rtol=0, atol=1e-9)
    True
    """
    if not isinstance(
        estimator,
        TfIdf | BM25 | SIF | PLSA | WTMF | DiagonalGaussianMixture | VonMisesFisherMixture,
    ):
        raise ParameterTypeError(
            "estimator",
            "a TfIdf, BM25, SIF, PLSA, WTMF, DiagonalGaussianMixture, or VonMisesFisherMixture",
            type(estimator).__name__,
            "Call fit() of other estimators.",
        )
    check_params(estimator)
    if getattr(estimator, "device", None) is not None:
        raise ParameterError(
            "device",
            "None over blocks, whose workers compute on CPUs",
            repr(estimator.device),
        )
    most = memory_in_bytes(memory)
    with Passes(
        blocks, _reading_of(estimator), executor=executor, n_jobs=n_jobs, folder=folder
    ) as passes:
        if isinstance(estimator, PLSA):
            fit_plsa(estimator, passes, progress)
        elif isinstance(estimator, WTMF):
            fit_wtmf(estimator, passes, most, progress)
        elif isinstance(estimator, DiagonalGaussianMixture | VonMisesFisherMixture):
            fit_mixture(estimator, passes, progress)
        else:
            learn_words(estimator, passes, progress)
    return estimator


def _reading_of(estimator: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    """Return the function that validates a block of rows as the estimator's `fit` does."""
    if isinstance(estimator, BagEstimator):
        return bag_check(estimator)
    return dense_rows


def learn_words(
    weighting: TfIdf | BM25 | SIF, passes: Passes, progress: ProgressCallback | None
) -> None:
    """Fit a weighting (TF-IDF, BM25, SIF) to the word statistics of all blocks."""
    survey(passes, weighting, progress).words.fit(weighting)
