"""Fits over blocks: what travels in a step, what lies on the shelf, and the time of one machine.

Documents and rows are drawn. Bytes are counted in this process: what a worker is sent, what all
blocks send back, and what is written to the shelf, each in the last step of a fit. Times are those
of the estimator's own `fit`, of `fit_blocks` on one thread, and on a local Dask cluster of 1 and 2
workers, whose start is left out; fits are compared first. Peak memory is that of processes which
fit PLSA, or only load what it needs. Run in the repository root, where textkin is installed with
Dask::

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

from textkin.models import PLSA, WTMF, GaussianMixture, VonMisesFisherMixture, fit_blocks
from textkin.models.blocks import _passes
from textkin.weighting import TfIdf

RESULT = RESULTS / "fit_blocks.json"
LENGTH = 70  # tokens of a document
N_FEATURES = 100
N_WORDS = 30_000
PEAKS = ("nothing", "fit", "blocks")


def drawn_bags(n_documents: int, n_words: int) -> sparse.csr_array:
    """Return documents whose words are as frequent as ranks say."""
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
    """Return rows around points that are not far from each other."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(32, N_FEATURES))
    noise = rng.normal(size=(n_rows, N_FEATURES))
    return (centres[rng.integers(32, size=n_rows)] + noise).astype(np.float32)


def models(n_components: int, steps: int) -> dict[str, object]:
    """Return estimators that take so many steps."""
    return {
        "TfIdf": TfIdf(),
        "PLSA": PLSA(n_components, max_iter=steps, tol=0, random_state=0),
        "WTMF": WTMF(n_components, max_iter=steps, regularization=1.0, random_state=0),
        "GaussianMixture": GaussianMixture(n_components, max_iter=steps, tol=0, random_state=0),
        "VonMisesFisherMixture": VonMisesFisherMixture(
            n_components, max_iter=steps, tol=0, random_state=0
        ),
    }


class Counted(_passes.Passes):
    """Counts the bytes of each pass."""

    passes: ClassVar[list[dict[str, int]]] = []

    def over(self, work, items=None, progress=None):
        """Call a function for each block, and keep how much travels."""
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
    """Return the bytes of the passes of one fit: sent to a worker, sent back, written."""
    from textkin.models.blocks import _fit

    Counted.passes.clear()
    whole, _fit.Passes = _fit.Passes, Counted
    try:
        fit_blocks(clone(model), blocks)
    finally:
        _fit.Passes = whole
    return list(Counted.passes)


def in_a_step(name: str, passes: list[dict[str, int]]) -> dict[str, int]:
    """Return the bytes of the last whole step: of WTMF two passes, of PLSA not the last one."""
    last = {"WTMF": passes[-2:], "PLSA": passes[-2:-1]}.get(name, passes[-1:])
    return {key: sum(one[key] for one in last) for key in ("task", "back", "shelf")}


def agree(name: str, one, other) -> float:
    """Return by how much two fits differ, relatively to the largest parameter."""
    attribute = {"TfIdf": "idf_", "PLSA": "components_", "WTMF": "components_"}.get(name, "means_")
    first, second = getattr(one, attribute), getattr(other, attribute)
    return float(np.abs(first - second).max() / np.abs(first).max())


def seconds(call, rounds: int) -> list[float]:
    """Return the time of each of some calls."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        found.append(round(time.perf_counter() - start, 3))
    return found


def main() -> None:
    """Measure, print a table and write the result."""
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
    parser.add_argument("--folder", type=Path, help="of --peak")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # that so few steps do not converge
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
    """Return the peak memory of a process that fits PLSA to the files of a folder, in MB."""
    command = [sys.executable, __file__, "--peak", how, "--folder", str(folder)]
    for number in ("components", "steps"):
        command += [f"--{number}", str(getattr(asked, number))]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(told.stdout)


def peak(how: str, folder: Path, model) -> int:
    """Fit to all rows in one array, or to blocks, or not at all; return the peak in MB."""
    files = sorted(folder.glob("*.npz"), key=lambda file: int(file.stem))
    if how == "fit":
        model.fit(sparse.vstack([sparse.load_npz(file) for file in files]))
    elif how == "blocks":
        fit_blocks(model, files, folder=folder / "shelf")
    # Of this process alone: getrusage begins with what the one that started it has used.
    [told] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(told) // 1024


def compared(asked: argparse.Namespace, folder: Path) -> dict[str, dict]:
    """Return how much fits differ, what travels, and how long they take."""
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
    """Return what a model is fitted to."""
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
    """Return the times of fits on a local cluster of so many processes of one thread."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        fit_blocks(TfIdf(), files["bags"], on=client)  # workers have loaded textkin
        found = {}
        for name, model in todo.items():
            blocks = files[kind_of(name)]
            found[name] = seconds(partial(fit_blocks, model, blocks, on=client), rounds)
        return found


if __name__ == "__main__":
    main()
