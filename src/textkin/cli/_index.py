"""``textkin index``: documents in a folder, added, updated, deleted and checked."""

import typer

from textkin.cli import _index_care, _index_reading, _index_writing

__all__ = ["app"]

app = typer.Typer(
    name="index",
    help="Keep documents in a folder: add, update, delete, check.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
def _index(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(epilog="Example: textkin index create papers.kin --stop-words smart")(
    _index_writing.create
)
app.command(epilog="Example: textkin index add papers.kin papers/ --mirror")(_index_writing.add)
app.command(epilog="Example: textkin index list papers.kin | grep draft | textkin index delete -")(
    _index_writing.delete
)
app.command(epilog="Example: textkin index info papers.kin --json")(_index_reading.info)
app.command(epilog="Example: textkin index get papers.kin 2015/kusner.txt")(_index_reading.get)
app.command("list", epilog="Example: textkin index list papers.kin --json > papers.jsonl")(
    _index_reading.list_
)
app.command(epilog="Example: textkin index verify papers.kin --repair")(_index_care.verify)
app.command(epilog="Example: textkin index compact papers.kin")(_index_care.compact)
app.command(epilog="Example: textkin index copy papers.kin backup/papers.kin")(_index_care.copy)
