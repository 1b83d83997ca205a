"""The documents with the least bounds, on a device."""

import numpy as np

from textkin.device._corpus import DeviceCorpus
from textkin.device._matrices import Side, relaxed
from textkin.device._search import Found, Wanted, hide
from textkin.run import ProgressCallback

__all__ = ["rank"]


def rank(
    corpus: DeviceCorpus,
    wanted: Wanted,
    side: Side,
    progress: ProgressCallback | None = None,
) -> Found:
    """Find the documents whose relaxed distance is least, and report it as their distance.

    Parameters
    ----------
    corpus : DeviceCorpus
        The documents.
    wanted : Wanted
        The queries; those without words find nothing.
    side : {"both", "query", "document"}
        See `relaxed_matrix`.
    progress : callable, optional
        Called with the queries done and their number.

    Returns
    -------
    Found
        By bound, then by row.
    """
    import torch

    found = Found.nothing(len(wanted.queries))
    batches = list(corpus.batches(wanted.queries, bytes_of_cost=4))
    done, total = 0, sum(len(batch) for batch in batches)
    for begin, rows in corpus.parts():
        for batch in batches:
            asked = corpus.lay_out(wanted.queries, batch, exactly=True)
            values = relaxed(rows, asked, side).mul_(corpus.table.factor)
            hide(values, rows, wanted, batch.numbers, begin)
            limits = found.limits(batch.numbers, wanted.k, wanted.radius)
            most = torch.tensor(limits, device=corpus.device)[:, None]
            if wanted.k is not None and wanted.k < len(rows):
                # As many as are wanted, and whatever ties with the last of them.
                last = torch.topk(values, wanted.k, dim=1, largest=False).values[:, -1:]
                most = torch.minimum(most, last)
            chosen = (values <= most) & torch.isfinite(values)
            queries, documents = chosen.nonzero(as_tuple=True)
            who = documents.cpu().numpy() + begin
            near = values[queries, documents].cpu().numpy()
            counts = torch.bincount(queries, minlength=len(batch)).cpu().numpy()
            starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            seen = torch.isfinite(values).sum(1).cpu().numpy()
            found.add(batch.numbers, (starts, who, near, seen), wanted.k)
            done += len(batch)
            if progress is not None:
                progress(done // corpus.n_parts, total)
    return found
