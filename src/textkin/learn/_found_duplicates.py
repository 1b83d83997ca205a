"""What both answers of `find_duplicates` are: a sequence that draws itself."""

from abc import abstractmethod
from collections.abc import Sequence
from operator import index as whole_number
from typing import TypeVar, overload

from textkin._validation import integer
from textkin.learn._compared import Compared
from textkin.learn._duplicates_drawing import Table, tables_html, tables_page, tables_text
from textkin.transport import PairBlock

__all__ = ["FoundDuplicates"]

_Item = TypeVar("_Item")


class FoundDuplicates(Sequence[_Item]):
    """A sequence whose items are made when they are looked at, and that draws itself."""

    _compared: Compared
    _pairs: PairBlock | None

    @abstractmethod
    def _made(self, at: int) -> _Item:
        """Return an item."""

    @overload
    def __getitem__(self, at: int) -> _Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[_Item]: ...
    def __getitem__(self, at: int | slice) -> _Item | list[_Item]:
        places = range(len(self))
        if isinstance(at, slice):
            return [self._made(place) for place in places[at]]
        try:
            return self._made(places[whole_number(at)])
        except IndexError:
            raise IndexError(f"there are {len(self)}; got position {at}") from None

    @property
    def n_documents(self) -> int:
        """How many documents were looked at."""
        return self._compared.n_documents

    @property
    def by(self) -> str:
        """What was compared: "text", "bag" or the name of a metric."""
        return self._compared.by

    @property
    def threshold(self) -> float | None:
        """The largest distance of duplicates; None where they are equal."""
        return self._compared.threshold

    @property
    def pairs(self) -> PairBlock:
        """The pairs that were found, by positions; of documents that are equal the first only.

        Raises
        ------
        ValueError
            If there were too many to keep, more than 33 million.
        """
        if self._pairs is None:
            raise ValueError(
                f"There are more pairs within {self._compared.said()} than are kept; choose a "
                "smaller threshold. Groups and counts are complete."
            )
        return self._pairs

    @abstractmethod
    def _head(self) -> str:
        """Return a line that sums it up."""

    @abstractmethod
    def _tables(self, limit: int) -> tuple[list[Table], str]:
        """Return what is shown, and what is said of the rest."""

    def to_text(self, *, limit: int = 10, width: int = 80) -> str:
        """Draw what was found as lines of text.

        Parameters
        ----------
        limit : int, default=10
            How many groups, or repeated documents, to show, and how many members of each.
        width : int, default=80
            Columns to fill, at least 40.

        Returns
        -------
        str
            Lines without a newline at the end. Control characters of documents are replaced.
        """
        integer(1).check("limit", limit)
        return tables_text(self._head(), *self._tables(limit), width=width)

    def to_html(self, *, limit: int = 100) -> str:
        """Return a page with what was found; it needs nothing from outside.

        Parameters
        ----------
        limit : int, default=100
            How many groups, or repeated documents, to show, and how many members of each.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        return tables_page(self._head(), *self._tables(limit))

    def __repr__(self) -> str:
        return self._head()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return tables_html(self._head(), *self._tables(10))
