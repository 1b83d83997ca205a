"""``textkin evaluate``: the experiments of the papers, on a folder of data."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from textkin.cli._printing import JsonOption, note, print_json, print_lines

__all__ = ["app"]


class _Experiments(typer.core.TyperGroup):
    """Take the name of an experiment for ``run NAME``, so that it can be typed alone."""

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
    name="evaluate",
    cls=_Experiments,
    help="Repeat the experiments of the papers: textkin evaluate EXPERIMENT --data FOLDER.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

_OUT = Path("textkin-results")


@app.callback()
def _evaluate(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list", epilog="Example: textkin evaluate list")
def list_(json: JsonOption = False) -> None:
    """List the experiments."""
    from textkin.run import working

    with working("Loading"):
        from textkin.evaluate import experiment, experiment_names

        known = [experiment(name) for name in experiment_names()]
    if json:
        print_json(
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
    print_lines(
        f"{each.name:<{width}}  {each.title}: {len(each.methods)} "
        f"method{'' if len(each.methods) == 1 else 's'} on {', '.join(each.datasets)}"
        for each in known
    )


@app.command(epilog="Example: textkin evaluate knn --data data/ --datasets r8 --quick")
def run(
    name: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="One of textkin evaluate list.")
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="The data: classification/, retrieval/, sts/ are folders in it."
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", metavar="NAME", help="Only these: --methods A B."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            "--datasets",
            metavar="NAME",
            help="Only these: --datasets A B; also sets of your own in the data folder.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Cut the data, to see in seconds that it runs.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="Where results are written and finished cells are kept."
        ),
    ] = _OUT,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Threads; -1 takes all processors.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute again what is there already.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run an experiment; what is computed is kept, and a run that was stopped goes on."""
    from textkin.cli._wording import in_words
    from textkin.run import progress_bar, working

    with working("Loading"):
        from textkin.evaluate import experiment, experiment_markdown, run_experiment, write_results

    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    with in_words():
        chosen = experiment(name)
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
        files = write_results(chosen, results, out)
    failed = [cell for cell in results.cells if cell.values is None]
    if failed:
        first = failed[0]
        note(
            f"{len(failed)} of {len(results.cells)} cells {'has' if len(failed) == 1 else 'have'} "
            f"no number, {first.method} on {first.dataset} first: {first.missing}"
        )
    if json:
        print_json({**results.to_dict(), "files": [str(path) for path in files]})
        return
    print_lines([experiment_markdown(chosen, results), "", f"wrote {', '.join(map(str, files))}"])


@app.command(epilog="Example: textkin evaluate report textkin-results -o docs/results.md")
def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...", help="JSON files of experiments, or folders with them."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")
    ] = Path("results.md"),
    json: JsonOption = False,
) -> None:
    """Write one page of all results, with the papers' numbers beside ours."""
    from textkin.cli._wording import in_words
    from textkin.run import working

    with working("Writing"), in_words():
        from textkin.evaluate import experiment, experiment_names, write_page
        from textkin.evaluate._results import Results, joined

        found = joined(Results.load(path) for path in _files(results))
        places = {name: at for at, name in enumerate(experiment_names())}
        found.sort(key=lambda one: places.get(one.experiment, len(places)))
        files = write_page([(experiment(one.experiment), one) for one in found], output)
    if json:
        print_json(
            {
                "experiments": [one.experiment for one in found],
                "files": [str(path) for path in files],
            }
        )
        return
    print_lines([f"wrote {', '.join(map(str, files))}"])


def _files(given: list[Path]) -> list[Path]:
    """Return the result files that were named, and those in folders that were."""
    found: list[Path] = []
    for path in given:
        if not path.is_dir():
            if not path.exists():
                raise ValueError(f"There is no file or folder {path}.")
            found.append(path)
            continue
        inside = sorted(path.glob("*.json"))
        if not inside:
            raise ValueError(f"{path} holds no results: run textkin evaluate first.")
        found += inside
    return found


def _command(name: str, methods: list[str] | None, datasets: list[str] | None, quick: bool) -> str:
    """Return what is to be typed for the same results; where data lie is nobody's business."""
    words = ["textkin", "evaluate", name, "--data", "FOLDER"]
    for option, chosen in (("--methods", methods), ("--datasets", datasets)):
        words += [option, *chosen] if chosen else []
    return shlex.join([*words, "--quick"] if quick else words)
