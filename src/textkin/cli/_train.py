"""``textkin vectors train``: word vectors of one's own texts."""

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._options import (
    DelimiterOption,
    EncodingOption,
    MaxBytesOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesArgument,
    TextOption,
    named_stop_words,
    refuse_existing,
    tell_skipped,
)
from textkin.cli._printing import JsonOption, print_json
from textkin.cli._wording import in_words

if TYPE_CHECKING:
    from textkin.run import ProgressCallback
    from textkin.text import Document

__all__ = ["train"]

_OPTIONS = {
    "n_negative": "--negative",
    "stop_words=None": "no --stop-words",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "dimension",
            "window",
            "subsample",
            "min_count",
            "max_words",
            "epochs",
            "learning_rate",
            "min_learning_rate",
        )
    },
}
# As a word of a sentence; what is quoted, or part of a path, is the user's own.
_PARAMETERS = re.compile(rf"(?<![\w'\"./\\-])({'|'.join(_OPTIONS)})(=|(?=[ ,;:]|\.?$|\. ))")


class Model(StrEnum):
    """What predicts what."""

    skipgram = "skipgram"
    cbow = "cbow"


class Loss(StrEnum):
    """How a prediction is judged."""

    negative = "negative"
    hierarchical = "hierarchical"


def train(
    sources: Annotated[list[Path], SourcesArgument],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="To write; it must not exist."),
    ],
    dimension: Annotated[int, typer.Option(metavar="N", help="Numbers a word.")] = 100,
    model: Annotated[
        Model, typer.Option(help="cbow is faster, skipgram better for rare words.")
    ] = Model.skipgram,
    loss: Annotated[
        Loss, typer.Option(help="Words that are drawn, or a tree of all words.")
    ] = Loss.negative,
    negative: Annotated[int, typer.Option(metavar="N", help="Words that are drawn.")] = 5,
    window: Annotated[int, typer.Option(metavar="N", help="Words to each side.")] = 5,
    subsample: Annotated[
        float, typer.Option(metavar="SHARE", help="Thin out words above it; 0 keeps all.")
    ] = 1e-3,
    min_count: Annotated[
        int, typer.Option(metavar="N", help="Learn words that occur so often.")
    ] = 5,
    max_words: Annotated[
        int | None, typer.Option(metavar="N", help="Learn only the N most frequent.")
    ] = None,
    epochs: Annotated[
        int, typer.Option(metavar="N", help="Passes; a small corpus needs 20 to 50.")
    ] = 5,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="The first one; else 0.025, for cbow 0.05."),
    ] = None,
    min_learning_rate: Annotated[float, typer.Option(metavar="RATE", help="The last one.")] = 1e-4,
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Words to leave out: a list such as smart."),
    ] = None,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Tell upper and lower case apart.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**32 - 1, metavar="N", help="The same one gives the same."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Threads, -1 all cores; with several no seed holds.")
    ] = 1,
    text: TextOption = None,
    pattern: PatternOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    quoted: QuotedOption = None,
    max_bytes: MaxBytesOption = None,
    skip_errors: SkipErrorsOption = False,
    json: JsonOption = False,
) -> None:
    """Train word vectors on texts of your own (word2vec).

    It pays with millions of words of a field that common vectors know little of. Every text is a
    context of its own.
    """
    from textkin.run import progress_bar, stream_bar, working

    refuse_existing(output)
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    nothing_kept = "Nothing was written."
    with in_words(nothing_kept), working("Loading"):
        from textkin.cli._sources import Sources
        from textkin.run import effective_jobs
        from textkin.vectors import WordVectors
        from textkin.vectors._corpus import read_corpus
        from textkin.vectors._train import check_words, word_training
        from textkin.vectors._training import seed_of

        left_out = named_stop_words(stop_words)
    with _named(), in_words(nothing_kept), stream_bar("Reading", "documents") as (read, made):
        training = word_training(
            model=model.value,
            loss=loss.value,
            n_negative=negative,
            window=window,
            subsample=subsample,
            subsample_rule="released",
            epochs=epochs,
            learning_rate=learning_rate,
            min_learning_rate=min_learning_rate,
        )
        check_words(dimension, min_count, max_words, True)
        options: dict[str, Any] = {} if max_bytes is None else {"max_bytes": max_bytes}
        found = Sources(
            sources,
            skip=skip_errors,
            pattern=pattern or (),
            progress=read,
            text=text,
            id=False,
            label=False,
            distinct=False,
            encoding=encoding,
            delimiter=delimiter,
            quoted=quoted,
            **options,
        )
        known = read_corpus(
            _counted(found, made),
            min_count=min_count,
            max_words=max_words,
            stop_words=left_out,
            lowercase=not keep_case,
            n_threads=effective_jobs(jobs),
        )
    tell_skipped(found.skipped)
    with _named(), in_words(nothing_kept), progress_bar("Training", "words") as told:
        vectors = WordVectors._of_corpus(
            known, dimension, training, seed_of(seed), effective_jobs(jobs), told
        )
    with in_words(nothing_kept), working("Writing"):
        vectors.save(output)
    following = (
        f"textkin vectors nearest {_shown(known.words)} --vectors {shlex.quote(str(output))}"
    )
    if json:
        print_json(
            {
                "output": str(output),
                "words": len(vectors),
                "dimension": vectors.dimension,
                "documents": len(known),
                "tokens": len(known.ids),
                "epochs": epochs,
                "most_frequent": known.words[:8],
                "skipped": {
                    "count": found.skipped.count,
                    "reasons": list(found.skipped.reasons),
                    "hidden": found.skipped.hidden,
                },
                "next": following,
            }
        )
        return
    typer.echo(
        f"wrote {len(vectors):,} words, dimension {vectors.dimension:,}, to {output}; trained on "
        f"{len(known.ids):,} tokens of {len(known):,} document{'' if len(known) == 1 else 's'}"
    )
    typer.echo(f"Try: {following}")


def _counted(
    documents: "Iterable[Document]", made: "ProgressCallback | None"
) -> "Iterator[Document]":
    """Tell how many documents were read."""
    for number, document in enumerate(documents, start=1):
        if made is not None:
            made(number, 0)
        yield document


def _shown(words: list[str]) -> str:
    """Return a word to look at: the first that says something, if there is one."""
    from textkin.text import stop_word_set

    dull = stop_word_set("smart")
    telling = (word for word in words if len(word) > 2 and word.isalpha() and word not in dull)
    return shlex.quote(next(telling, words[0]))


@contextmanager
def _named() -> Iterator[None]:
    """Let errors name options in place of parameters."""
    try:
        yield
    except ValueError as error:
        said = _PARAMETERS.sub(
            lambda found: _OPTIONS[found[1]] + (" " if found[2] else ""), str(error)
        )
        raise ValueError(said) from error
