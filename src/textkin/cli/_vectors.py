"""``textkin vectors``: facts, nearest words, analogies, conversion, and training."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textkin.cli._options import (
    JsonOption,
    VectorsOption,
    check_folder_is_new,
    is_builtin,
    load_vectors,
)
from textkin.cli._output import format_size, one_line, print_json, print_lines
from textkin.cli._train import train
from textkin.run import working

if TYPE_CHECKING:
    from textkin.evaluate import PairScores
    from textkin.vectors import WordVectors

__all__ = ["app"]

app = typer.Typer(
    name="vectors",
    help="Inspect, convert, and train word vectors.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


class Unknown(StrEnum):
    """Values of the option --oov: treatment of word pairs without a vector."""

    drop = "drop"
    zero = "zero"


class UnknownAnswer(StrEnum):
    """Values of the option --oov: treatment of analogies with a word without a vector."""

    drop = "drop"
    wrong = "wrong"


_SHOWN = 8  # number of words of a file to list
_MAX_NAME = 24  # maximum width of the name of a set

NumberOption = Annotated[int, typer.Option("-n", "--number", min=1, help="Number of words.")]
SkipOption = Annotated[bool, typer.Option("--skip-errors", help="Skip invalid entries.")]
CacheOption = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Cache a converted copy of a large file.")
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
            metavar="PATH", help="Vector file or folder, or built-in vectors such as builtin:glove."
        ),
    ] = None,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Show the size, dimension, and format of a vector file."""
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
        "skipped": str(vectors.repairs),
        "cache": facts["cache"] or "none",
    }
    print_lines(f"{name:<9} {value}" for name, value in shown.items())


@app.command(epilog="Example: textkin vectors nearest paris -n 5")
def nearest(
    word: Annotated[str, typer.Argument(metavar="WORD", help="Word with a vector.")],
    vectors: VectorsOption = None,
    number: NumberOption = 10,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """List the words most similar to a word."""
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
    c: Annotated[str, typer.Argument(metavar="C", help="... C is to which word?")],
    vectors: VectorsOption = None,
    number: NumberOption = 10,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Complete an analogy: find the word that is to C as B is to A."""
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
            help="Table with columns word1, word2, gold, and optionally dataset.",
        ),
    ],
    vectors: VectorsOption = None,
    oov: Annotated[
        Unknown,
        typer.Option(help="Skip pairs with an unknown word, or score them 0."),
    ] = Unknown.drop,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Correlate cosines of words with human similarity scores."""
    from textkin.evaluate import read_word_pairs, word_pairs

    table = _table(vectors, skip_errors=skip_errors, cache=cache)
    sets = read_word_pairs(file)
    if not sets:
        raise ValueError(f"{str(file)!r} must have rows below its header; it has no word pairs.")
    scores = {name: word_pairs(table, pairs, oov=oov.value) for name, pairs in sets.items()}
    if json:
        found = [{"dataset": name, **_pair_record(score)} for name, score in scores.items()]
        print_json({"pairs": str(file), "oov": oov.value, "sets": found})
        return
    print_lines(_pair_lines(scores))


@app.command(epilog="Example: textkin vectors analogies questions-words.txt --max-words 30000")
def analogies(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Four words per line; a line such as ': family' starts a section."
        ),
    ],
    vectors: VectorsOption = None,
    oov: Annotated[
        UnknownAnswer,
        typer.Option(help="Ignore questions with an unknown word, or count them as wrong."),
    ] = UnknownAnswer.drop,
    max_words: Annotated[
        int | None, typer.Option(min=4, metavar="N", help="Use only the first N words.")
    ] = None,
    skip_errors: SkipOption = False,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Measure the accuracy of word vectors on a file of analogies."""
    from textkin.evaluate import analogies as evaluate
    from textkin.evaluate import read_analogies

    sections = read_analogies(file)
    if not sections:
        raise ValueError(f"{str(file)!r} has no analogies; it needs lines with four words.")
    table = _table(vectors, skip_errors=skip_errors, cache=cache)
    scores = {
        name: evaluate(table, questions, oov=oov.value, max_words=max_words)
        for name, questions in sections.items()
    }
    every = [question for questions in sections.values() for question in questions]
    if len(sections) > 1:
        scores["all"] = evaluate(table, every, oov=oov.value, max_words=max_words)
    if json:
        found = [{"section": name, **asdict(score)} for name, score in scores.items()]
        for record in found:
            if math.isnan(record["accuracy"]):
                record["accuracy"] = None
        print_json({"analogies": str(file), "oov": oov.value, "sections": found})
        return
    names = [one_line([name], _MAX_NAME) for name in scores]
    width = max(len("section"), *map(len, names))
    lines = [f"{'section':<{width}}  accuracy  questions"]
    for name, score in zip(names, scores.values(), strict=True):
        of = f"{score.covered:,} of {score.total:,}"
        lines.append(f"{name:<{width}}  {_format_correlation(score.accuracy):>8}  {of}")
    print_lines(lines)


@app.command(epilog="Example: textkin vectors convert news.bin.gz news-50k --max-words 50000")
def convert(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Vector file or folder.")],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Folder to write; must not exist.")
    ],
    max_words: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep only the first N words.")
    ] = None,
    skip_errors: SkipOption = False,
    json: JsonOption = False,
) -> None:
    """Convert a vector file of any format to a textkin folder."""
    check_folder_is_new(target)
    table = _table(source, skip_errors=skip_errors, cache=False, max_words=max_words)
    with working("Writing"):
        table.save(target)
    if json:
        print_json(
            {
                "source": str(source),
                "target": str(target),
                "words": len(table),
                "dimension": table.dimension,
                "left_out": table.repairs.to_dict(),
            }
        )
        return
    typer.echo(f"wrote {len(table):,} words, dimension {table.dimension:,}, to {target}")


app.command(epilog="Example: textkin vectors train papers/ -o papers.vectors --epochs 20")(train)


@app.command(epilog="Example: textkin vectors cache --clear")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all copies.")] = False,
    json: JsonOption = False,
) -> None:
    """List the cached copies of converted vector files.

    Copies stored next to their source files (NAME.textkin) are not listed.
    """
    from textkin.vectors import cached_files, source_path, user_cache_folder

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
        made_from = one_line([source], 200) if source is not None else "unreadable cache"
        lines.append(f"{format_size(taken):>9}  {file.name}  {made_from}")
    total = format_size(sum(taken for _, taken, _ in found))
    count = "1 file" if len(found) == 1 else f"{len(found)} files"
    print_lines([*lines, f"{'deleted ' if clear else ''}{count}, {total}, in {folder}"])


def _facts(path: Path | None, vectors: "WordVectors") -> dict[str, Any]:
    import numpy as np

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
        "left_out": vectors.repairs.to_dict(),
        "cache": str(kept) if kept is not None else None,
    }


def _show(asked: dict[str, str], found: list[tuple[str, float]], *, as_json: bool) -> None:
    if as_json:
        words = [{"word": word, "cosine": cosine} for word, cosine in found]
        print_json({**asked, "words": words})
        return
    print_lines(f"{cosine:7.4f}  {one_line([word])}" for word, cosine in found)


def _table(
    path: Path | None, *, skip_errors: bool, cache: bool, max_words: int | None = None
) -> "WordVectors":
    """Load word vectors by a path or name, and reword errors with option names."""
    errors: Literal["raise", "skip"] = "skip" if skip_errors else "raise"
    try:
        return load_vectors(path, max_words=max_words, errors=errors, cache=cache)
    except ValueError as error:
        said = str(error).replace('encoding_errors="replace", or ', "")
        raise ValueError(said.replace('errors="skip"', "--skip-errors")) from error


def _pair_record(score: "PairScores") -> dict[str, float | int | None]:
    return {
        "spearman": None if math.isnan(score.spearman) else score.spearman,
        "pearson": None if math.isnan(score.pearson) else score.pearson,
        "covered": score.covered,
        "total": score.total,
    }


def _pair_lines(scores: Mapping[str, "PairScores"]) -> list[str]:
    names = [one_line([name], _MAX_NAME) for name in scores]
    width = max(len("set"), *map(len, names))
    lines = [f"{'set':<{width}}  Spearman  Pearson  pairs"]
    for name, score in zip(names, scores.values(), strict=True):
        of = f"{score.covered:,} of {score.total:,}"
        spearman, pearson = map(_format_correlation, (score.spearman, score.pearson))
        lines.append(f"{name:<{width}}  {spearman:>8}  {pearson:>7}  {of}")
    return lines


def _format_correlation(correlation: float) -> str:
    return "-" if math.isnan(correlation) else f"{correlation:.4f}"
