"""Built-in vectors: packed files in ``data/`` with int8 codes and a scale per row.

``scripts/make_builtin_vectors.py`` and ``scripts/distil_vectors.py`` make the files;
``data/README.md`` describes them.
"""

from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._base import Float32Array

__all__ = [
    "BUILTIN_PATH",
    "BUILTIN_PATHS",
    "BuiltinName",
    "Int8Array",
    "builtin_name",
    "dequantize",
    "quantize",
    "read_packed",
]

BuiltinName: TypeAlias = Literal["glove", "distilled"]

_DATA = Path(__file__).parent / "data"
BUILTIN_PATHS: dict[BuiltinName, Path] = {
    "glove": _DATA / "glove6b-100d-int8.npz",
    "distilled": _DATA / "minilm-256d-int8.npz",
}
BUILTIN_PATH = BUILTIN_PATHS["glove"]  # default built-in vectors


_PREFIX = "builtin:"


def builtin_name(name: object) -> BuiltinName | None:
    """Return "glove" for "glove" or "builtin:glove" (other names alike), or None.

    Examples
    --------
    >>> builtin_name("builtin:distilled"), builtin_name("glove"), builtin_name("glove.txt")
    ('distilled', 'glove', None)
    """
    if not isinstance(name, str):
        return None
    bare = name.removeprefix(_PREFIX)
    return next((known for known in BUILTIN_PATHS if known == bare), None)


def read_packed(path: Path) -> tuple[list[str], Float32Array]:
    """Read words and float32 vectors from a packed int8 file, without unpickling."""
    with np.load(path, allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode("utf-8").split("\n")
        codes, scales = arrays["codes"], arrays["scales"]
    sound = (
        codes.dtype == np.int8
        and scales.dtype == np.float32
        and codes.ndim == 2
        and len(codes) == len(words)
        and scales.shape == (len(words),)
    )
    if not sound:
        raise ValueError(
            f"{path.name} is not a packed vector file: {len(words)} words, "
            f"codes {codes.dtype} {codes.shape}, scales {scales.dtype} {scales.shape}. "
            "Install textkin again."
        )
    return words, dequantize(codes, scales)


Int8Array: TypeAlias = NDArray[np.int8]

_LARGEST_CODE = 127


def quantize(matrix: Float32Array) -> tuple[Int8Array, Float32Array]:
    """Quantize rows to int8 codes; return the codes and the scale of each row.

    The error of each number is at most half a scale. The largest number of a row keeps the code 127
    or -127, so no row becomes zero.

    Parameters
    ----------
    matrix : ndarray of shape (V, d), float32
        Finite vectors without all-zero rows.

    Returns
    -------
    codes : ndarray of shape (V, d), int8
        Codes from -127 to 127.
    scales : ndarray of shape (V,), float32
        Scale of each row.

    Examples
    --------
    >>> import numpy as np
    >>> codes, scales = quantize(np.array([[2.54, -1.27], [0.0, 127.0]], dtype=np.float32))
    >>> codes.tolist()
    [[127, -64], [0, 127]]
    """
    scales = (np.abs(matrix).max(axis=1) / np.float32(_LARGEST_CODE)).astype(np.float32)
    too_small = scales < np.finfo(np.float32).tiny
    if too_small.any():
        raise ValueError(
            f"row {int(np.argmax(too_small))} is too close to zero to be scaled in float32; "
            "omit it."
        )
    codes = np.rint(matrix / scales[:, np.newaxis].astype(np.float64)).astype(np.int8)
    return codes, scales


def dequantize(codes: Int8Array, scales: Float32Array) -> Float32Array:
    """Convert int8 codes and a scale per row back to float32 rows."""
    matrix: Float32Array = codes.astype(np.float32)
    matrix *= scales[:, np.newaxis]
    return matrix
