"""The OpenAPI description, with the limits of this server in it."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from textkin.web._settings import Limits

__all__ = ["describe"]

_BOUNDS = {"integer": "maximum", "string": "maxLength", "array": "maxItems"}


def describe(app: FastAPI, limits: Limits) -> None:
    """Let the description of an application name the limits in place of their names."""
    make = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = make()
            for node in list(_nodes(schema)):
                _bound(node, limits)
            app.openapi_schema = schema
        return app.openapi_schema

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
