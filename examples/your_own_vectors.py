"""Load your own word vectors: common formats, reported repairs, conversion."""

import tempfile
import warnings
from pathlib import Path

import numpy as np

import textkin as tk

WORDS = ["king", "queen", "man", "woman", "apple"]
MATRIX = np.array([[5, 1, 0.2], [5, -1, 0.1], [1, 1, 0], [1, -1, 0], [0, 0.1, 4]], dtype=np.float32)

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)

    # GloVe text: a word and its numbers per line. "king" is repeated, and "void" is zero.
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(WORDS, MATRIX, strict=True)]
    (folder / "glove.txt").write_text("\n".join([*lines, "king 9 9 9", "void 0 0 0"]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        vectors = tk.WordVectors.load(folder / "glove.txt")
    print(vectors, "- skipped:", vectors.repairs)
    print("warned:", told[0].category.__name__)

    # The content determines the format: NumPy's .npz, and word2vec's binary.
    np.savez(folder / "vectors.npz", words=np.array(WORDS), vectors=MATRIX)
    rows = (w.encode() + b" " + r.tobytes() for w, r in zip(WORDS, MATRIX, strict=True))
    (folder / "word2vec.bin").write_bytes(b"5 3\n" + b"".join(rows))
    for name in ("vectors.npz", "word2vec.bin"):
        print(name, tk.WordVectors.load(folder / name, max_words=3).words)

    # A textkin folder, to keep and to share.
    vectors.save(folder / "royal")
    again = tk.WordVectors.load(folder / "royal")
    print("analogy:", again.analogy("man", "king", "woman", 1))
    print("distance:", round(tk.compare("king man", "queen woman", vectors=again).distance, 3))
