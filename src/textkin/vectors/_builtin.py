"""The built-in vectors: the files in ``data/``, unpacked.

``scripts/make_builtin_vectors.py`` and ``scripts/distil_vectors.py`` make the files;
``data/README.md`` says what is in them.
"""

from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from textkin._typing import Float32Array
from textkin.vectors._quantise import dequantise

__all__ = ["BUILTIN_PATH", "BUILTIN_PATHS", "BuiltinName", "read_packed"]

BuiltinName: TypeAlias = Literal["glove", "distilled"]

_DATA = Path(__file__).parent / "data"
BUILTIN_PATHS: dict[BuiltinName, Path] = {
    "glove": _DATA / "glove6b-100d-int8.npz",
    "distilled": _DATA / "minilm-256d-int8.npz",
}
BUILTIN_PATH = BUILTIN_PATHS["glove"]  # those that are meant where no name is given


def read_packed(path: Path) -> tuple[list[str], Float32Array]:
    """Return the words and the float32 matrix of a packed int8 file; never unpickles."""
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
    return words, dequantise(codes, scales)
