"""Blocks of the document-term matrix of an index, for fits on several processes."""

from dataclasses import dataclass
from pathlib import Path

from textkin._base import Bags
from textkin.index.store._snapshot import Snapshot, open_snapshot

__all__ = ["BagBlock", "bag_blocks"]


@dataclass(frozen=True, slots=True)
class BagBlock:
    """Picklable callable that reads some rows of an index's document-term matrix.

    A block is small, and can be sent to other processes and machines that can read the folder.

    Attributes
    ----------
    path : Path
        Folder of the index.
    state : int
        Number of the snapshot; in a later snapshot, reading raises an error.
    part : int
        Number of the part: the segments in order, then the documents not in a segment yet.
    """

    path: Path
    state: int
    part: int

    def __call__(self) -> Bags:
        """Return the rows of the block as word counts.

        Raises
        ------
        RuntimeError
            If the index has changed since the blocks were made.
        """
        snapshot = open_snapshot(self.path)
        try:
            if snapshot.state.number != self.state:
                raise RuntimeError(
                    f"{self.path} has changed since its blocks were made, and blocks of different "
                    "snapshots do not fit together. Make them again (index.bag_blocks()), and "
                    "write to the index only afterwards."
                )
            return snapshot.bags_of(snapshot.part(self.part))
        finally:
            snapshot.close()


def bag_blocks(snapshot: Snapshot) -> list[BagBlock]:
    """Return a `BagBlock` for each part of a snapshot that has documents."""
    path = snapshot.folder.absolute()
    return [
        BagBlock(path, snapshot.state.number, number)
        for number, part in enumerate(snapshot.parts)
        if part.live.any()
    ]
