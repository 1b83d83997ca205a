"""``textkin vectors train``: training of word vectors on your own texts."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._documents import Reading, Sources, note_skipped
from textkin.cli._errors import reword_errors
from textkin.cli._options import (
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MaxBytesOption,
    PatternOption,
    QuotedOption,
    SkipErrorsOption,
    SourcesArgument,
    TextOption,
    check_folder_is_new,
    check_jobs,
    stop_words_of,
)
from textkin.cli._output import print_json
from textkin.run import progress_bar, stream_bar, working

if TYPE_CHECKING:
    from textkin.reading import Document
    from textkin.run import ProgressCallback

__all__ = ["train"]


class Model(StrEnum):
    """Values of the option --model: word2vec architectures."""

    skipgram = "skipgram"
    cbow = "cbow"


class Loss(StrEnum):
    """Values of the option --loss: training losses of word2vec."""

    negative = "negative"
    hierarchical = "hierarchical"


def train(
    sources: Annotated[list[Path], SourcesArgument],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="Folder of the vectors; must not exist."
        ),
    ],
    dimension: Annotated[int, typer.Option(metavar="N", help="Vector dimension.")] = 100,
    model: Annotated[
        Model, typer.Option(help="Architecture; cbow is faster, skipgram better for rare words.")
    ] = Model.skipgram,
    loss: Annotated[
        Loss, typer.Option(help="Loss: negative sampling, or hierarchical softmax.")
    ] = Loss.negative,
    negative: Annotated[int, typer.Option(metavar="N", help="Number of negative samples.")] = 5,
    window: Annotated[int, typer.Option(metavar="N", help="Number of context words per side.")] = 5,
    subsample: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Frequency above which words are sampled; 0 keeps all."),
    ] = 1e-3,
    min_count: Annotated[
        int, typer.Option(metavar="N", help="Ignore words with fewer than N occurrences.")
    ] = 5,
    max_words: Annotated[
        int | None, typer.Option(metavar="N", help="Keep only the N most frequent words.")
    ] = None,
    epochs: Annotated[
        int, typer.Option(metavar="N", help="Number of epochs; a small corpus needs 20 to 50.")
    ] = 5,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="Initial learning rate (default: 0.025; cbow: 0.05)."),
    ] = None,
    min_learning_rate: Annotated[
        float, typer.Option(metavar="RATE", help="Final learning rate.")
    ] = 1e-4,
    stop_words: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE", help="Stop words to ignore: a list such as smart, or a file."
        ),
    ] = None,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Distinguish upper and lower case.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**32 - 1,
            metavar="N",
            help="Random seed; reproducible only with one thread.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Number of threads; -1 uses all cores.")
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
    """Train word vectors on your own texts (word2vec).

    Train on millions of words of a field that general vectors cover badly. Each text is a
    separate context.
    """
    check_folder_is_new(output)
    check_jobs(jobs)
    kept = "Nothing was written."
    with reword_errors(kept), working("Loading"):
        from textkin.models import train_word_vectors

        left_out = stop_words_of(stop_words)
    with reword_errors(kept), _Bars() as bars:
        found = Sources(
            sources,
            Reading.of(
                no_id=True,
                text=text,
                pattern=pattern,
                encoding=encoding,
                delimiter=delimiter,
                quoted=quoted,
                max_bytes=max_bytes,
                skip_errors=skip_errors,
            ),
            progress=bars.read,
            distinct=False,
        )
        vectors = train_word_vectors(
            bars.count(found),
            dimension,
            architecture=model.value,
            loss=loss.value,
            n_negative=negative,
            window=window,
            subsample=subsample,
            min_count=min_count,
            max_words=max_words,
            epochs=epochs,
            learning_rate=learning_rate,
            min_learning_rate=min_learning_rate,
            stop_words=left_out,
            lowercase=not keep_case,
            random_state=seed,
            n_jobs=jobs,
            progress=bars.train,
        )
    with reword_errors(kept), working("Writing"):
        vectors.save(output)
    following = (
        f"textkin vectors nearest {_example(vectors.words)} --vectors {shlex.quote(str(output))}"
    )
    n_tokens = bars.total // epochs
    if json:
        print_json(
            {
                "output": str(output),
                "words": len(vectors),
                "dimension": vectors.dimension,
                "documents": bars.documents,
                "tokens": n_tokens,
                "epochs": epochs,
                "most_frequent": list(vectors.words[:8]),
                "skipped": {
                    "count": found.skipped.count,
                    "reasons": list(found.skipped.reasons),
                    "hidden": found.skipped.hidden,
                },
                "next": following,
            }
        )
        return
    plural = "" if bars.documents == 1 else "s"
    typer.echo(
        f"wrote {len(vectors):,} words, dimension {vectors.dimension:,}, to {output}; trained on "
        f"{n_tokens:,} tokens of {bars.documents:,} document{plural}"
    )
    typer.echo(f"Try: {following}")


class _Bars:
    """Progress bars of the command: reading documents, then training.

    Attributes
    ----------
    documents : int
        Number of documents read.
    total : int
        Number of training tokens, for all epochs.
    read : callable or None
        Progress function for reading files.
    """

    def __init__(self) -> None:
        self.documents = 0
        self.total = 0
        self.read: ProgressCallback | None = None
        self._made: ProgressCallback | None = None
        self._trained: ProgressCallback | None = None
        self._open = ExitStack()

    def __enter__(self) -> "_Bars":
        self.read, self._made = self._open.enter_context(stream_bar("Reading", "documents"))
        return self

    def __exit__(self, *exception: object) -> None:
        self._open.close()

    def count(self, documents: Sources) -> "Iterator[Document]":
        """Yield documents while the reading bar counts them."""
        for document in documents:
            self.documents += 1
            if self._made is not None:
                self._made(self.documents, 0)
            yield document
        self._open.close()
        note_skipped(documents.skipped)
        self._trained = self._open.enter_context(progress_bar("Training", "words"))

    def train(self, done: int, total: int) -> None:
        """Update the training bar; the progress callback of the training."""
        self.total = total
        if self._trained is not None:
            self._trained(done, total)


def _example(words: Sequence[str]) -> str:
    """Return the first word that is not a stop word, for an example in the summary."""
    from textkin.text import stop_word_set

    dull = stop_word_set("smart")
    telling = (word for word in words if len(word) > 2 and word.isalpha() and word not in dull)
    return shlex.quote(next(telling, words[0]))
