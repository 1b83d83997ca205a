"""Tables of the model as Markdown."""

from collections.abc import Callable, Sequence

import growth_report
from growth_report import number
from markdown_tables import lines
from scaling_checks import Check
from scaling_laws import Collection, Power
from scaling_model import (
    best_workers,
    bm25_on,
    build_on,
    half_efficient,
    memory_on,
    query_alone,
    query_on,
    query_on_devices,
)
from scaling_results import LIKE_CLUSTER, Known

SIZES = (100_000_000, 1_000_000_000)
WORKERS = (1, 16, 64, 256, 1024)
PARTS = ("table", "scan", "refine", "solve", "tasks", "network")
DEVICES = (1, 8, 64)
BATCH = 256  # queries per batch
PER_DOCUMENT = 1e6  # nanoseconds per millisecond


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    return "\n".join(lines(heads, rows))


def bytes_of(value: float) -> str:
    """Format bytes with a unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{number(value)} {unit}"
        value /= 1e3
    return f"{number(value)} TB"


def duration(seconds: float) -> str:
    """Format seconds with a unit."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= 1.5 * size or unit == "s":
            return (
                f"{number(seconds / size)} {unit}"
                if seconds >= 1
                else f"{number(1e3 * seconds)} ms"
            )
    raise AssertionError


def power(law: Power) -> str:
    """Format a power law."""
    return f"{number(law.scale)} n^{law.exponent:z.2f}"


def growth_table(known: Known) -> str:
    """Return the measurements with their figures."""
    shown = growth_report.pictures(known.measured, "images")
    return f"{growth_report.table(known.measured)}\n\n{known.where}\n\n{shown}"


def parameters(known: Known) -> str:
    """Return the parameters of the model."""
    rows: list[tuple[str, Callable[[Collection], str]]] = [
        ("largest size measured", lambda c: f"{c.largest:,}"),
        ("table per query (ms)", lambda c: number(c.table)),
        ("bound and sorting (ns per document)", lambda c: number(PER_DOCUMENT * c.scan.rate)),
        ("refining (µs per document)", lambda c: number(1e3 * c.refine)),
        ("solving (µs per document)", lambda c: number(1e3 * c.solve)),
        ("refined documents of n", lambda c: power(c.refined)),
        ("solved documents of n", lambda c: power(c.solved)),
        (
            "distinct words of n documents",
            lambda c: f"{number(c.words.known)} + {power(c.words.names)}",
        ),
        ("slowest block of a round (ratio to the mean)", lambda c: number(c.slowest)),
        ("distinct words per document", lambda c: number(c.entries)),
        ("text (bytes per document)", lambda c: number(c.text)),
        ("catalog (bytes per document)", lambda c: number(c.catalogue)),
        ("segments (bytes per document)", lambda c: number(c.segments)),
        ("reading and counting (µs per document)", lambda c: number(1e6 * c.counting)),
        ("writing (µs per document)", lambda c: number(1e6 * c.writing)),
        ("BM25 (ns per document)", lambda c: number(PER_DOCUMENT * c.bm25.rate)),
        ("word vectors", lambda c: bytes_of(c.vectors)),
    ]
    found = known.collections
    table = markdown(
        ["", *(c.name for c in found)], [[name, *(make(c) for c in found)] for name, make in rows]
    )
    cluster = known.cluster
    return (
        f"{table}\n\nCluster: the scheduler takes {number(cluster.task)} ms per task, the round "
        f"trip of a round of tasks {number(cluster.latency)} ms; links of "
        f"{bytes_of(cluster.network)}/s; {bytes_of(cluster.query_bytes)} sent and "
        f"{bytes_of(cluster.answer_bytes)} received per task, plus 16 bytes per hit."
    )


def checks_table(checks: Sequence[Check]) -> str:
    """Return predictions and measurements."""
    if not checks:
        return "Not measured yet."
    rows = [
        [check.what, number(check.predicted), number(check.measured), f"{100 * check.error:+.0f} %"]
        for check in checks
    ]
    return markdown(["", "predicted", "measured", "error"], rows)


def each(known: Known) -> list[tuple[Collection, int]]:
    """Return collections in all sizes of the tables, without the one that checks the cluster."""
    shown = [what for what in known.collections if what.name != LIKE_CLUSTER]
    return [(what, n) for what in shown for n in SIZES]


def search_table(known: Known) -> str:
    """Return milliseconds of a query by WMD, its work, and its transfers."""
    heads = [
        "documents, workers",
        *PARTS,
        "ms per query",
        "speedup",
        "in a batch",
        "refined",
        "solved",
        "transferred",
    ]
    rows = []
    for what, n in each(known):
        alone = query_alone(what, n)["total"]
        for workers in WORKERS:
            found = query_on(what, n, workers, known.cluster)
            rows.append(
                [
                    f"{what.name}, {n:,}, {workers:,}",
                    *(number(found[part]) for part in PARTS),
                    number(found["total"]),
                    number(alone / found["total"]),
                    number(query_on(what, n, workers, known.cluster, BATCH)["total"]),
                    number(round(found["refined"])),
                    number(round(found["solved"])),
                    bytes_of(found["moved"]),
                ]
            )
    return markdown(heads, rows)


def memory_table(known: Known) -> str:
    """Return the memory of a worker, and the bytes sent once."""
    parts = ("vectors", "search", "candidates", "words", "rows", "total")
    heads = [
        "documents, workers",
        *parts,
        "index on disk",
        "first query",
        "BM25, ms",
        "BM25 state, all workers",
    ]
    rows = []
    for what, n in each(known):
        for workers in WORKERS:
            found = memory_on(what, n, workers, known.cluster)
            words = bm25_on(what, n, workers, known.cluster)
            rows.append(
                [
                    f"{what.name}, {n:,}, {workers:,}",
                    *(bytes_of(found[part]) for part in parts),
                    bytes_of(found["disk"]),
                    duration(found["first"] / 1e3),
                    number(words["total"]),
                    bytes_of(words["state"]),
                ]
            )
    return markdown(heads, rows)


def build_table(known: Known) -> str:
    """Return the time of building, and its bottleneck."""
    heads = [
        "documents",
        "one process",
        "16 workers",
        "reading and counting only, 16",
        "writer only",
        "to the writer",
    ]
    rows = []
    for what, n in each(known):
        one, many = (build_on(what, n, workers, known.cluster) for workers in (0, 16))
        rows.append(
            [
                f"{what.name}, {n:,}",
                duration(one["total"]),
                duration(many["total"]),
                duration(many["counting"]),
                duration(many["writing"]),
                bytes_of(many["moved"]),
            ]
        )
    return markdown(heads, rows)


def device_table(known: Known) -> str:
    """Return milliseconds of a query on GPUs."""
    device = known.device
    if device is None:
        return "Not measured yet."
    rows = []
    for n in SIZES:
        for devices in DEVICES:
            found = query_on_devices(device, n, devices, BATCH)
            rows.append(
                [
                    f"{device.collection}, {n:,}, {devices}",
                    number(found["work"]),
                    bytes_of(found["bytes"]),
                    "yes" if found["fits"] else "no",
                    number(found["streamed"]),
                    number(found["total"]),
                ]
            )
    heads = [
        "documents, GPUs",
        "work (ms)",
        "bytes per GPU",
        "fits",
        "streamed (ms)",
        "ms per query",
    ]
    return markdown(heads, rows)


def limits_table(known: Known) -> str:
    """Return useful numbers of workers."""
    heads = [
        "documents",
        "ms in one process",
        "workers at half efficiency",
        "ms with these",
        "fastest number of workers",
        "ms with these",
        "solved before limits arrive",
        "share of all solved",
    ]
    rows = []
    for what, n in each(known):
        half, most = (choose(what, n, known.cluster) for choose in (half_efficient, best_workers))
        times = [query_on(what, n, workers, known.cluster) for workers in (half, most)]
        rows.append(
            [
                f"{what.name}, {n:,}",
                number(query_alone(what, n)["total"]),
                f"{half:,}",
                number(times[0]["total"]),
                f"{most:,}",
                number(times[1]["total"]),
                number(round(times[1]["blind"])),
                f"{100 * times[1]['blind'] / times[1]['solved']:.0f} %",
            ]
        )
    return markdown(heads, rows)


def missing_lines(known: Known) -> str:
    """Return missing measurements."""
    return "\n".join(f"- {line}" for line in known.missing) or "Nothing."


TABLES: dict[str, Callable[[Known], str]] = {
    "growth": growth_table,
    "scaling-parameters": parameters,
    "scaling-checks": lambda known: checks_table(known.checks),
    "scaling-rounds": lambda known: checks_table(known.rounds),
    "scaling-workers": lambda known: checks_table(known.workers),
    "scaling-search": search_table,
    "scaling-memory": memory_table,
    "scaling-build": build_table,
    "scaling-devices": device_table,
    "scaling-limits": limits_table,
    "scaling-missing": missing_lines,
}
