"""Time of EM for mixtures, compared with scikit-learn.

Both start from the same initialization in one part, and from their own in the other. Rows are word
vectors (googlenews-300d-26k), and as many random rows from a mixture of Gaussians. All run on one
thread. Run in the repository root, with textkin installed::

    python benchmarks/mixtures.py
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe, write
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as TheirMixture
from threadpoolctl import threadpool_limits
from topic_models import measure, summary

from textkin import WordVectors
from textkin.models import DiagonalGaussianMixture, VonMisesFisherMixture
from textkin.models.mixture._densities import (
    GaussianFamily,
    GaussianParameters,
    VonMisesFisherFamily,
    VonMisesFisherParameters,
)
from textkin.models.mixture._em import maximize
from textkin.models.mixture._em_core import CoreRows
from textkin.models.mixture._gaussian import standardize_rows

RESULT = RESULTS / "mixtures.json"
N_COMPONENTS = 32
STEPS = 20
FLOOR = 1e-9  # low enough to have no effect, because scikit-learn has no floor
VECTORS = "googlenews-300d-26k.npz"


def drawn_rows(n_rows: int, n_features: int, n_components: int):
    """Return rows around points that are close to each other, in float32."""
    rng = np.random.default_rng(0)
    centres = 0.15 * rng.normal(size=(n_components, n_features))
    noise = rng.normal(size=(n_rows, n_features))
    return (centres[rng.integers(n_components, size=n_rows)] + noise).astype(np.float32)


def quiet(call: Callable[[], object]):
    """Call without the warning about too few steps, which are deliberate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call()


def from_one_start(rows, n_components: int, steps: int) -> dict[str, Callable[[], object]]:
    """Return functions that take the given number of steps and return the fitted estimator.

    The timed part starts with the user's rows: it includes checks, copies, and centering.
    """
    start = DiagonalGaussianMixture(
        n_components, variance_floor=FLOOR, max_iter=1, tol=0, random_state=0
    )
    quiet(lambda: start.fit(rows))
    double = rows.astype(np.float64)
    found: dict[str, Callable[[], object]] = {}
    for name, own, jobs in (
        ("textkin", rows, 1),
        ("textkin_2_threads", rows, 2),
        ("textkin_float64", double, 1),
    ):

        def ours(own=own, jobs=jobs):
            scale, placed = standardize_rows(own, np.ones(len(own)))
            family = GaussianFamily(scale, FLOOR)
            model = scale.model_to(
                GaussianParameters(start.weights_, start.means_, start.covariances_)
            )
            fit = steps_of(family, model, placed, steps, jobs)
            end = DiagonalGaussianMixture(n_components)
            end.n_features_in_ = own.shape[1]
            end._set_parameters(family, fit.model)
            return end

        found[name] = ours
    for name, own in (("sklearn", rows), ("sklearn_float64", double)):

        def theirs(own=own):
            return quiet(
                lambda: TheirMixture(
                    n_components,
                    covariance_type="diag",
                    reg_covar=0,
                    tol=0,
                    max_iter=steps,
                    weights_init=(start.weights_ / start.weights_.sum()).astype(own.dtype),
                    means_init=start.means_.astype(own.dtype),
                    precisions_init=(1 / start.covariances_).astype(own.dtype),
                ).fit(own)
            )

        found[name] = theirs
    sphere = VonMisesFisherMixture(n_components, max_iter=1, tol=0, random_state=0)
    quiet(lambda: sphere.fit(rows))

    def on_the_sphere():
        family, placed = sphere._prepare_fit(rows, np.ones(len(rows)))
        model = VonMisesFisherParameters(sphere.weights_, sphere.means_, sphere.kappas_)
        fit = steps_of(family, model, placed, steps, 1)
        end = VonMisesFisherMixture(n_components)
        end.n_features_in_ = rows.shape[1]
        end._set_parameters(family, fit.model)
        return end

    found["textkin_von_mises_fisher"] = on_the_sphere
    return found


def steps_of(
    family: GaussianFamily | VonMisesFisherFamily, model, rows: CoreRows, steps: int, jobs: int
):
    """Take exactly the given number of steps, and one more pass over all rows, as scikit-learn."""
    return maximize(
        family,
        model,
        rows,
        hard=False,
        max_iter=steps,
        tol=-np.inf,
        threads=jobs,
        report=lambda: None,
    )


def from_own_starts(rows, n_components: int) -> dict[str, Callable[[], object]]:
    """Return functions that fit until a step gains less than 1e-4, in at most 200 steps."""
    ours = {"tol": 1e-4, "max_iter": 200, "random_state": 0}
    theirs = {**ours, "covariance_type": "diag", "reg_covar": 0}
    double = rows.astype(np.float64)
    return {
        "textkin": lambda: quiet(lambda: DiagonalGaussianMixture(n_components, **ours).fit(rows)),
        "textkin_von_mises_fisher": lambda: quiet(
            lambda: VonMisesFisherMixture(n_components, **ours).fit(rows)
        ),
        "sklearn": lambda: quiet(lambda: TheirMixture(n_components, **theirs).fit(rows)),
        "sklearn_float64": lambda: quiet(lambda: TheirMixture(n_components, **theirs).fit(double)),
    }


def timed(contenders: dict[str, Callable[[], object]], rows, rounds: int):
    """Return all times, and the mean log-likelihood of the rows under each density, in float64."""
    made: dict[str, object] = {}

    def keeping(name: str, contender: Callable[[], object]) -> Callable[[], object]:
        return lambda: made.update({name: contender()})

    times = measure({name: keeping(name, one) for name, one in contenders.items()}, rounds)
    double = rows.astype(np.float64)
    found = {
        name: {
            "mean_log_likelihood": float(mixture.score(double)),
            "steps": getattr(mixture, "n_iter_", None),
            "converged": getattr(mixture, "converged_", None),
        }
        for name, mixture in made.items()
    }
    return times, found


def check_equal(found: dict[str, dict], tolerance: float = 1e-4) -> None:
    """Stop unless all mixtures of Gaussians are as likely as scikit-learn's in float64."""
    expected = found["sklearn_float64"]["mean_log_likelihood"]
    for name, fit in found.items():
        value = fit["mean_log_likelihood"]
        if "fisher" not in name and abs(value - expected) > tolerance:
            raise SystemExit(f"{name}: mean log-likelihood {value}, not {expected}")


def compared(rows, n_components: int, steps: int, rounds: int) -> dict[str, object]:
    """Return times and likelihoods of all contenders over some rows."""
    times, likely = timed(from_one_start(rows, n_components, steps), rows, rounds)
    check_equal(likely)
    own_times, own_likely = timed(from_own_starts(rows, n_components), rows, max(1, rounds // 3))
    return {
        "rows": rows.shape[0],
        "features": rows.shape[1],
        "components": n_components,
        "same_start": {"steps": steps, "fits": likely, **summary(times), "rounds": times},
        "own_starts": {"fits": own_likely, **summary(own_times), "rounds": own_times},
    }


def main() -> None:
    """Print the medians, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=30_000, help="random rows")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    vectors = WordVectors.load(arguments.data / "vectors" / VECTORS)
    with threadpool_limits(1):
        found = {
            name: compared(rows, N_COMPONENTS, STEPS, arguments.rounds)
            for name, rows in (
                (VECTORS, np.array(vectors.matrix, dtype=np.float32)),
                ("drawn", drawn_rows(arguments.rows, 300, N_COMPONENTS)),
            )
        }
    report = {
        "command": "python benchmarks/mixtures.py",
        "measure": f"seconds of {STEPS} steps of EM from one start, and of whole fits; ratios "
        "taken within rounds. On a busy machine only processor seconds compare single threads",
        **describe("textkin", "scikit-learn", "numpy", "scipy"),
        "load_average_before": load,
        "rounds": arguments.rounds,
        "data": found,
    }
    for name, part in found.items():
        for start in ("same_start", "own_starts"):
            print(name, start, json.dumps(part[start]["processor_seconds"], indent=2))
            print(json.dumps(part[start]["fits"], indent=2))
    write(arguments.out, report)


if __name__ == "__main__":
    main()
