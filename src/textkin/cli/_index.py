"""``textkin index``: create, fill, inspect, and maintain an index folder."""

import json as json_module
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._documents import Reading, Sources, note_skipped
from textkin.cli._errors import note, reword_errors, reword_hints
from textkin.cli._options import (
    TIMEOUT,
    DelimiterOption,
    EncodingOption,
    IdOption,
    IndexArgument,
    JsonOption,
    MaxBytesOption,
    NoIdOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesArgument,
    SplitOption,
    TimeoutOption,
    WeightedTextOption,
    check_jobs,
    load_vectors,
    open_index,
    stop_words_of,
)
from textkin.cli._output import (
    format_documents,
    format_size,
    one_line,
    print_json,
    print_lines,
    safe_text,
)
from textkin.run import progress_bar, stream_bar, working

if TYPE_CHECKING:
    import numpy as np

    from textkin.index import Changes, IndexInfo
    from textkin.reading import Document
    from textkin.text import Lemmatizer, Stemmer, WordNetLemmas

__all__ = ["app"]

_BATCH = 1000  # number of IDs printed at a time
_DAMAGED = 1  # exit code
_LONGEST_NGRAM = 16

app = typer.Typer(
    name="index",
    help="Create and maintain an index: add, update, delete, verify.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


class Normalizer(StrEnum):
    """Values of the option --normalizer: word normalizers."""

    stem = "stem"
    lemma = "lemma"
    wordnet = "wordnet"


_WITH_LANGUAGE = (Normalizer.stem, Normalizer.lemma)


class Metric(StrEnum):
    """Values of the option --metric: similarities and distances of vectors."""

    cosine = "cosine"
    inner = "inner"
    euclidean = "euclidean"


class Dtype(StrEnum):
    """Values of the option --dtype: types in which vectors are stored."""

    float32 = "float32"
    float16 = "float16"


@app.callback()
def _index(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# Documents


@app.command(epilog="Example: textkin index create papers.kin --stop-words smart")
def create(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Folder of the new index; must not exist.")
    ],
    text: WeightedTextOption = None,
    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Stop words to ignore: a list such as smart, or a file."
        ),
    ] = None,
    normalizer: Annotated[
        Normalizer | None, typer.Option(help="Normalize words before counting.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Language of stems: en (default), de, ..., or none for whole words.",
        ),
    ] = None,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Distinguish upper and lower case.")
    ] = False,
    ngrams: Annotated[
        str, typer.Option(metavar="N-M", help="Index sequences of N to M words, such as 1-2.")
    ] = "1",
    vectors: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Word vectors to copy into the index (default: built-in)."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Create an empty index; its text settings cannot change later."""
    with reword_errors(), working("Loading"):
        from textkin.index import Index

        settings: dict[str, Any] = {
            "text": _weights(text) if text else None,
            "stop_words": stop_words_of(stop_words),
            "normalizer": _normalizer(normalizer, language),
            "lowercase": not keep_case,
            "ngram_range": _ngrams(ngrams),
        }
        if language is not None and normalizer not in _WITH_LANGUAGE:
            settings["language"] = None if language == "none" else language
    if vectors is not None:
        settings["vectors"] = load_vectors(vectors)
    with reword_errors(), working("Writing"), Index.create(path, **settings) as made:
        facts = made.info()
    if json:
        print_json(facts.to_dict())
        return
    typer.echo(f"created {path}: {_describe_settings(facts)}")


@app.command(epilog="Example: textkin index add papers.kin papers/ --mirror")
def add(
    index: IndexArgument,
    sources: Annotated[list[Path], SourcesArgument],
    text: WeightedTextOption = None,
    id: IdOption = None,
    label: Annotated[
        str | None, typer.Option(metavar="FIELD", help="Field with the label (default: label).")
    ] = None,
    no_id: NoIdOption = False,
    no_label: Annotated[
        bool, typer.Option("--no-label", help="Use no field as the label.")
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
        typer.Option("--mirror", help="Delete the documents that are not in the sources."),
    ] = False,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Tokenizer threads; -1 uses all cores.")
    ] = -1,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Add documents, and update documents with existing IDs.

    Unchanged documents are skipped, so adding a folder again is fast. If the index does not
    exist, it is created with default settings; `textkin index create` has other settings. Several
    --text, or weights, are the text fields of a new index; an existing one has its own.
    """
    check_jobs(jobs)
    weights = _weights(text or [])
    if label is not None and no_label:
        raise ValueError("--label and --no-label must not be combined. Pass one of them.")
    reading = Reading.of(
        text=[*weights],
        id=id,
        no_id=no_id,
        label=False if no_label else label,
        pattern=pattern,
        encoding=encoding,
        delimiter=delimiter,
        quoted=quoted,
        max_bytes=max_bytes,
        split=split,
        skip_errors=skip_errors,
    )
    with working("Loading"):
        from textkin.index import Index
    with reword_errors(), stream_bar("Adding", "documents") as (read, made):
        there = index.is_symlink() or (index.exists() and not _is_empty_folder(index))
        was_folder = index.is_dir()
        opened = Index.open(index, timeout=timeout) if there else None
        own = None if opened is None else opened.info().text_fields
        if own is not None:
            _check_fields(index, text or [], weights, own)
        fields = _fields_of_new(text or [], weights) if own is None else own
        found = Sources(sources, replace(reading, text=(*fields,) or reading.text), progress=read)
        empty = dict.fromkeys(fields if own is None else ())
        documents = _tell_fields(found, empty)
        # If the first document is unreadable, no index is created.
        first: list[Document] = [document for document in (next(documents, None),) if document]
        if opened is None:
            opened = Index.create(index, text=fields or None, timeout=timeout)
            chosen = f" and the {_describe_fields(fields)}" if fields else ""
            note(f"{index} did not exist; created it with default settings{chosen}.")
        try:
            with opened:
                write = opened.mirror if mirror else opened.update
                changes = write(chain(first, documents), n_jobs=jobs, progress=made)
                total = len(opened)
                facts = opened.info()
        except Exception:
            if not there and not _has_documents(index):
                shutil.rmtree(index)  # created by this command
                if was_folder:
                    index.mkdir()
                note(f"{index} has no documents and was removed.")
            raise
    if facts.likely_language is not None and changes.added == total:
        note(
            f"most texts seem to have the language {facts.likely_language}, and {index} has "
            f"{facts.language}. Create it with --language {facts.likely_language} for its stems."
        )
    for name in empty:
        note(f"no document has a text in the field {one_line([name])!r}.")
    note_skipped(found.skipped)
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
    typer.echo(f"{changes}; {index} has {format_documents(total)}")


@app.command(epilog="Example: textkin index delete papers.kin - < ids.txt")
def delete(
    index: IndexArgument,
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...", help="IDs, or - to read one ID per line from standard input."
        ),
    ],
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Ignore IDs that are not in the index.")
    ] = False,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Delete documents: all of them, or none if one fails."""
    wanted = [id for given in ids for id in (_lines() if given == "-" else [given])]
    with open_index(index, timeout, kept="Either all or no documents were deleted.") as opened:
        changes = opened.delete(wanted, missing="ignore" if ignore_missing else "raise")
        total = len(opened)
    if json:
        print_json({"index": str(index), "deleted": changes.deleted, "documents": total})
        return
    typer.echo(f"{changes.deleted:,} deleted; {index} has {format_documents(total)}")


@app.command(epilog="Example: textkin index attach papers.kin minilm vectors.npy --ids ids.txt")
def attach(
    index: IndexArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name for --ranking.")],
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE.npy", help="Array with one row for each document."),
    ],
    ids: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="IDs of the rows, one per line (default: order of the index)."
        ),
    ] = None,
    metric: Annotated[Metric, typer.Option(help="Metric of the vectors.")] = Metric.cosine,
    dtype: Annotated[Dtype, typer.Option(help="Type of the stored numbers.")] = Dtype.float32,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Attach embeddings from a NumPy file, for --ranking NAME.

    The index does not have the encoder, so these embeddings rank documents similar to a document
    (textkin similar), but not texts.
    """
    rows = _embeddings(file)
    wanted = None
    if ids is not None:
        wanted = _split_lines(ids.read_bytes(), str(ids))
    with (
        open_index(index, timeout, kept="Nothing was attached.") as opened,
        progress_bar("Attaching", "documents") as progress,
    ):
        opened.attach(
            name,
            embeddings=rows,
            ids=wanted,
            metric=metric.value,
            dtype=dtype.value,
            progress=progress,
        )
        facts = opened.info()
    missing = facts.unembedded[name]
    embedded = facts.documents - missing
    if json:
        print_json(
            {
                "index": str(index),
                "name": name,
                "embedded": embedded,
                "unembedded": missing,
                "dimensions": int(rows.shape[1]),
            }
        )
        return
    typer.echo(
        f"attached {name} to {index}: {format_documents(embedded)} of {rows.shape[1]} dimensions"
    )
    if missing:
        note(f"without a vector, and not found by {name}: {format_documents(missing)}.")


@app.command(epilog="Example: textkin index detach papers.kin minilm")
def detach(
    index: IndexArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model.")],
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Remove an attached model or embeddings; the documents stay."""
    with open_index(index, timeout, kept="Nothing was detached.") as opened:
        opened.detach(name)
        left = [*opened.models()]
    if json:
        print_json({"index": str(index), "detached": name, "models": left})
        return
    typer.echo(f"detached {name}; {index} has {', '.join(left) or 'no models'}")


def _embeddings(file: Path) -> "np.ndarray[Any, Any]":
    """Open a NumPy array file memory-mapped, or raise if it is not one."""
    import numpy as np

    if not file.is_file():
        raise ValueError(f"{file} must be a NumPy file (.npy); it does not exist.")
    try:
        found = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):  # the message of NumPy advises to load pickled objects
        raise ValueError(
            f"{file} must be a NumPy file with an array of numbers, as numpy.save writes it; it "
            "is something else, or incomplete."
        ) from None
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{file} must be a .npy file with one array; got several (.npz).")
    return found


@app.command(epilog="Example: textkin index info papers.kin --json")
def info(index: IndexArgument, json: JsonOption = False) -> None:
    """Show the size, contents, and settings of an index."""
    with open_index(index) as opened:
        facts = opened.info()
    if json:
        print_json(facts.to_dict())
        return
    sizes = ", ".join(
        f"{name} {format_size(number)}" for name, number in facts.bytes.items() if name != "total"
    )
    lines = {
        "index": f"{index}, format {facts.format}",
        "created": f"{facts.created}, by textkin {facts.textkin}",
        "documents": f"{facts.documents:,}",
        "words": f"{facts.tokens:,} in total, {facts.words:,} distinct",
        "segments": f"{facts.segments:,}, with {facts.deleted:,} deleted documents; "
        f"{facts.recent:,} recent documents are not in a segment yet",
        "disk": f"{format_size(facts.bytes['total'])}: {sizes}",
        "texts": _describe_settings(facts),
        "vectors": facts.vectors,
        "models": "; ".join(f"{name}: {told}" for name, told in facts.models.items()) or "none",
    }
    print_lines(f"{name:<9} {safe_text(value)}" for name, value in lines.items())


@app.command(epilog="Example: textkin index get papers.kin 2015/kusner.txt")
def get(
    index: IndexArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="ID of the document.")],
    json: JsonOption = False,
) -> None:
    """Print a document."""
    with open_index(index) as opened:
        document = opened.get(id)
    if document is None:
        raise ValueError(
            f"No document of {index} has the ID {one_line([id], 80)!r}. To list all IDs, run "
            f"textkin index list {index}."
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
    print_lines([*lines, "", safe_text(document.text)])


@app.command("list", epilog="Example: textkin index list papers.kin --json > papers.jsonl")
def list_(
    index: IndexArgument,
    json: Annotated[
        bool, typer.Option("--json", help="Print whole documents as JSON Lines.")
    ] = False,
) -> None:
    """Print all IDs, one per line; with --json, the documents."""
    with open_index(index) as opened:
        lines = (
            (json_module.dumps(_record(document), ensure_ascii=False) for document in opened)
            if json
            else map(safe_text, opened.ids)
        )
        some: list[str] = []
        for line in lines:
            some.append(line)
            if len(some) == _BATCH:
                print_lines(some)
                some.clear()
        if some:
            print_lines(some)


# Maintenance


@app.command(epilog="Example: textkin index verify papers.kin --repair")
def verify(
    index: IndexArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild corrupt segments from the stored documents.")
    ] = False,
    timeout: TimeoutOption = TIMEOUT,
    json: JsonOption = False,
) -> None:
    """Check every file of an index for corruption.

    The exit code is 0 if all files are intact, and 1 if a file is corrupt.
    """
    problems: tuple[str, ...] = ()
    way_out = ""
    with open_index(index, timeout, kept="Nothing was changed.") as opened:
        from textkin.exceptions import DamagedIndexError

        repaired: tuple[str, ...] = ()
        try:
            with progress_bar("Checking", "documents") as progress:
                opened.verify(progress=progress)
        except DamagedIndexError as error:
            problems, way_out = error.problems, error.hint
        if problems and repair:
            found = problems
            try:
                with progress_bar("Repairing", "documents") as progress:
                    opened.verify(repair=True, progress=progress)
                problems = ()
            except DamagedIndexError as error:
                problems, way_out = error.problems, error.hint
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
        lines = [f"repaired: {safe_text(problem)}" for problem in repaired]
        lines += [f"corrupt: {safe_text(problem)}" for problem in problems]
        if not problems:
            lines.append(
                f"intact: {format_documents(facts.documents)}, {_segments(facts.segments)}"
            )
        print_lines(lines)
    if problems:
        typer.echo(f"textkin: {index} is corrupt. {reword_hints(way_out)}", err=True)
        raise typer.Exit(_DAMAGED)


@app.command(epilog="Example: textkin index compact papers.kin")
def compact(
    index: IndexArgument, timeout: TimeoutOption = TIMEOUT, json: JsonOption = False
) -> None:
    """Merge segments and free the space of deleted documents."""
    with open_index(index, timeout, kept="No document was changed.") as opened:
        before = opened.info().bytes["total"]
        with working("Compacting"):
            opened.compact()
        after = opened.info().bytes["total"]
    if json:
        print_json({"index": str(index), "bytes_before": before, "bytes": after})
        return
    typer.echo(f"compacted {index}: {format_size(before)} before, {format_size(after)} now")


@app.command(epilog="Example: textkin index copy papers.kin backup/papers.kin")
def copy(
    index: IndexArgument,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Folder of the copy; must not exist.")
    ],
    json: JsonOption = False,
) -> None:
    """Copy an index, even while another process writes to it."""
    with (
        open_index(index, kept="No copy was made.") as opened,
        progress_bar("Copying") as progress,
        opened.copy(target, progress=progress) as made,
    ):
        facts = made.info()
    if json:
        print_json({"index": str(index), "target": str(target), "documents": facts.documents})
        return
    typer.echo(
        f"copied {format_documents(facts.documents)}, {format_size(facts.bytes['total'])}, to "
        f"{target}"
    )


def _weights(given: list[str]) -> dict[str, int]:
    """Return the weight of each field of --text."""
    weights: dict[str, int] = {}
    for one in given:
        name, _, weight = one.rpartition("=") if "=" in one else (one, "", "1")
        if not name or not (weight.isascii() and weight.isdigit()):
            raise ValueError(
                f"--text must be FIELD, or FIELD=WEIGHT with an integer as the weight; got {one!r}."
            )
        if name in weights:
            raise ValueError(f"--text must name each field once; got {name!r} twice.")
        weights[name] = int(weight)
    return weights


def _fields_of_new(given: list[str], weights: dict[str, int]) -> dict[str, int]:
    """Return the text fields of a new index: none for a single --text without a weight."""
    return weights if len(given) > 1 or any("=" in one for one in given) else {}


def _check_fields(
    index: Path, given: list[str], weights: dict[str, int], own: dict[str, int]
) -> None:
    """Raise an error if --text disagrees with the text fields of an existing index."""
    wanted = weights if own else _fields_of_new(given, weights)
    bare = {name for name in weights if name in given}  # without a weight
    same = wanted.keys() == own.keys() and all(
        name in bare or weight == own[name] for name, weight in wanted.items()
    )
    if not wanted or same:
        return
    has = f"has the {_describe_fields(own)}" if own else "was created without text fields"
    options = " ".join(f"--text {one}" for one in given)
    fix = "Omit --text" if own else "Pass one --text without a weight"
    raise ValueError(
        f"--text must agree with {index}, which {has}; got {', '.join(given)}. {fix}, or create "
        f"another index: textkin index create PATH {options}"
    )


def _describe_fields(weights: dict[str, int]) -> str:
    """Return the names of text fields with their weights."""
    return "text fields " + " and ".join(
        one_line([name]) if weight == 1 else f"{one_line([name])} (weight {weight:,})"
        for name, weight in weights.items()
    )


def _tell_fields(documents: "Iterable[Document]", empty: dict[str, None]) -> "Iterator[Document]":
    """Yield the documents; remove the fields in which one has a text."""
    for document in documents:
        for name in [name for name in empty if document.fields.get(name)]:
            del empty[name]
        yield document


def _normalizer(
    name: Normalizer | None, language: str | None
) -> "str | Stemmer | Lemmatizer | WordNetLemmas | None":
    from textkin.text import Lemmatizer, Stemmer

    if language is None:
        return None if name is None else name.value
    if name is Normalizer.stem:
        return Stemmer(language)
    if name is Normalizer.lemma:
        return Lemmatizer(language)
    return None if name is None else name.value


def _ngrams(given: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", given)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= _LONGEST_NGRAM:
        raise ValueError(
            f"--ngrams must be a number from 1 to {_LONGEST_NGRAM}, or a range such as 1-3; got "
            f"{given!r}."
        )
    return low, high


def _lines() -> list[str]:
    """Return the lines of standard input that are not blank."""
    return _split_lines(sys.stdin.buffer.read(), "Standard input")


def _split_lines(content: bytes, name: str) -> list[str]:
    """Return the nonempty lines of UTF-8; only line feeds end a line, because IDs are any text."""
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be UTF-8: {error}.") from error
    return [line.removesuffix("\r") for line in lines if line.strip()]


def _has_documents(path: Path) -> bool:
    """Return True unless an index is known to have no documents."""
    from textkin.index import Index

    try:
        with Index.open(path) as opened:
            return len(opened) > 0
    except (OSError, ValueError):
        return True


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _numbers(changes: "Changes") -> dict[str, int]:
    return {
        "added": changes.added,
        "updated": changes.updated,
        "unchanged": changes.unchanged,
        "deleted": changes.deleted,
    }


def _record(document: "Document") -> dict[str, Any]:
    """Convert a document to a flat dict of metadata, ID, label, and text."""
    label = {} if document.label is None else {"label": document.label}
    texts = document.fields or {"text": document.text}
    return {**document.metadata, "id": document.id, **texts, **label}


def _describe_settings(facts: "IndexInfo") -> str:
    """Describe the text settings of an index: language, stop words, normalizer."""
    stop_words = facts.stop_words
    if isinstance(stop_words, tuple):
        stop_words = f"{len(stop_words):,} custom words"
    low, high = facts.ngram_range
    parts = [
        *([_describe_fields(facts.text_fields)] if facts.text_fields else []),
        "lower case" if facts.lowercase else "case-sensitive",
        f"stop words: {stop_words or 'none'}",
    ]
    if facts.stemmer is not None:
        listed = facts.term_stop_words
        ignored = "" if listed is None else f", without the words of the stop list {listed!r}"
        parts.append(f"language: {facts.language} (rankings by words use stems{ignored})")
    if facts.likely_language is not None:
        parts.append(f"but most texts seem to have the language {facts.likely_language}")
    if facts.normalizer is not None:
        parts.append(" ".join(filter(None, (facts.normalizer, facts.language))))
    if high > 1:
        parts.append(
            f"sequences of {low} to {high} words" if low < high else f"sequences of {low} words"
        )
    return ", ".join(parts)


def _segments(number: int) -> str:
    return "1 segment" if number == 1 else f"{number:,} segments"
