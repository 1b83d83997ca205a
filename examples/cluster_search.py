"""One index on many workers: built from files, searched exactly, joined to Parquet.

    python examples/cluster_search.py                                # two processes of this machine
    python examples/cluster_search.py --scheduler tcp://10.0.0.1:8786 --folder /shared/demo

The folder must be reachable under the same path on every worker.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

import textkin as tk
from textkin.index import ClusterRanking

THINGS = (
    "cats dogs kittens puppies purr bark sleep chase fur paws",
    "stocks banks loans profits fell rose market shares prices trade",
    "band guitar concert loud drums singer played songs stage crowd",
)


def write_files(folder: Path) -> None:
    """Write some files, as they might come from anywhere."""
    rng = random.Random(0)
    folder.mkdir(parents=True)
    for number in range(60):
        words = rng.choice(THINGS).split()
        lines = [" ".join(rng.choices(words, k=6)) for _ in range(rng.randrange(1, 4))]
        (folder / f"{number:03}.txt").write_text("\n".join(lines))


def main(folder: Path, client: "distributed.Client") -> None:
    """Build, search and join; all but the calls with `on` is as without a cluster."""
    write_files(folder / "files")
    workers = client.nthreads()
    print(f"{len(workers)} workers, {sum(workers.values())} threads")

    # Workers read and count files; this process writes what they send.
    with tk.Index.create(folder / "demo.kin") as index:
        print("add:", index.add(tk.read(folder / "files"), on=client))
        index.compact()  # makes a segment of them, which thousands of documents do by themselves

        # Workers open the segments by their paths. Any filter, page or feedback works as always.
        spread = ClusterRanking("wmd", client, memory="256MB")
        hits = index.search("a kitten in bed", k=3, by=spread)
        for hit in hits:
            print(f"  {hit.score:.3f}  {hit.id}  {hit.snippet(40)}")
        alone = index.search("a kitten in bed", k=3, by="wmd")
        print("the same as in one process:", hits.ids == alone.ids)
        print("to the last bit:", hits.scores.tobytes() == alone.scores.tobytes())

        # Many queries, or all near pairs: to Parquet, in parts. Run again, it goes on behind them.
        queries = ["shares and profits", "loud guitars", "dogs that bark"]
        found = index.join(queries, folder / "neighbours", k=2, on=client)
        near = index.near_pairs(1.0, folder / "pairs", on=client)
        print(f"{found.rows} neighbours of {len(queries)} queries, {near.rows} near pairs")
        again = index.join(queries, folder / "neighbours", k=2, on=client)
        print("made when it is run again:", again.made)


if __name__ == "__main__":  # processes of a local cluster begin by importing this file
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheduler", help="the address of a Dask scheduler")
    parser.add_argument("--folder", type=Path, help="an empty folder that all workers see")
    arguments = parser.parse_args()
    try:
        import distributed
        import pyarrow  # noqa: F401
    except ImportError as error:
        print(f"This example needs {error.name}: pip install 'textkin[dask,parquet]'")
        sys.exit()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if arguments.scheduler:
            with distributed.Client(arguments.scheduler) as client:
                main(folder, client)
        else:
            cluster = distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0"
            )
            with cluster, distributed.Client(cluster) as client:
                main(folder, client)
