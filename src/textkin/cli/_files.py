"""Texts and files of the command line."""

import os
import re
import sys
import tempfile
from pathlib import Path

__all__ = ["check_writable", "named_text", "write_whole"]

_LOOKS_LIKE_A_FILE = re.compile(r"\S*(?:[/\\]\S+|\S\.[A-Za-z]\w{0,4})")


def named_text(argument: str, *, as_text: bool) -> str:
    """Return the text that an argument stands for: a file's, standard input's, or itself.

    An argument that names a file is that file. One that only looks like a path is refused, so
    that a slip of the pen is not compared as if it were a text.
    """
    if any("\ud800" <= character <= "\udfff" for character in argument):
        raise ValueError("A text on the command line is not valid UTF-8; put it in a file.")
    if as_text:
        return argument
    if argument == "-":
        if sys.stdin is None:
            raise ValueError("Standard input is closed; name a file in place of '-'.")
        return _decoded(sys.stdin.buffer.read(), "standard input")
    try:
        exists = os.path.lexists(argument)
    except ValueError:  # a NUL byte: no path
        exists = False
    if exists:
        if os.path.isdir(argument):
            raise IsADirectoryError(f"{argument!r} is a folder; name a file, or add --text.")
        return _decoded(Path(argument).read_bytes(), argument)
    if _LOOKS_LIKE_A_FILE.fullmatch(argument):
        raise FileNotFoundError(
            f"There is no file {argument!r}. To compare it as a text, add --text."
        )
    return argument


def _decoded(content: bytes, name: str) -> str:
    if b"\0" in content:
        raise ValueError(f"{name} looks like a binary file, not like text.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} is not UTF-8 text (byte {error.start}); convert it first, as with iconv."
        ) from None


def check_writable(path: Path) -> None:
    """Raise, before any work, where a file could not be written after it."""
    if str(path) == "-":
        raise ValueError("This is written to a file; name one in place of '-'.")
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"There is no folder {str(path.parent)!r} to write {path.name!r} to."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file to write.")
    kept = path.exists() and not path.is_file()  # a pipe or a device
    needed = path if kept else path.resolve().parent
    if not os.access(needed, os.W_OK):
        raise PermissionError(f"{str(path)!r} cannot be written: {str(needed)!r} is read-only.")


def write_whole(path: Path, content: str) -> None:
    """Write a file whole or not at all, replacing what was there.

    A link keeps pointing to its file, and what is no ordinary file, such as a pipe or a device, is
    written to, never replaced.
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
