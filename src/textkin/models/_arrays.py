"""Conversion of bags and arrays to the memory layouts of the compiled core."""

from typing import Any

import numpy as np

from textkin._base import Bags, Float64Array

__all__ = ["entries_of", "scaled_rows", "table_of"]


def entries_of(bags: Bags, dtype: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401
    """Return the CSR arrays of bags (row offsets, columns, values) in the core's types."""
    return (
        bags.indptr.astype(np.int64),
        bags.indices.astype(np.int32),
        bags.data.astype(dtype),
    )


def scaled_rows(bags: Bags, *, above: float = 0.0) -> Float64Array:
    """Return the values of bags in float64, each row scaled by a power of two.

    Only rows whose maximum exceeds `above` are scaled; their maximum is then about `above`, or
    about 1 if `above` is 0.
    """
    counts = bags.data.astype(np.float64)
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, counts)
    _, exponents = np.frexp(largest)
    if above > 0:
        exponents = np.maximum(exponents - np.frexp(above)[1], 0)
    return np.asarray(np.ldexp(counts, -exponents[rows]))


def table_of(values: Float64Array, dtype: Any) -> Any:  # noqa: ANN401
    """Copy a matrix to a table for the core: 64-byte aligned rows, padded with zeros."""
    rows, n_topics = values.shape
    size = np.dtype(dtype).itemsize
    width = -(-n_topics * size // 64) * 64 // size
    memory = np.zeros(rows * width * size + 64, dtype=np.uint8)
    address, _ = memory.__array_interface__["data"]
    start = -address % 64
    table = memory[start : start + rows * width * size].view(dtype).reshape(rows, width)
    table[:, :n_topics] = values
    return table
