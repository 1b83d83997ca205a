"""Experiments of the papers that textkin implements: tables, figures, and one page of results.

The experiments are not part of the installed package. From the root of the repository, with
textkin installed, run ``python -m papers list``.
"""

from papers.cells import Cell, MissingDataError, Outcome, Task
from papers.experiments import experiment, experiment_names
from papers.report import experiment_markdown, write_page, write_results
from papers.results import Results
from papers.runner import Aim, Experiment, Method, Reference, run_experiment
from papers.tables import Grid

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
