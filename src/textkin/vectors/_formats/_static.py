"""Folders of static embedding models: model2vec, and sentence-transformers' StaticEmbedding.

Such a model has a vector for each token of its tokenizer, and a text's vector is the mean over
its tokens. The vector of a word is what the model itself would give for the word as a text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._folders import read_small
from textkin._typing import Float32Array, Float64Array, Int64Array
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import TensorFile, read_tensors
from textkin.vectors._formats._source import inside, room_for_words
from textkin.vectors._formats._words import parse_json

__all__ = ["is_static", "read_static"]

_MATRIX = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_NESTED = "0_StaticEmbedding"
_BATCH = 4096
_SETTINGS = 2**20  # bytes that a file of settings may have
_WORD_STARTS = ("\u2581", "\u0120")  # how sentencepiece and byte-level tokens mark the space before


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any
    table: NDArray[Any]
    row_of_token: Int64Array | None
    weights: Float64Array | None
    left_out: frozenset[int]  # tokens that do not count
    normalize: bool


def is_static(folder: Path) -> bool:
    """Say whether a folder holds a static model."""
    return _home(folder) is not None


def read_static(folder: Path, options: Options) -> tuple[Sequence[str], Float32Array]:
    """Return words and their vectors.

    The words are those of ``options.words``, else every token of the tokenizer that is a whole
    word. A word of which the model knows no token is left out.
    """
    home = _home(folder)
    if home is None:
        raise ValueError(
            f"{folder} holds no static model: expected {_MATRIX} and {_TOKENIZER}, or both in "
            f"{_NESTED}."
        )
    model = _read_model(folder, home)
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
        # what is left out for any reason does not count
        if options.limit is not None and sound >= options.limit:
            break
        if options.progress is not None:
            options.progress(min(start + _BATCH, len(words)), len(words))
    if not kept:
        raise ValueError(f"{folder} knows none of the words.")
    return kept, np.stack(parts)


def _home(folder: Path) -> Path | None:
    for part in ("", f"{_NESTED}/"):
        if inside(folder, part + _MATRIX) and inside(folder, part + _TOKENIZER):
            return folder / part
    return None


def _read_model(folder: Path, home: Path) -> _Model:
    with (home / _MATRIX).open("rb") as file:
        found = read_tensors(file, str(home / _MATRIX))
        nested = "embedding.weight" in found.tensors
        table = _tensor(found, "embedding.weight" if nested else "embeddings", 2, "fi")
        mapping = _tensor(found, "mapping", 1, "i") if "mapping" in found.tensors else None
        weights = _tensor(found, "weights", 1, "f") if "weights" in found.tensors else None
    tokens = len(table) if mapping is None else len(mapping)
    tokenizer, unknown = _read_tokenizer(home / _TOKENIZER, room_for_words(tokens))
    if mapping is not None and not (mapping.min() >= 0 and mapping.max() < len(table)):
        raise ValueError(f"{home / _MATRIX} maps tokens to rows that it does not have.")
    return _Model(
        tokenizer,
        table,
        None if mapping is None else mapping.astype(np.int64),
        None if weights is None else weights.astype(np.float64),
        # model2vec leaves unknown tokens out of the mean, sentence-transformers does not
        frozenset() if nested or unknown is None else frozenset([unknown]),
        _normalizes(folder),
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
        raise ValueError(f"the tensor {name!r} of {found.name} has numbers of the wrong kind.")
    return numbers


def _read_tokenizer(file: Path, most: int) -> tuple[Any, int | None]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "Reading a static model needs the package tokenizers, which cuts words as the model "
            "does: pip install 'textkin[static]'"
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
    """Turn whatever a tokenizer raises into a ValueError; its panics are no `Exception`."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise  # Ctrl-C
        raise ValueError(f"{file} is no tokenizer that can be read ({error}).") from error


def _normalizes(folder: Path) -> bool:
    """Say whether the model brings its vectors to length one."""
    config, modules = inside(folder, "config.json"), inside(folder, "modules.json")
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
    """Return the tokens that are words: not pieces of words, not special ones."""
    special = {
        str(token.content)
        for token in tokenizer.get_added_tokens_decoder().values()
        if token.special
    }
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: int(item[1]))
    tokens = [(str(token), int(number)) for token, number in vocabulary if token not in special]
    marked = [item for item in tokens if item[0].startswith(_WORD_STARTS)]
    if marked:  # pieces inside words have no mark
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
        mean = vectors.mean(axis=0)
        if model.normalize:
            mean /= np.linalg.norm(mean) + 1e-32
        yield word, mean.astype(np.float32)


def _taken(array: NDArray[Any], at: Int64Array, folder: Path) -> NDArray[Any]:
    if int(at.max()) >= len(array):
        raise ValueError(f"{folder} has a tokenizer with more tokens than there are vectors.")
    taken: NDArray[Any] = array[at]
    return taken
