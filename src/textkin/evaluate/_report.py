"""Results as Markdown with figures: one experiment, or a page of all of them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from textkin.evaluate._cells import written
from textkin.evaluate._experiment import Aim, Experiment
from textkin.evaluate._results import Results
from textkin.evaluate._tables import plain
from textkin.explain._words import clean
from textkin.text.reading._document import counted

__all__ = ["experiment_markdown", "write_page", "write_results"]


def write_results(experiment: Experiment, results: Results, out: str | Path) -> list[Path]:
    """Write results into a folder as JSON, as Markdown and as figures.

    Quick ones have names of their own, so that they never take the place of others.

    Returns
    -------
    list of Path
        The Markdown, the JSON, then the figures.
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
    """Write one page of many experiments, with their figures in a folder beside it.

    Returns
    -------
    list of Path
        The page, then the figures.
    """
    page = Path(page)
    if page.is_dir():
        raise IsADirectoryError(f"{page} is a folder, and no file can take its name.")
    folder = page.parent / page.stem
    parts = [_INTRODUCTION]
    parts.append("\n".join(f"- [{e.title}](#{_anchor(e.title)}): `{e.name}`" for e, _ in many))
    figures: list[Path] = []
    for experiment, results in many:
        drawn = _write_figures(experiment, results, folder, experiment.name)
        links = [f"{folder.name}/{path.name}" for path in drawn]
        parts.append(experiment_markdown(experiment, results, links, level=2))
        figures += drawn
    written(page, ("\n\n".join(parts) + "\n").encode())
    return [page, *figures]


def experiment_markdown(
    experiment: Experiment, results: Results, figures: Iterable[str] = (), *, level: int = 1
) -> str:
    """Return what an experiment found, as Markdown.

    Parameters
    ----------
    experiment : Experiment
        What was measured.
    results : Results
        What came out.
    figures : iterable of str
        Links to the figures.
    level : int, default=1
        Of the heading.
    """
    parts = [f"{'#' * level} {experiment.title}", f"From: {experiment.source}"]
    if results.quick:
        parts.append(
            "**Quick: the data were cut to a few hundred documents. These numbers show only that "
            "the experiment runs.**"
        )
    parts.append(experiment.protocol.strip())
    parts += [table.to_markdown() for table in experiment.tables(results)]
    parts += [f"![{experiment.title}]({link})" for link in figures]
    if experiment.aims:
        parts.append("\n".join(["Aims:", "", *(_aim(aim, results) for aim in experiment.aims)]))
    findings = experiment.findings(results).strip()
    if findings:
        parts.append(findings)
    parts += _warnings(results)
    parts.append(_how(results))
    return "\n\n".join(parts)


_INTRODUCTION = """# Results

The tables of the papers, measured. This page is written by `textkin evaluate report` from the
results of `textkin evaluate`; nothing in it is typed by hand. Numbers in italics are those of
others: papers, or tools that are not ours. ± is one standard error over splits."""


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
    lines = ["Warned of meanwhile:", ""]
    for text, where in told.items():
        places = list(dict.fromkeys(where))
        shown = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        lines.append(f"- {shown}: {text}")
    return ["\n".join(lines)]


def _how(results: Results) -> str:
    """Say how the numbers were made: command, time, machine, versions, commits."""
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
        f"`{clean(str(run['command'])).replace('`', ' ')}`" if run.get("command") else "",
        f"{counted(len(cells), 'cell')}, {_duration(worked)} of processor time, "
        f"{_duration(passed)} in all",
        plain(str(run.get("machine", ""))),
        plain(versions),
        plain(f"commit {', '.join(commits)}") if commits else "",
        plain(str(run.get("date", ""))),
    ]
    return f"<sub>{'; '.join(fact for fact in facts if fact)}. Seeds are fixed.</sub>"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes"


def _anchor(title: str) -> str:
    """Return what a heading is called in links, as GitHub names it."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _write_figures(experiment: Experiment, results: Results, folder: Path, name: str) -> list[Path]:
    paths = []
    for figure, svg in experiment.figures(results).items():
        # The name of a figure may have that of a data set in it, and that may be anything.
        path = folder / f"{name}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', figure)}.svg"
        written(path, (svg + "\n").encode())
        paths.append(path)
    return paths
