"""An experiment: methods on data sets, the papers' numbers beside them, and how a run goes."""

import hashlib
import json
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from textkin.evaluate._cells import (
    Cell,
    Keeper,
    MissingDataError,
    Outcome,
    Shared,
    Task,
    Values,
    file_in,
)
from textkin.evaluate._environment import described
from textkin.evaluate._reading import AS_IT_IS, worded
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["Aim", "Experiment", "Method", "Reference", "run_experiment"]

Compute: TypeAlias = Callable[..., Values]
"""A function of a `Task` and of the method's settings; returns numbers by name."""


@dataclass(frozen=True)
class Method:
    """One row of a table: a function, and what it is called with.

    Attributes
    ----------
    compute : callable
        ``compute(task, **settings)`` returns a mapping that JSON can hold.
    settings : mapping
        Other settings are other numbers: they are computed again.
    version : int
        Count up when the function changes what it computes.
    note : str
        A footnote: what differs from the paper, in a sentence.
    on : callable
        Of the name of a data set: whether the method is measured on it. On all, unless told: only
        an experiment that asks several questions needs it.
    files : sequence of str
        Files of the data folder that it needs besides those of the data set, such as vectors:
        other files, other cells; without them only its own cells are missing.
    optional : bool
        Whether it is measured only where it is named: one that takes long and is not needed.
    """

    compute: Compute
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    note: str = ""
    on: Callable[[str], bool] = lambda dataset: True
    files: Sequence[str] = ()
    optional: bool = False


@dataclass(frozen=True)
class Reference:
    """Numbers of others, shown beside ours.

    Attributes
    ----------
    name : str
        Short: stands in the table.
    source : str
        Where they are from, in full; stands below it.
    values : mapping
        By method (its name here) and data set.
    measure : str
        Which of our numbers they are beside.
    """

    name: str
    source: str
    values: Mapping[str, Mapping[str, float]]
    measure: str


@dataclass(frozen=True)
class Aim:
    """What was hoped for, and whether it was reached.

    Attributes
    ----------
    text : str
        The aim in words.
    check : callable
        Of `Results`: whether it is reached and what was measured, in words; None where the
        numbers are not there.
    """

    text: str
    check: Callable[[Results], tuple[bool, str] | None]


def _one_split(data: Path, dataset: str, quick: bool) -> int:
    return 1


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table of a paper as code: `textkin.evaluate.experiments` tells how to write one.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        One line.
    source : str
        The paper and the tables that it repeats.
    protocol : str
        How the numbers are made; a paragraph of Markdown.
    datasets : sequence of str
        Those that are used unless others are named.
    methods : mapping of str to Method
        The rows.
    files : callable
        The files of a data set, relative to the data folder.
    splits : callable
        How many splits a data set has: of the data folder, the data set and `quick`.
    tables : callable
        Makes the tables of `Results`, see `textkin.evaluate._tables`.
    figures : callable
        Makes figures of `Results`: SVG by name, see `textkin.evaluate._figures`.
    findings : callable
        Writes what was reproduced and what was not, with numbers taken from `Results`.
    references : sequence of Reference
        Numbers of others.
    aims : sequence of Aim
        What was hoped for.
    """

    name: str
    title: str
    source: str
    protocol: str
    datasets: Sequence[str]
    methods: Mapping[str, Method]
    files: Callable[[str], Sequence[str]]
    tables: Callable[[Results], Sequence[Grid]]
    splits: Callable[[Path, str, bool], int] = _one_split
    figures: Callable[[Results], Mapping[str, str]] = lambda results: {}
    findings: Callable[[Results], str] = lambda results: ""
    references: Sequence[Reference] = ()
    aims: Sequence[Aim] = ()

    def cells(self, dataset: str, n_splits: int) -> Iterator[Cell]:
        """Give the cells of a data set: all methods of a split, then those of the next."""
        for split in range(n_splits):
            for name, method in self.methods.items():
                if method.on(dataset):
                    yield Cell(dataset, name, split, method.settings, method.version)


def run_experiment(
    experiment: Experiment,
    data: str | Path,
    out: str | Path,
    *,
    methods: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    quick: bool = False,
    fresh: bool = False,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
    command: str | None = None,
) -> Results:
    """Compute the cells of an experiment that are not in the work folder yet.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    data : str or Path
        The folder of the data sets.
    out : str or Path
        The work folder: ``cells/EXPERIMENT/`` in it keeps what is computed.
    methods, datasets : sequence of str, optional
        Only these; results also have what was computed before. A data set that the experiment does
        not know is taken if its files are there.
    quick : bool, default=False
        Cut the data, so that it takes seconds.
    fresh : bool, default=False
        Compute again what is there.
    n_jobs : int, optional
        Threads inside of a cell; they change no number.
    progress : callable, optional
        Told (cells that are done, all cells).
    command : str, optional
        What was typed, for the report.

    Returns
    -------
    Results
        All cells; those that failed say why.

    Raises
    ------
    ValueError
        If a method is unknown, the work folder is a file, or every cell failed.
    MissingDataError
        If there is no data folder, or no data set in it.
    """
    data, out = Path(data), Path(out)
    if not data.is_dir():
        raise MissingDataError(f"There is no data folder {data}.")
    wanted = _known(methods, experiment)
    asked = list(dict.fromkeys(experiment.datasets if datasets is None else datasets))
    effective_jobs(n_jobs)
    if not wanted or not asked:
        raise ValueError("methods and datasets must name at least one each, or be None for all.")
    keeper, shared = Keeper(out / "cells" / experiment.name, fresh=fresh), Shared()
    plan = list(_plan(experiment, data, asked, wanted, quick))
    if not any(step.asked for step in plan):
        names, sets = (", ".join(map(repr, each)) for each in (sorted(wanted), asked))
        raise ValueError(
            f"{experiment.name} measures none of its methods {names} on any of the data sets "
            f"{sets}; leave one of the two lists out."
        )
    if all(isinstance(step.key, Exception) for step in plan if step.asked):
        raise next(s.key for s in plan if s.asked and isinstance(s.key, Exception))
    _open(keeper, out)

    started, where = time.perf_counter(), described()
    outcomes: list[Outcome] = []
    total, done = sum(step.asked for step in plan), 0
    try:
        for step in plan:
            cell, key = step.cell, step.key
            if isinstance(key, Exception):
                outcomes.append(_missing(cell, key))
            else:
                kept = None if step.asked and fresh else keeper.outcome(key)
                if kept is None and step.asked:
                    shared.enter(cell.dataset, cell.split)
                    task = Task(cell, data, quick, n_jobs, shared, keeper, key)
                    kept = _computed(experiment.methods[cell.method], task, where)
                    if kept.values is not None:
                        keeper.keep(key, kept)
                if kept is not None:
                    outcomes.append(kept)
            done += step.asked
            if progress is not None and step.asked:
                progress(done, total)
    except KeyboardInterrupt as stop:
        stop.add_note(
            f"{done} of {total} cells are done and kept in {out}; the same command goes on."
        )
        raise
    reasons = [outcome.missing for outcome in outcomes]
    if all(reasons):
        raise ValueError(f"No cell of {experiment.name} could be computed. The first: {reasons[0]}")
    run = {
        "command": command if command is not None else shlex.join(sys.argv),
        **where,
        "seconds": round(time.perf_counter() - started, 1),
    }
    return Results(experiment.name, tuple(outcomes), quick, run)


@dataclass(frozen=True)
class _Step:
    """A cell, what its numbers depend on (or what is missing), and whether it was asked for."""

    cell: Cell
    key: dict[str, Any] | Exception
    asked: bool


def _plan(
    experiment: Experiment, data: Path, asked: Sequence[str], wanted: set[str], quick: bool
) -> Iterator[_Step]:
    """Give the cells that were asked for, and the others, which may have been computed before."""
    own = {name: _stamps(data, method.files) for name, method in experiment.methods.items()}
    for dataset in dict.fromkeys([*experiment.datasets, *asked]):
        files = experiment.files(dataset)
        common: dict[str, str] | Exception = _stamps(data, files)
        n_splits = 1
        if not isinstance(common, Exception):
            try:
                n_splits = experiment.splits(data, dataset, quick)
            except Exception as error:  # of a file of anybody's: the other sets are as they were
                common = ValueError(
                    f"The splits of {', '.join(files)} cannot be counted: {_in_a_line(error)}"
                )
        for cell in experiment.cells(dataset, n_splits):
            now = dataset in asked and cell.method in wanted
            stamps: dict[str, str] = {}
            for some in (common, own[cell.method]):
                if isinstance(some, Exception):
                    if now:
                        yield _Step(cell, some, now)
                    break
                stamps |= some
            else:
                yield _Step(cell, _key(experiment, cell, quick, stamps), now)


def _computed(method: Method, task: Task, where: Mapping[str, str]) -> Outcome:
    """Compute a cell; whatever goes wrong is told in its place of the table."""
    cell = task.cell
    started, worked = time.perf_counter(), time.process_time()
    # One thread of BLAS: the same bits on every machine, and none that waits for the other.
    with warnings.catch_warnings(record=True) as told, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        try:
            values = json.loads(json.dumps(method.compute(task, **cell.settings), allow_nan=False))
        except Exception as error:
            outcome = _missing(cell, error)
            values = None
    seconds = round(time.perf_counter() - started, 3)
    worked = round(time.process_time() - worked, 3)
    if values is None:
        return replace(outcome, seconds=seconds, cpu_seconds=worked)
    said = tuple(dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in told))
    run = {name: where[name] for name in ("date", "machine", "textkin", "commit") if name in where}
    return Outcome(cell.dataset, cell.method, cell.split, values, "", seconds, worked, said, run)


def _missing(cell: Cell, error: Exception) -> Outcome:
    said = _in_a_line(error)
    if not isinstance(error, MissingDataError):
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return Outcome(cell.dataset, cell.method, cell.split, None, said)


def _in_a_line(error: Exception) -> str:
    return worded(" ".join(str(error).split()), AS_IT_IS)


def _open(keeper: Keeper, out: Path) -> None:
    try:
        keeper.open()
    except (FileExistsError, NotADirectoryError) as error:
        there = next(path for path in (keeper.folder, *keeper.folder.parents) if path.exists())
        raise ValueError(
            f"The work folder must be a folder; {there} is a file. Name another than {out}."
        ) from error


def _known(methods: Sequence[str] | None, experiment: Experiment) -> set[str]:
    if methods is None:
        return {name for name, method in experiment.methods.items() if not method.optional}
    for name in methods:
        if name not in experiment.methods:
            raise ValueError(
                f"methods of {experiment.name} are {', '.join(map(repr, experiment.methods))}; "
                f"got {name!r}."
            )
    return set(methods)


def _stamps(data: Path, files: Sequence[str]) -> dict[str, str] | MissingDataError:
    """Return a hash of each file of a data set or method; or which one is not there."""
    try:
        return {
            relative: hashlib.sha256(file_in(data, relative).read_bytes()).hexdigest()[:16]
            for relative in files
        }
    except MissingDataError as error:
        return error


def _key(
    experiment: Experiment, cell: Cell, quick: bool, stamps: Mapping[str, str]
) -> dict[str, Any]:
    """Return all that the numbers of a cell depend on."""
    settings: dict[str, Any] = json.loads(json.dumps(dict(cell.settings)))
    return {
        "experiment": experiment.name,
        "dataset": cell.dataset,
        "method": cell.method,
        "split": cell.split,
        "settings": settings,
        "version": cell.version,
        "quick": quick,
        "data": dict(stamps),
    }
