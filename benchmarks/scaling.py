"""Tables of the model: 100 million and a billion documents on many workers.

Parameters come from the stored results of growth.py and cluster.py; missing ones are listed with
the assumptions that replace them. The model is scaling_model.py, and docs/scaling.md explains it::

    python benchmarks/scaling.py
    python benchmarks/scaling.py --write docs/scaling.md
"""

import argparse
import sys
from pathlib import Path

from environment import RESULTS
from scaling_results import read
from scaling_tables import TABLES
from table import put_between_markers


def main() -> None:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument(
        "--write",
        type=Path,
        metavar="FILE",
        help="page to write the tables into, between their markers",
    )
    arguments = parser.parse_args()
    known = read(arguments.results)
    if not known.collections:
        sys.exit("scaling.py: " + " ".join(known.missing))
    if arguments.write is None:
        for name, make in TABLES.items():
            print(f"{name}\n\n{make(known)}\n")
        return
    text = arguments.write.read_text(encoding="utf-8")
    try:
        for name, make in TABLES.items():
            text = put_between_markers(text, make(known), name)
    except ValueError as error:
        sys.exit(f"scaling.py: {arguments.write}: {error}.")
    arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
