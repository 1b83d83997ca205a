"""Command line of textkin."""

from textkin.cli._app import app, main

__all__ = ["app", "main"]
