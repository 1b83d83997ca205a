"""The ``textkin`` command: its subcommands, and one clear line when something is wrong."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import textkin
from textkin.cli import (
    _classify,
    _cluster,
    _duplicates,
    _evaluate,
    _index,
    _search,
    _serve,
    _vectors,
)
from textkin.cli._printing import JsonOption
from textkin.cli._wording import Interrupted, reason

__all__ = ["app", "main"]

app = typer.Typer(
    name="textkin",
    invoke_without_command=True,
    rich_markup_mode=None,  # rich would cost half of the start-up time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(_index.app)
app.add_typer(_vectors.app)
app.add_typer(_evaluate.app)

_INTERRUPTED = 130


class Masses(StrEnum):
    """The masses that need no corpus."""

    nbow = "nbow"
    sif = "sif"


class Cost(StrEnum):
    """The costs of `WordMover`."""

    euclidean = "euclidean"
    cosine = "cosine"
    sqeuclidean = "sqeuclidean"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"textkin {textkin.__version__}")
        raise typer.Exit


@app.callback(epilog="Example: textkin compare 'The press is here' 'The media arrived'")
def _textkin(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Say how near two texts are, which documents are nearest to this one, and why."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: textkin demo --json")
def demo(json: JsonOption = False) -> None:
    """See what textkin does: no input, no download."""
    from textkin.run import working

    with working("Loading"):
        from textkin.cli._demo import run_demo

    run_demo(as_json=json)


@app.command(epilog="Example: textkin compare 'My cat sleeps' 'A kitten naps' --svg flow.svg")
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A text, a file, or - for standard input.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    vectors: _vectors.VectorsOption = None,
    masses: Annotated[
        Masses, typer.Option(help="What a word weighs: its share, or less if it is frequent.")
    ] = Masses.nbow,
    cost: Annotated[Cost, typer.Option(help="What moving a word costs.")] = Cost.euclidean,
    unit: Annotated[
        bool, typer.Option("--unit", help="Bring word vectors to length one first.")
    ] = False,
    keep_stop_words: Annotated[
        bool, typer.Option("--keep-stop-words", help="Compare words like 'the' and 'of' too.")
    ] = False,
    text: Annotated[
        bool, typer.Option("--text", help="Take A and B as texts even if they name files.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Moves to show one by one.")] = 12,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show both texts, each word as far as it travels.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the picture of the flow.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with all of it.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say how near two texts are, and why: the Word Mover's Distance."""
    from textkin.run import working

    with working("Loading"):
        from textkin.cli._compare import run_compare

    run_compare(
        a,
        b,
        vectors=vectors,
        masses=masses.value,
        cost=cost.value,
        unit=unit,
        stop_words=None if keep_stop_words else "smart",
        as_text=text,
        top=top,
        explain=explain,
        svg=svg,
        html=html,
        as_json=json,
    )


app.command(epilog="Example: textkin search papers.kin moving words --by wmd --explain")(
    _search.search
)
app.command(epilog="Example: textkin similar papers.kin 2015/kusner.txt -k 5")(_search.similar)

app.command(epilog="Example: textkin classify mails/ new.txt --explain --html evidence.html")(
    _classify.classify
)
app.command(epilog="Example: textkin cluster notes/ -n 5 --html clusters.html")(_cluster.cluster)
app.command(epilog="Example: textkin duplicates faq.csv --by wmd --threshold 3")(
    _duplicates.duplicates
)
app.command(epilog="Example: textkin serve papers.kin --open")(_serve.serve)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the command's name; None takes it from the process.

    Returns
    -------
    int
        The exit code: 0, 1 where `textkin index verify` finds damage, a search finds nothing or
        `textkin duplicates --fail` finds some, 2 for bad input (one line on standard error says
        what is wrong), 130 after Ctrl-C.
    """
    try:
        result = app(args=arguments, prog_name="textkin", standalone_mode=False)
    except Interrupted as stopped:
        _complain(f"interrupted. {stopped}".strip())
        return _INTERRUPTED
    except (typer.Abort, KeyboardInterrupt):
        result = _INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):  # usage: unknown command, option or value
            context = getattr(error, "ctx", None)
            where = context.command_path if context is not None else "textkin"
            return _fail(f"{_usage(error.format_message())} Try '{where} --help'.")
        if isinstance(error, ValueError | TypeError | OSError | ImportError):
            return _fail(reason(error), error)
        raise
    if result == _INTERRUPTED:  # what Typer itself makes of Ctrl-C
        _complain("interrupted")
    return result if isinstance(result, int) else 0


def _usage(message: str) -> str:
    """Tidy what the parser says: one sentence, and the way out for texts that begin with a dash."""
    message = message.replace("Value error, ", "").strip()
    if message.startswith("No such option"):
        message += " (put -- before a text that begins with a dash)"
    return message if message.endswith(("?", ".")) else f"{message}."


def _fail(message: str, error: Exception | None = None) -> int:
    """Say in one line what is wrong, with what the library noted on the error."""
    notes = getattr(error, "__notes__", ())
    _complain(" ".join(" ".join((message, *notes)).split()))
    return 2


def _complain(message: str) -> None:
    typer.echo(f"textkin: {message}", err=True)
