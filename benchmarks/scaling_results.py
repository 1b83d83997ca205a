"""Input of the model from stored results: its parameters, its checks, and what is missing."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scaling_checks import Check, calibrated, held_out, in_rounds, on_cluster
from scaling_laws import Collection, collection_of
from scaling_model import Cluster, Device

BUSY = 2.5  # load average from which a machine counts as busy
LIKE_CLUSTER = "zipf"  # collection of growth.json that corresponds to cluster.json


@dataclass
class Known:
    """Content of the stored results.

    Attributes
    ----------
    collections : list of Collection
        Collections measured in at least two sizes.
    cluster : Cluster
        Cost of workers in addition to their work.
    device : Device or None
        A GPU, if one was measured.
    where : str
        Machine, versions, commit, and command of growth.json.
    measured : list of mapping
        Entries of growth.json.
    checks, rounds, workers : list of Check
        Predictions and measurements: of the largest sizes, of searches in rounds, and of a cluster.
    missing : list of str
        Missing results and the assumptions that replace them.
    """

    collections: list[Collection] = field(default_factory=list)
    cluster: Cluster = field(default_factory=Cluster)
    device: Device | None = None
    where: str = ""
    measured: list[Any] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    rounds: list[Check] = field(default_factory=list)
    workers: list[Check] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def read(results: Path) -> Known:
    """Read the results in a folder, and list missing ones."""
    known = Known()
    growth = _json(results / "growth.json")
    if growth is None:
        known.missing.append("growth.json is not there: python benchmarks/growth.py makes it.")
        return known
    known.measured = growth["measured"]
    versions = ", ".join(f"{name} {growth[name]}" for name in ("textkin", "numpy", "python"))
    known.where = (
        f"{growth['machine']}; {versions}; commit {growth['commit']}; `{growth['command']}`."
    )
    for name in dict.fromkeys(entry["collection"] for entry in known.measured):
        try:
            known.collections.append(collection_of(name, known.measured))
        except ValueError as error:
            known.missing.append(f"{error}.")
            continue
        checks = held_out(name, known.measured)
        known.checks += checks
        known.rounds += in_rounds(known.collections[-1], known.measured)
        if not checks:
            known.missing.append(f"{name}: no prediction, which requires three sizes.")
    loads = [entry["load_average_before"] for entry in known.measured]
    if busy := [load for load in loads if load > BUSY]:
        known.missing.append(
            f"{len(busy)} of {len(loads)} results are from a machine with other work (load "
            f"averages up to {max(busy):.0f}): their elapsed times are too long, also of building."
        )
    _read_cluster(known, _json(results / "cluster.json"))
    _read_device(known, _json(results / "device.json"))
    return known


def _read_cluster(known: Known, found: Any) -> None:
    """Read the cluster parameters from cluster.json, if its documents were measured too."""
    like = [what for what in known.collections if what.name == LIKE_CLUSTER]
    for lacking, how in (
        (found is None, "cluster.json"),
        (not like, f"{LIKE_CLUSTER} of growth.json"),
    ):
        if lacking:
            known.missing.append(f"{how}: the costs of tasks and rounds are assumed.")
            return
    known.workers = on_cluster(like[0], found)
    known.cluster = calibrated(like[0], found)


def _read_device(known: Known, found: Any) -> None:
    """Read ``"scaling"`` of device.json, whose keys are the attributes of `Device`."""
    if found is None or "scaling" not in found:
        known.missing.append("device.json with a GPU: there is no table of GPUs.")
        return
    known.device = Device(**found["scaling"])


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
