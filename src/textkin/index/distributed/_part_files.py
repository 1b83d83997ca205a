"""Results larger than memory: folders of Parquet files, each written atomically."""

import io
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textkin._base import TEMPORARY, read_small, write_whole

__all__ = ["Parts", "PartsWriter"]

_MANIFEST = "_join.json"  # readers of Parquet folders skip names that start with an underscore
_FORMAT = "textkin.join"
_NAMES = {"by": "ranking"}  # keys of the manifest, and the names of their parameters
_DIGEST = b"textkin.asked"
_PART = re.compile(r"part-\d{8,}\.parquet")
_LARGEST_MANIFEST = 1 << 26  # generous, because stop words and filters have any length


@dataclass(frozen=True, slots=True)
class Parts:
    """Result on disk: a folder of Parquet files, with numbers of files and rows.

    Attributes
    ----------
    folder : Path
        Folder of the files. ``pyarrow.parquet.read_table(folder)``,
        ``pandas.read_parquet(folder)``, or ``polars.read_parquet(folder / "*.parquet")`` read
        them as one table.
    files : int
        Number of files.
    rows : int
        Number of rows in all files.
    made : int
        Number of files written by this call; the other files existed before.
    """

    folder: Path
    files: int
    rows: int
    made: int


class PartsWriter:
    """Writer of a result as Parquet files, which can resume after an interruption.

    Parameters
    ----------
    folder : path
        Folder that is new, empty, or from a call with the same `asked`.
    asked : mapping
        Everything that the result depends on, in plain types.

    Raises
    ------
    FileExistsError
        If the folder contains anything else.
    ValueError
        If the folder was begun with another `asked`.
    """

    def __init__(self, folder: str | os.PathLike[str], asked: Mapping[str, Any]) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise ImportError(
                "Parquet files require pyarrow; install it: pip install 'textkin[parquet]'"
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
                f"{self.folder} must be empty or the folder of an interrupted join; pass a new "
                "folder."
            )
        write_whole(manifest, [json.dumps(wanted, indent=2).encode()])

    def has(self, number: int, digest: bytes = b"") -> bool:
        """Return True if a part is on disk already, and count its rows.

        Raises
        ------
        ValueError
            If the part has the result of other queries.
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
                f"{path} is not a valid Parquet file ({error}). Remove it, and repeat the call to "
                "write it again."
            ) from error
        if metadata.get(_DIGEST) != digest:
            raise ValueError(
                f"{path} has the result of other queries; pass the queries with which this folder "
                "was begun, or a new folder."
            )
        self.files += 1
        self.rows += rows
        return True

    def write(
        self, number: int, columns: Mapping[str, tuple[str, Iterable[Any]]], digest: bytes = b""
    ) -> None:
        """Write one part of the result as a Parquet file, atomically.

        Parameters
        ----------
        number : int
            Number of the part.
        columns : mapping of str to (str, iterable of list or ndarray)
            Arrow type name and chunks of values, for each column.
        digest : bytes
            Digest of the queries.
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
        """Return the finished result: its folder, and numbers of files and rows.

        Raises
        ------
        ValueError
            If the folder has more parts than this call.
        """
        there = sorted(path for path in self.folder.iterdir() if _PART.fullmatch(path.name))
        if len(there) > self.files:
            raise ValueError(
                f"{there[self.files]} has the result of more queries; pass the queries with "
                "which this folder was begun, or a new folder."
            )
        return Parts(self.folder, self.files, self.rows, self.made)

    def _sweep(self, begin: str) -> None:
        """Remove temporary files that interrupted calls left in the folder."""
        for left in self.folder.glob(f".{begin}*{TEMPORARY}"):
            with suppress(OSError):
                left.unlink()

    def _refuse_others(self) -> None:
        """Raise if the folder holds Parquet files of another result."""
        for path in self.folder.iterdir():
            if path.name[0] not in "._" and not _PART.fullmatch(path.name):
                raise FileExistsError(
                    f"{path} is not a file of a join, but would be read with its parts; "
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
        raise FileExistsError(f"{manifest} is not the manifest of a join; pass a new folder.")
    plain = json.loads(json.dumps(wanted))
    for name in sorted({*found, *plain}):
        if found.get(name) != plain.get(name):
            raise ValueError(
                f"{manifest.parent} was begun with {_NAMES.get(name, name)} = "
                f"{found.get(name)!r}, but this call has "
                f"{plain.get(name)!r}. Pass the same value, or a new folder."
            )
