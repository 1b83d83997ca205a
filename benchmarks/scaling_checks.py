"""Comparison of the model of scaling_model.py with measurements, and its calibration."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from growth_report import Entry
from scaling_laws import Collection, collection_of, of_surface
from scaling_model import (
    HIT_BYTES,
    Cluster,
    K,
    build_on,
    cut,
    looked_at,
    query_alone,
    query_on,
)
from scipy.optimize import nnls


class Check(NamedTuple):
    """Prediction and measurement."""

    what: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """Error relative to the measurement."""
        return self.predicted / self.measured - 1


def held_out(name: str, measured: Sequence[Entry]) -> list[Check]:
    """Predict the largest size of a collection from the smaller ones.

    Empty if a collection has fewer than three sizes of both interfaces.
    """
    sizes = sorted(
        {e["documents"] for e in of_surface(name, measured, "mover")}
        & {e["documents"] for e in of_surface(name, measured, "index")}
    )
    if len(sizes) < 3:
        return []
    n = sizes[-1]
    what = collection_of(name, [e for e in measured if e["documents"] < n])
    [mover], [index] = (
        [e for e in of_surface(name, measured, surface) if e["documents"] == n]
        for surface in ("mover", "index")
    )
    alone = query_alone(what, n)["total"]
    pairs: dict[str, tuple[float, Any]] = {
        "ms per query by WMD, `WordMover`": (
            alone,
            mover["wmd"]["milliseconds"]["single_processor"],
        ),
        "ms per query by WMD, `Index`": (alone, index["wmd"]["milliseconds"]["single_processor"]),
        "refined per query": (what.refined(n), mover["wmd"]["refined"]["mean"]),
        "solved per query": (what.solved(n), mover["wmd"]["solved"]["mean"]),
        "ms per query by BM25": (what.bm25(n), index["bm25"]["milliseconds"]["single"]["median"]),
        "seconds to build": ((what.counting + what.writing) * n, index["build"]["seconds"]),
        "MB on disk": (
            (what.catalogue + what.segments) * n / 1e6,
            sum(index["bytes"].values()) / 1e6,
        ),
        "distinct words": (what.words(n), index["words"]),
    }
    return [
        Check(f"{name}, {n:,}: {what_}", float(ours), float(theirs))
        for what_, (ours, theirs) in pairs.items()
    ]


def in_rounds(what: Collection, measured: Sequence[Entry]) -> list[Check]:
    """Predict the work of the blocks of each round, for searches that were counted in rounds.

    Only the largest counted size is predicted.
    """
    counted = [e for e in of_surface(what.name, measured, "mover") if "rounds" in e]
    if not counted:
        return []
    n, rounds = counted[-1]["documents"], counted[-1]["rounds"]
    workers = rounds["workers"]
    found = []
    for name, law in (("refined", what.refined), ("solved", what.solved)):
        predicted = looked_at(law, cut(n, workers), workers)
        for at, (ours, theirs) in enumerate(zip(predicted, rounds[name], strict=True), start=1):
            label = f"{what.name}, {n:,}, {workers} workers: {name} by a block of round {at}"
            found.append(Check(label, ours, theirs))
    return found


def on_cluster(what: Collection, found: Any) -> list[Check]:
    """Compare the model, with assumed cluster parameters, with the measurements of cluster.py.

    Parameters
    ----------
    what : Collection
        Documents like the ones of cluster.py.
    found : mapping
        cluster.json.
    """
    n, search, build = found["documents"], found["search"], found["build"]
    checks = [
        Check(
            "ms per query, one process", query_alone(what, n)["total"], _ms(search["one process"])
        ),
        Check(
            "seconds to build, one process",
            build_on(what, n, 0, Cluster())["total"],
            build["one process"]["seconds"],
        ),
    ]
    for name, workers in workers_of(search):
        query = query_on(what, n, workers, Cluster())
        built = build_on(what, n, workers, Cluster())["total"]
        checks += [
            Check(f"ms per query, {workers} workers", query["total"], _ms(search[name])),
            Check(
                f"solved per query, {workers} workers",
                query["solved"],
                search[name]["solved_a_query"],
            ),
            Check(f"seconds to build, {workers} workers", built, build[name]["seconds"]),
        ]
    moved = build["bytes"]["sent"] + build["bytes"]["received"]
    expected = build_on(what, n, 2, Cluster())["moved"]
    checks.append(Check("MB to the writer", expected / 1e6, moved / 1e6))
    return [check._replace(what=f"cluster.py, {n:,}: {check.what}") for check in checks]


def workers_of(search: Any) -> list[tuple[str, int]]:
    """Return the keys of the numbers of workers in cluster.json, and these numbers."""
    names = [name for name in search if name.startswith("workers: ")]
    return [(name, int(name.removeprefix("workers: "))) for name in names]


def calibrated(what: Collection, found: Any) -> Cluster:
    """Return the cluster parameters that explain the times of cluster.py.

    The time of a query with W workers beyond its work is one task for every block and one wait for
    every round; two numbers of workers determine both. Neither is below 0.
    """
    n, search = found["documents"], found["search"]
    counted = search["bytes_a_query"]
    blocks = max(1.0, counted["blocks"])
    cluster = Cluster(
        query_bytes=counted["sent"] / blocks,
        answer_bytes=max(0.0, counted["received"] / blocks - K * HIT_BYTES),
    )
    free = replace(cluster, task=0, latency=0)
    rows, beyond = [], []
    for name, workers in workers_of(search):
        size = cut(n, workers)
        rows.append((size.blocks, size.rounds))
        beyond.append(_ms(search[name]) - query_on(what, n, workers, free)["total"])
    task, latency = nnls(np.array(rows, float), np.array(beyond))[0]
    return replace(cluster, task=float(task), latency=float(latency))


def _ms(place: Any) -> float:
    return float(place["median_ms"])
