"""Validation of embeddings and their document IDs that users pass."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.index.store._model_records import MOST_DIMENSIONS, ModelRecord

__all__ = ["VectorsByModel", "as_array", "check_given", "check_ids", "check_rows"]

VectorsByModel: TypeAlias = Mapping[str, NDArray[Any]]
"""Vectors of documents by the name of their model: a row for each document."""

_CHUNK = 4096  # rows checked at a time


def as_array(given: object) -> NDArray[Any]:
    """Convert an array, a torch tensor, or a list of rows to a NumPy array.

    The result has the type object if the rows have different lengths.
    """
    if isinstance(given, list | tuple) and given and not isinstance(given[0], int | float):
        given = [as_array(row) for row in given]
    elif callable(getattr(given, "detach", None)):  # a tensor of torch
        tensor: Any = given
        tensor = tensor.detach().cpu()
        if str(tensor.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
            tensor = tensor.float()  # NumPy has no bfloat16
        given = tensor.numpy()
    try:
        return np.asarray(given)
    except ValueError:  # rows of different lengths
        return np.empty(0, object)


def check_rows(
    given: object,
    name: str,
    n: int | None = None,
    dimensions: int | None = None,
    dtype: str = "float32",
) -> NDArray[Any]:
    """Validate embeddings as a matrix with one finite row per document; return it.

    Parameters
    ----------
    given : array-like of shape (n, dimensions)
        The vectors.
    name : str
        Name of the parameter in messages.
    n : int, optional
        Number of documents.
    dimensions : int, optional
        Number of dimensions of the model.
    dtype : {"float32", "float16"}, default="float32"
        Type in which the vectors will be stored.

    Raises
    ------
    ParameterError, ParameterTypeError
        If they are not numbers of this shape, or not finite in `dtype`.
    """
    if isinstance(given, str | bytes | Mapping) or given is None:
        raise ParameterTypeError(
            name,
            "an array with one row for each document",
            type(given).__name__,
            "Pass `np.load(path)` or a list of vectors.",
        )
    array = as_array(given)
    if array.dtype.kind not in "fiu" or array.ndim != 2:
        raise ParameterError(
            name,
            "an array of numbers of shape (documents, dimensions)",
            f"shape {array.shape} of type {array.dtype}",
            "Stack the vectors of all documents as rows.",
        )
    if n is not None and len(array) != n:
        raise ParameterError(
            name,
            f"an array with {n:,} rows, one for each document",
            f"{len(array):,}",
            "For vectors of some documents, pass their IDs as `ids`.",
        )
    width = array.shape[1]
    if dimensions is not None and width != dimensions:
        raise ParameterError(
            name,
            f"an array of vectors of {dimensions} dimensions, as when the model was attached",
            f"{width}",
            "Use the encoder of the other vectors, or attach these under another name.",
        )
    if not 1 <= width <= MOST_DIMENSIONS:
        raise ParameterError(
            name, f"an array of vectors of 1 to {MOST_DIMENSIONS:,} dimensions", f"{width:,}"
        )
    for start in range(0, len(array), _CHUNK):
        with np.errstate(over="ignore"):
            finite = np.isfinite(array[start : start + _CHUNK].astype(dtype)).all(axis=1)
        if not finite.all():
            row = start + int(np.flatnonzero(~finite)[0])
            raise ParameterError(
                name,
                f"an array of numbers that are finite in {dtype}",
                f"NaN, infinity or a number that is too large in row {row:,}",
                "Correct the vector, or omit the document and pass `ids`.",
            )
    return array


def check_ids(ids: object, n: int) -> list[str]:
    """Validate the list of document IDs of `n` embeddings, and return it."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise ParameterTypeError("ids", "a list of IDs", type(ids).__name__)
    found = list(ids)
    for id in found:
        if not isinstance(id, str):
            raise ParameterTypeError(
                "ids", "a list of str", type(id).__name__, "Convert the IDs with `str`."
            )
    if len(found) != n:
        raise ParameterError(
            "ids",
            f"a list of {n:,} IDs, one for each row of embeddings",
            f"{len(found):,}",
            "Pass as many IDs as rows.",
        )
    if len(set(found)) < n:
        seen: set[str] = set()
        twice = next(id for id in found if id in seen or seen.add(id))  # type: ignore[func-returns-value]
        raise ParameterError(
            "ids", "different IDs", f"{twice!r} twice", "Pass one vector for each document."
        )
    return found


def check_given(
    given: object, records: Mapping[str, ModelRecord], dtypes: Mapping[str, str]
) -> VectorsByModel:
    """Validate embeddings of new documents, given by the name of the attached model.

    The number of rows is checked when the documents are known, except that it must be the same for
    all models.
    """
    if not isinstance(given, Mapping):
        raise ParameterTypeError(
            "embeddings",
            "a mapping from the names of attached models to arrays",
            type(given).__name__,
            'Pass `embeddings={"minilm": array}`.',
        )
    found: dict[str, NDArray[Any]] = {}
    for name, rows in given.items():
        record = records.get(name)
        if record is None or record.steps or record.damage:
            yours = [other.name for other in records.values() if not other.steps]
            raise ParameterError(
                "embeddings",
                "a mapping from names of models whose vectors you supply "
                f"({', '.join(map(repr, yours)) or 'none is attached'})",
                repr(name),
                "Attach the vectors first: `index.attach(name, embeddings=array)`.",
            )
        found[name] = check_rows(
            rows, f"embeddings[{name!r}]", None, record.dimensions, dtypes[name]
        )
    lengths = {name: len(rows) for name, rows in found.items()}
    if len(set(lengths.values())) > 1:
        raise ParameterError(
            "embeddings",
            "arrays with as many rows as documents",
            ", ".join(f"{count:,} for {name!r}" for name, count in lengths.items()),
            "Pass a row for each document.",
        )
    return found
