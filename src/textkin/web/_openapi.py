"""OpenAPI description with the limits of this server."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fastapi import FastAPI

from textkin.web._limits import Limits

__all__ = ["describe"]

_BOUNDS = {"integer": "maximum", "string": "maxLength", "array": "maxItems"}


def describe(
    app: FastAPI, limits: Limits, names: Callable[[], Mapping[str, Sequence[str]]]
) -> None:
    """Put the limits and the names of this server into the description of an application.

    Parameters
    ----------
    app : FastAPI
        The application.
    limits : Limits
        Limits that fields name by `limited`.
    names : callable
        Returns valid values by the name of their kind, such as ``"rankings"``. They change with
        the index, so each description asks for them.
    """
    make = app.openapi

    def described() -> dict[str, Any]:
        schema = copy.deepcopy(make())
        try:
            known = names()
        except Exception:  # the index is gone, which requests report
            known = {}
        for node in list(_nodes(schema)):
            _bound(node, limits)
            _name(node, known)
        return schema

    app.openapi = described  # type: ignore[method-assign]


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 (JSON)
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _nodes(value)


def _bound(node: dict[str, Any], limits: Limits) -> None:
    name = node.pop("x-limit", None)
    if name is None:
        return
    for one in (node, *node.get("anyOf", ())):
        bound = _BOUNDS.get(one.get("type", ""))
        if bound is not None:
            one[bound] = getattr(limits, name)


def _name(node: dict[str, Any], known: Mapping[str, Sequence[str]]) -> None:
    kind = node.pop("x-names", None)
    if kind in known:
        node["enum"] = list(known[kind])
