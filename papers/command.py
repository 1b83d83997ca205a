"""Command line of the experiments: ``python -m papers list | EXPERIMENT | report``."""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["app", "main"]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

_NAME = "python -m papers"
_OUT = Path("textkin-results")
_INTERRUPTED = 130


class _InterruptedError(Exception):
    """Ctrl-C during a run; the message says how to resume."""


class _Experiments(typer.core.TyperGroup):
    """Group of commands that reads an experiment's name as ``run NAME``."""

    def resolve_command(self, context: Any, arguments: list[str]) -> Any:  # noqa: ANN401 (click's)
        if arguments and not arguments[0].startswith("-") and arguments[0] not in self.commands:
            arguments = ["run", *arguments]
        return super().resolve_command(context, _repeated(arguments))


def _repeated(arguments: list[str]) -> list[str]:
    """Write ``--methods a b`` as ``--methods a --methods b``, which the parser understands."""
    made: list[str] = []
    option = None
    for argument in arguments:
        if argument.startswith("-"):
            option = argument if argument in ("--methods", "--datasets") else None
            made.append(argument)
        elif option is not None and made[-1] != option:
            made += [option, argument]
        else:
            made.append(argument)
    return made


app = typer.Typer(
    name="papers",
    cls=_Experiments,
    help="Repeat the experiments of the papers: python -m papers EXPERIMENT --data FOLDER.",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _papers(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog="Example: python -m papers list")
def list_(json: JsonOption = False) -> None:
    """List the experiments."""
    from papers.experiments import experiment, experiment_names
    from textkin.run import working

    with working("Loading"):
        known = [experiment(name) for name in experiment_names()]
    if json:
        _print_json(
            {
                "experiments": [
                    {
                        "name": each.name,
                        "title": each.title,
                        "source": each.source,
                        "datasets": list(each.datasets),
                        "methods": list(each.methods),
                    }
                    for each in known
                ]
            }
        )
        return
    width = max(len(each.name) for each in known)
    _print_lines(
        f"{each.name:<{width}}  {each.title}: {len(each.methods)} "
        f"method{'' if len(each.methods) == 1 else 's'} on {', '.join(each.datasets)}"
        for each in known
    )


@app.command(epilog="Example: python -m papers knn --data data/ --datasets r8 --quick")
def run(
    name: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="Name from python -m papers list.")
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Data folder with classification/, retrieval/, and sts/."
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", metavar="NAME", help="Run only these: --methods A B."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            "--datasets",
            metavar="NAME",
            help="Use only these: --datasets A B; also your own sets in the folder.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Use a small part of the data, for a test that takes seconds."
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder for results and finished cells."),
    ] = _OUT,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Number of threads; -1 uses all CPUs.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute finished cells again.")] = False,
    json: JsonOption = False,
) -> None:
    """Run an experiment. Finished cells are stored, so an interrupted run resumes."""
    from papers.experiments import experiment
    from papers.report import experiment_markdown, write_results
    from papers.runner import run_experiment
    from textkin.run import progress_bar

    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    chosen = experiment(name)
    try:
        with progress_bar(chosen.name, "cells") as progress:
            results = run_experiment(
                chosen,
                data,
                out,
                methods=methods,
                datasets=datasets,
                quick=quick,
                fresh=fresh,
                n_jobs=jobs,
                progress=progress,
                command=_command(name, methods, datasets, quick),
            )
    except KeyboardInterrupt as error:  # Typer drops the notes of a KeyboardInterrupt
        raise _InterruptedError(" ".join(getattr(error, "__notes__", ()))) from error
    files = write_results(chosen, results, out)
    failed = [cell for cell in results.cells if cell.values is None]
    if failed:
        first = failed[0]
        _complain(
            f"note: {len(failed)} of {len(results.cells)} cells "
            f"{'has' if len(failed) == 1 else 'have'} "
            f"no result. First: {first.method} on {first.dataset}: {first.missing}"
        )
    if json:
        _print_json({**results.to_dict(), "files": [str(path) for path in files]})
        return
    _print_lines([experiment_markdown(chosen, results), "", f"wrote {', '.join(map(str, files))}"])


@app.command(epilog="Example: python -m papers report textkin-results -o docs/results.md")
def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...", help="JSON files of experiments, or folders with them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Page that lists the others.")
    ] = Path("results.md"),
    json: JsonOption = False,
) -> None:
    """Write a page per experiment, next to the numbers of the papers."""
    from papers.experiments import experiment, experiment_names
    from papers.report import write_page
    from papers.results import Results, joined
    from textkin.run import working

    with working("Writing"):
        found = joined(Results.load(path) for path in _files(results))
        places = {name: at for at, name in enumerate(experiment_names())}
        found.sort(key=lambda one: places.get(one.experiment, len(places)))
        files = write_page([(experiment(one.experiment), one) for one in found], output)
    if json:
        _print_json(
            {
                "experiments": [one.experiment for one in found],
                "files": [str(path) for path in files],
            }
        )
        return
    _print_lines([f"wrote {', '.join(map(str, files))}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after the command's name. If None, ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit code: 0; 2 for bad input, with one line on standard error; or 130 after Ctrl-C.
    """
    try:
        result = app(args=arguments, prog_name=_NAME, standalone_mode=False)
    except _InterruptedError as error:
        _complain(f"interrupted. {error}")
        return _INTERRUPTED
    except (typer.Abort, KeyboardInterrupt):
        result = _INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):  # unknown command, option, or value
            message = error.format_message().strip()
            end = "" if message.endswith(("?", ".")) else "."
            context = getattr(error, "ctx", None)
            where = context.command_path if context is not None else _NAME
            _complain(f"{message}{end} Try '{where} --help'.")
            return 2
        if isinstance(error, ValueError | TypeError | OSError | ImportError):
            _complain(" ".join([_reason(error), *getattr(error, "__notes__", ())]))
            return 2
        raise
    if result == _INTERRUPTED:  # Typer converts Ctrl-C into this exit code
        _complain("interrupted")
    return result if isinstance(result, int) else 0


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:  # str(error) would start with "[Errno 13]"
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return str(error) or type(error).__name__


def _print_json(record: Mapping[str, Any]) -> None:
    typer.echo(json.dumps(record, indent=2))  # ASCII, so it contains no terminal control codes


def _print_lines(lines: Iterable[str]) -> None:
    typer.echo("\n".join(lines), color=True)


def _complain(message: str) -> None:
    typer.echo(f"papers: {' '.join(message.split())}", err=True)


def _files(given: list[Path]) -> list[Path]:
    """Return the given result files and the result files in the given folders."""
    found: list[Path] = []
    for path in given:
        if not path.is_dir():
            if not path.exists():
                raise ValueError(f"{path} does not exist. Pass a results file or folder.")
            found.append(path)
            continue
        inside = sorted(path.glob("*.json"))
        if not inside:
            raise ValueError(f"{path} contains no results. Run python -m papers EXPERIMENT first.")
        found += inside
    return found


def _command(name: str, methods: list[str] | None, datasets: list[str] | None, quick: bool) -> str:
    """Return a command that repeats the run; FOLDER stands for the path of the data."""
    words = ["python", "-m", "papers", name, "--data", "FOLDER"]
    for option, chosen in (("--methods", methods), ("--datasets", datasets)):
        words += [option, *chosen] if chosen else []
    return shlex.join([*words, "--quick"] if quick else words)
