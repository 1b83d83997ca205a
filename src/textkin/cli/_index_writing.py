"""``textkin index create``, ``add`` and ``delete``: what changes documents."""

import re
import sys
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._opened import (
    TIMEOUT,
    IndexArgument,
    TimeoutOption,
    documents_told,
    opened_index,
    settings_line,
)
from textkin.cli._options import (
    DelimiterOption,
    EncodingOption,
    IdOption,
    MaxBytesOption,
    NoIdOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesArgument,
    SplitOption,
    TextOption,
    named_stop_words,
    tell_skipped,
)
from textkin.cli._printing import JsonOption, note, print_json
from textkin.cli._wording import in_words

if TYPE_CHECKING:
    from textkin.index import Changes
    from textkin.text import Document, Lemmatizer, Stemmer, WordNetLemmas


__all__ = ["add", "create", "delete"]


class Normalize(StrEnum):
    """What brings words to their normal forms."""

    stem = "stem"
    lemma = "lemma"
    wordnet = "wordnet"


def create(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="The folder to make; it must not exist.")
    ],
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Words never to count: a list such as smart."),
    ] = None,
    normalize: Annotated[
        Normalize | None, typer.Option(help="Count words in their normal forms.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the stems (german) or lemmas (de); else English."),
    ] = None,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Tell upper and lower case apart.")
    ] = False,
    ngrams: Annotated[
        str, typer.Option(metavar="N-M", help="Count runs of N to M words, such as 1-2.")
    ] = "1",
    vectors: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Word vectors to copy into it; else the built-in ones."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make an empty index; how its texts are read is settled for good."""
    from textkin.run import working

    with in_words(), working("Loading"):
        from textkin.index import Index

        settings: dict[str, Any] = {
            "stop_words": named_stop_words(stop_words),
            "normalize": _normaliser(normalize, language),
            "lowercase": not keep_case,
            "ngram_range": _runs(ngrams),
        }
    if vectors is not None:
        from textkin.cli._loading import named_vectors

        settings["vectors"] = named_vectors(vectors)
    with in_words(), working("Writing"), Index.create(path, **settings) as made:
        facts = made.info()
    if json:
        print_json(facts.as_dict())
        return
    typer.echo(f"made {path}: {settings_line(facts)}")


def add(
    index: IndexArgument,
    sources: Annotated[list[Path], SourcesArgument],
    text: TextOption = None,
    id: IdOption = None,
    label: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field with the label; else 'label'.")
    ] = None,
    no_id: NoIdOption = False,
    no_label: Annotated[
        bool, typer.Option("--no-label", help="Take no field as the label.")
    ] = False,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    split: SplitOption = None,
    skip_errors: SkipErrorsOption = False,
    mirror: Annotated[
        bool,
        typer.Option("--mirror", help="Then delete all documents that the sources do not have."),
    ] = False,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Threads that split texts; -1 is all cores.")
    ] = -1,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Add documents, and update those whose ids are there already.

    A document that has not changed is left alone: adding a folder again costs little. An index
    that does not exist is made with default settings; `textkin index create` has others.
    """
    from textkin.run import stream_bar, working

    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    _check_alone(("--id", id), ("--no-id", no_id))
    _check_alone(("--label", label), ("--no-label", no_label))
    with working("Loading"):
        from textkin.cli._sources import Sources
        from textkin.index import Index
    with in_words(), stream_bar("Adding", "documents") as (read, made):
        there = index.is_symlink() or (index.exists() and not _is_empty_folder(index))
        opened = Index.open(index, timeout=timeout) if there else None
        options: dict[str, Any] = {} if max_bytes is None else {"max_bytes": max_bytes}
        found = Sources(
            sources,
            skip=skip_errors,
            pattern=pattern or (),
            progress=read,
            text=text,
            id=False if no_id else id,
            label=False if no_label else label,
            encoding=encoding,
            delimiter=delimiter,
            quoted=quoted,
            split=None if split is None else split.value,
            **options,
        )
        documents = iter(found)
        # Nothing is made where not even the first document can be read.
        first: list[Document] = [document for document in (next(documents, None),) if document]
        if opened is None:
            opened = Index.create(index, timeout=timeout)
            note(f"{index} did not exist; it was made with default settings.")
        with opened:
            write = opened.mirror if mirror else opened.update
            changes = write(chain(first, documents), n_jobs=jobs, progress=made)
            total = len(opened)
    tell_skipped(found.skipped)
    if json:
        skipped = found.skipped
        print_json(
            {
                "index": str(index),
                "created": not there,
                **_numbers(changes),
                "documents": total,
                "skipped": {
                    "count": skipped.count,
                    "reasons": list(skipped.reasons),
                    "hidden": skipped.hidden,
                },
            }
        )
        return
    typer.echo(f"{changes}; {index} has {documents_told(total)}")


def delete(
    index: IndexArgument,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="Ids; or - for standard input, one a line."),
    ],
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Pass over ids that no document has.")
    ] = False,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Delete documents, all of them or none."""
    wanted = [id for given in ids for id in (_lines() if given == "-" else [given])]
    with opened_index(index, timeout, kept="All of them were deleted, or none.") as opened:
        changes = opened.delete(wanted, missing="ignore" if ignore_missing else "raise")
        total = len(opened)
    if json:
        print_json({"index": str(index), "deleted": changes.deleted, "documents": total})
        return
    typer.echo(f"{changes.deleted:,} deleted; {index} has {documents_told(total)}")


def _normaliser(
    name: Normalize | None, language: str | None
) -> "str | Stemmer | Lemmatizer | WordNetLemmas | None":
    from textkin.text import Lemmatizer, Stemmer

    if language is None:
        return None if name is None else name.value
    if name is Normalize.stem:
        return Stemmer(language)
    if name is Normalize.lemma:
        return Lemmatizer(language)
    raise ValueError("--language goes with --normalize stem or --normalize lemma.")


def _runs(given: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", given)
    if found is None:
        raise ValueError(
            f"--ngrams must be a number or two of them, such as 2 or 1-3; got {given!r}."
        )
    return int(found[1]), int(found[2] or found[1])


def _check_alone(*options: tuple[str, object]) -> None:
    given = [name for name, value in options if value]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} exclude each other.")


def _lines() -> list[str]:
    """Return the lines of standard input that are not empty."""
    try:
        lines = sys.stdin.buffer.read().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"Standard input must be UTF-8: {error}.") from error
    return [line.removesuffix("\r") for line in lines if line.strip()]


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _numbers(changes: "Changes") -> dict[str, int]:
    return {
        "added": changes.added,
        "updated": changes.updated,
        "unchanged": changes.unchanged,
        "deleted": changes.deleted,
    }
