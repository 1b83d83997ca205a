"""Where the results of a command go, and in which form: lines, JSON or CSV."""

import csv as csv_module
import io
import json as json_module
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

import typer

from textkin.cli._corpora import is_index
from textkin.cli._drawing import Look
from textkin.cli._files import check_writable, write_whole
from textkin.cli._printing import print_json, shown
from textkin.explain._words import clean, columns, shortened
from textkin.run import working
from textkin.text.reading._folder import Walk, check_patterns

__all__ = ["Form", "Output", "aligned"]

_GAP = 2
_NARROWEST = 6  # of a column that is cut
_SHORTEST = 20  # of a text that is


class Form(Enum):
    """How results are written."""

    lines = auto()
    json = auto()
    csv = auto()


@dataclass(frozen=True, slots=True)
class Output:
    """What was asked for.

    Attributes
    ----------
    form : Form
        Of the result.
    file : Path or None
        Where it goes; None is standard output.
    drawings : tuple of (Path, str)
        Further files, each with the name of its option.
    """

    form: Form
    file: Path | None
    drawings: tuple[tuple[Path, str], ...]

    @classmethod
    def of(
        cls,
        sources: Sequence[Path],
        *,
        json: bool,
        csv: bool,
        output: Path | None,
        pattern: Sequence[str] = (),
        **drawings: Path | None,
    ) -> "Output":
        """Look at the options, before any work.

        Parameters
        ----------
        sources : sequence of path
            What is read, which must not be written over.
        json, csv, output
            The options of these names.
        pattern : sequence of str
            Which files of folders are read; none is the default of `textkin.read`.
        **drawings
            Further options that name files.

        Raises
        ------
        ValueError, OSError
            If they exclude each other, or a file could not be written.
        """
        if json and csv:
            raise ValueError("--json and --csv exclude each other.")
        form = Form.json if json else Form.csv if csv else Form.lines
        if output is not None and form is Form.lines:
            form = {".json": Form.json, ".csv": Form.csv}.get(output.suffix.lower(), form)
        files = {name: path for name, path in drawings.items() if path is not None}
        named = {**({} if output is None else {"output": output}), **files}
        for name, path in named.items():
            option = f"--{name}"
            check_writable(path)
            if any(_is_read(path, source, pattern) for source in sources):
                raise ValueError(f"{option} must not name what is read: {str(path)!r}.")
            for other, second in named.items():
                if other != name and path.resolve() == second.resolve():
                    raise ValueError(f"{option} and --{other} must name different files.")
        return cls(form, output, tuple((path, name) for name, path in files.items()))

    @property
    def look(self) -> Look:
        """What lines can show where they go."""
        return Look() if self.file is not None else Look.of_output()

    @property
    def tells_all(self) -> bool:
        """Whether standard output has JSON, so that nothing need be said beside it."""
        return self.form is Form.json and self.file is None

    def put(
        self,
        *,
        lines: Callable[[Look], Iterable[str]],
        record: Callable[[], dict[str, Any]],
        table: Callable[[], Iterable[Sequence[object]]],
        **drawings: Callable[[], str],
    ) -> None:
        """Print the result, or write it to its file, and what else was asked for.

        All of it is made before anything is written, so that Ctrl-C or an error leaves no part.

        Parameters
        ----------
        lines, record, table : callable
            Make the result in one of the forms; of a table the first row has the names.
        **drawings : callable
            Make the contents of further files, by the names of their options.
        """
        with working("Writing"):
            files = [(path, drawings[name]()) for path, name in self.drawings]
            found = record() if self.form is Form.json else {}
            text = ""
            if self.form is Form.csv:
                text = _csv(table())
            elif self.form is Form.lines:
                text = "".join(f"{line}\n" for line in lines(self.look))
            elif self.file is not None:
                text = json_module.dumps(found, indent=2, ensure_ascii=False) + "\n"
            if self.file is not None:
                files.append((self.file, text))
            for path, content in files:
                write_whole(path, content)
        if self.file is None and self.form is Form.json:
            print_json(found)
        elif self.file is None:
            # Lines have their colours, and texts in them are clean.
            printed = shown(text) if self.form is Form.csv else text
            typer.echo(printed, nl=False, color=True)
        for path, _ in files:
            typer.echo(f"textkin: wrote {path}", err=True)


def aligned(
    rows: Sequence[Sequence[str]],
    look: Look,
    *,
    right: Sequence[int] = (),
    cut: Sequence[int] = (),
    fill: bool = False,
) -> list[str]:
    """Return rows of cells as lines with columns; texts are cleaned.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells, as many in each row.
    look : Look
        Of the output: on a terminal columns that may be cut share what is left of its width.
    right, cut : sequences of int
        Which columns end at the right, and which may be cut.
    fill : bool, default=False
        Whether the last column is a text that is cut to what is left, in a pipe too.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    if look.terminal:
        over = sum(widths) + _GAP * (len(widths) - 1) - look.width
        while over > 0 and any(widths[at] > _NARROWEST for at in cut):
            widest = max(cut, key=lambda at: widths[at])
            widths[widest] -= 1
            over -= 1
    if fill:
        left = look.width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(left, _SHORTEST))
    lines = []
    for row in cells:
        parts = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cell = shortened(cell, width) if columns(cell) > width else cell
            gap = " " * (width - columns(cell))
            parts.append(gap + cell if at in right else cell + gap)
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


def _csv(rows: Iterable[Sequence[object]]) -> str:
    lines = []
    for row in rows:
        file = io.StringIO()
        # What ends a line is what is quoted: of a lone \r readers make a row of its own.
        csv_module.writer(file, lineterminator="\r\n").writerow(row)
        lines.append(file.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


def _is_read(path: Path, source: Path, pattern: Sequence[str]) -> bool:
    """Tell whether a file is, or lies in, a source and would be lost to it."""
    if not source.exists():
        return False
    inner, outer = path.resolve(), source.resolve()
    if inner == outer or (path.exists() and path.samefile(source)):
        return True
    if not source.is_dir() or not inner.is_relative_to(outer):
        return False
    if is_index(source):  # all of its files are its own
        return True
    files = Walk(source, check_patterns(pattern or None)) if path.exists() else ()
    return any(entry.path.resolve() == inner for entry in files)
