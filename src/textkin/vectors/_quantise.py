"""Vectors in one byte a number: int8 codes with one float32 scale for each row."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float32Array

__all__ = ["Int8Array", "dequantise", "quantise"]

Int8Array: TypeAlias = NDArray[np.int8]

_LARGEST_CODE = 127


def quantise(matrix: Float32Array) -> tuple[Int8Array, Float32Array]:
    """Round each row x to ``scale * codes`` with ``scale = max |x| / 127``.

    No number is off by more than half a scale, and the largest of a row keeps code 127 or
    -127, so no row turns zero.

    Parameters
    ----------
    matrix : ndarray of shape (V, d), float32
        Finite, no all-zero row.

    Returns
    -------
    codes : ndarray of shape (V, d), int8
        From -127 to 127.
    scales : ndarray of shape (V,), float32

    Examples
    --------
    >>> import numpy as np
    >>> codes, scales = quantise(np.array([[2.54, -1.27], [0.0, 127.0]], dtype=np.float32))
    >>> codes.tolist()
    [[127, -64], [0, 127]]
    """
    scales = (np.abs(matrix).max(axis=1) / np.float32(_LARGEST_CODE)).astype(np.float32)
    too_small = scales < np.finfo(np.float32).tiny
    if too_small.any():
        raise ValueError(
            f"row {int(np.argmax(too_small))} is too near to zero to be scaled in float32; "
            "leave it out."
        )
    codes = np.rint(matrix / scales[:, np.newaxis].astype(np.float64)).astype(np.int8)
    return codes, scales


def dequantise(codes: Int8Array, scales: Float32Array) -> Float32Array:
    """Return ``scale * codes`` for each row, float32."""
    matrix: Float32Array = codes.astype(np.float32)
    matrix *= scales[:, np.newaxis]
    return matrix
