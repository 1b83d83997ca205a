"""Output of commands as lines, tables, JSON, CSV, and drawings."""

import csv as csv_module
import io
import json as json_module
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from textkin.explain import clean, shortened, text_width
from textkin.run import working

if TYPE_CHECKING:
    from textkin.explain import Explanation

__all__ = [
    "Form",
    "Look",
    "Output",
    "align",
    "check_writable",
    "draw",
    "format_documents",
    "format_size",
    "on_terminal",
    "one_line",
    "print_json",
    "print_lines",
    "safe_text",
]

_PIPE_WIDTH = 80
_MAX_WIDTH = 110
_MIN_WIDTH = 40
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_GAP = 2  # spaces between the columns of a table
_MIN_COLUMN = 6  # minimum width of a truncated column
_MIN_TEXT = 20  # minimum width of a truncated text


# Text for people


def print_json(record: Mapping[str, Any]) -> None:
    """Print a dict as JSON, with control and unencodable characters escaped."""
    text = json_module.dumps(record, indent=2, ensure_ascii=False)
    if on_terminal() or not _can_show(text):
        text = json_module.dumps(record, indent=2)
    typer.echo(text)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output in one write, so that a closed pipe raises only once."""
    typer.echo("\n".join(lines), color=True)  # texts stay unchanged in a pipe too


def one_line(words: Iterable[str], longest: int = 40) -> str:
    """Join words on one line, each truncated to `longest` characters."""
    return "  ".join(shortened(word, longest) for word in words)


def safe_text(text: str, *, terminal: bool | None = None) -> str:
    """Return a text without control characters for a terminal; unchanged for a pipe."""
    if not (on_terminal() if terminal is None else terminal):
        return text
    text = re.sub(r"\S+", lambda found: clean(found[0]), text)
    return re.sub(r"[^\S\n\t]", " ", text)


def format_size(number: float) -> str:
    """Format a number of bytes with a unit such as "1.5 MB"."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def format_documents(number: int) -> str:
    """Format a number of documents, such as "1 document" or "2,000 documents"."""
    return "1 document" if number == 1 else f"{number:,} documents"


def on_terminal() -> bool:
    """Return True if standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _can_show(text: str) -> bool:
    """Return True if the encoding of standard output contains all characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


# Drawings and tables


@dataclass(frozen=True, slots=True)
class Look:
    """Capabilities of the output: width in columns, Unicode, and color.

    Attributes
    ----------
    terminal : bool
        True if the output is a terminal.
    width : int
        Width in columns.
    unicode : bool
        True if the output can show lines, blocks, and arrows.
    color : bool
        True if the output can show colors and bold text.
    """

    terminal: bool = False
    width: int = _PIPE_WIDTH
    unicode: bool = True
    color: bool = False

    @classmethod
    def of_output(cls) -> "Look":
        """Detect the width, encoding, and color support of standard output."""
        terminal = on_terminal()
        width = shutil.get_terminal_size().columns if terminal else _PIPE_WIDTH
        return cls(
            terminal=terminal,
            width=max(_MIN_WIDTH, min(width, _MAX_WIDTH)),
            unicode=_can_show("━┳┗┣▶×█▏…"),
            color=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        )

    def narrower(self, by: int) -> "Look":
        """Return a copy with `by` fewer columns, for indented output."""
        return replace(self, width=max(1, self.width - by))


def draw(
    explanation: "Explanation", *, limit: int, indent: int = 0, look: Look | None = None
) -> str:
    """Draw an explanation as text for the terminal's width, colors, and characters.

    A drawing that is too wide for the terminal is indented less.
    """
    look = look or Look.of_output()
    text = explanation.to_text(
        limit=limit,
        width=max(1, look.width - indent),
        unicode=look.unicode,
        color=look.color,
    )
    lines = text.splitlines()
    widest = max((text_width(_COLOR.sub("", line)) for line in lines), default=0)
    indent = max(0, min(indent, look.width - widest))
    return "\n".join(" " * indent + line for line in lines)


def align(
    rows: Sequence[Sequence[str]],
    look: Look,
    *,
    right: Sequence[int] = (),
    cut: Sequence[int] = (),
    fill: bool = False,
) -> list[str]:
    """Format the rows of a table as lines with aligned columns.

    Parameters
    ----------
    rows : sequence of sequences of str
        Cells, the same number in each row.
    look : Look
        Capabilities of the output; on a terminal, the columns in `cut` share the width.
    right, cut : sequences of int
        Right-aligned columns, and columns that may be truncated.
    fill : bool, default=False
        If True, truncate the last column to the remaining width, in a pipe too.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
    if look.terminal:
        over = sum(widths) + _GAP * (len(widths) - 1) - look.width
        while over > 0 and any(widths[at] > _MIN_COLUMN for at in cut):
            widest = max(cut, key=lambda at: widths[at])
            widths[widest] -= 1
            over -= 1
    if fill:
        left = look.width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
        widths[-1] = min(widths[-1], max(left, _MIN_TEXT))
    lines = []
    for row in cells:
        parts = []
        for at, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cell = shortened(cell, width) if text_width(cell) > width else cell
            gap = " " * (width - text_width(cell))
            parts.append(gap + cell if at in right else cell + gap)
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines


# Results


class Form(Enum):
    """Output formats of a result: lines, JSON, or CSV."""

    lines = auto()
    json = auto()
    csv = auto()


# Endings of the files that an option writes; a file without an ending, such as a pipe, is fine.
_ENDINGS = {"--svg": (".svg", ""), "--html": (".html", ".htm", "")}
# Endings of formats that results are not written in.
_OTHER_FORMATS = {
    *(".xlsx", ".xls", ".ods", ".docx", ".pdf", ".png", ".svg", ".html"),
    *(".parquet", ".feather", ".jsonl", ".tsv", ".gz", ".zip"),
}


@dataclass(frozen=True, slots=True)
class Output:
    """Requested format and destination of a command's result.

    Attributes
    ----------
    form : Form
        Form of the result.
    file : Path or None
        File of the result. If None, standard output.
    drawings : tuple of (Path, str)
        Additional files, each with the name of its option.
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
        """Create the output settings from options, after a check that files can be written.

        Parameters
        ----------
        sources : sequence of path
            Files and folders to read, which must not be overwritten.
        json, csv, output
            Options of these names.
        pattern : sequence of str
            Glob patterns for the files of folders. If empty, the default of `textkin.read`.
        **drawings
            Additional options whose values are files.

        Raises
        ------
        ValueError, OSError
            If options must not be combined, or a file is not writable.
        """
        if json and csv:
            raise ValueError("--json and --csv must not be combined. Pass one of them.")
        form = Form.json if json else Form.csv if csv else Form.lines
        if output is not None and form is Form.lines:
            form = {".json": Form.json, ".csv": Form.csv}.get(output.suffix.lower(), form)
        files = {name: path for name, path in drawings.items() if path is not None}
        named = {**({} if output is None else {"output": output}), **files}
        for name, path in named.items():
            option = f"--{name}"
            check_writable(path)
            if any(_is_read(path, source, pattern) for source in sources):
                raise ValueError(
                    f"{option} must not overwrite a source; got {str(path)!r}. Pass another file."
                )
            for other, second in named.items():
                if other != name and path.resolve() == second.resolve():
                    raise ValueError(f"{option} and --{other} must name different files.")
            _check_ending(option, path)
        return cls(form, output, tuple((path, name) for name, path in files.items()))

    @property
    def look(self) -> Look:
        """Width in columns, character set, and color of the output's destination."""
        return Look() if self.file is not None else Look.of_output()

    @property
    def tells_all(self) -> bool:
        """True if JSON goes to standard output, so that no summary is printed."""
        return self.form is Form.json and self.file is None

    def put(
        self,
        *,
        lines: Callable[[Look], Iterable[str]],
        record: Callable[[], dict[str, Any]],
        table: Callable[[], Iterable[Sequence[object]]],
        **drawings: Callable[[], str],
    ) -> None:
        """Write the result in the requested format, and drawings to their files.

        All contents are computed before the first write, so that Ctrl-C or an error leaves no
        partial file.

        Parameters
        ----------
        lines, record, table : callable
            Functions that return the result in each form; the first row of a table has the column
            names.
        **drawings : callable
            Functions that return the contents of additional files, by the names of their options.
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
                _write_whole(path, content)
        if self.file is None and self.form is Form.json:
            print_json(found)
        elif self.file is None:
            # Lines may have colors; their texts have no control characters.
            printed = safe_text(text) if self.form is Form.csv else text
            typer.echo(printed, nl=False, color=True)
        for path, _ in files:
            typer.echo(f"textkin: wrote {path}", err=True)


def _check_ending(option: str, path: Path) -> None:
    """Raise an error if the ending of a file names a format that the option does not write."""
    ending = path.suffix.lower()
    written = _ENDINGS.get(option, ())
    if (written and ending not in written) or (not written and ending in _OTHER_FORMATS):
        known = written or (".csv", ".json", ".txt")
        raise ValueError(
            f"{option} must be a file that ends in {', '.join(filter(None, known))}; "
            f"got {str(path)!r}. Pass another name."
        )


def _csv(rows: Iterable[Sequence[object]]) -> str:
    lines = []
    for row in rows:
        file = io.StringIO()
        # With this line end, csv quotes a lone \r, which readers would take for the end of a row.
        csv_module.writer(file, lineterminator="\r\n").writerow(row)
        lines.append(file.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines)


# Files


def _is_read(path: Path, source: Path, pattern: Sequence[str]) -> bool:
    """Return True if writing to a path would overwrite a source of the command."""
    if not source.exists():
        return False
    inner, outer = path.resolve(), source.resolve()
    if inner == outer or (path.exists() and path.samefile(source)):
        return True
    if not source.is_dir() or not inner.is_relative_to(outer):
        return False
    from textkin.index import is_index
    from textkin.reading import read

    if is_index(source):  # all files in an index folder belong to it
        return True
    if not path.exists():
        return False
    return any(file.resolve() == inner for file in read(source, pattern=pattern or None).files)


def check_writable(path: Path) -> None:
    """Raise if a file cannot be written, before any work."""
    if str(path) == "-":
        raise ValueError("The result is written to a file; got '-'. Pass a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"Folder {str(path.parent)!r} does not exist; cannot write {path.name!r} to it."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder. Pass a file.")
    kept = path.exists() and not path.is_file()  # a pipe or a device must not be replaced
    needed = path if kept else path.resolve().parent
    if not os.access(needed, os.W_OK):
        raise PermissionError(f"{str(path)!r} is not writable: {str(needed)!r} is read-only.")


def _write_whole(path: Path, content: str) -> None:
    """Write a text file atomically.

    A symbolic link keeps its target. Pipes and devices are written to, never replaced.
    """
    check_writable(path)
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(content, encoding="utf-8")
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
