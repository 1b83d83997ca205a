"""The ``textkin`` command: registration of subcommands, and one-line errors."""

from collections.abc import Sequence
from typing import Annotated

import typer

import textkin
from textkin.cli import _evaluate, _index, _vectors
from textkin.cli._classify import classify
from textkin.cli._cluster import cluster
from textkin.cli._compare import compare
from textkin.cli._demo import demo
from textkin.cli._duplicates import duplicates
from textkin.cli._errors import Interrupted, describe_error
from textkin.cli._search import search, similar
from textkin.cli._serve import serve

__all__ = ["app", "main"]

app = typer.Typer(
    name="textkin",
    invoke_without_command=True,
    rich_markup_mode=None,  # rich would take half of the start-up time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(_index.app)
app.add_typer(_vectors.app)
app.add_typer(_evaluate.app)

_INTERRUPTED = 130


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
    """Compare texts, find similar documents, and explain the results."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog="Example: textkin demo --json")(demo)
app.command(epilog="Example: textkin compare 'My cat sleeps' 'A kitten naps' --svg flow.svg")(
    compare
)
app.command(epilog="Example: textkin search papers.kin moving words --ranking wmd --explain")(
    search
)
app.command(epilog="Example: textkin similar papers.kin 2015/kusner.txt -k 5")(similar)
app.command(epilog="Example: textkin classify mails/ new.txt --explain --html evidence.html")(
    classify
)
app.command(epilog="Example: textkin cluster notes/ -n 5 --html clusters.html")(cluster)
app.command(epilog="Example: textkin duplicates faq.csv --metric wmd --radius 3")(duplicates)
app.command(epilog="Example: textkin serve papers.kin --open")(serve)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with given arguments, and return the exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments after the name of the command. If None, the arguments of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if `textkin index verify` finds corrupt files, a search finds nothing, or
        `textkin duplicates --fail` finds duplicates; 2 for invalid input, with one line on standard
        error; 130 after Ctrl-C.
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
            return _fail(describe_error(error), error)
        raise
    if result == _INTERRUPTED:  # Typer returns this code after Ctrl-C.
        _complain("interrupted")
    return result if isinstance(result, int) else 0


def _usage(message: str) -> str:
    """Reword Typer's usage error as one sentence with a fix."""
    message = message.replace("Value error, ", "").strip()
    if message.startswith("No such option"):
        message += " (put -- before a text that starts with a dash)"
    return message if message.endswith(("?", ".")) else f"{message}."


def _fail(message: str, error: Exception | None = None) -> int:
    """Print an error with its notes on one line, and return the exit status 2."""
    notes = getattr(error, "__notes__", ())
    _complain(" ".join(" ".join((message, *notes)).split()))
    return 2


def _complain(message: str) -> None:
    typer.echo(f"textkin: {message}", err=True)
