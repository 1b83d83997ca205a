"""``textkin serve``: an HTTP API and a page to explore an index."""

import ipaddress
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._opened import documents_told, opened_index
from textkin.cli._printing import note

if TYPE_CHECKING:
    from textkin.index import Index
    from textkin.web import Settings

__all__ = ["serve"]

_TOKEN = "TEXTKIN_TOKEN"
_LONGEST_TOKEN = 10_000


def serve(
    index: Annotated[
        Path | None, typer.Argument(metavar="INDEX", help="The folder of an index.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve the docstrings of Python's own library.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is everywhere.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Which port; 0 is any that is free.")
    ] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help=f"Who has the token in it may write; also the variable {_TOKEN}."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What the page calls the collection.")] = "",
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No line for each request.")] = False,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, max=3600, help="How long a request may take.")
    ] = 30.0,
    max_searches: Annotated[
        int, typer.Option(min=1, max=256, help="Searches at once; others wait.")
    ] = 8,
    max_body: Annotated[int, typer.Option(min=1000, help="Bytes of a request.")] = 2_000_000,
    max_text: Annotated[
        int, typer.Option(min=1, help="Characters of a document that is added.")
    ] = 200_000,
    max_query: Annotated[int, typer.Option(min=1, help="Characters of a query.")] = 20_000,
    max_k: Annotated[int, typer.Option("--max-k", min=1, help="Hits of a page.")] = 200,
    max_map: Annotated[int, typer.Option(min=1, help="Documents on the map.")] = 20_000,
) -> None:
    """Explore an index in a browser, or ask it over HTTP.

    Everybody who reaches the address may read; writing needs a token. The address is that of this
    machine alone, unless --host says otherwise. Ctrl-C ends it.
    """
    if (index is None) == (not demo):
        raise ValueError("Name the folder of an INDEX, or pass --demo; not both.")
    from textkin.web._needed import needs_web

    needs_web()
    from textkin.run import working
    from textkin.web._ending import told_to_end

    with told_to_end() as ending:
        with working("Loading"):
            from textkin.web import Settings
            from textkin.web._serving import listening
            from textkin.web._serving import serve as serve_index
            from textkin.web._settings import LOOPBACK, Limits

        limits = Limits(
            seconds=max_seconds,
            searches=max_searches,
            body=max_body,
            text=max_text,
            query=max_query,
            k=max_k,
            map=max_map,
        )
        token = _token(token_file)
        with listening(host, port) as made:
            loopback = _is_loopback(made.getsockname()[0])
            settings = Settings(
                title=title or ("The Python standard library" if demo else ""),
                token=token,
                hosts=(*LOOPBACK, host.lower()) if loopback else None,
                limits=limits,
            )
            address = _address(host, made.getsockname()[1])
            with _opened(index) as opened, _logging(quiet=quiet):
                _tell(opened, settings, address, loopback=loopback)
                ended = serve_index(
                    opened,
                    settings,
                    made,
                    started=lambda: _open(address) if open_page else None,
                    ending=ending,
                )
    typer.echo("textkin: ended.", err=True)
    if not ended:  # a computation that cannot be stopped would keep the process
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@contextmanager
def _opened(index: Path | None) -> Iterator["Index"]:
    if index is not None:
        with opened_index(index) as opened:
            yield opened
        return
    from textkin.run import working
    from textkin.web._demo import demo_index

    with working("Reading the standard library"):
        made = demo_index()
        opened = made.__enter__()
    try:
        yield opened
    finally:
        made.__exit__(None, None, None)


def _token(file: Path | None) -> str | None:
    """Return the token of writers, from a file or the environment; never from the command line.

    Whoever lists processes sees the command line.
    """
    if file is None:
        return os.environ.get(_TOKEN) or None
    with file.open(encoding="utf-8") as opened:
        token = opened.read(_LONGEST_TOKEN).strip()
    if not token:
        raise ValueError(f"{file} is empty; it must hold the token on one line.")
    return token


def _tell(opened: "Index", settings: "Settings", address: str, *, loopback: bool) -> None:
    name = settings.title or opened.path.name
    typer.echo(f"textkin: {name}, {documents_told(len(opened))}, at {address}  (Ctrl-C ends it)")
    if not settings.writable:
        note(
            f"nobody can write: no token. --token-file FILE, or the variable {_TOKEN}, lets those "
            "write who have it."
        )
    if not loopback:
        note(
            "everybody who reaches this machine can read all documents, and the connection is not "
            "encrypted. Put a server with TLS and a password before it, or leave --host out."
        )


def _is_loopback(address: str) -> bool:
    """Return whether only this machine reaches an address, however --host has called it."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def _open(address: str) -> None:
    import webbrowser

    # Some browsers run in the terminal, and come back only when they are left.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


@contextmanager
def _logging(*, quiet: bool) -> Iterator[None]:
    """Write a line for each request, and what goes wrong, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    loggers = [logging.getLogger(name) for name in ("textkin.web", "uvicorn")]
    for logger in loggers:
        logger.addHandler(handler)
    before = loggers[0].level
    loggers[0].setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        loggers[0].setLevel(before)
        for logger in loggers:
            logger.removeHandler(handler)
