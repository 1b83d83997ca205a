"""Models on a GPU through torch beside the estimators on all cores.

Steps of EM of mixtures and topics, sweeps of WTMF, whole fits of all of them, and a million pooled
documents, over drawn data of the usual sizes. Every pair is held against each other before it is
timed; times are medians after a warm-up, with the device synchronised; those of the device include
the way there and back where the line says so. Run in the repository root, where textkin is
installed::

    python benchmarks/device_models.py            # on cuda where there is one
    python benchmarks/device_models.py --quick    # small, on CPU tensors too
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

from textkin import PLSA, GaussianMixture, Pooling, VonMisesFisherMixture
from textkin.device._mixture import MixtureRows
from textkin.device._place import memory_of
from textkin.device._plsa import DeviceTopics
from textkin.device._torch import torch_device
from textkin.distance._blocks import one_thread_of_blas
from textkin.models._em import EmSettings, Mixture
from textkin.models._placed import PlacedSides
from textkin.models.mixture._em import Rows, pass_over
from textkin.models.mixture._gaussians import GaussianFamily, as_rows
from textkin.models.mixture._spheres import SphereFamily, unit_rows
from textkin.models.mixture._starts import far_rows, started
from textkin.models.wtmf import WTMF, _Sides
from textkin.run import effective_jobs

LONG = 2.0  # seconds; what takes longer is timed once


@dataclasses.dataclass
class Line:
    """One measurement: what, on the CPU's cores, on the device."""

    what: str
    cpu: float | None
    device: float
    error: float | None

    def shown(self) -> str:
        """Return the line as a row of the table."""
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
        """Return a size, or a part of it."""
        return max(300, full // self.part)

    def memory(self) -> int:
        """Return the bytes that a call may take on the device."""
        return memory_of(self.place, None if self.place.type == "cuda" else "4GB")

    def wait(self) -> None:
        """Wait until the device is done."""
        if self.place.type == "cuda":
            torch.cuda.synchronize()

    def seconds(self, call: Callable[[], object], *, warm: bool = True) -> float:
        """Return the median of some calls after one, or the first if that took long."""
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
        """Keep a line, and show that it is done."""
        self.lines.append(Line(what, cpu, device, error))
        print(f"{time.process_time():7.0f} s of processors: {self.lines[-1].shown()}")


def apart(one, other) -> float:
    """Return the largest difference, by the largest number."""
    one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return float(np.abs(one - other).max() / np.abs(one).max())


def checked(error: float, most: float, what: str) -> float:
    """Refuse to time what gives other answers."""
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
    """Return bags of about so many distinct words, as often as words of a language are."""
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
    scale, rows = as_rows(values, np.ones(n_rows))
    prepare = time.perf_counter() - start
    bench.add("Gaussian mixture: rows to scale, on the CPU for both", prepare, prepare, None)
    for n_components in (64, 256):
        _steps(bench, "Gaussian", GaussianFamily(scale, 1e-3), rows, n_components)
    del rows
    unit, _ = unit_rows(values)
    family = SphereFamily(1e5, False)
    _steps(bench, "von Mises-Fisher", family, Rows(unit, np.ones(n_rows)), 64)
    del unit
    for kind in (GaussianMixture, VonMisesFisherMixture):
        model = kind(64, max_iter=20, tol=0, random_state=0, n_jobs=-1)
        _fits(bench, f"{kind.__name__}, {n_rows:,} x {d}, K=64: fit of 20 steps", model, values)


def _steps(bench: Bench, kind: str, family, rows: Rows, n_components: int) -> None:
    weights = rows.weights[: rows.n_rows]
    name = f"{kind} mixture, {rows.n_rows:,} x {rows.values.shape[1]}, K={n_components}"
    memory = bench.memory()

    def placed() -> MixtureRows:
        return MixtureRows(rows.rows, weights, bench.place, memory, n_components)

    copy = bench.seconds(placed)
    there = placed()
    if kind == "Gaussian":
        draw = bench.seconds(lambda: there.far(n_components, RandomState(0)))
        begun = None  # of many components it takes long
        if n_components == 64:
            with one_thread_of_blas:
                begun = bench.seconds(lambda: far_rows(rows, n_components, RandomState(0)))
        bench.add(f"{name}: k-means++", begun, draw, None)
    seeds = there.far(n_components, RandomState(0))
    with one_thread_of_blas:
        model = started(family, seeds, rows, steps=1, threads=bench.jobs)

        def here() -> object:
            sums = pass_over(rows, family.logits(model), hard=False, threads=bench.jobs)
            family.estimate(sums, model)
            return sums

        def away() -> tuple:
            logits = family.logits(model)
            found = there.sums(
                logits.offset, logits.linear, logits.quadratic, hard=False, double=False
            )
            sums.update(dict(zip(("counts", "first", "second", "mean"), found, strict=False)))
            family.estimate(dataclasses.replace(expected, **sums, logs=expected.logs), model)
            return found

        sums: dict = {}
        expected = here()
        found = away()
        error = max(apart(expected.first, found[1]), apart(expected.counts, found[0]))
        if expected.second is not None:
            error = max(error, apart(expected.second, found[2]))
        checked(error, 1e-4, name)
        bench.add(f"{name}: a step", bench.seconds(here), bench.seconds(away), error)
    bench.add(f"{name}: rows to the device, once", None, copy, None)
    if bench.place.type == "cuda" and n_components == 64:
        less = memory_of(bench.place, "1GB")
        streamed = MixtureRows(rows.rows, weights, bench.place, less, n_components)
        logits = family.logits(model)
        taken = bench.seconds(
            lambda: streamed.sums(
                logits.offset, logits.linear, logits.quadratic, hard=False, double=False
            )
        )
        bench.add(f"{name}: a step, rows streamed through 1 GB", bench.lines[-2].cpu, taken, None)


def topics(bench: Bench) -> None:
    """Measure EM of topics."""
    n_documents, n_topics = bench.size(100_000), 128
    bags = drawn_bags(n_documents, 50_000, 70)
    name = f"PLSA, {n_documents:,} documents, {bags.nnz / n_documents:.0f} words, K={n_topics}"
    settings = EmSettings(n_topics, 0.0, 0.0, 10, 0.0, bench.jobs)
    start = time.perf_counter()
    mixture = Mixture(bags, settings, RandomState(0))
    made = time.perf_counter() - start
    n = n_topics
    given = mixture.topics[:, :n].copy(), mixture.words[:, :n].copy(), mixture.scale.copy()

    def placed() -> DeviceTopics:
        return DeviceTopics(*mixture.entries, *given, bench.place, bench.memory())

    copy = bench.seconds(placed)
    there = placed()

    def away() -> float:
        return there.step(0.0, 0.0, mixture.least)

    for _ in range(3):
        errors = [abs(mixture.step() / away() - 1)]
    errors.append(apart(mixture.topics[:, :n], there.document_topics()))
    error = checked(max(errors), 1e-3, name)
    bench.add(f"{name}: drawing the start, on the CPU for both", made, made, None)
    bench.add(f"{name}: to the device, once", None, copy, None)
    bench.add(f"{name}: a step", bench.seconds(mixture.step), bench.seconds(away), error)
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
            made["here"] = _Sides(model, bags, np.float32)

        def place(model=model, bags=bags, made=made) -> None:
            start = model._start(bags.shape[1], np.float32)
            weights = model.missing_weight, model.regularization
            made["there"] = PlacedSides(bags, start, len(start.T), *weights, bench.device)

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
    """Time whole fits, from the data as users have it to the fitted estimator."""

    def fit(device: str | None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so many steps are too few, which is meant
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
    """Measure pooled documents, from bags to vectors in the memory of the machine."""
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
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_const", const=100, default=1, dest="part")
    parser.add_argument("--part", type=int, help="divide sizes by this; --quick is 100")
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
    print(f"\n{report['device']} beside {bench.jobs} cores, {report['seconds']:.0f} s in all")
    print(f"{'what':88} {'CPU s':>9} {'device s':>9} {'times':>6} {'apart':>8}")
    for line in bench.lines:
        print(line.shown())


if __name__ == "__main__":
    main()
