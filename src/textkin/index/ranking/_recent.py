"""What was used last is kept, within a bound of memory."""

from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

__all__ = ["Recent"]

_MOST_KEPT = 1000  # things, however small
_KEPT = 1000  # bytes of each, empty: a field that nobody has takes memory too
_OF_KEY = 50  # bytes for each character of a key: a filter is made of many small objects


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_Kept = TypeVar("_Kept", bound=_Sized)
_Key = TypeVar("_Key")


class Recent(Generic[_Key, _Kept]):
    """What was used last, up to so many bytes with its keys, and always the very last.

    Parameters
    ----------
    most : int
        The bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[_Key, tuple[_Kept, int]] = OrderedDict()

    def get(self, key: _Key) -> _Kept | None:
        """Return what is kept under a key, if it still is."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: _Key, value: _Kept) -> None:
        """Keep something, in place of what was not used for longest."""
        self._kept[key] = value, _KEPT + _OF_KEY * len(str(key))
        self._kept.move_to_end(key)
        size = sum(kept.nbytes + own for kept, own in self._kept.values())
        while len(self._kept) > 1 and (size > self._most or len(self._kept) > _MOST_KEPT):
            kept, own = self._kept.popitem(last=False)[1]
            size -= kept.nbytes + own
