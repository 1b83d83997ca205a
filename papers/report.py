"""Reports in Markdown with figures, for one experiment or a page of all experiments."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from papers.cells import written
from papers.results import Results
from papers.runner import Aim, Experiment
from papers.tables import plain
from textkin._base import format_count
from textkin.explain import clean

__all__ = ["experiment_markdown", "write_page", "write_results"]


def write_results(experiment: Experiment, results: Results, out: str | Path) -> list[Path]:
    """Write results into a folder as JSON, Markdown, and figures.

    Quick results have separate file names, so that they never replace full results.

    Returns
    -------
    list of Path
        Paths of the Markdown file, the JSON file, and the figures.
    """
    out = Path(out)
    name = f"{experiment.name}-quick" if results.quick else experiment.name
    figures = _write_figures(experiment, results, out, name)
    text = experiment_markdown(experiment, results, [path.name for path in figures], level=1)
    page, record = out / f"{name}.md", out / f"{name}.json"
    written(page, (text + "\n").encode())
    results.save(record)
    return [page, record, *figures]


def write_page(many: Sequence[tuple[Experiment, Results]], page: str | Path) -> list[Path]:
    """Write a page per experiment into a folder, and a page that lists them next to it.

    The folder also has the figures, and a page of all targets.

    Returns
    -------
    list of Path
        Paths of the list, of the other pages, and of the figures.
    """
    page = Path(page)
    if page.is_dir():
        raise IsADirectoryError(f"{page} is a folder. Pass the path of a file.")
    folder = page.parent / page.stem
    entries = [f"- [{plain(e.title)}]({folder.name}/{e.name}.md): `{e.name}`" for e, _ in many]
    pages, figures, targets = [page], [], [_TARGETS]
    for experiment, results in many:
        drawn = _write_figures(experiment, results, folder, experiment.name)
        links = [path.name for path in drawn]
        text = experiment_markdown(experiment, results, links, targets=False)
        pages.append(folder / f"{experiment.name}.md")
        written(pages[-1], (text + "\n").encode())
        figures += drawn
        if experiment.aims:
            targets += [f"## {plain(experiment.title)}", _targets(experiment, results)]
    pages.append(folder / "targets.md")
    written(pages[-1], ("\n\n".join(targets) + "\n").encode())
    written(page, (f"{_INTRODUCTION}\n\n" + "\n".join(entries) + "\n").encode())
    return [*pages, *figures]


def experiment_markdown(
    experiment: Experiment,
    results: Results,
    figures: Iterable[str] = (),
    *,
    level: int = 1,
    targets: bool = True,
) -> str:
    """Return the report of an experiment as Markdown.

    Parameters
    ----------
    experiment : Experiment
        Experiment to report.
    results : Results
        Results of the experiment.
    figures : iterable of str
        Links to the figures.
    level : int, default=1
        Level of the heading.
    targets : bool, default=True
        List the targets of the experiment.
    """
    parts = [f"{'#' * level} {experiment.title}", f"From: {experiment.source}"]
    if results.quick:
        parts.append(
            "**Quick: the data were cut to a few hundred documents. These numbers only show that "
            "the experiment runs.**"
        )
    findings = experiment.findings(results).strip()
    if findings:
        parts += [f"{'#' * (level + 1)} Findings", findings]
    parts += [f"{'#' * (level + 1)} Measurements", experiment.protocol.strip()]
    parts += [table.to_markdown() for table in experiment.tables(results)]
    parts += [f"![{experiment.title}]({link})" for link in figures]
    if experiment.aims and targets:
        parts.append(f"Targets:\n\n{_targets(experiment, results)}")
    parts += _warnings(results)
    parts.append(_how(results))
    return "\n\n".join(parts)


_INTRODUCTION = """# Results

Our measurements of the tables in the papers: one page per experiment, with the findings first.
`python -m papers report` writes these pages from the results of `python -m papers`, without manual
edits. Numbers in italics are from the papers, or from "unrecorded tools": public tools whose names
and versions were not recorded. ± is one standard error over splits."""

_TARGETS = """# Targets of the experiments

For contributors: what each experiment should reach, and whether it does. [Results](../results.md)
has the measurements."""


def _targets(experiment: Experiment, results: Results) -> str:
    return "\n".join(_aim(aim, results) for aim in experiment.aims)


def _aim(aim: Aim, results: Results) -> str:
    found = aim.check(results)
    if found is None:
        return f"- {aim.text}: not measured."
    reached, said = found
    return f"- {aim.text}: {'reached' if reached else '**missed**'} ({said})."


def _warnings(results: Results) -> list[str]:
    told: dict[str, list[str]] = {}
    for cell in results.cells:
        for text in cell.warnings:
            told.setdefault(plain(text), []).append(plain(f"{cell.method} on {cell.dataset}"))
    if not told:
        return []
    lines = ["Warnings:", ""]
    for text, where in told.items():
        places = list(dict.fromkeys(where))
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        lines.append(f"- {shown}: {text}")
    return ["\n".join(lines)]


def _how(results: Results) -> str:
    """Return a line with the command, time, machine, versions, and commits of the results."""
    run = results.run
    cells = [cell for cell in results.cells if cell.values is not None]
    worked = sum(cell.cpu_seconds for cell in cells)
    passed = sum(cell.seconds for cell in cells)
    commits = sorted({str(cell.run["commit"]) for cell in cells if cell.run.get("commit")})
    versions = ", ".join(
        f"{name} {run[name]}"
        for name in ("textkin", "python", "numpy", "scipy", "scikit-learn")
        if name in run
    )
    facts = [
        f"`{_renamed(clean(str(run['command']))).replace('`', ' ')}`" if run.get("command") else "",
        f"{format_count(len(cells), 'cell')}, {_duration(worked)} of CPU time, "
        f"{_duration(passed)} elapsed",
        plain(str(run.get("machine", ""))),
        plain(versions),
        plain(f"commit {', '.join(commits)}") if commits else "",
        plain(str(run.get("date", ""))),
    ]
    return f"<sub>{'; '.join(fact for fact in facts if fact)}. Seeds are fixed.</sub>"


def _renamed(command: str) -> str:
    """Return a command with its current name; older results have ``textkin evaluate``."""
    before = "textkin evaluate "
    return f"python -m papers {command[len(before) :]}" if command.startswith(before) else command


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes"


def _write_figures(experiment: Experiment, results: Results, folder: Path, name: str) -> list[Path]:
    paths = []
    for figure, svg in experiment.figures(results).items():
        # The name of a figure may contain the name of a data set, which may have any characters.
        path = folder / f"{name}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', figure)}.svg"
        written(path, (svg + "\n").encode())
        paths.append(path)
    return paths
