"""Measures, protocols, and the experiments of the papers: ``textkin evaluate``."""

from textkin.evaluate._cells import Cell, MissingDataError, Outcome, Task
from textkin.evaluate._experiment import Aim, Experiment, Method, Reference, run_experiment
from textkin.evaluate._report import experiment_markdown, write_page, write_results
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid
from textkin.evaluate.experiments import experiment, experiment_names

__all__ = [
    "Aim",
    "Cell",
    "Experiment",
    "Grid",
    "Method",
    "MissingDataError",
    "Outcome",
    "Reference",
    "Results",
    "Task",
    "experiment",
    "experiment_markdown",
    "experiment_names",
    "run_experiment",
    "write_page",
    "write_results",
]
