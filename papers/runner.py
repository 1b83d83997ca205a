"""Experiments: methods on data sets, reference numbers, and the function that runs them."""

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

from papers.cells import Cell, Keeper, MissingDataError, Outcome, Shared, Task, Values, file_in
from papers.environment import described
from papers.results import Results
from papers.tables import Grid
from textkin._base import without_hint
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["Aim", "Experiment", "Method", "Reference", "run_experiment"]

Compute: TypeAlias = Callable[..., Values]
"""Function of a `Task` and of the method's settings. It returns numbers by name."""


@dataclass(frozen=True)
class Method:
    """Method of an experiment, one row of its tables.

    Attributes
    ----------
    compute : callable
        ``compute(task, **settings)`` returns a mapping that JSON can represent.
    settings : mapping
        Arguments of `compute`. If they change, cells are computed again.
    version : int
        Version of the function. Increase it when the function computes different numbers.
    note : str
        Footnote with the differences from the paper, in one sentence.
    on : callable
        Function that returns True if the method is measured on the data set of the given name.
        By default, the method is measured on every data set.
    files : sequence of str
        Additional files of the data folder, such as vectors. If a file changes, the cells of this
        method are computed again. If a file is missing, only these cells are missing.
    optional : bool
        If True, the method is measured only when it is named, because it takes long.
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
    """Numbers of others, shown next to ours.

    Attributes
    ----------
    name : str
        Short name, for the rows of tables.
    source : str
        Complete source, shown below the table.
    values : mapping
        Numbers by method (with our name) and data set.
    measure : str
        Name of our measure with the same meaning.
    """

    name: str
    source: str
    values: Mapping[str, Mapping[str, float]]
    measure: str


@dataclass(frozen=True)
class Aim:
    """Target of an experiment.

    Attributes
    ----------
    text : str
        Description of the target.
    check : callable
        Function of `Results` that returns whether the target is reached, and a description of the
        measured numbers. It returns None if the numbers are missing.
    """

    text: str
    check: Callable[[Results], tuple[bool, str] | None]


def _one_split(data: Path, dataset: str, quick: bool) -> int:
    return 1


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Table of a paper as code. The docstring of `papers.experiments` has an example.

    Attributes
    ----------
    name : str
        Name on the command line.
    title : str
        Title, in one line.
    source : str
        Paper and tables that the experiment repeats.
    protocol : str
        Description of the protocol, in one paragraph of Markdown.
    datasets : sequence of str
        Names of the default data sets.
    methods : mapping of str to Method
        Methods, the rows of the tables.
    files : callable
        Function of a data set that returns its files, relative to the data folder.
    splits : callable
        Function of the data folder, the data set, and `quick` that returns the number of splits.
    tables : callable
        Function of `Results` that returns tables, see `papers.tables`.
    figures : callable
        Function of `Results` that returns SVG figures by name, see `papers.figures`.
    findings : callable
        Function of `Results` that returns a summary of the findings.
    references : sequence of Reference
        Numbers of others.
    aims : sequence of Aim
        Targets.
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
        """Yield the cells of a data set, split by split, with all methods of a split."""
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
    """Compute the cells of an experiment that are not stored in the work folder.

    Parameters
    ----------
    experiment : Experiment
        Experiment to run.
    data : str or Path
        Data folder.
    out : str or Path
        Work folder. Cells are stored in its subfolder ``cells/EXPERIMENT/``.
    methods, datasets : sequence of str, optional
        Methods and data sets to compute. The results also have cells that were computed before.
        Data sets that the experiment does not list are accepted if their files exist.
    quick : bool, default=False
        If True, cut the data, so that the run takes seconds.
    fresh : bool, default=False
        If True, compute stored cells again.
    n_jobs : int, optional
        Number of threads within a cell. It does not change the numbers.
    progress : callable, optional
        Called with the number of finished cells and the total number.
    command : str, optional
        Command line, for the report.

    Returns
    -------
    Results
        All cells. Failed cells contain the reason.

    Raises
    ------
    ValueError
        If a method is unknown, the work folder is a file, or every cell failed.
    MissingDataError
        If the data folder does not exist, or none of the data sets is in it.
    """
    data, out = Path(data), Path(out)
    if not data.is_dir():
        raise MissingDataError(f"The data folder {data} does not exist.")
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
            f"{experiment.name} measures none of the methods {names} on any of the data sets "
            f"{sets}. Omit methods or datasets."
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
            f"{done} of {total} cells are finished and stored in {out}; run the same command to "
            "resume."
        )
        raise
    reasons = [outcome.missing for outcome in outcomes]
    if all(reasons):
        raise ValueError(f"All cells of {experiment.name} failed. First error: {reasons[0]}")
    run = {
        "command": command if command is not None else shlex.join(sys.argv),
        **where,
        "seconds": round(time.perf_counter() - started, 1),
    }
    return Results(experiment.name, tuple(outcomes), quick, run)


@dataclass(frozen=True)
class _Step:
    """Cell, its key or the error that prevents a key, and whether it was requested."""

    cell: Cell
    key: dict[str, Any] | Exception
    asked: bool


def _plan(
    experiment: Experiment, data: Path, asked: Sequence[str], wanted: set[str], quick: bool
) -> Iterator[_Step]:
    """Yield the requested cells, and other cells, which may be stored from earlier runs."""
    own = {name: _stamps(data, method.files) for name, method in experiment.methods.items()}
    for dataset in dict.fromkeys([*experiment.datasets, *asked]):
        files = experiment.files(dataset)
        common: dict[str, str] | Exception = _stamps(data, files)
        n_splits = 1
        if not isinstance(common, Exception):
            try:
                n_splits = experiment.splits(data, dataset, quick)
            except Exception as error:  # a malformed file must not stop the other data sets
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
    """Compute a cell. An exception becomes the reason in the outcome."""
    cell = task.cell
    started, worked = time.perf_counter(), time.process_time()
    # One thread of BLAS gives bit-identical results on every machine, and no thread waits.
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
    return " ".join(without_hint(error).split())


def _open(keeper: Keeper, out: Path) -> None:
    try:
        keeper.open()
    except (FileExistsError, NotADirectoryError) as error:
        there = next(path for path in (keeper.folder, *keeper.folder.parents) if path.exists())
        raise ValueError(
            f"The work folder must be a folder; {there} is a file. Pass another path than {out}."
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
    """Return a hash of each file of a data set or method, or the error for a missing file."""
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
    """Return the inputs that determine the numbers of a cell."""
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
