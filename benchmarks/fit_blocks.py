"""Fits over blocks: transferred bytes per step, stored bytes, and time on one machine.

Documents and rows are random. Bytes are counted in this process: the data sent to a worker, the
data returned by all blocks, and the data written to the folder, each in the last step of a fit.
Times are for the estimator's own `fit`, for `fit_blocks` on one thread, and on a local Dask cluster
of 1 and 2 workers, without its startup; fits are compared first. Peak memory is measured in
processes that fit PLSA, or only load its dependencies. Run in the repository root, with textkin and
Dask installed::

    python benchmarks/fit_blocks.py
"""

import argparse
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from statistics import median
from typing import ClassVar

import numpy as np
from environment import RESULTS, describe, write
from scipy import sparse
from sklearn.base import clone

from textkin.models import PLSA, WTMF, DiagonalGaussianMixture, VonMisesFisherMixture, fit_blocks
from textkin.models import _block_passes as _passes
from textkin.weighting import TfIdf

RESULT = RESULTS / "fit_blocks.json"
LENGTH = 70  # tokens per document
N_FEATURES = 100
N_WORDS = 30_000
PEAKS = ("nothing", "fit", "blocks")


def drawn_bags(n_documents: int, n_words: int) -> sparse.csr_array:
    """Return documents with word frequencies by rank."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, size=n_documents * LENGTH, p=chances / chances.sum())
    ends = np.arange(0, words.size + 1, LENGTH)
    bags = sparse.csr_array(
        (np.ones(words.size, dtype=np.float32), words, ends), shape=(n_documents, n_words)
    )
    bags.sum_duplicates()
    return bags


def drawn_rows(n_rows: int) -> np.ndarray:
    """Return rows around points that are close to each other."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(32, N_FEATURES))
    noise = rng.normal(size=(n_rows, N_FEATURES))
    return (centres[rng.integers(32, size=n_rows)] + noise).astype(np.float32)


def models(n_components: int, steps: int) -> dict[str, object]:
    """Return estimators with the given number of steps."""
    return {
        "TfIdf": TfIdf(),
        "PLSA": PLSA(n_components, max_iter=steps, tol=0, random_state=0),
        "WTMF": WTMF(n_components, max_iter=steps, regularization=1.0, random_state=0),
        "DiagonalGaussianMixture": DiagonalGaussianMixture(
            n_components, max_iter=steps, tol=0, random_state=0
        ),
        "VonMisesFisherMixture": VonMisesFisherMixture(
            n_components, max_iter=steps, tol=0, random_state=0
        ),
    }


class Counted(_passes.Passes):
    """Executor that counts the bytes of each pass."""

    passes: ClassVar[list[dict[str, int]]] = []

    def over(self, work, items=None, progress=None):
        """Call a function for each block, and count the transferred bytes."""
        told = {"task": len(pickle.dumps(work)), "back": 0, "shelf": 0}
        self.passes.append(told)
        before = _written(self.shelf.path)
        for result in super().over(work, items, progress):
            told["back"] += len(pickle.dumps(result))
            yield result
        told["shelf"] = sum(size for _, size in _written(self.shelf.path) - before)


def _written(folder: Path) -> set[tuple[str, int]]:
    return {(path.name, path.stat().st_size) for path in folder.glob("*.npy")}


def traffic(model, blocks) -> list[dict[str, int]]:
    """Return the bytes of the passes of one fit: sent to a worker, returned, written."""
    from textkin.models import _fit_blocks as _fit

    Counted.passes.clear()
    whole, _fit.Passes = _fit.Passes, Counted
    try:
        fit_blocks(clone(model), blocks)
    finally:
        _fit.Passes = whole
    return list(Counted.passes)


def in_a_step(name: str, passes: list[dict[str, int]]) -> dict[str, int]:
    """Return the bytes of the last whole step: two passes for WTMF; for PLSA, not the last pass."""
    last = {"WTMF": passes[-2:], "PLSA": passes[-2:-1]}.get(name, passes[-1:])
    return {key: sum(one[key] for one in last) for key in ("task", "back", "shelf")}


def agree(name: str, one, other) -> float:
    """Return the difference of two fits relative to the largest parameter."""
    attribute = {"TfIdf": "idf_", "PLSA": "components_", "WTMF": "components_"}.get(name, "means_")
    first, second = getattr(one, attribute), getattr(other, attribute)
    return float(np.abs(first - second).max() / np.abs(first).max())


def seconds(call, rounds: int) -> list[float]:
    """Return the time of each of several calls."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        found.append(round(time.perf_counter() - start, 3))
    return found


def main() -> None:
    """Measure, print a table, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=N_WORDS)
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--components", type=int, default=64)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--peak", choices=PEAKS, help="only fit PLSA to the files of a folder")
    parser.add_argument("--folder", type=Path, help="folder for --peak")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # warnings that few steps do not converge
    if asked.peak:
        print(peak(asked.peak, asked.folder, models(asked.components, asked.steps)["PLSA"]))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = compared(asked, Path(folder))
        peaks = {how: peak_of_process(how, Path(folder) / "bags", asked) for how in PEAKS}
    print(f"peak memory of PLSA in MB: {peaks}")
    for name, told in found.items():
        times = {key: median(value) for key, value in told["seconds"].items()}
        print(f"{name:22} differs {told['differs']:.1e}  {told['bytes']}  {times}")
    numbers = ("documents", "words", "blocks", "components", "steps", "rounds")
    command = " ".join(f"--{number} {getattr(asked, number)}" for number in numbers)
    command += f" --workers {' '.join(map(str, asked.workers))}".rstrip()
    write(
        asked.result,
        {
            **describe("textkin", "numpy", "scipy", "dask"),
            "command": f"python benchmarks/fit_blocks.py {command}",
            "models": found,
            "peak memory of PLSA, MB": peaks,
        },
    )


def peak_of_process(how: str, folder: Path, asked: argparse.Namespace) -> int:
    """Return the peak memory in MB of a process that fits PLSA to the files of a folder."""
    command = [sys.executable, __file__, "--peak", how, "--folder", str(folder)]
    for number in ("components", "steps"):
        command += [f"--{number}", str(getattr(asked, number))]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(told.stdout)


def peak(how: str, folder: Path, model) -> int:
    """Fit to all rows in one array, to blocks, or not at all; return the peak memory in MB."""
    files = sorted(folder.glob("*.npz"), key=lambda file: int(file.stem))
    if how == "fit":
        model.fit(sparse.vstack([sparse.load_npz(file) for file in files]))
    elif how == "blocks":
        fit_blocks(model, files, folder=folder / "shelf")
    # VmHWM is for this process only; getrusage would start with the parent's usage.
    [told] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(told) // 1024


def compared(asked: argparse.Namespace, folder: Path) -> dict[str, dict]:
    """Return differences, transferred bytes, and times of the fits."""
    whole = {"bags": drawn_bags(asked.documents, asked.words), "rows": drawn_rows(asked.documents)}
    files = {kind: kept(rows, folder / kind, asked.blocks) for kind, rows in whole.items()}
    todo = models(asked.components, asked.steps)
    found: dict[str, dict] = {}
    for name, model in todo.items():
        rows, blocks = whole[kind_of(name)], files[kind_of(name)]
        differs = agree(name, clone(model).fit(rows), fit_blocks(clone(model), blocks))
        if differs > 1e-3:
            raise SystemExit(f"{name}: fits differ by {differs:.1e}")
        found[name] = {
            "differs": differs,
            "bytes": in_a_step(name, traffic(model, blocks)),
            "seconds": {
                "fit": seconds(partial(model.fit, rows), asked.rounds),
                "one thread": seconds(partial(fit_blocks, model, blocks), asked.rounds),
            },
        }
    for workers in asked.workers:
        for name, times in on_cluster(workers, todo, files, asked.rounds).items():
            found[name]["seconds"][f"{workers} workers"] = times
    return found


def kind_of(name: str) -> str:
    """Return the input of a model."""
    return "rows" if name.endswith("Mixture") else "bags"


def kept(rows, folder: Path, n_blocks: int) -> list[Path]:
    """Write rows to files of about equal size."""
    folder.mkdir()
    cuts = np.linspace(0, rows.shape[0], n_blocks + 1).astype(int)
    files = []
    for at in range(n_blocks):
        part = rows[cuts[at] : cuts[at + 1]]
        files.append(folder / (f"{at}.npz" if sparse.issparse(part) else f"{at}.npy"))
        if sparse.issparse(part):
            sparse.save_npz(files[-1], part, compressed=False)
        else:
            np.save(files[-1], part)
    return files


def on_cluster(workers: int, todo, files, rounds: int) -> dict[str, list[float]]:
    """Return the times of fits on a local cluster of single-thread processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        fit_blocks(TfIdf(), files["bags"], executor=client)  # workers have loaded textkin
        found = {}
        for name, model in todo.items():
            blocks = files[kind_of(name)]
            found[name] = seconds(partial(fit_blocks, model, blocks, executor=client), rounds)
        return found


if __name__ == "__main__":
    main()
