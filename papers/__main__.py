"""Entry point of ``python -m papers``."""

import sys

from papers.command import main

if __name__ == "__main__":
    sys.exit(main())
