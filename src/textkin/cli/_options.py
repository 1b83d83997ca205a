"""Options that several commands have, and what they share in reading them."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._printing import note, one_line
from textkin.cli._wording import reworded

if TYPE_CHECKING:
    from textkin.text import Skipped

__all__ = [
    "CsvOption",
    "DelimiterOption",
    "DimensionOption",
    "EncodingOption",
    "HtmlOption",
    "IdOption",
    "JobsOption",
    "KeepStopWordsOption",
    "MaxBytesOption",
    "Model",
    "ModelOption",
    "NoIdOption",
    "OnlyOption",
    "OutputOption",
    "PatternOption",
    "QuotedOption",
    "SkipErrorsOption",
    "SourcesArgument",
    "SourcesOrIndexes",
    "Split",
    "SplitOption",
    "StopWordsOption",
    "TextOption",
    "named_stop_words",
    "refuse_existing",
    "tell_skipped",
]

_REASONS = 3  # of skipped records, that are told


class Model(StrEnum):
    """What makes vectors of documents."""

    tfidf = "tfidf"
    bm25 = "bm25"
    lsi = "lsi"
    pooling = "pooling"


class Split(StrEnum):
    """What cuts documents."""

    paragraph = "paragraph"


SourcesArgument = typer.Argument(
    metavar="SOURCE...",
    help="Folders, text files, JSON Lines, JSON, CSV, TSV, Parquet; also with .gz.",
)
SourcesOrIndexes = typer.Argument(
    metavar="SOURCE...",
    help="Folders, text files, JSON Lines, JSON, CSV, TSV, Parquet; or indexes.",
)
TextOption = Annotated[
    str | None, typer.Option(metavar="FIELD", help="The field with the text; else 'text'.")
]
PatternOption = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Which files of a folder ('**/*.csv'); else .txt and .md."),
]
EncodingOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of the files, or 'detect'; else UTF-8.")
]
DelimiterOption = Annotated[
    str | None, typer.Option(metavar="CHARACTER", help="Between the fields of CSV and TSV.")
]
QuotedOption = Annotated[
    bool | None, typer.Option("--quoted/--unquoted", help="Whether quotation marks wrap fields.")
]
MaxBytesOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="The longest document; else 64 MiB.")
]
SkipErrorsOption = Annotated[
    bool, typer.Option("--skip-errors", help="Leave out what cannot be read, and say so.")
]
IdOption = Annotated[
    str | None, typer.Option(metavar="FIELD", help="The field with the id; else 'id'.")
]
NoIdOption = Annotated[
    bool, typer.Option("--no-id", help="Name documents by file and line, not by a field.")
]
SplitOption = Annotated[Split | None, typer.Option(help="Make a document of each paragraph.")]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="EXPR",
        help="Only documents like 'year>=2015 and lang in (en, de)'; of several all must hold.",
    ),
]
ModelOption = Annotated[
    Model | None,
    typer.Option(help="What makes vectors for --by cosine and its like; else tfidf."),
]
DimensionOption = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Of --model lsi; else up to 100.")
]
StopWordsOption = Annotated[
    str,
    typer.Option(metavar="NAME|FILE", help="Words not to count: a list such as snowball-german."),
]
KeepStopWordsOption = Annotated[
    bool, typer.Option("--keep-stop-words", help="Count words like 'the' and 'of' too.")
]
JobsOption = Annotated[int, typer.Option(metavar="N", help="Threads; -1 is all cores.")]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print the result as CSV.")]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the result there; as JSON or CSV if it ends so.",
    ),
]
HtmlOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page with all of it.")
]


def named_stop_words(given: str | None) -> str | Path | None:
    """Return the name of a list, or the path of a file."""
    from textkin.text import stop_lists

    if given is None:
        return None
    names = dict.fromkeys(found.name for found in stop_lists())
    if given.partition(":")[0] in names:
        return given
    if Path(given).is_file():
        return Path(given)
    raise ValueError(
        f"--stop-words must name a list or a file; there is no {given!r}. There are "
        f"{', '.join(names)}."
    )


def tell_skipped(skipped: "Skipped") -> None:
    """Tell what was left out, if anything was."""
    if not skipped.count:
        return
    told = "; ".join(one_line([reworded(reason)], 300) for reason in skipped.reasons[:_REASONS])
    more = f"; and {skipped.count - _REASONS:,} more" if skipped.count > _REASONS else ""
    note(f"left out {skipped.count:,}: {told}{more}")


def refuse_existing(target: Path) -> None:
    """Raise, before any work, where a folder could not be written after it."""
    if target.is_symlink() or (
        target.exists() and not (target.is_dir() and not any(target.iterdir()))
    ):
        raise FileExistsError(f"{str(target)!r} exists already; name another folder.")
    above = next(folder for folder in (target.absolute(), *target.absolute().parents)
                 if folder.exists())  # fmt: skip
    if not above.is_dir():
        raise NotADirectoryError(f"{str(target)!r} cannot be made: {str(above)!r} is a file.")
    if not os.access(above, os.W_OK):
        raise PermissionError(f"{str(target)!r} cannot be made: {str(above)!r} is read-only.")
