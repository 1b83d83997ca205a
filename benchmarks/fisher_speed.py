"""Time of the Fisher vectors of 20news, compared with NumPy.

"numpy_loop" is the formula as written, document by document: posteriors of the tokens, and a sum
for each component. "numpy_lean" is an optimized script: posteriors of all words once, one matrix
product per document. "products" is only that product, on data prepared before timing. Run in the
repository root, with textkin installed::

    python benchmarks/fisher_speed.py
"""

from collections.abc import Callable

import numpy as np
from environment import RESULTS, asked, describe, write
from fisher_tables import render
from threadpoolctl import threadpool_limits
from topic_models import measure, summary

from textkin import BagOfWords, FisherVector, WordVectors
from textkin.evaluate import read_labeled
from textkin.models import VonMisesFisherMixture

RESULT = RESULTS / "fisher_speed.json"
N_COMPONENTS = 15


def scale_of(mixture: VonMisesFisherMixture):
    """Return the factor of the tangent normalization for each component."""
    length = mixture.mean_length(mixture.means_.shape[1], mixture.kappas_)
    return np.sqrt(mixture.kappas_ / (mixture.weights_ * length))


def unit(vectors):
    """L2-normalize rows; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def documents(bags):
    """Yield the columns and the counts of each row."""
    for start, stop in zip(bags.indptr[:-1], bags.indptr[1:], strict=True):
        yield bags.indices[start:stop], bags.data[start:stop]


def numpy_loop(bags, table, mixture: VonMisesFisherMixture):
    """Return the vectors by the formula, token by token and component by component."""
    d = table.shape[1]
    scales = scale_of(mixture)
    constants = np.log(mixture.weights_) + mixture.log_normalizer(d, mixture.kappas_)
    found = np.zeros((bags.shape[0], len(scales) * d), dtype=np.float32)
    for row, (columns, counts) in enumerate(documents(bags)):
        if not len(columns):
            continue
        tokens = np.repeat(table[columns], counts.astype(np.int64), axis=0)
        logits = constants + mixture.kappas_ * (tokens @ mixture.means_.T)
        gamma = np.exp(logits - logits.max(axis=1, keepdims=True))
        gamma /= gamma.sum(axis=1, keepdims=True)
        parts = []
        for i, mean in enumerate(mixture.means_):
            across = tokens - np.outer(tokens @ mean, mean)
            parts.append(scales[i] * (gamma[:, i, np.newaxis] * across).sum(axis=0))
        found[row] = unit(np.concatenate(parts))
    return found


def numpy_lean(bags, table, mixture: VonMisesFisherMixture):
    """Return the same vectors with one product per document."""
    posteriors = mixture.predict_proba(table).astype(np.float32)
    means = mixture.means_.astype(np.float32)
    scales = scale_of(mixture).astype(np.float32)[:, np.newaxis]
    found = np.zeros((bags.shape[0], means.size), dtype=np.float32)
    for row, (columns, counts) in enumerate(documents(bags)):
        sums = (posteriors[columns] * counts[:, np.newaxis]).T @ table[columns]
        sums -= np.einsum("ij,ij->i", sums, means)[:, np.newaxis] * means
        found[row] = unit((sums * scales).ravel())
    return found


def products(bags, table, mixture: VonMisesFisherMixture) -> Callable[[], None]:
    """Return a function that computes only the matrix products."""
    posteriors = mixture.predict_proba(table).astype(np.float32)
    pairs = [
        (np.ascontiguousarray((posteriors[columns] * counts[:, np.newaxis]).T), table[columns])
        for columns, counts in documents(bags)
    ]

    def multiply() -> None:
        for shares, points in pairs:
            shares @ points

    return multiply


def contenders(texts, vectors: WordVectors) -> tuple[dict[str, Callable[[], object]], dict]:
    """Return the contenders, which compute the vectors of all texts, and the sizes."""
    counter = BagOfWords(vocabulary=vectors, lowercase=False)
    bags = counter.transform(texts).astype(np.float32)
    used = np.flatnonzero(np.diff(bags.tocsc().indptr))
    bags = bags[:, used]
    table = unit(np.asarray(vectors.matrix)[used]).astype(np.float32)
    n_components = min(N_COMPONENTS, len(used))
    one = FisherVector(n_components, vectors=table, random_state=0).fit(bags)
    two = FisherVector(vectors=table, mixture=one.mixture_, n_jobs=2).fit(bags)
    found: dict[str, Callable[[], object]] = {
        "textkin": lambda: one.transform(bags),
        "textkin_2_threads": lambda: two.transform(bags),
        "numpy_loop": lambda: numpy_loop(bags, table, one.mixture_),
        "numpy_lean": lambda: numpy_lean(bags, table, one.mixture_),
        "products": products(bags, table, one.mixture_),
    }
    shares = one.mixture_.predict_proba(table)
    sizes = {
        "documents": bags.shape[0],
        "words": bags.shape[1],
        "entries": int(bags.nnz),
        "tokens": int(bags.sum()),
        "dimensions": table.shape[1],
        "components": n_components,
        "posteriors_above_1e-8": float((shares > 1e-8).mean()),
    }
    return found, sizes


def check_equal(made: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Stop unless all vectors agree; return the largest difference of each from textkin's."""
    wanted = made["textkin"]()
    found = {}
    for name, make in made.items():
        if name not in ("textkin", "products"):
            found[name] = float(np.abs(make() - wanted).max())
            if found[name] > 1e-4:
                raise SystemExit(f"{name}: vectors differ by {found[name]}")
    return found


def speed(texts, vectors: WordVectors, rounds: int) -> dict[str, object]:
    """Return times and ratios."""
    with threadpool_limits(1):
        made, sizes = contenders(texts, vectors)
        differences = check_equal(made)
        times = measure(made, rounds)
    return {**sizes, "largest_difference": differences, **summary(times), "rounds": times}


def main() -> None:
    """Measure and print, and write numbers, machine, and versions."""
    arguments = asked(__doc__, RESULT)
    texts = read_labeled(arguments.data / "classification" / "20news.jsonl.gz").texts
    report = {
        "command": "python benchmarks/fisher_speed.py",
        "measure": "seconds from bags to vectors",
        **describe("textkin", "numpy", "scipy"),
        **speed(texts, WordVectors.builtin(), rounds=3),
    }
    print(render(report))
    write(arguments.result, report)


if __name__ == "__main__":
    main()
