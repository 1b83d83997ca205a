"""``textkin vectors``: what is in a vector file, near words, analogies, conversion, training."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textkin.cli import _train
from textkin.cli._options import refuse_existing
from textkin.cli._printing import JsonOption, one_line, print_json, print_lines, size

if TYPE_CHECKING:
    from textkin.vectors import WordVectors

__all__ = ["app"]

app = typer.Typer(
    name="vectors",
    help="Look into word vectors: files of your own, or the built-in ones; train new ones.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


class Unknown(StrEnum):
    """What becomes of word pairs with a word that has no vector."""

    drop = "drop"
    zero = "zero"


_SHOWN = 8  # words of a file, as a taste

VectorsOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors",
        metavar="PATH",
        help="A vector file or folder, or built-in ones: builtin:glove, builtin:distilled; "
        "without it, GloVe.",
    ),
]
NumberOption = Annotated[int, typer.Option("-n", "--number", min=1, help="How many words.")]
SkipOption = Annotated[
    bool, typer.Option("--skip-errors", help="Leave out entries that cannot be used.")
]
CacheOption = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Keep a converted copy of a large file.")
]


@app.callback()
def _vectors(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: textkin vectors info glove.6B.300d.txt")
def info(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="A vector file or folder; or built-in ones, such as builtin:glove."
        ),
    ] = None,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Say what a vector file holds."""
    from textkin.run import working

    vectors = _table(path, skip_errors=skip_errors, cache=cache)
    with working("Looking"):
        facts = _facts(path, vectors)
    if json:
        print_json(facts)
        return
    low, middle, high = facts["lengths"]
    shown = {
        "vectors": facts["path"],
        "format": facts["format"],
        "words": f"{facts['words']:,}",
        "dimension": f"{facts['dimension']:,}",
        "lengths": f"{low:.4g} to {high:.4g}, median {middle:.4g}",
        "first": one_line(facts["first_words"]),
        "left out": str(vectors.repairs),
        "cache": facts["cache"] or "none",
    }
    print_lines(f"{name:<9} {value}" for name, value in shown.items())


@app.command(epilog="Example: textkin vectors nearest paris -n 5")
def nearest(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word that has a vector.")],
    vectors: VectorsOption = None,
    number: NumberOption = 10,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """List the words that are nearest to a word."""
    table = _table(vectors, skip_errors=skip_errors, cache=cache)
    try:
        found = table.nearest(word, number)
    except KeyError as error:
        raise ValueError(error.args[0]) from error
    _show({"word": word}, found, as_json=json)


@app.command(epilog="Example: textkin vectors analogy man king woman")
def analogy(
    a: Annotated[str, typer.Argument(metavar="A", help="A is to ...")],
    b: Annotated[str, typer.Argument(metavar="B", help="... B as ...")],
    c: Annotated[str, typer.Argument(metavar="C", help="... C is to what?")],
    vectors: VectorsOption = None,
    number: NumberOption = 10,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Complete an analogy: what is to C as B is to A."""
    table = _table(vectors, skip_errors=skip_errors, cache=cache)
    try:
        found = table.analogy(a, b, c, number)
    except KeyError as error:
        raise ValueError(error.args[0]) from error
    _show({"a": a, "b": b, "c": c}, found, as_json=json)


@app.command(epilog="Example: textkin vectors pairs wordsim.tsv.gz --vectors glove.6B.300d.txt")
def pairs(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A table with the columns word1, word2, gold and, where it has several sets, "
            "dataset: TSV, CSV or JSON Lines, compressed or not.",
        ),
    ],
    vectors: VectorsOption = None,
    oov: Annotated[
        Unknown,
        typer.Option(help="Leave out pairs with an unknown word, or count them with cosine 0."),
    ] = Unknown.drop,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Say how well cosines rank word pairs that people have judged."""
    from textkin.cli._pairs import run_pairs

    table = _table(vectors, skip_errors=skip_errors, cache=cache)
    run_pairs(file, table, oov=oov.value, as_json=json)


@app.command(epilog="Example: textkin vectors convert GoogleNews.bin.gz news-50k --limit 50000")
def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="A vector file or folder.")],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The folder to write; it must not exist.")
    ],
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep only the first N words.")
    ] = None,
    skip_errors: SkipOption = False,
    json: JsonOption = False,
) -> None:
    """Write vectors of any format as a folder of textkin's own."""
    from textkin.run import working

    refuse_existing(target)
    table = _table(source, skip_errors=skip_errors, cache=False, limit=limit)
    with working("Writing"):
        table.save(target)
    if json:
        print_json(
            {
                "source": str(source),
                "target": str(target),
                "words": len(table),
                "dimension": table.dimension,
                "left_out": table.repairs.as_dict(),
            }
        )
        return
    typer.echo(f"wrote {len(table):,} words, dimension {table.dimension:,}, to {target}")


app.command(epilog="Example: textkin vectors train papers/ -o papers.vectors --epochs 20")(
    _train.train
)


@app.command(epilog="Example: textkin vectors cache --clear")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete them.")] = False,
    json: JsonOption = False,
) -> None:
    """List the converted copies in your cache folder.

    Those that lie beside their files, NAME.textkin, are not among them.
    """
    from textkin.vectors import cached_files, user_cache_folder
    from textkin.vectors._cache import source_path

    found = [(file, file.stat().st_size, source_path(file)) for file in cached_files()]
    if clear:
        for file, _, _ in found:
            file.unlink(missing_ok=True)
    folder = user_cache_folder()
    if json:
        files = [
            {"file": file.name, "bytes": taken, "source": source} for file, taken, source in found
        ]
        print_json({"folder": str(folder), "files": files, "cleared": clear})
        return
    lines = []
    for file, taken, source in found:
        made_from = one_line([source], 200) if source is not None else "no cache that can be read"
        lines.append(f"{size(taken):>9}  {file.name}  {made_from}")
    total = size(sum(taken for _, taken, _ in found))
    count = "1 file" if len(found) == 1 else f"{len(found)} files"
    print_lines([*lines, f"{'deleted ' if clear else ''}{count}, {total}, in {folder}"])


def _facts(path: Path | None, vectors: "WordVectors") -> dict[str, Any]:
    import numpy as np

    from textkin.cli._loading import is_builtin
    from textkin.vectors import cache_of, format_of

    file = None if path is None or is_builtin(path) else path
    kept = cache_of(file) if file is not None else None
    return {
        "path": str(path) if path is not None else "built-in",
        "format": format_of(file) if file is not None else "built-in, int8",
        "words": len(vectors),
        "dimension": vectors.dimension,
        "lengths": [float(x) for x in np.percentile(vectors.lengths, [0, 50, 100])],
        "first_words": list(vectors.words[:_SHOWN]),
        "left_out": vectors.repairs.as_dict(),
        "cache": str(kept) if kept is not None else None,
    }


def _show(asked: dict[str, str], found: list[tuple[str, float]], *, as_json: bool) -> None:
    if as_json:
        words = [{"word": word, "cosine": cosine} for word, cosine in found]
        print_json({**asked, "words": words})
        return
    print_lines(f"{cosine:7.4f}  {one_line([word])}" for word, cosine in found)


def _table(
    path: Path | None, *, skip_errors: bool, cache: bool, limit: int | None = None
) -> "WordVectors":
    """Read vectors; an error names the options of the command line, not those of Python."""
    from textkin.cli._loading import named_vectors

    errors: Literal["raise", "skip"] = "skip" if skip_errors else "raise"
    try:
        return named_vectors(path, limit=limit, errors=errors, cache=cache)
    except ValueError as error:
        said = str(error).replace('encoding_errors="replace", or ', "")
        raise ValueError(said.replace('errors="skip"', "--skip-errors")) from error
