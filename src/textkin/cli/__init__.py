"""The command line: arguments in, library calls, results out; no logic of its own."""

from textkin.cli._app import app, main

__all__ = ["app", "main"]
