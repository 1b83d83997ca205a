"""Search on a GPU by the Relaxed Word Mover's Distance, without exact distances."""

import numpy as np

from textkin.run import ProgressCallback
from textkin.transport.gpu._corpus import DeviceCorpus
from textkin.transport.gpu._matrices import Side, relaxed
from textkin.transport.gpu._search import DeviceHits, DeviceRequest, hide

__all__ = ["rank"]


def rank(
    corpus: DeviceCorpus,
    wanted: DeviceRequest,
    side: Side,
    progress: ProgressCallback | None = None,
) -> DeviceHits:
    """Find the documents with the smallest Relaxed Word Mover's Distance to each query.

    Parameters
    ----------
    corpus : DeviceCorpus
        Documents.
    wanted : DeviceRequest
        Search request; queries without words find nothing.
    side : {"both", "query", "document"}
        Side of the relaxation; see `relaxed_matrix`.
    progress : callable, optional
        Function that is called with (queries done, number of queries).

    Returns
    -------
    DeviceHits
        Hits by bound, then by row.
    """
    import torch

    found = DeviceHits.nothing(len(wanted.queries))
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
                # The best k, and all ties with the last of them.
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
