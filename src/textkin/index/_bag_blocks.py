"""The counts of an index in parts, each read by whoever works on it."""

from dataclasses import dataclass
from pathlib import Path

from textkin._typing import Bags
from textkin.index._snapshot import Snapshot, open_snapshot

__all__ = ["BagBlock", "bag_blocks"]


@dataclass(frozen=True, slots=True)
class BagBlock:
    """Some rows of the counts of an index: call it to read them.

    It is small, and can be sent to other processes and machines that see the folder.

    Attributes
    ----------
    path : Path
        The index.
    state : int
        The number of its state; of a later one nothing is read.
    part : int
        Which part: the segments in order, then what is in none yet.
    """

    path: Path
    state: int
    part: int

    def __call__(self) -> Bags:
        """Read the rows.

        Raises
        ------
        RuntimeError
            If the index has changed since the blocks were made.
        """
        snapshot = open_snapshot(self.path)
        try:
            if snapshot.state.number != self.state:
                raise RuntimeError(
                    f"{self.path} has changed since its blocks were made, and rows of two states "
                    "do not go together. Make them again (index.bag_blocks()), and let nobody "
                    "write meanwhile."
                )
            return snapshot.bags_of(snapshot.part(self.part))
        finally:
            snapshot.close()


def bag_blocks(snapshot: Snapshot) -> list[BagBlock]:
    """Return a block for each part of a snapshot that has documents."""
    path = snapshot.folder.absolute()
    return [
        BagBlock(path, snapshot.state.number, number)
        for number, part in enumerate(snapshot.parts)
        if part.live.any()
    ]
