"""Fit estimators to rows that lie in blocks, here or on the workers of a cluster."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from textkin._saving import SavedEstimator, whole_or_not_at_all
from textkin._validation import check_params
from textkin.models.blocks._bags import learn_words
from textkin.models.blocks._factors import fit_wtmf
from textkin.models.blocks._passes import Passes
from textkin.models.blocks._rows import fit_mixture
from textkin.models.blocks._sources import Source, dense_rows
from textkin.models.blocks._topics import fit_plsa
from textkin.models.mixture import GaussianMixture, VonMisesFisherMixture
from textkin.models.plsa import PLSA
from textkin.models.wtmf import WTMF
from textkin.run import Place, ProgressCallback, memory_in_bytes
from textkin.weighting import BM25, SIF, TfIdf
from textkin.weighting._rows import TakesBags, checked_bags

__all__ = ["fit_blocks"]

_Estimator = TypeVar("_Estimator", bound=SavedEstimator)


def fit_blocks(
    estimator: _Estimator,
    blocks: Iterable[Source],
    *,
    on: Place = None,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    memory: str | int = "512MB",
    progress: ProgressCallback | None = None,
) -> _Estimator:
    """Fit an estimator to rows in blocks, as its `fit` would to all of them in one array.

    Blocks are worked on one by one, here or on the workers of a cluster, and what is learnt from
    each is summed up in the order of the blocks: any number of workers, in any place, gives the
    same bits. Other blocks of the same rows give the same fit but for rounding.

    Parameters
    ----------
    estimator : estimator
        A `TfIdf`, `BM25`, `SIF`, `PLSA`, `WTMF`, `GaussianMixture` or `VonMisesFisherMixture`. Its
        `n_jobs` is the number of threads that work on one block.
    blocks : list of array, path or callable
        The rows, in order: bags, or dense rows for a mixture. Each block is an array or a sparse
        array; a path to one, in a file of ``scipy.sparse.save_npz`` (.npz), of ``numpy.save``
        (.npy) or of safetensors with a single array; or a function without arguments that gives
        one. Paths are opened, and functions called, where the work is done, once in every pass;
        they must give the same rows each time. Blocks without rows are allowed.
    on : {"threads", "joblib"}, distributed.Client or str, default=None
        Where blocks are worked on, see `textkin.run.map_blocks`: threads of this process, joblib,
        or a Dask cluster by its client or the address of its scheduler.
    n_jobs : int, default=None
        Blocks at a time, with threads and joblib.
    folder : str or Path, default=None
        Where to keep what lies between passes: P(z|d) of PLSA, the texts of WTMF, and arrays that
        were given as blocks and are worked on elsewhere. All workers must see it; by default it is
        a temporary folder of this machine. It is made if missing, and cleared of all that, but for
        ``document_topics.npy`` of PLSA, which `document_topics_` is then a memory map of.
    memory : str or int, default="512MB"
        What a task of WTMF may use for the sums of its words; the smaller, the more often texts
        are read.
    progress : callable, optional
        Called as that of the `fit` of the estimator, with (steps done, most steps), or with
        (blocks done, all) for a weighting; raising from it stops the work.

    Returns
    -------
    estimator
        The estimator itself, fitted. A fit that fails, or is interrupted, leaves it as it was.

    Raises
    ------
    TypeError
        If the estimator is none of those, or a block is nothing that has rows.
    ValueError
        If blocks differ in their columns, have no rows together, or hold what `fit` refuses; for
        PLSA with ``tempered=True``.
    RuntimeError
        If a block has other rows than in the first pass.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        Where the `fit` of the estimator does.

    See Also
    --------
    textkin.run.map_blocks : What runs a pass over the blocks.

    Notes
    -----
    The start is that of `fit`, whatever the blocks are. PLSA draws P(z|d) of all documents, then
    the words; a block gets the generator in the state in which its own rows begin. k-means++ of
    mixtures draws from all rows, or from a sample by position where there are more than 131,072,
    both here and in `fit`.

    A worker holds one block for each of its threads, and the parameters. A block whose worker
    died is worked on again: a pass reads only what passes before it have left, so the fit is the
    same. Bits are those of one kind of processor and one set of libraries.

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
    fitted: _Estimator = _fit(
        estimator, blocks, on=on, n_jobs=n_jobs, folder=folder, memory=memory, progress=progress
    )
    return fitted


@whole_or_not_at_all
def _fit(
    estimator: Any,  # noqa: ANN401 (one of several)
    blocks: Iterable[Source],
    *,
    on: Place,
    n_jobs: int | None,
    folder: str | os.PathLike[str] | None,
    memory: str | int,
    progress: ProgressCallback | None,
) -> Any:  # noqa: ANN401
    if not isinstance(
        estimator, TfIdf | BM25 | SIF | PLSA | WTMF | GaussianMixture | VonMisesFisherMixture
    ):
        raise TypeError(
            "estimator must be a TfIdf, BM25, SIF, PLSA, WTMF, GaussianMixture or "
            f"VonMisesFisherMixture; got {type(estimator).__name__}. Others are fitted by fit()."
        )
    check_params(estimator)
    if getattr(estimator, "device", None) is not None:
        raise ValueError(
            f"device must be None over blocks, whose workers compute on processors; got "
            f"{estimator.device!r}."
        )
    most = memory_in_bytes(memory)
    with Passes(blocks, _reading_of(estimator), on=on, n_jobs=n_jobs, folder=folder) as passes:
        if isinstance(estimator, PLSA):
            fit_plsa(estimator, passes, progress)
        elif isinstance(estimator, WTMF):
            fit_wtmf(estimator, passes, most, progress)
        elif isinstance(estimator, GaussianMixture | VonMisesFisherMixture):
            fit_mixture(estimator, passes, progress)
        else:
            learn_words(estimator, passes, progress)
    return estimator


def _reading_of(estimator: Any) -> Callable[[Any], Any]:  # noqa: ANN401
    """Return what checks rows as the estimator does."""
    if isinstance(estimator, TakesBags):
        return partial(
            checked_bags,
            takes_negative=estimator._takes_negative,
            keeps_zeros=estimator._keeps_zeros,
        )
    return dense_rows
