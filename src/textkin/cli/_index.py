"""``textkin index``: documents in a folder, added, updated, deleted and checked."""

import json as json_module
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._printing import (
    JsonOption,
    note,
    one_line,
    print_json,
    print_lines,
    shown,
    size,
)
from textkin.cli._wording import in_words, reworded

if TYPE_CHECKING:
    from textkin.index import Changes, Index, IndexInfo
    from textkin.text import Document, Lemmatizer, Skipped, Stemmer, WordNetLemmas

__all__ = ["IndexArgument", "app", "opened_index"]

app = typer.Typer(
    name="index",
    help="Keep documents in a folder: add, update, delete, check.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

_DAMAGED = 1
_TIMEOUT = 10.0
_REASONS = 3  # of skipped records, that are told
_IDS = 1000  # that are printed at a time


class Normalize(StrEnum):
    """What brings words to their normal forms."""

    stem = "stem"
    lemma = "lemma"
    wordnet = "wordnet"


class Split(StrEnum):
    """What cuts documents."""

    paragraph = "paragraph"


IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of an index.")]
TimeoutOption = Annotated[
    float,
    typer.Option(min=0, metavar="SECONDS", help="How long to wait for another writer."),
]


@app.callback()
def _index(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: textkin index create papers.kin --stop-words smart")
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
            "stop_words": _stop_words(stop_words),
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
    typer.echo(f"made {path}: {_settings_line(facts)}")


@app.command(epilog="Example: textkin index add papers.kin papers/ --mirror")
def add(
    index: IndexArgument,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="SOURCE...",
            help="Folders, text files, JSON Lines, JSON, CSV, TSV, Parquet; also with .gz.",
        ),
    ],
    text: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field with the text; else 'text'.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field with the id; else 'id'.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field with the label; else 'label'.")
    ] = None,
    no_id: Annotated[
        bool, typer.Option("--no-id", help="Name documents by file and line, not by a field.")
    ] = False,
    no_label: Annotated[
        bool, typer.Option("--no-label", help="Take no field as the label.")
    ] = False,
    pattern: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB", help="Which files of a folder ('**/*.csv'); else .txt and .md."
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of the files, or 'detect'; else UTF-8."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="Between the fields of CSV and TSV.")
    ] = None,
    quoted: Annotated[
        bool | None,
        typer.Option("--quoted/--unquoted", help="Whether quotation marks wrap fields."),
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The longest document; else 64 MiB.")
    ] = None,
    split: Annotated[Split | None, typer.Option(help="Make a document of each paragraph.")] = None,
    skip_errors: Annotated[
        bool, typer.Option("--skip-errors", help="Leave out what cannot be read, and say so.")
    ] = False,
    mirror: Annotated[
        bool,
        typer.Option("--mirror", help="Then delete all documents that the sources do not have."),
    ] = False,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Threads that split texts; -1 is all cores.")
    ] = -1,
    timeout: TimeoutOption = _TIMEOUT,
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
    _tell_skipped(found.skipped)
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
    typer.echo(f"{changes}; {index} has {_documents(total)}")


@app.command(epilog="Example: textkin index list papers.kin | grep draft | textkin index delete -")
def delete(
    index: IndexArgument,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="Ids; or - for standard input, one a line."),
    ],
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Pass over ids that no document has.")
    ] = False,
    timeout: TimeoutOption = _TIMEOUT,
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
    typer.echo(f"{changes.deleted:,} deleted; {index} has {_documents(total)}")


@app.command(epilog="Example: textkin index info papers.kin --json")
def info(index: IndexArgument, json: JsonOption = False) -> None:
    """Say what is in an index: numbers, sizes and settings."""
    with opened_index(index) as opened:
        facts = opened.info()
    if json:
        print_json(facts.as_dict())
        return
    sizes = ", ".join(
        f"{name} {size(number)}" for name, number in facts.bytes.items() if name != "total"
    )
    lines = {
        "index": f"{index}, format {facts.format}",
        "made": f"{facts.created}, by textkin {facts.textkin}",
        "documents": f"{facts.documents:,}",
        "words": f"{facts.tokens:,} in all, {facts.words:,} different",
        "segments": f"{facts.segments:,}, with {facts.deleted:,} deleted documents; "
        f"{facts.recent:,} recent ones are in none yet",
        "disk": f"{size(facts.bytes['total'])}: {sizes}",
        "texts": _settings_line(facts),
        "vectors": facts.vectors,
        "models": "; ".join(f"{name}: {told}" for name, told in facts.models.items()) or "none",
    }
    print_lines(f"{name:<9} {shown(value)}" for name, value in lines.items())


@app.command(epilog="Example: textkin index get papers.kin 2015/kusner.txt")
def get(
    index: IndexArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a document.")],
    json: JsonOption = False,
) -> None:
    """Print a document."""
    with opened_index(index) as opened:
        document = opened.get(id)
    if document is None:
        raise ValueError(
            f"No document of {index} has the id {one_line([id], 80)!r}; textkin index list {index} "
            "prints all ids."
        )
    if json:
        print_json(_record(document))
        return
    lines = [f"{'id':<9} {one_line([document.id], 200)}"]
    if document.label is not None:
        lines.append(f"{'label':<9} {one_line([str(document.label)], 200)}")
    for name, value in document.metadata.items():
        written = value if isinstance(value, str) else json_module.dumps(value, ensure_ascii=False)
        lines.append(f"{one_line([name], 40):<9} {one_line([written], 200)}")
    print_lines([*lines, "", shown(document.text)])


@app.command("list", epilog="Example: textkin index list papers.kin --json > papers.jsonl")
def list_(
    index: IndexArgument,
    json: Annotated[
        bool, typer.Option("--json", help="Print the documents, as JSON Lines.")
    ] = False,
) -> None:
    """Print all ids, one a line; with --json the documents."""
    with opened_index(index) as opened:
        lines = (
            (json_module.dumps(_record(document), ensure_ascii=False) for document in opened)
            if json
            else map(shown, opened.ids())
        )
        some: list[str] = []
        for line in lines:
            some.append(line)
            if len(some) == _IDS:
                print_lines(some)
                some.clear()
        if some:
            print_lines(some)


@app.command(epilog="Example: textkin index verify papers.kin --repair")
def verify(
    index: IndexArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make damaged segments again; nothing is lost by it.")
    ] = False,
    timeout: TimeoutOption = _TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Check every file of an index.

    The exit code is 0 if all is sound, and 1 if something is damaged.
    """
    from textkin.run import progress_bar

    problems: tuple[str, ...] = ()
    said = ""
    with opened_index(index, timeout, kept="Nothing was changed.") as opened:
        from textkin.exceptions import DamagedIndexError

        repaired: tuple[str, ...] = ()
        try:
            with progress_bar("Checking", "documents") as progress:
                opened.verify(progress=progress)
        except DamagedIndexError as error:
            problems, said = error.problems, str(error)
        if problems and repair:
            found = problems
            try:
                with progress_bar("Repairing", "documents") as progress:
                    opened.verify(repair=True, progress=progress)
                problems = ()
            except DamagedIndexError as error:
                problems, said = error.problems, str(error)
            repaired = tuple(problem for problem in found if problem not in problems)
        facts = opened.info()
    if json:
        print_json(
            {
                "index": str(index),
                "sound": not problems,
                "problems": list(problems),
                "repaired": list(repaired),
                "documents": facts.documents,
                "segments": facts.segments,
            }
        )
    else:
        lines = [f"repaired: {shown(problem)}" for problem in repaired]
        lines += [f"damaged: {shown(problem)}" for problem in problems]
        if not problems:
            lines.append(f"sound: {_documents(facts.documents)}, {_segments(facts.segments)}")
        print_lines(lines)
    if problems:
        # The rest of the sentence, after the list of problems, is the way out.
        way_out = reworded(said.rsplit(". ", 1)[-1])
        typer.echo(f"textkin: {index} is damaged. {way_out}", err=True)
        raise typer.Exit(_DAMAGED)


@app.command(epilog="Example: textkin index compact papers.kin")
def compact(
    index: IndexArgument, timeout: TimeoutOption = _TIMEOUT, json: JsonOption = False
) -> None:
    """Merge segments, give back the space of what was deleted."""
    from textkin.run import working

    with opened_index(index, timeout, kept="No document was changed.") as opened:
        before = opened.info().bytes["total"]
        with working("Compacting"):
            opened.compact()
        after = opened.info().bytes["total"]
    if json:
        print_json({"index": str(index), "bytes_before": before, "bytes": after})
        return
    typer.echo(f"compacted {index}: {size(before)} before, {size(after)} now")


@app.command(epilog="Example: textkin index copy papers.kin backup/papers.kin")
def copy(
    index: IndexArgument,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="The folder to make; it must not exist.")
    ],
    json: JsonOption = False,
) -> None:
    """Copy an index, even while others write to it."""
    from textkin.run import progress_bar

    with (
        opened_index(index, kept="No copy was made.") as opened,
        progress_bar("Copying") as progress,
        opened.copy(target, progress=progress) as made,
    ):
        facts = made.info()
    if json:
        print_json({"index": str(index), "target": str(target), "documents": facts.documents})
        return
    typer.echo(f"copied {_documents(facts.documents)}, {size(facts.bytes['total'])}, to {target}")


@contextmanager
def opened_index(index: Path, timeout: float = _TIMEOUT, kept: str = "") -> Iterator["Index"]:
    from textkin.run import working

    with in_words(kept):
        with working("Loading"):
            from textkin.index import Index

            opened = Index.open(index, timeout=timeout)
        with opened:
            yield opened


def _stop_words(given: str | None) -> str | Path | None:
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


def _settings_line(facts: "IndexInfo") -> str:
    """Say how texts are read."""
    stop_words = facts.stop_words
    if isinstance(stop_words, tuple):
        stop_words = f"{len(stop_words):,} of its own"
    low, high = facts.ngram_range
    parts = [
        "lower case" if facts.lowercase else "case kept",
        f"stop words: {stop_words or 'none'}",
    ]
    if facts.normalize is not None:
        parts.append(" ".join(filter(None, (facts.normalize, facts.language))))
    if high > 1:
        parts.append(f"runs of {low} to {high} words" if low < high else f"runs of {low} words")
    return ", ".join(parts)


def _tell_skipped(skipped: "Skipped") -> None:
    if not skipped.count:
        return
    told = "; ".join(one_line([reason], 300) for reason in skipped.reasons[:_REASONS])
    more = f"; and {skipped.count - _REASONS:,} more" if skipped.count > _REASONS else ""
    note(f"left out {skipped.count:,}: {told}{more}")


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


def _record(document: "Document") -> dict[str, Any]:
    """Return a document as a flat record; its own names win over those of its metadata."""
    label = {} if document.label is None else {"label": document.label}
    return {**document.metadata, "id": document.id, "text": document.text, **label}


def _numbers(changes: "Changes") -> dict[str, int]:
    return {
        "added": changes.added,
        "updated": changes.updated,
        "unchanged": changes.unchanged,
        "deleted": changes.deleted,
    }


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"


def _segments(number: int) -> str:
    return "1 segment" if number == 1 else f"{number:,} segments"
