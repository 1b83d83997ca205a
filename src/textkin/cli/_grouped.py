"""What ``textkin cluster`` found, as lines, as a table and as a record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from textkin.cli._drawing import Look
from textkin.cli._opened import documents_told
from textkin.cli._output import Output
from textkin.cli._printing import note, one_line
from textkin.learn import DocumentClusters
from textkin.text import Document

__all__ = ["Grouped"]


@dataclass(frozen=True, slots=True)
class Grouped:
    """Documents and their clusters.

    Attributes
    ----------
    clusters : DocumentClusters
        Fitted.
    documents : list of Document
        What it was fitted to.
    settings : dict
        The options, for JSON.
    """

    clusters: DocumentClusters
    documents: list[Document]
    settings: dict[str, Any]

    def show(self, output: Output) -> None:
        """Put it where it was asked for, and sum it up."""
        output.put(
            lines=self._lines,
            record=self._record,
            table=self._table,
            svg=self.clusters.to_svg,
            html=self.clusters.to_html,
        )
        if output.tells_all:
            return
        alone = int((self.clusters.labels_ < 0).sum())
        if alone:
            note(f"{documents_told(alone)} without words to compare: in no cluster (-1).")
        number = len(self.clusters.clusters_)
        typer.echo(
            f"textkin: {documents_told(len(self.documents))} in "
            f"{'1 cluster' if number == 1 else f'{number:,} clusters'}",
            err=True,
        )

    def _lines(self, look: Look) -> Iterator[str]:
        for cluster in self.clusters.clusters_:
            central = self.documents[cluster.central]
            if cluster.number:
                yield ""
            yield (
                f"cluster {cluster.number}, {documents_told(cluster.size)}, {cluster.spread:.4f} "
                "from the centre in the mean"
            )
            room = look.width - 11
            words = ", ".join(word for word, _ in cluster.words)
            if words:
                yield f"  words    {one_line([words], room)}"
            id = one_line([central.id], room) if look.terminal else one_line([central.id], 500)
            yield f"  central  {id}"
            if central.text.strip():
                yield f"           {one_line([central.text], room)}"

    def _table(self) -> Iterator[Sequence[object]]:
        far = [""] * len(self.documents)
        for cluster in self.clusters.clusters_:
            for at, distance in zip(cluster.members, cluster.distances, strict=True):
                far[at] = repr(float(distance))
        yield ["id", "cluster", "distance"]
        for document, label, distance in zip(
            self.documents, self.clusters.labels_.tolist(), far, strict=True
        ):
            yield [document.id, label, distance]

    def _record(self) -> dict[str, Any]:
        return {
            **self.settings,
            "documents": len(self.documents),
            "clusters": [
                {
                    "number": cluster.number,
                    "size": cluster.size,
                    "spread": cluster.spread,
                    "words": [{"word": word, "score": score} for word, score in cluster.words],
                    "central": self.documents[cluster.central].id,
                    "members": [
                        {"id": self.documents[at].id, "distance": float(distance)}
                        for at, distance in zip(cluster.members, cluster.distances, strict=True)
                    ],
                }
                for cluster in self.clusters.clusters_
            ],
            "in_no_cluster": [
                document.id
                for document, label in zip(
                    self.documents, self.clusters.labels_.tolist(), strict=True
                )
                if label < 0
            ],
        }
