"""Reference implementation of the training of word and document vectors, and its input arrays.

If no step is random (hierarchical softmax, fixed windows, no skipped words), a loop in NumPy
takes the same steps as the core.
"""

import numpy as np

from textkin import _core


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reference_step(inputs, input_rows, outputs, output_rows, labels, rate, mean, first_only=False):
    """Take one step in place; if a row occurs twice, its second update sees the first one."""
    hidden = inputs[input_rows].mean(axis=0) if mean else inputs[input_rows].sum(axis=0)
    slopes = rate * (np.asarray(labels) - sigmoid(outputs[output_rows] @ hidden))
    error = np.zeros_like(hidden)
    for row, slope in zip(output_rows, slopes, strict=True):
        error += slope * outputs[row]
        if not first_only:
            outputs[row] += slope * hidden
    for row in input_rows[: 1 if first_only else None]:
        inputs[row] += error


def reference_train(
    texts, layer, words, outputs, documents, mode, *, window, mean, rate, train_words
):
    """Train with fixed windows, no skipped words, a constant rate; negative samples are word 0."""
    starts, nodes, right = layer.paths() if layer.negative == 0 else (None, None, None)
    # one input table: first the words, then the documents
    inputs = np.vstack([words, documents]) if documents is not None else words.copy()

    def predict(rows, word):
        if layer.negative:
            drawn = [0] * layer.negative if word != 0 else []
            outs, labels = [word, *drawn], [1] + [0] * len(drawn)
        else:
            path = slice(starts[word], starts[word + 1])
            outs, labels = nodes[path], 1 - right[path].astype(float)
        if len(outs):
            reference_step(inputs, rows, outputs, outs, labels, rate, mean)

    for d, text in enumerate(texts):
        document = len(words) + d
        for i, word in enumerate(text):
            near = [text[j] for j in range(max(0, i - window), i)]
            near += text[i + 1 : i + 1 + window]
            if mode == "skipgram" or (mode == "dbow" and train_words):
                for other in near:
                    predict([word], other)
            if mode == "dbow":
                predict([document], word)
            if mode == "cbow" and near:
                predict(near, word)
            if mode == "dm":
                predict([document, *near], word)
    words[:] = inputs[: len(words)]
    if documents is not None:
        documents[:] = inputs[len(words) :]


def call_arguments(texts, counts, dimension, negative, mode, seed=0):
    """Return the arguments of a training call: word IDs, an output layer, tables without zeros."""
    rng = np.random.default_rng(seed)
    layer = _core.OutputLayer(np.array(counts, dtype=np.int64), negative)
    return {
        "ids": np.array([w for text in texts for w in text], dtype=np.int32),
        "offsets": np.cumsum([0, *map(len, texts)]).astype(np.int64),
        "layer": layer,
        "keep": np.ones(len(counts), dtype=np.float32),
        "words": rng.normal(size=(len(counts), dimension)).astype(np.float32),
        "outputs": rng.normal(size=(layer.n_outputs, dimension)).astype(np.float32),
        "documents": rng.normal(size=(len(texts), dimension)).astype(np.float32)
        if mode in ("dbow", "dm")
        else None,
    }


def train(given_arrays, mode, **changes):
    options = {
        "train_words": False,
        "mean": True,
        "window": 2,
        "dynamic_window": False,
        "epochs": 1,
        "alpha": 0.1,
        "min_alpha": 0.1,
        "seed": 1,
        "threads": 1,
        "progress": None,
    }
    _core.train_embeddings(**given_arrays, mode=mode, **(options | changes))


def infer(given_arrays, mode, **changes):
    options = {
        "seeds": np.arange(len(given_arrays["offsets"]) - 1, dtype=np.uint64),
        "mean": True,
        "window": 2,
        "dynamic_window": True,
        "epochs": 3,
        "alpha": 0.1,
        "min_alpha": 0.01,
        "threads": 1,
        "progress": None,
    }
    _core.infer_documents(**given_arrays, mode=mode, **(options | changes))


def two_topic_texts(n=120, seed=0):
    """Return texts that each draw their words from one of two topics with 10 words."""
    rng = np.random.default_rng(seed)
    return [list(map(int, rng.integers(0, 10, 12) + 10 * (d % 2))) for d in range(n)]
