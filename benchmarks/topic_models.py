"""Time of a PLSA step and of Gibbs sampling, compared with SciPy, scikit-learn, and tomotopy.

The bags are 20news without SMART stop words. Run in the repository root, with textkin installed::

    python benchmarks/topic_models.py
"""

import argparse
import gzip
import json
import os
import resource
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe
from scipy import sparse
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from textkin import BagOfWords, _core
from textkin.models.topics._em import EMProblem, EMSettings, draw_start
from textkin.models.topics._em_core import CoreEM

RESULT = RESULTS / "topic_models.json"
N_TOPICS = 64
ALPHA, BETA = 0.1, 0.01
SWEEPS = 5  # per round
CHUNK = 2**14  # entries that the SciPy reference gathers at a time, so that they stay in the cache


def read_bags(data: Path, limit: int | None):
    """Return the bags of 20news."""
    with gzip.open(data / "classification" / "20news.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    return BagOfWords("smart", min_count=3).fit_transform(texts[:limit])


def scipy_step(bags, topics, words, chunk=CHUNK):
    """Compute one EM step over nonzeros; `words` is (n_words, n_topics).

    With `chunk`, it gathers rows for that many entries at a time, which few scripts do; otherwise,
    for
    all of them at once.
    """
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    products = np.empty(bags.nnz, topics.dtype)
    for start in range(0, bags.nnz, chunk or max(1, bags.nnz)):
        part = slice(start, start + (chunk or bags.nnz))
        products[part] = np.einsum("jk,jk->j", topics[rows[part]], words[bags.indices[part]])
    likelihood = float(np.dot(bags.data.astype(np.float64), np.log(products)))
    shares = sparse.csr_array((bags.data / products, bags.indices, bags.indptr), shape=bags.shape)
    new_topics = topics * (shares @ words)
    new_words = words * (shares.T @ topics)
    totals = new_topics.sum(axis=1, keepdims=True)
    new_topics /= np.where(totals > 0, totals, 1)
    return new_topics, new_words / new_words.sum(axis=0), likelihood


def stepping(backend: CoreEM) -> Callable[[], float]:
    """Return a function that takes a step and returns the log-likelihood of the bags."""
    return lambda: backend.step() * backend.problem.unit


def backend_of(bags, jobs: int) -> CoreEM:
    """Return the back end of the core after initialization."""
    settings = EMSettings(N_TOPICS, 0.0, 0.0, 1, 0.0, jobs)
    problem = EMProblem.of_bags(settings, bags)
    return CoreEM(bags, problem, draw_start(bags, problem, np.random.RandomState(0)))


def em_contenders(bags) -> dict[str, Callable[[], object]]:
    """Return functions that take one step of each contender, from the same initialization."""
    double = bags.astype(np.float64)
    found: dict[str, Callable[[], object]] = {}
    for name, own, jobs in (
        ("textkin", bags, 1),
        ("textkin_2_threads", bags, 2),
        ("textkin_float64", double, 1),
    ):
        found[name] = stepping(backend_of(own, jobs))
    for name, own, chunk in (
        ("scipy", bags, CHUNK),
        ("scipy_float64", double, CHUNK),
        ("scipy_plain", bags, None),
        ("scipy_plain_float64", double, None),
    ):
        start = backend_of(own, 1)
        state = [
            start.document_topics().astype(own.dtype),
            np.ascontiguousarray(start.word_topics().T.astype(own.dtype)),
        ]

        def step(own=own, state=state, chunk=chunk):
            state[0], state[1], likelihood = scipy_step(own, *state, chunk)
            return likelihood

        found[name] = step
    start = backend_of(bags, 1)
    factors = [
        start.document_topics().astype(np.float32),
        start.word_topics().astype(np.float32),
    ]

    def nmf_step():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            factors[0], factors[1], _ = non_negative_factorization(
                sparse.csr_matrix(bags),
                *factors,
                n_components=N_TOPICS,
                init="custom",
                solver="mu",
                beta_loss="kullback-leibler",
                max_iter=1,
                tol=0,
            )

    found["sklearn_kl_nmf"] = nmf_step
    return found


def check_equal(contenders: dict[str, Callable[[], object]], steps: int = 3) -> dict[str, float]:
    """Stop unless all likelihoods agree, step by step; return the last of each."""
    last = {}
    for _ in range(steps):
        last = {name: step() for name, step in contenders.items()}
        for name, value in last.items():
            if value is not None and abs(value / last["textkin_float64"] - 1) > 1e-4:
                raise SystemExit(f"{name}: log-likelihood {value}, not {last['textkin_float64']}")
    return {name: value for name, value in last.items() if value is not None}


def gibbs_contenders(bags) -> tuple[dict[str, Callable[[], object]], dict[str, Callable]]:
    """Return functions that run SWEEPS sweeps of each contender, and access to the topics."""
    counts = bags.data.astype(np.int32)
    found: dict[str, Callable[[], object]] = {}
    topics: dict[str, Callable] = {}
    for name, jobs in (("textkin", 1), ("textkin_2_threads", 2)):
        sampler = _core.TopicSampler(
            bags.indptr.astype(np.int64),
            bags.indices,
            counts,
            bags.shape[1],
            N_TOPICS,
            ALPHA,
            BETA,
            1,
        )
        found[name] = lambda sampler=sampler, jobs=jobs: sampler.sweep(SWEEPS, jobs, None)
        topics[name] = lambda sampler=sampler: (
            _shares(sampler.document_counts() + ALPHA),
            _shares(sampler.word_counts().T + BETA),
        )
    try:
        import tomotopy
    except ImportError:
        return found, topics
    names = np.array([f"w{column}" for column in range(bags.shape[1])])
    for name, workers in (("tomotopy", 1), ("tomotopy_2_workers", 2)):
        model = tomotopy.LDAModel(k=N_TOPICS, alpha=ALPHA, eta=BETA, seed=1)
        model.optim_interval = 0
        for row in range(bags.shape[0]):
            part = slice(bags.indptr[row], bags.indptr[row + 1])
            words = np.repeat(names[bags.indices[part]], counts[part]).tolist()
            if words:
                model.add_doc(words)
        model.train(0, workers=workers)
        found[name] = lambda model=model, workers=workers: model.train(SWEEPS, workers=workers)
        topics[name] = lambda model=model: _topics_of_tomotopy(model, bags)
    return found, topics


def _shares(values):
    return values / values.sum(axis=1, keepdims=True)


def _topics_of_tomotopy(model, bags):
    words = np.zeros((N_TOPICS, bags.shape[1]))
    columns = [int(word[1:]) for word in model.used_vocabs]
    for topic in range(N_TOPICS):
        words[topic, columns] = model.get_topic_word_dist(topic)
    topics = np.full((bags.shape[0], N_TOPICS), 1 / N_TOPICS)
    topics[np.diff(bags.indptr) > 0] = [document.get_topic_dist() for document in model.docs]
    return topics, words


def likelihood_a_word(bags, topics, words) -> float:
    """Return the mean log P(w|d) of all tokens, in nats."""
    rows = np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))
    total = 0.0
    table = np.ascontiguousarray(words.T)
    for start in range(0, bags.nnz, CHUNK):
        part = slice(start, start + CHUNK)
        products = np.einsum("jk,jk->j", topics[rows[part]], table[bags.indices[part]])
        total += float(np.dot(bags.data[part], np.log(products)))
    return total / float(bags.data.sum(dtype=np.float64))


def measure(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, dict]:
    """Time every contender in every round, in a changing order: elapsed and CPU time."""
    names = list(contenders)
    wall: dict[str, list[float]] = {name: [] for name in names}
    busy: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start, start_busy = time.perf_counter(), time.process_time()
            contenders[name]()
            wall[name].append(time.perf_counter() - start)
            busy[name].append(time.process_time() - start_busy)
    return {"wall_seconds": wall, "processor_seconds": busy}


def summary(times: dict[str, dict], ours: str = "textkin") -> dict[str, dict]:
    """Return medians, and the ratio of each to textkin's time, within rounds."""
    found = {}
    for clock, seconds in times.items():
        found[clock] = {
            "median": {name: statistics.median(values) for name, values in seconds.items()},
            f"times_{ours}": {
                name: statistics.median(a / b for a, b in zip(values, seconds[ours], strict=True))
                for name, values in seconds.items()
            },
        }
    return found


def main() -> None:
    """Print the medians, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="run on few texts, two rounds")
    arguments = parser.parse_args()
    rounds = 2 if arguments.quick else arguments.rounds
    load = os.getloadavg()[0]
    bags = read_bags(arguments.data, 300 if arguments.quick else None)
    tokens = int(bags.data.sum(dtype=np.float64))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    backend_of(bags, 1).step()
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    with threadpool_limits(1):
        steps = em_contenders(bags)
        likelihoods = check_equal(steps)
        em = measure(steps, rounds)
        sweeps, topics = gibbs_contenders(bags)
        gibbs = measure(sweeps, rounds)
    report = {
        "command": "python benchmarks/topic_models.py",
        "measure": "seconds of a step of EM, and of sweeps of Gibbs sampling; ratios taken within "
        "rounds. On a busy machine only processor seconds compare single threads",
        **describe("textkin", "scikit-learn", "numpy", "scipy", "tomotopy"),
        "instruction_set": _core.instruction_set(),
        "load_average_before": load,
        "rounds": rounds,
        "documents": bags.shape[0],
        "words": bags.shape[1],
        "entries": bags.nnz,
        "tokens": tokens,
        "topics": N_TOPICS,
        "em_step": {
            "log_likelihoods_after_three_steps": likelihoods,
            "megabytes_of_a_fit": round(memory, 1),
            "megabytes_of_a_dense_matrix": round(4 * bags.shape[0] * bags.shape[1] / 2**20, 1),
            **summary(em),
            "rounds": em,
        },
        "gibbs": {
            "sweeps_in_a_round": SWEEPS,
            "log_likelihood_a_word_in_the_end": {
                name: likelihood_a_word(bags, *of()) for name, of in topics.items()
            },
            "million_tokens_a_processor_second": {
                name: SWEEPS * tokens / statistics.median(values) / 1e6
                for name, values in gibbs["processor_seconds"].items()
            },
            **summary(gibbs),
            "rounds": gibbs,
        },
    }
    for part in ("em_step", "gibbs"):
        for clock in ("wall_seconds", "processor_seconds"):
            print(part, clock, json.dumps(report[part][clock], indent=2))
    arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
