"""Results too large for memory: a folder of Parquet files, each whole or not there."""

import io
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textkin._folders import read_small
from textkin.index._files import TEMPORARY, write_whole

__all__ = ["Parts", "PartsWriter"]

_MANIFEST = "_join.json"  # readers of Parquet folders pass over what begins so
_FORMAT = "textkin.join"
_DIGEST = b"textkin.asked"
_PART = re.compile(r"part-\d{8,}\.parquet")
_LARGEST_MANIFEST = 1 << 26  # stop words and filters have any length


@dataclass(frozen=True, slots=True)
class Parts:
    """A folder of Parquet files that belong together.

    Attributes
    ----------
    folder : Path
        Where they are: ``pyarrow.parquet.read_table(folder)``, ``pandas.read_parquet(folder)`` or
        ``polars.read_parquet(folder / "*.parquet")`` read all of them.
    files : int
        How many there are.
    rows : int
        How many rows they have.
    made : int
        How many of the files this call has made; the others were there already.
    """

    folder: Path
    files: int
    rows: int
    made: int


class PartsWriter:
    """Writes a folder of Parquet files, or goes on where one was left.

    Parameters
    ----------
    folder : path
        New, empty, or left by a call with the same `asked`.
    asked : mapping
        All that the result depends on, in plain types.

    Raises
    ------
    FileExistsError
        If the folder holds anything else.
    ValueError
        If it was begun with something else asked.
    """

    def __init__(self, folder: str | os.PathLike[str], asked: Mapping[str, Any]) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError(
                "Parquet files are written with pyarrow; install it: pip install 'textkin[parquet]'"
            ) from error
        self._arrow, self._parquet = pyarrow, parquet
        self.folder = Path(folder).absolute()
        self.rows = self.files = self.made = 0
        wanted = {"format": _FORMAT, "version": 1, **asked}
        self.folder.mkdir(parents=True, exist_ok=True)
        manifest = self.folder / _MANIFEST
        if manifest.is_file():
            _check_same(manifest, wanted)
            self._refuse_others()
            self._sweep("part-")
            return
        self._sweep(_MANIFEST)
        if any(self.folder.iterdir()):
            raise FileExistsError(
                f"{self.folder} is not empty, and nothing that a join has begun; pass a new folder."
            )
        write_whole(manifest, [json.dumps(wanted, indent=2).encode()])

    def has(self, number: int, digest: bytes = b"") -> bool:
        """Return whether a part is there; if so it is counted.

        Raises
        ------
        ValueError
            If it is the answer to something else.
        """
        path = self._path(number)
        if not path.is_file():
            return False
        try:
            with path.open("rb") as file:
                found = self._parquet.ParquetFile(file)
                metadata = found.schema_arrow.metadata or {}
                rows = found.metadata.num_rows
        except (self._arrow.ArrowException, OSError) as error:
            raise ValueError(
                f"{path} cannot be read as Parquet ({error}); no join leaves a part half written. "
                "Remove it, and the same call makes it again."
            ) from error
        if metadata.get(_DIGEST) != digest:
            raise ValueError(
                f"{path} was made for other queries than these: pass the queries with which this "
                "folder was begun, or a new folder."
            )
        self.files += 1
        self.rows += rows
        return True

    def write(
        self, number: int, columns: Mapping[str, tuple[str, Iterable[Any]]], digest: bytes = b""
    ) -> None:
        """Write a part.

        Parameters
        ----------
        number : int
            Which one.
        columns : mapping of str to (str, iterable of list or ndarray)
            Arrow's name of the type, and the values, some at a time.
        digest : bytes
            Of what was asked.
        """
        arrow = self._arrow
        schema = arrow.schema(
            [(name, arrow.type_for_alias(kind)) for name, (kind, _) in columns.items()],
            metadata={_DIGEST: digest},
        )
        arrays = [
            arrow.chunked_array([arrow.array(one, field.type) for one in values], field.type)
            for field, (_, values) in zip(schema, columns.values(), strict=True)
        ]
        table = arrow.Table.from_arrays(arrays, schema=schema)
        out = io.BytesIO()
        self._parquet.write_table(table, out, compression="zstd")
        write_whole(self._path(number), [out.getbuffer()])
        self.files += 1
        self.made += 1
        self.rows += table.num_rows

    def parts(self) -> Parts:
        """Return what there is.

        Raises
        ------
        ValueError
            If there is more than was asked for.
        """
        there = sorted(path for path in self.folder.iterdir() if _PART.fullmatch(path.name))
        if len(there) > self.files:
            raise ValueError(
                f"{there[self.files]} was made for more queries than these: pass the queries with "
                "which this folder was begun, or a new folder."
            )
        return Parts(self.folder, self.files, self.rows, self.made)

    def _sweep(self, begin: str) -> None:
        """Remove what a call that was killed has left half written."""
        for left in self.folder.glob(f".{begin}*{TEMPORARY}"):
            with suppress(OSError):
                left.unlink()

    def _refuse_others(self) -> None:
        """Raise if readers of the folder would read what no join has written."""
        for path in self.folder.iterdir():
            if path.name[0] not in "._" and not _PART.fullmatch(path.name):
                raise FileExistsError(
                    f"{path} is nothing that a join has written, and would be read with its parts; "
                    "move it elsewhere, or pass a new folder."
                )

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:08d}.parquet"


def _check_same(manifest: Path, wanted: Mapping[str, Any]) -> None:
    try:
        found = json.loads(read_small(manifest, _LARGEST_MANIFEST))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise FileExistsError(f"{manifest} is not what a join has written; pass a new folder.")
    plain = json.loads(json.dumps(wanted))
    for name in sorted({*found, *plain}):
        if found.get(name) != plain.get(name):
            raise ValueError(
                f"{manifest.parent} was begun with {name} = {found.get(name)!r}, and this call has "
                f"{plain.get(name)!r}: its parts would not fit together. Pass a new folder."
            )
