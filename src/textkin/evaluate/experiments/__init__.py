"""The experiments of the papers, one a module.

To add one, write a module here that is called like the experiment, with ``_`` for ``-``, and that
has one name, ``EXPERIMENT``. Nothing else needs to know of it::

    def error(task, k):                          # one cell: a method on a split of a data set
        some = labelled(task)                    # texts and labels; cut where task.quick
        bags = task.memo("bags", lambda: ...)    # made once for all methods of this split
        near = task.arrays("neighbours", ..., k=k)   # kept on disk, if it takes minutes
        return {"error": ..., "k": ...}          # plain JSON: numbers by name

    EXPERIMENT = Experiment(
        name="my-table",
        title="Error of my methods",
        source="Someone, *A paper*, 2015, Table 1.",
        protocol="How the numbers are made.",
        datasets=["r8", "twitter"],
        methods={"5 neighbours": Method(error, {"k": 5}), "9 neighbours": Method(error, {"k": 9})},
        files=labelled_files,                    # of a set; other files, other cells
        splits=labelled_splits,                  # how many
        tables=lambda found: [by_dataset(found, "error", "Error in percent", better="lower")],
        references=[Reference("paper", "Table 1.", {"5 neighbours": {"r8": 3.5}}, "error")],
        aims=[Aim("r8 below 4 %", lambda found: ...)],
        findings=lambda found: found.said("r8: {5 neighbours|r8|error:.1f} %."),
    )

Rules: a cell depends on its task and its settings alone, never on the number of threads; randomness
is seeded by a constant (or by ``task.seed``); choices are made on validation data
(`textkin.evaluate._protocol`); ``task.quick`` makes it take a second; ``version`` of a method
counts up when its code computes something else, so that old cells are not taken; ``on`` of a method
tells on which data sets it is measured, where an experiment asks several questions. A cell may
raise: the table then says why it is missing. `findings` take their numbers from results only. A
test runs the experiment with ``quick=True`` on the tiny data folder of
``tests/evaluate/conftest.py``. All cells together must take less than 60 minutes on 2 cores.
"""

import pkgutil
from importlib import import_module

from textkin.evaluate._experiment import Experiment

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
        If there is none; names all.

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
