"""The tables of the model, as Markdown."""

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
BATCH = 256  # queries that are asked together
PER_DOCUMENT = 1e6  # nanoseconds of a millisecond


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table."""
    return "\n".join(lines(heads, rows))


def bytes_of(value: float) -> str:
    """Return bytes with a unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5:
            return f"{number(value)} {unit}"
        value /= 1e3
    return f"{number(value)} TB"


def duration(seconds: float) -> str:
    """Return seconds with a unit."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= 1.5 * size or unit == "s":
            return (
                f"{number(seconds / size)} {unit}"
                if seconds >= 1
                else f"{number(1e3 * seconds)} ms"
            )
    raise AssertionError


def power(law: Power) -> str:
    """Return a power law in words."""
    return f"{number(law.scale)} n^{law.exponent:z.2f}"


def growth_table(known: Known) -> str:
    """Return what was measured, and its figures."""
    shown = growth_report.pictures(known.measured, "images")
    return f"{growth_report.table(known.measured)}\n\n{known.where}\n\n{shown}"


def parameters(known: Known) -> str:
    """Return what the model rests on."""
    rows: list[tuple[str, Callable[[Collection], str]]] = [
        ("largest size measured", lambda c: f"{c.largest:,}"),
        ("table of a query, ms", lambda c: number(c.table)),
        ("bound and order, ns a document", lambda c: number(PER_DOCUMENT * c.scan.rate)),
        ("refining, µs a document", lambda c: number(1e3 * c.refine)),
        ("solving, µs a document", lambda c: number(1e3 * c.solve)),
        ("refined of n", lambda c: power(c.refined)),
        ("solved of n", lambda c: power(c.solved)),
        (
            "different words of n",
            lambda c: f"{number(c.words.known)} + {power(c.words.names)}",
        ),
        ("slowest block of a round, times the mean", lambda c: number(c.slowest)),
        ("different words a document", lambda c: number(c.entries)),
        ("text, bytes a document", lambda c: number(c.text)),
        ("catalogue, bytes a document", lambda c: number(c.catalogue)),
        ("segments, bytes a document", lambda c: number(c.segments)),
        ("reading and counting, µs a document", lambda c: number(1e6 * c.counting)),
        ("writing, µs a document", lambda c: number(1e6 * c.writing)),
        ("BM25, ns a document", lambda c: number(PER_DOCUMENT * c.bm25.rate)),
        ("word vectors", lambda c: bytes_of(c.vectors)),
    ]
    found = known.collections
    table = markdown(
        ["", *(c.name for c in found)], [[name, *(make(c) for c in found)] for name, make in rows]
    )
    cluster = known.cluster
    return (
        f"{table}\n\nOf the cluster: the scheduler takes {number(cluster.task)} ms for a task, a "
        f"round of tasks {number(cluster.latency)} ms to go out and come back; links of "
        f"{bytes_of(cluster.network)}/s; {bytes_of(cluster.query_bytes)} out and "
        f"{bytes_of(cluster.answer_bytes)} back with a task, besides 16 bytes a hit."
    )


def checks_table(checks: Sequence[Check]) -> str:
    """Return predictions beside measurements."""
    if not checks:
        return "Not measured yet."
    rows = [
        [check.what, number(check.predicted), number(check.measured), f"{100 * check.error:+.0f} %"]
        for check in checks
    ]
    return markdown(["", "predicted", "measured", "error"], rows)


def each(known: Known) -> list[tuple[Collection, int]]:
    """Return collections in all sizes of the tables, but for the one that checks the cluster."""
    shown = [what for what in known.collections if what.name != LIKE_CLUSTER]
    return [(what, n) for what in shown for n in SIZES]


def search_table(known: Known) -> str:
    """Return milliseconds of a query by WMD, and what it looks at and moves."""
    heads = [
        "documents, workers",
        *PARTS,
        "ms a query",
        "times faster",
        "in a batch",
        "refined",
        "solved",
        "moved",
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
    """Return what a worker needs, and what travels once."""
    parts = ("vectors", "search", "candidates", "words", "rows", "total")
    heads = [
        "documents, workers",
        *parts,
        "index on the disk",
        "first query",
        "BM25, ms",
        "its state, all workers",
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
    """Return how long building takes, and what bounds it."""
    heads = [
        "documents",
        "one process",
        "16 workers",
        "reading and counting alone, 16",
        "writer alone",
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
    """Return milliseconds of a query on accelerators."""
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
    heads = ["documents, devices", "work, ms", "a device", "fits", "streamed, ms", "ms a query"]
    return markdown(heads, rows)


def limits_table(known: Known) -> str:
    """Return how many workers are worth having."""
    heads = [
        "documents",
        "ms alone",
        "workers at half efficiency",
        "ms with them",
        "workers with the least time",
        "ms with them",
        "solves before limits arrive",
        "of all solves",
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
    """Return what is not measured yet."""
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
