"""Build an index on many workers, search it exactly, and join it to Parquet.

    python examples/cluster_search.py                                # two local processes
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
    """Write example files."""
    rng = random.Random(0)
    folder.mkdir(parents=True)
    for number in range(60):
        words = rng.choice(THINGS).split()
        lines = [" ".join(rng.choices(words, k=6)) for _ in range(rng.randrange(1, 4))]
        (folder / f"{number:03}.txt").write_text("\n".join(lines))


def main(folder: Path, client: "distributed.Client") -> None:
    """Build, search, and join; only calls with `executor` differ from an ordinary index."""
    write_files(folder / "files")
    workers = client.nthreads()
    print(f"{len(workers)} workers, {sum(workers.values())} threads")

    # Workers read and count files; this process writes the results.
    with tk.Index.create(folder / "demo.kin") as index:
        print("add:", index.add(tk.read(folder / "files"), executor=client))
        index.compact()  # builds a segment, as thousands of documents would

        # Workers open the segments by their paths. Filters, pages, and feedback work as usual.
        spread = ClusterRanking("wmd", client, memory="256MB")
        hits = index.search("a kitten in bed", k=3, ranking=spread)
        for hit in hits:
            print(f"  {hit.score:.3f}  {hit.id}  {hit.snippet(40)}")
        alone = index.search("a kitten in bed", k=3, ranking="wmd")
        print("the same as in one process:", hits.ids == alone.ids)
        print("bit-identical scores:", hits.scores.tobytes() == alone.scores.tobytes())

        # Many queries, or all near pairs, go to Parquet in parts. A second run resumes after
        # them.
        queries = ["shares and profits", "loud guitars", "dogs that bark"]
        found = index.join(queries, folder / "neighbors", k=2, executor=client)
        near = index.near_pairs(1.0, folder / "pairs", executor=client)
        print(f"{found.rows} neighbors of {len(queries)} queries, {near.rows} near pairs")
        again = index.join(queries, folder / "neighbors", k=2, executor=client)
        print("parts written by a second run:", again.made)


if __name__ == "__main__":  # processes of a local cluster import this file first
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    parser.add_argument("--folder", type=Path, help="empty folder that all workers see")
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
