"""Results of an experiment: its cells, means over splits, and conversion from and to JSON."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from papers.cells import Outcome, Values, written
from papers.protocol import mean_and_error
from textkin._base import abbreviate
from textkin.explain import clean

__all__ = ["Results"]

_FORMAT = 1
_RECORD = {"format": int, "experiment": str, "quick": bool, "run": dict, "cells": list}
_MOST_BYTES = 1 << 28
_DIGITS = 300  # maximum number of digits of a number
_MARKUP = ("<", "`", "](")
_FIELD = re.compile(r"\{([^{}|]+)\|([^{}|]+)\|([^{}|:]+)(?::([^{}]*))?\}")


@dataclass(frozen=True)
class Results:
    """Results of one experiment.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    cells : tuple of Outcome
        Computed cells, in the order of the experiment, including failed cells.
    quick : bool
        If True, the data were cut, and the numbers only show that the experiment runs.
    run : mapping
        Command, machine, versions, commit, and elapsed seconds.

    Examples
    --------
    >>> first = Outcome("r8", "WMD", 0, {"error": 3.0})
    >>> found = Results("knn", (first, Outcome("r8", "WMD", 1, {"error": 5.0})))
    >>> found.mean("WMD", "r8", "error"), found.error("WMD", "r8", "error")
    (4.0, 1.0)
    >>> found.said("WMD errs on {WMD|r8|error:.1f} % of r8, and on {WMD|20news|error} of 20news.")
    'WMD errs on 4.0 % of r8, and on (not measured) of 20news.'
    """

    experiment: str
    cells: tuple[Outcome, ...]
    quick: bool = False
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def datasets(self) -> list[str]:
        """Names of data sets, in order of appearance."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def methods(self) -> list[str]:
        """Names of methods, in order of appearance."""
        return list(dict.fromkeys(cell.method for cell in self.cells))

    def outcomes(self, method: str, dataset: str) -> list[Outcome]:
        """Return the cells of a method on a data set, one per split."""
        return [c for c in self.cells if (c.method, c.dataset) == (method, dataset)]

    def values(self, method: str, dataset: str) -> list[Values]:
        """Return the values of each split, without failed splits."""
        return [c.values for c in self.outcomes(method, dataset) if c.values is not None]

    def numbers(self, method: str, dataset: str, measure: str) -> list[float]:
        """Return a number of each split, without splits that do not have it."""
        found = [values.get(measure) for values in self.values(method, dataset)]
        return [float(number) for number in found if isinstance(number, int | float)]

    def mean(self, method: str, dataset: str, measure: str) -> float | None:
        """Return the mean over splits. If no split has the number, return None."""
        numbers = self.numbers(method, dataset, measure)
        return mean_and_error(numbers)[0] if numbers else None

    def error(self, method: str, dataset: str, measure: str) -> float | None:
        """Return the standard error of the mean. With fewer than two splits, return None."""
        numbers = self.numbers(method, dataset, measure)
        return mean_and_error(numbers)[1] if len(numbers) > 1 else None

    def seconds(self, method: str, dataset: str) -> float:
        """Return the CPU time of all splits, in seconds."""
        return math.fsum(cell.cpu_seconds for cell in self.outcomes(method, dataset))

    def said(self, text: str) -> str:
        """Replace ``{method|dataset|measure:.1f}`` in a text by the mean over splits."""

        def filled(found: re.Match[str]) -> str:
            number = self.mean(found[1], found[2], found[3])
            return "(not measured)" if number is None else format(number, found[4] or "g")

        return _FIELD.sub(filled, text)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain JSON."""
        return {
            "format": _FORMAT,
            "experiment": self.experiment,
            "quick": self.quick,
            "run": dict(self.run),
            "cells": [cell.to_dict() for cell in self.cells],
        }

    def save(self, path: Path) -> None:
        """Write the results as JSON, atomically."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        written(path, (text + "\n").encode())

    @classmethod
    def load(cls, path: Path) -> "Results":
        """Read a file written by `save`.

        Raises
        ------
        ValueError
            If the file is not a results file, or if a name in it could be taken for markup.
        """
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError(f"it has more than {_MOST_BYTES} bytes")
            record = json.loads(path.read_text(encoding="utf-8"), parse_int=_whole)
            if not isinstance(record, dict):
                raise TypeError("it is not a JSON object")
            for name, kind in _RECORD.items():
                if not isinstance(record[name], kind):
                    raise TypeError(f"{name!r} is {abbreviate(record[name])}")
            if record["format"] != _FORMAT:
                raise ValueError(f"its format is {record['format']}, not {_FORMAT}")
            cells = tuple(Outcome.from_dict(cell) for cell in record["cells"])
            for cell in cells:
                _check_name("data set", cell.dataset)
                _check_name("method", cell.method)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(
                f"{path} is not a results file of python -m papers ({said}). "
                "Run the experiment again."
            ) from error
        return cls(record["experiment"], cells, record["quick"], record["run"])


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


def _check_name(of: str, name: str) -> None:
    """Raise if a name contains markup or control characters, as untrusted files may have."""
    if name != clean(name) or any(mark in name for mark in _MARKUP):
        raise ValueError(f"{abbreviate(name)} is not a valid name of a {of}")


def joined(many: Iterable[Results]) -> list[Results]:
    """Merge results of the same experiment; later cells replace earlier ones.

    A failed cell does not replace a successful one. Quick results are dropped if there are full
    results of the same experiment.
    """
    by_name: dict[str, list[Results]] = {}
    for results in many:
        by_name.setdefault(results.experiment, []).append(results)
    made = []
    for found in by_name.values():
        full = [results for results in found if not results.quick] or found
        cells: dict[tuple[str, str, int], Outcome] = {}
        for cell in (cell for results in full for cell in results.cells):
            place = cell.dataset, cell.method, cell.split
            if cell.values is not None or place not in cells:
                cells[place] = cell
        last = full[-1]
        made.append(Results(last.experiment, tuple(cells.values()), last.quick, last.run))
    return made
