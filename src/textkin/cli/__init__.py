"""Command line of textkin: parse arguments, call the library, print results."""

from textkin.cli._app import app, main

__all__ = ["app", "main"]
