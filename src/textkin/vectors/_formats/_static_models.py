"""Reader of static embedding models: model2vec, and StaticEmbedding models.

A static model has one vector per token of its tokenizer, and the vector of a text is the mean over
its tokens. The vector of a word is the output of the model for the word as a text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._base import Float32Array, Float64Array, Int64Array, read_small
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import TensorFile, read_tensors
from textkin.vectors._formats._source import find_inside, max_words_size
from textkin.vectors._formats._word_lists import parse_json

__all__ = ["is_static", "read_static"]

_MATRIX = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_NESTED = "0_StaticEmbedding"
_BATCH = 4096
_SETTINGS = 2**20  # size limit of a settings file, in bytes
_WORD_STARTS = ("\u2581", "\u0120")  # space markers of sentencepiece and byte-level tokens


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any
    table: NDArray[Any]
    row_of_token: Int64Array | None
    weights: Float64Array | None
    left_out: frozenset[int]  # tokens excluded from the mean
    normalize: bool
    add_up: bool  # sum the token vectors of a word instead of averaging them


def is_static(folder: Path) -> bool:
    """Return True if a folder contains a static embedding model."""
    return _home(folder) is not None


def read_static(folder: Path, options: Options) -> tuple[Sequence[str], Float32Array]:
    """Return the words and vectors of a static embedding model.

    The words are ``options.words``, or by default every token of the tokenizer that is a whole
    word. A word without known tokens is omitted.
    """
    home = _home(folder)
    if home is None:
        raise ValueError(
            f"{folder} must contain a static model: {_MATRIX} and {_TOKENIZER}, or both in "
            f"{_NESTED}."
        )
    model = _read_model(folder, home, add_up=options.token_vectors == "sum")
    if options.words is not None:
        words = list(options.words)
    else:
        with _sound(home / _TOKENIZER):
            words = _whole_words(model.tokenizer)
    kept: list[str] = []
    parts: list[Float32Array] = []
    sound = 0
    for start in range(0, len(words), _BATCH):
        for word, vector in _embedded(model, words[start : start + _BATCH], folder):
            kept.append(word)
            parts.append(vector)
            sound += bool(vector.any())
        # Only valid vectors count toward the limit.
        if options.max_words is not None and sound >= options.max_words:
            break
        if options.progress is not None:
            options.progress(min(start + _BATCH, len(words)), len(words))
    if not kept:
        raise ValueError(f"{folder} must have vectors for at least one of the words; got none.")
    return kept, np.stack(parts)


def _home(folder: Path) -> Path | None:
    for part in ("", f"{_NESTED}/"):
        if find_inside(folder, part + _MATRIX) and find_inside(folder, part + _TOKENIZER):
            return folder / part
    return None


def _read_model(folder: Path, home: Path, *, add_up: bool) -> _Model:
    with (home / _MATRIX).open("rb") as file:
        found = read_tensors(file, str(home / _MATRIX))
        nested = "embedding.weight" in found.tensors
        table = _tensor(found, "embedding.weight" if nested else "embeddings", 2, "fi")
        mapping = _tensor(found, "mapping", 1, "i") if "mapping" in found.tensors else None
        weights = _tensor(found, "weights", 1, "f") if "weights" in found.tensors else None
    tokens = len(table) if mapping is None else len(mapping)
    tokenizer, unknown = _read_tokenizer(home / _TOKENIZER, max_words_size(tokens))
    if mapping is not None and not (mapping.min() >= 0 and mapping.max() < len(table)):
        raise ValueError(f"{home / _MATRIX} maps tokens to missing rows.")
    return _Model(
        tokenizer,
        table,
        None if mapping is None else mapping.astype(np.int64),
        None if weights is None else weights.astype(np.float64),
        # model2vec excludes unknown tokens from the mean; sentence-transformers includes them.
        frozenset() if nested or unknown is None else frozenset([unknown]),
        _normalizes(folder),
        add_up,
    )


def _tensor(found: TensorFile, name: str, dimensions: int, kinds: str) -> NDArray[Any]:
    tensor = found.tensors.get(name)
    if tensor is None or len(tensor.shape) != dimensions or 0 in tensor.shape:
        raise ValueError(
            f"{found.name} must have a {dimensions}-D tensor {name!r}; got "
            f"{', '.join(sorted(found.tensors)[:8]) or 'none'}."
        )
    numbers = found.numbers(name)
    if numbers.dtype.kind not in kinds:
        raise ValueError(f"the tensor {name!r} of {found.name} has a wrong dtype.")
    return numbers


def _read_tokenizer(file: Path, most: int) -> tuple[Any, int | None]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "A static model requires the package tokenizers, which splits words in the same way "
            "as the model: pip install 'textkin[static]'"
        ) from error
    text = read_small(file, most)
    described = parse_json(text, str(file))
    with _sound(file):
        tokenizer = Tokenizer.from_str(text.decode("utf-8"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = described.get("model") if isinstance(described, dict) else None
    unknown = model.get("unk_token") if isinstance(model, dict) else None
    if isinstance(model, dict) and isinstance(model.get("unk_id"), int):
        return tokenizer, int(model["unk_id"])
    return tokenizer, tokenizer.token_to_id(unknown) if isinstance(unknown, str) else None


@contextmanager
def _sound(file: Path) -> Iterator[None]:
    """Convert any error of the tokenizers library to ValueError."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # KeyboardInterrupt and other exceptions that are not errors
        raise ValueError(f"{file} is not a valid tokenizer ({error}).") from error


def _normalizes(folder: Path) -> bool:
    """Return True if a static model L2-normalizes its output."""
    config, modules = find_inside(folder, "config.json"), find_inside(folder, "modules.json")
    if config is not None:
        found = parse_json(read_small(config, _SETTINGS), str(config))
        if isinstance(found, dict) and "normalize" in found:
            return bool(found["normalize"])
    if modules is not None:
        listed = parse_json(read_small(modules, _SETTINGS), str(modules))
        return isinstance(listed, list) and any(
            isinstance(one, dict) and str(one.get("type", "")).endswith(".Normalize")
            for one in listed
        )
    return False


def _whole_words(tokenizer: Any) -> list[str]:  # noqa: ANN401 (tokenizers is untyped)
    """Return the tokens of a tokenizer that are whole words."""
    special = {
        str(token.content)
        for token in tokenizer.get_added_tokens_decoder().values()
        if token.special
    }
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: int(item[1]))
    tokens = [(str(token), int(number)) for token, number in vocabulary if token not in special]
    marked = [item for item in tokens if item[0].startswith(_WORD_STARTS)]
    if marked:  # word pieces have no marker
        decoded = (str(tokenizer.decode([number])) for _, number in marked)
        found = (text.strip().lstrip("".join(_WORD_STARTS)) for text in decoded)
    else:
        found = (token for token, _ in tokens if not token.startswith("##"))
    return [word for word in dict.fromkeys(found) if word and not any(map(str.isspace, word))]


def _embedded(
    model: _Model, words: Sequence[str], folder: Path
) -> Iterator[tuple[str, Float32Array]]:
    with _sound(folder / _TOKENIZER):
        encodings = model.tokenizer.encode_batch(words, add_special_tokens=False)
    for word, encoding in zip(words, encodings, strict=True):
        tokens = np.array([i for i in encoding.ids if i not in model.left_out], dtype=np.int64)
        if not len(tokens):
            continue
        rows = tokens
        if model.row_of_token is not None:
            rows = _taken(model.row_of_token, tokens, folder)
        vectors = _taken(model.table, rows, folder).astype(np.float64)
        if model.weights is not None:
            vectors *= _taken(model.weights, tokens, folder)[:, np.newaxis]
        if model.add_up:
            yield word, vectors.sum(axis=0).astype(np.float32)
            continue
        mean = vectors.mean(axis=0)
        if model.normalize:
            mean /= np.linalg.norm(mean) + 1e-32
        yield word, mean.astype(np.float32)


def _taken(array: NDArray[Any], at: Int64Array, folder: Path) -> NDArray[Any]:
    if int(at.max()) >= len(array):
        raise ValueError(f"{folder} has more tokens in its tokenizer than vectors.")
    taken: NDArray[Any] = array[at]
    return taken
