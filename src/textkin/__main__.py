"""``python -m textkin`` is the ``textkin`` command."""

import sys

from textkin.cli import main

if __name__ == "__main__":
    sys.exit(main())
