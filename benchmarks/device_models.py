"""Models on a GPU through torch, compared with the estimators on all CPU cores.

The script measures EM steps of mixtures and topics, sweeps of WTMF, whole fits of all of them, and
pooling of a million documents, over random data of usual sizes. Results of every pair are compared
before timing. Times are medians after a warm-up, with the device synchronized; device times include
transfers where the line says so. Run in the repository root, with textkin installed::

    python benchmarks/device_models.py            # on cuda if available
    python benchmarks/device_models.py --quick    # small sizes, also on CPU tensors
"""

import argparse
import dataclasses
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from environment import RESULTS, describe
from numpy.random import RandomState
from scipy import sparse
from sklearn.base import clone

from textkin import PLSA, Pooling
from textkin.device import memory_of, torch_device
from textkin.models import WTMF, DiagonalGaussianMixture, VonMisesFisherMixture
from textkin.models.factors._als_core import CoreALS
from textkin.models.factors._als_torch import TorchALS
from textkin.models.mixture._densities import GaussianFamily, VonMisesFisherFamily, unit_rows
from textkin.models.mixture._em import Sums
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._em_torch import TorchRows
from textkin.models.mixture._gaussian import standardize_rows
from textkin.models.mixture._initialization import choose_seeds, run_k_means
from textkin.models.topics._em import EMProblem, EMSettings, draw_start
from textkin.models.topics._em_core import CoreEM
from textkin.models.topics._em_torch import TorchEM
from textkin.run import effective_jobs, single_blas_thread

LONG = 2.0  # seconds; longer calls are timed once


@dataclasses.dataclass
class Line:
    """One measurement: the task, its time on the CPU cores, and its time on the device."""

    what: str
    cpu: float | None
    device: float
    error: float | None

    def shown(self) -> str:
        """Return the line as a table row."""
        cpu = f"{self.cpu:.4f}" if self.cpu else ""
        times = f"{self.cpu / self.device:.1f}" if self.cpu else ""
        error = "" if self.error is None else f"{self.error:.0e}"
        return f"{self.what:88} {cpu:>9} {self.device:9.4f} {times:>6} {error:>8}"


class Bench:
    """Sizes, the device, and the lines so far."""

    def __init__(self, part: int, device: str, repeats: int) -> None:
        self.part, self.device, self.repeats = part, device, repeats
        self.place = torch_device(device)
        self.jobs = effective_jobs(-1)
        self.lines: list[Line] = []

    def size(self, full: int) -> int:
        """Return a size, or the size of a part."""
        return max(300, full // self.part)

    def memory(self) -> int:
        """Return the bytes that a call may allocate on the device."""
        return memory_of(self.place, None if self.place.type == "cuda" else "4GB")

    def wait(self) -> None:
        """Wait for the device to finish."""
        if self.place.type == "cuda":
            torch.cuda.synchronize()

    def seconds(self, call: Callable[[], object], *, warm: bool = True) -> float:
        """Return the median time after a first call, or the first time if it is long."""
        times = []
        for _ in range(self.repeats + int(warm)):
            self.wait()
            start = time.perf_counter()
            call()
            self.wait()
            times.append(time.perf_counter() - start)
            if times[0] > LONG:
                return times[0]
        return statistics.median(times[int(warm) :])

    def add(self, what: str, cpu: float | None, device: float, error: float | None) -> None:
        """Store and print a line."""
        self.lines.append(Line(what, cpu, device, error))
        print(f"{time.process_time():7.0f} CPU s: {self.lines[-1].shown()}")


def apart(one, other) -> float:
    """Return the largest difference relative to the largest number."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return float(np.abs(one - other).max() / np.abs(one).max())


def checked(error: float, most: float, what: str) -> float:
    """Raise if the results differ, so that only equal computations are timed."""
    if not error <= most:
        raise SystemExit(f"{what}: the device is {error:.1e} from the CPU, more than {most:.0e}")
    return error


def drawn_rows(n_rows: int, n_features: int) -> np.ndarray:
    """Return rows around a hundred points, in float32."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    values += (
        0.3
        * rng.standard_normal((100, n_features), dtype=np.float32)[rng.integers(100, size=n_rows)]
    )
    return values


def drawn_bags(n_documents: int, n_words: int, length: int) -> sparse.csr_array:
    """Return bags with about the given number of distinct words, with word frequencies by rank."""
    rng = np.random.default_rng(1)
    part = min(n_documents, 100_000)
    chances = 1 / (np.arange(n_words) + 10.0)
    sizes = np.clip(rng.poisson(1.06 * length, part), 1, None)
    ends = np.cumsum(chances / chances.sum())
    words = np.minimum(np.searchsorted(ends, rng.random(int(sizes.sum()))), n_words - 1)
    rows = np.repeat(np.arange(part), sizes)
    bags = sparse.csr_array(
        (np.ones(len(rows), dtype=np.float32), (rows, words)), shape=(part, n_words)
    )
    bags.sum_duplicates()
    if part == n_documents:
        return bags
    return sparse.csr_array(sparse.vstack([bags] * (n_documents // part), format="csr"))


def mixtures(bench: Bench) -> None:
    """Measure EM of both mixtures."""
    n_rows, d = bench.size(1_000_000), 300
    values = drawn_rows(n_rows, d)
    start = time.perf_counter()
    scale, rows = standardize_rows(values, np.ones(n_rows))
    prepare = time.perf_counter() - start
    bench.add("Gaussian mixture: rows to scale, on the CPU for both", prepare, prepare, None)
    for n_components in (64, 256):
        _steps(bench, "Gaussian", GaussianFamily(scale, 1e-3), rows, n_components)
    del rows
    unit, _ = unit_rows(values)
    family = VonMisesFisherFamily(1e5, False)
    _steps(bench, "von Mises-Fisher", family, CoreRows(unit, np.ones(n_rows)), 64)
    del unit
    for kind in (DiagonalGaussianMixture, VonMisesFisherMixture):
        model = kind(64, max_iter=20, tol=0, random_state=0, n_jobs=-1)
        _fits(bench, f"{kind.__name__}, {n_rows:,} x {d}, K=64: fit of 20 steps", model, values)


def _steps(bench: Bench, kind: str, family, rows: CoreRows, n_components: int) -> None:
    weights = rows.weights[: rows.n_rows]
    name = f"{kind} mixture, {rows.n_rows:,} x {rows.values.shape[1]}, K={n_components}"
    memory = bench.memory()

    def placed() -> TorchRows:
        return TorchRows(rows.rows, weights, bench.place, memory, n_components)

    copy = bench.seconds(placed)
    there = placed()
    if kind == "Gaussian":
        draw = bench.seconds(lambda: there.seeds(None, n_components, RandomState(0)))
        begun = None  # takes long with many components
        if n_components == 64:
            with single_blas_thread:
                begun = bench.seconds(lambda: choose_seeds(rows, n_components, RandomState(0)))
        bench.add(f"{name}: k-means++", begun, draw, None)
    seeds = there.seeds(None, n_components, RandomState(0))
    with single_blas_thread:
        model = run_k_means(family, seeds, rows, steps=1, threads=bench.jobs)

        def here() -> Sums:
            sums = rows.pass_over(family.logits(model), hard=False, threads=bench.jobs)
            family.estimate(sums, model)
            return sums

        def away() -> Sums:
            sums = there.pass_over(family.logits(model), hard=False)
            family.estimate(sums, model)
            return sums

        expected, found = here(), away()
        error = max(apart(expected.first, found.first), apart(expected.counts, found.counts))
        if expected.second is not None:
            error = max(error, apart(expected.second, found.second))
        checked(error, 1e-4, name)
        bench.add(f"{name}: a step", bench.seconds(here), bench.seconds(away), error)
    bench.add(f"{name}: rows to the device, once", None, copy, None)
    if bench.place.type == "cuda" and n_components == 64:
        less = memory_of(bench.place, "1GB")
        streamed = TorchRows(rows.rows, weights, bench.place, less, n_components)
        logits = family.logits(model)
        taken = bench.seconds(lambda: streamed.pass_over(logits, hard=False))
        bench.add(f"{name}: a step, rows streamed through 1 GB", bench.lines[-2].cpu, taken, None)


def topics(bench: Bench) -> None:
    """Measure EM of topics."""
    n_documents, n_topics = bench.size(100_000), 128
    bags = drawn_bags(n_documents, 50_000, 70)
    name = f"PLSA, {n_documents:,} documents, {bags.nnz / n_documents:.0f} words, K={n_topics}"
    problem = EMProblem.of_bags(EMSettings(n_topics, 0.0, 0.0, 10, 0.0, bench.jobs), bags)
    begun = time.perf_counter()
    start = draw_start(bags, problem, RandomState(0))
    here = CoreEM(bags, problem, start)
    made = time.perf_counter() - begun

    def placed() -> TorchEM:
        return TorchEM(bags, problem, start, device=bench.device, memory=bench.memory())

    copy = bench.seconds(placed)
    there = placed()

    for _ in range(3):
        errors = [abs(here.step() / there.step() - 1)]
    errors.append(apart(here.document_topics(), there.document_topics()))
    error = checked(max(errors), 1e-3, name)
    bench.add(f"{name}: drawing the start, on the CPU for both", made, made, None)
    bench.add(f"{name}: to the device, once", None, copy, None)
    bench.add(f"{name}: a step", bench.seconds(here.step), bench.seconds(there.step), error)
    back = bench.seconds(lambda: (there.document_topics(), there.word_topics()))
    bench.add(f"{name}: back, once", None, back, None)
    model = PLSA(n_topics, max_iter=20, tol=0, random_state=0, n_jobs=-1)
    _fits(bench, f"{name}: fit of 20 steps", model, bags)


def factors(bench: Bench) -> None:
    """Measure sweeps of WTMF, for short and for longer texts."""
    for length, n_words in ((12, 30_000), (70, 50_000)):
        n_documents, k = bench.size(100_000), 100
        bags = drawn_bags(n_documents, n_words, length)
        name = f"WTMF, {n_documents:,} texts, {bags.nnz / n_documents:.0f} words, K={k}"
        model = WTMF(k, regularization=20.0, random_state=0, n_jobs=-1)
        made = {}

        def begin(model=model, bags=bags, made=made) -> None:
            start = model._start(bags.shape[1])
            made["here"] = CoreALS(bags, model._problem(np.float32), start)

        def place(model=model, bags=bags, made=made) -> None:
            start = model._start(bags.shape[1])
            problem = model._problem(np.float32)
            made["there"] = TorchALS(bags, problem, start, device=bench.device)

        def sweep(sides: str, made=made) -> float:
            made[sides].solve_texts()
            return made[sides].solve_words()

        cpu, device = bench.seconds(begin), bench.seconds(place)
        bench.add(f"{name}: sorted, once", cpu, device, None)
        error = abs(sweep("here") / sweep("there") - 1)
        error = max(error, apart(made["here"].words[:, :k], made["there"].words[:, :k]))
        checked(error, 1e-3, name)
        cpu, device = bench.seconds(lambda: sweep("here")), bench.seconds(lambda: sweep("there"))
        bench.add(f"{name}: a sweep", cpu, device, error)
        _fits(bench, f"{name}: fit of 20 sweeps", model, bags)


def _fits(bench: Bench, name: str, model, data) -> None:
    """Time whole fits, from the user's arrays to the fitted estimator."""

    def fit(device: str | None):
        with warnings.catch_warnings():
            # the number of steps is deliberately too small to converge
            warnings.simplefilter("ignore")
            return clone(model).set_params(device=device).fit(data)

    here, there = fit(None), fit(bench.device)
    error = abs(_last(here) / _last(there) - 1)
    checked(error, 1e-3, name)
    cpu, device = bench.seconds(lambda: fit(None)), bench.seconds(lambda: fit(bench.device))
    bench.add(name, cpu, device, error)


def _last(model) -> float:
    found = getattr(model, "objectives_", None) or model.log_likelihoods_
    return found[-1]


def vectors(bench: Bench) -> None:
    """Measure pooling, from bags to vectors in the memory of the machine."""
    n_documents, n_words, d = bench.size(1_000_000), 50_000, 300
    bags = drawn_bags(n_documents, n_words, 70)
    table = drawn_rows(n_words, d)
    name = f"Pooling, {n_documents:,} documents, {bags.nnz / n_documents:.0f} words, {d}-d"
    here, there = (Pooling(table, n_jobs=-1, device=device) for device in (None, bench.device))
    error = apart(here.transform(bags[:1000]), there.transform(bags)[:1000])
    checked(error, 1e-6, name)
    cpu = bench.seconds(lambda: here.transform(bags))
    bench.add(f"{name}: transform", cpu, bench.seconds(lambda: there.transform(bags)), error)


def main() -> None:
    """Measure, write, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_const", const=100, default=1, dest="part")
    parser.add_argument("--part", type=int, help="divisor of the sizes (--quick: 100)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=["mixtures", "topics", "factors", "vectors"])
    folder = Path(os.environ["OUT"]) if os.environ.get("OUT") else RESULTS
    parser.add_argument("--result", type=Path, default=folder / "device_models.json")
    args = parser.parse_args()
    bench = Bench(args.part, args.device, args.repeats)
    began = time.perf_counter()
    for part in args.only:
        {"mixtures": mixtures, "topics": topics, "factors": factors, "vectors": vectors}[part](
            bench
        )
    report: dict[str, object] = {
        **describe("textkin", "torch", "numpy"),
        "device": torch.cuda.get_device_name() if bench.place.type == "cuda" else "cpu",
        "cores": bench.jobs,
        "part": args.part,
        "lines": [dataclasses.asdict(line) for line in bench.lines],
        "seconds": time.perf_counter() - began,
    }
    if bench.place.type == "cuda":
        report["peak_device_bytes"] = torch.cuda.max_memory_allocated()
    args.result.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(
        f"\n{report['device']} compared with {bench.jobs} cores, {report['seconds']:.0f} s in total"
    )
    print(f"{'what':88} {'CPU s':>9} {'device s':>9} {'times':>6} {'apart':>8}")
    for line in bench.lines:
        print(line.shown())


if __name__ == "__main__":
    main()
