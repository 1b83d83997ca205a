"""Command line of textkin: one module per command, over the public library."""

from textkin.cli._app import app, main

__all__ = ["app", "main"]
