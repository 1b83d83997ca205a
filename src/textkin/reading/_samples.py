"""Sample corpus that needs no download: docstrings of Python's standard library."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

__all__ = ["Docstring", "standard_library_docstrings"]

# Modules with long docstrings; modules that an installation lacks are skipped.
_MODULES = """
    argparse ast base64 bisect calendar cmd collections colorsys concurrent.futures configparser
    contextlib copy csv dataclasses datetime decimal difflib email.message enum filecmp fileinput
    fnmatch fractions ftplib functools getpass gettext glob graphlib gzip heapq html http.client
    http.server imaplib inspect ipaddress json locale logging mailbox mimetypes
    multiprocessing.pool pathlib pdb pickle platform pprint queue random re sched secrets
    selectors shelve shlex shutil smtplib socket sqlite3 ssl statistics string subprocess tarfile
    tempfile textwrap threading timeit tokenize trace traceback types typing unittest.mock
    urllib.parse urllib.request uuid warnings weakref webbrowser xml.etree.ElementTree zipfile
""".split()  # noqa: SIM905 (a list of eighty strings reads worse)


@dataclass(frozen=True, slots=True)
class Docstring:
    """First paragraph of a docstring, with the name of its function or class.

    Attributes
    ----------
    name : str
        Name of the documented object, such as ``shutil.rmtree``.
    text : str
        Paragraph on one line.
    """

    name: str
    text: str


def standard_library_docstrings() -> Iterator[Docstring]:
    """Yield the docstrings of public functions and classes of the standard library.

    The sources are parsed, not imported, so none of their code runs. Takes about a second.

    Yields
    ------
    Docstring
        Docstrings in the order of module names and of the sources.

    Examples
    --------
    >>> corpus = {found.name: found.text for found in standard_library_docstrings()}
    >>> corpus["shutil.rmtree"]
    'Recursively delete a directory tree.'
    """
    for name in _MODULES:
        source = _source(name)
        if source is not None:
            yield from _walk(ast.parse(source), name)


def _source(module: str) -> str | None:
    try:
        spec = find_spec(module)
    except ImportError:  # this installation lacks a parent package
        return None
    get_source = getattr(spec.loader, "get_source", None) if spec is not None else None
    source: str | None = get_source(module) if get_source is not None else None
    return source


def _walk(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str
) -> Iterator[Docstring]:
    docstring = ast.get_docstring(node)
    if docstring:
        yield Docstring(name, " ".join(docstring.split("\n\n")[0].split()))
    for child in node.body:
        if isinstance(
            child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and not child.name.startswith("_"):
            yield from _walk(child, f"{name}.{child.name}")
