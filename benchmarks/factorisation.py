"""Time of a WTMF sweep, compared with implicit's alternating least squares, and of inference.

The bags are random: 200,000 sentences, 50,000 words by Zipf's law, 2 million entries, all 1. With
such weights, implicit solves the same problem: it gives missing entries the weight 1, so a
confidence of 1 / w_m and a regularization of lambda / w_m make the objectives equal. All contenders
start from the same words, and their results are compared before timing. Run in the repository
root::

    python benchmarks/factorisation.py
"""

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import RESULTS, describe
from scipy import sparse
from threadpoolctl import threadpool_limits
from topic_models import measure, summary

from textkin import WTMF
from textkin.models.factors._als_core import ALSProblem, CoreALS

RESULT = RESULTS / "factorisation.json"
N_COMPONENTS = 100
MISSING_WEIGHT, REGULARIZATION = 0.01, 20.0


def random_bags(n_documents: int, n_words: int, entries: int):
    """Return bags of words sampled by Zipf's law; a word counts once per sentence."""
    random = np.random.default_rng(0)
    shares = np.cumsum(1 / (np.arange(n_words) + 2.7))
    rows = random.integers(0, n_documents, entries)
    columns = np.searchsorted(shares, random.random(entries) * shares[-1])
    ones = np.ones(entries, np.float32)
    bags = sparse.coo_array((ones, (rows, columns)), shape=(n_documents, n_words)).tocsr()
    bags.data[:] = 1
    return bags


def start_of(bags):
    """Return the initial words of all contenders."""
    return np.random.default_rng(1).standard_normal((bags.shape[1], N_COMPONENTS))


class Sweep:
    """One textkin sweep: all sentences, then all words."""

    def __init__(self, bags, jobs: int, dtype=np.float32):
        problem = ALSProblem(N_COMPONENTS, MISSING_WEIGHT, REGULARIZATION, jobs, dtype)
        self.sides = CoreALS(bags, problem, start_of(bags))

    def __call__(self):
        """Run the sweep."""
        self.sides.solve_texts()
        self.sides.solve_words()

    def factors(self):
        """Return sentences and words."""
        return self.sides.texts[:, :N_COMPONENTS], self.sides.words[:, :N_COMPONENTS]


class ImplicitSweep:
    """One sweep of implicit, by Cholesky decomposition or three steps of conjugate gradients."""

    def __init__(self, bags, *, conjugate_gradients: bool):
        from implicit.als import AlternatingLeastSquares

        self.model = AlternatingLeastSquares(
            factors=N_COMPONENTS,
            regularization=REGULARIZATION / MISSING_WEIGHT,
            use_cg=conjugate_gradients,
            iterations=1,
            num_threads=1,
        )
        self.confidence = sparse.csr_matrix(bags) / MISSING_WEIGHT
        self.model.item_factors = start_of(bags).astype(np.float32)
        self.model.user_factors = np.zeros((bags.shape[0], N_COMPONENTS), np.float32)

    def __call__(self):
        """Run the sweep."""
        self.model.fit(self.confidence, show_progress=False)

    def factors(self):
        """Return sentences and words."""
        return self.model.user_factors, self.model.item_factors


def contenders_for(bags) -> dict[str, Callable[[], object]]:
    """Return the sweep of each contender; implicit's are skipped if it is not installed."""
    found: dict[str, Callable[[], object]] = {
        "textkin": Sweep(bags, 1),
        "textkin_2_threads": Sweep(bags, 2),
        "textkin_float64": Sweep(bags, 1, np.float64),
    }
    try:
        found["implicit_cholesky"] = ImplicitSweep(bags, conjugate_gradients=False)
        found["implicit_cg"] = ImplicitSweep(bags, conjugate_gradients=True)
    except ImportError:
        print("implicit is not installed: its rows are skipped")
    return found


def check_equal(contenders) -> dict[str, float]:
    """Run each sweep; stop unless exact ones agree. Return distances from textkin's result."""
    for sweep in contenders.values():
        sweep()
    texts, words = contenders["textkin_float64"].factors()
    found = {}
    for name, sweep in contenders.items():
        other_texts, other_words = sweep.factors()
        found[name] = max(
            float(np.abs(other_texts - texts).max() / np.abs(texts).max()),
            float(np.abs(other_words - words).max() / np.abs(words).max()),
        )
        if name != "implicit_cg" and not found[name] < 1e-3:
            raise SystemExit(f"{name}: factors differ by {found[name]:g} of the largest")
    return found


def placing(bags, jobs: int) -> Callable[[], object]:
    """Return functions that infer the vectors of all sentences from fixed words."""
    model = WTMF(N_COMPONENTS, max_iter=1, random_state=0, n_jobs=jobs)
    model.fit(bags[:1000] * 8)
    model.transform(bags[:1])
    return lambda: model.transform(bags)


def main() -> None:
    """Measure everything, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument(
        "--entries", type=int, default=2_060_000, help="sampled entries; some coincide"
    )
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    bags = random_bags(options.documents, options.words, options.entries)
    print(f"{bags.shape[0]:,} sentences, {bags.shape[1]:,} words, {bags.nnz:,} entries")
    with threadpool_limits(1):
        contenders = contenders_for(bags)
        apart = check_equal(contenders)
        times = measure(contenders, options.rounds)
        places = {"textkin": placing(bags, 1), "textkin_2_threads": placing(bags, 2)}
        placed = measure(places, options.rounds)
    found = {
        **describe("textkin", "implicit", "numpy", "scipy"),
        "documents": bags.shape[0],
        "words": bags.shape[1],
        "entries": int(bags.nnz),
        "components": N_COMPONENTS,
        "farthest_from_textkin_float64_after_a_sweep": apart,
        "sweep": {**times, "summary": summary(times)},
        "placing": {
            **placed,
            "sentences_a_second": {
                name: bags.shape[0] / float(np.median(seconds))
                for name, seconds in placed["wall_seconds"].items()
            },
        },
    }
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["sweep"]["summary"], indent=1))
    print(json.dumps(found["placing"]["sentences_a_second"], indent=1))


if __name__ == "__main__":
    main()
