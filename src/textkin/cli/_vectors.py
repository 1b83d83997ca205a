"""``textkin vectors``: what is in a vector file, words near to a word, analogies, conversion."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from textkin.vectors import WordVectors

__all__ = ["app"]

app = typer.Typer(
    name="vectors",
    help="Look into word vectors: files of your own, or the built-in ones.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

_SHOWN = 8  # words of a file, as a taste

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
VectorsOption = Annotated[
    Path | None,
    typer.Option(
        "--vectors", metavar="PATH", help="A vector file or folder; without it, the built-in ones."
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
        typer.Argument(metavar="PATH", help="A vector file or folder; or the built-in ones."),
    ] = None,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Say what a vector file holds."""
    from textkin.cli._loading import named_vectors
    from textkin.run import working

    vectors = named_vectors(path, errors="skip" if skip_errors else "raise", cache=cache)
    with working("Looking"):
        facts = _facts(path, vectors)
    if json:
        _print_json(facts)
        return
    low, middle, high = facts["lengths"]
    shown = {
        "vectors": facts["path"],
        "format": facts["format"],
        "words": f"{facts['words']:,}",
        "dimension": f"{facts['dimension']:,}",
        "lengths": f"{low:.4g} to {high:.4g}, median {middle:.4g}",
        "first": _one_line(facts["first_words"]),
        "left out": str(vectors.repairs),
        "cache": facts["cache"] or "none",
    }
    for name, value in shown.items():
        typer.echo(f"{name:<9} {value}")


@app.command(epilog="Example: textkin vectors nearest paris -n 5")
def nearest(
    word: Annotated[str, typer.Argument(metavar="WORD", help="A word that has a vector.")],
    vectors: VectorsOption = None,
    number: NumberOption = 10,
    json: JsonOption = False,
) -> None:
    """List the words that are nearest to a word."""
    from textkin.cli._loading import named_vectors

    table = named_vectors(vectors)
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
    json: JsonOption = False,
) -> None:
    """Complete an analogy: what is to C as B is to A."""
    from textkin.cli._loading import named_vectors

    table = named_vectors(vectors)
    try:
        found = table.analogy(a, b, c, number)
    except KeyError as error:
        raise ValueError(error.args[0]) from error
    _show({"a": a, "b": b, "c": c}, found, as_json=json)


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
    from textkin.cli._loading import named_vectors
    from textkin.run import working

    if target.is_symlink() or (
        target.exists() and not (target.is_dir() and not any(target.iterdir()))
    ):
        raise FileExistsError(f"{str(target)!r} exists already; name another folder.")
    table = named_vectors(
        source, limit=limit, errors="skip" if skip_errors else "raise", cache=False
    )
    with working("Writing"):
        table.save(target)
    if json:
        _print_json(
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


@app.command(epilog="Example: textkin vectors cache --clear")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete them.")] = False,
    json: JsonOption = False,
) -> None:
    """List the converted copies in your cache folder.

    Those that lie beside their files, NAME.textkin, are not among them.
    """
    from textkin.vectors import cached_files, user_cache_folder

    found = [(file, file.stat().st_size) for file in cached_files()]
    if clear:
        for file, _ in found:
            file.unlink(missing_ok=True)
    folder = user_cache_folder()
    if json:
        files = [{"file": file.name, "bytes": size} for file, size in found]
        _print_json({"folder": str(folder), "files": files, "cleared": clear})
        return
    for file, size in found:
        typer.echo(f"{_size(size):>9}  {file.name}")
    total = _size(sum(size for _, size in found))
    typer.echo(f"{'deleted ' if clear else ''}{len(found)} files, {total}, in {folder}")


def _facts(path: Path | None, vectors: "WordVectors") -> dict[str, Any]:
    import numpy as np

    from textkin.vectors import cache_of, format_of

    kept = cache_of(path) if path is not None else None
    return {
        "path": str(path) if path is not None else "built-in",
        "format": format_of(path) if path is not None else "built-in, int8",
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
        _print_json({**asked, "words": words})
        return
    for word, cosine in found:
        typer.echo(f"{cosine:7.4f}  {_one_line([word])}")


def _one_line(words: list[str]) -> str:
    """Return words as a terminal may show them."""
    from textkin.explain import shortened

    return "  ".join(shortened(word, 40) for word in words)


def _size(number: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def _print_json(record: dict[str, Any]) -> None:
    typer.echo(json_module.dumps(record, indent=2, ensure_ascii=False))
