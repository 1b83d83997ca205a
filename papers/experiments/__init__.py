"""Experiments of the papers: one module or subpackage per experiment.

To add an experiment, write a module here that has the name of the experiment, with ``_`` for
``-``, and that defines ``EXPERIMENT``. No other file lists the experiments::

    def error(task, k):                          # one cell: a method on a split of a data set
        split = labelled(task)                   # texts and labels; few if task.quick
        bags = task.memo("bags", lambda: ...)    # computed once for all methods of this split
        near = task.arrays("neighbors", ..., k=k)    # stored on disk, if it takes minutes
        return {"error": ..., "k": ...}          # plain JSON: numbers by name

    EXPERIMENT = Experiment(
        name="my-table",
        title="Error of my methods",
        source="Someone, *A paper*, 2015, Table 1.",
        protocol="How the numbers are computed.",
        datasets=["r8", "twitter"],
        methods={"5 neighbors": Method(error, {"k": 5}), "9 neighbors": Method(error, {"k": 9})},
        files=labelled_files,                    # files of a data set; a change invalidates cells
        splits=labelled_splits,                  # number of splits
        tables=lambda found: [by_dataset(found, "error", "Error in percent", better="lower")],
        references=[Reference("paper", "Table 1.", {"5 neighbors": {"r8": 3.5}}, "error")],
        aims=[Aim("r8 below 4 %", lambda found: ...)],
        findings=lambda found: found.said("r8: {5 neighbors|r8|error:.1f} %."),
    )

Rules:

- A cell depends only on its task and its settings, never on the number of threads.
- Randomness has a constant seed, or ``task.seed``.
- Settings are chosen on validation data (`papers.protocol`).
- With ``task.quick``, a cell takes about one second.
- Increase ``version`` of a method when its code computes different numbers, so that stored cells
  are not reused.
- ``on`` of a method restricts it to some data sets, for experiments that ask several questions.
- A cell may raise. The table then shows the message in place of the number.
- `findings` take their numbers only from results.
- A test runs the experiment with ``quick=True`` on the tiny data folder of
  ``papers/tests/conftest.py``.
- All cells together take less than 60 minutes on 2 cores.
"""

import pkgutil
from importlib import import_module

from papers.runner import Experiment

__all__ = ["experiment", "experiment_names"]

_ORDER = (
    "datasets",
    "knn",
    "embeddings",
    "pruning",
    "fisher-kernel",
    "fisher-vectors",
    "retrieval",
    "sts",
    "feedback",
)


def experiment_names() -> list[str]:
    """Return the names of all experiments, in the order of the report."""
    found = [
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(__path__)
        if not module.name.startswith("_")
    ]
    places = {name: at for at, name in enumerate(_ORDER)}
    return sorted(found, key=lambda name: (places.get(name, len(places)), name))


def experiment(name: str) -> Experiment:
    """Return an experiment by its name.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> experiment("datasets").title
    'The data sets'
    """
    if name not in experiment_names():
        raise ValueError(
            f"experiment must be one of {', '.join(experiment_names())}; got {name!r}."
        )
    found: Experiment = import_module(f"{__name__}.{name.replace('-', '_')}").EXPERIMENT
    return found
