"""Make the built-in vectors: the most frequent words of GloVe 6B, 100-d, in one byte per number.

Run ``python scripts/make_builtin_vectors.py`` in the repository root, with textkin installed. The
same source gives the same bytes each time.
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np

from textkin.vectors._builtin import dequantize, quantize

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT.parent / "shared" / "data" / "vectors" / "glove6b-100d.npz"
OUTPUT = ROOT / "src" / "textkin" / "vectors" / "data" / "glove6b-100d-int8.npz"
N_WORDS = 100_000


def read_source(path: Path, n_words: int = N_WORDS) -> tuple[list[str], np.ndarray]:
    """Return the first `n_words` words, in order of frequency, and their float32 vectors."""
    with np.load(path, allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode("utf-8").split("\n")[:n_words]
        matrix = arrays["vectors"][:n_words].astype(np.float32)
    if len(words) != n_words or len(matrix) != n_words:
        raise ValueError(f"the source must have {n_words} words; got {len(words)}.")
    return words, matrix


def write_packed(path: Path, words: list[str], matrix: np.ndarray) -> np.ndarray:
    """Write words, codes, and scales without compression; return the decoded matrix."""
    if any("\n" in word for word in words):
        raise ValueError("words must hold no newline, which parts them in the file.")
    codes, scales = quantize(matrix)
    text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(path, words=text, codes=codes, scales=scales)
    return dequantize(codes, scales)


def main() -> None:
    """Write the file; print its size, its hash, and the quantization error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, nargs="?", default=SOURCE)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    words, matrix = read_source(arguments.source)
    restored = write_packed(arguments.output, words, matrix)
    lost = np.linalg.norm(restored - matrix, axis=1) / np.linalg.norm(matrix, axis=1)
    data = arguments.output.read_bytes()
    worst = int(np.argmax(lost))
    print(f"{arguments.output.name}: {len(data):,} bytes, {matrix.shape[0]} x {matrix.shape[1]}")
    print(f"sha256 {hashlib.sha256(data).hexdigest()}")
    print(f"relative row error: mean {lost.mean():.5f}, worst {lost[worst]:.5f} ({words[worst]!r})")


if __name__ == "__main__":
    main()
