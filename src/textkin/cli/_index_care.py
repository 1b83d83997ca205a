"""``textkin index verify``, ``compact`` and ``copy``: what keeps an index whole."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._opened import TIMEOUT, IndexArgument, TimeoutOption, documents_told, opened_index
from textkin.cli._printing import (
    JsonOption,
    print_json,
    print_lines,
    shown,
    size,
)
from textkin.cli._wording import reworded

if TYPE_CHECKING:
    pass


__all__ = ["compact", "copy", "verify"]

_DAMAGED = 1


def verify(
    index: IndexArgument,
    repair: Annotated[
        bool, typer.Option("--repair", help="Make damaged segments again; nothing is lost by it.")
    ] = False,
    timeout: TimeoutOption = TIMEOUT,
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
            lines.append(f"sound: {documents_told(facts.documents)}, {_segments(facts.segments)}")
        print_lines(lines)
    if problems:
        # The rest of the sentence, after the list of problems, is the way out.
        way_out = reworded(said.rsplit(". ", 1)[-1])
        typer.echo(f"textkin: {index} is damaged. {way_out}", err=True)
        raise typer.Exit(_DAMAGED)


def compact(
    index: IndexArgument, timeout: TimeoutOption = TIMEOUT, json: JsonOption = False
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
    typer.echo(
        f"copied {documents_told(facts.documents)}, {size(facts.bytes['total'])}, to {target}"
    )


def _segments(number: int) -> str:
    return "1 segment" if number == 1 else f"{number:,} segments"
