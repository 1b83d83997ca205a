"""Entry point of ``python -m textkin``, which is the same as the command ``textkin``."""

import sys

__all__ = ["run"]

_INTERRUPTED = 130  # exit code, as for a shell


def run() -> int:
    """Run the command line; Ctrl-C during start-up prints one line instead of a traceback.

    Returns
    -------
    int
        Exit code of `textkin.cli.main`, or 130 after Ctrl-C.
    """
    try:
        from textkin.cli import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("textkin: interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(run())
