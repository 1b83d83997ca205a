"""Random changes of valid inputs, on the level of bytes, JSON values, and words."""

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any

__all__ = ["VALUES", "mutate_bytes", "mutate_json", "mutate_words"]

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    10**400,
    1.5,
    -0.0,
    1e-320,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\0",
    "\ud800",
    "../../x",
    "a" * 5000,
    [],
    {},
    [[]],
    [1, "x", None],
    {"class": "PLSA"},
)
_PIECES = (
    b"\0",
    b"\xff" * 8,
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r\n",
    b'"',
    b"{",
    b"]",
    b",",
    b"\t",
    b"-1",
    b"0",
    b"nan",
    b"1e999",
    b"99999999999",
    b"\xed\xa0\x80",
    b"\\u0000",
)


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """Change a few places of the data."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at:]
        elif kind == 2:
            changed[at:at] = rng.choice(_PIECES)
        elif kind == 3:
            piece = rng.choice(_PIECES)
            changed[at : at + len(piece)] = piece
        elif kind == 4:
            changed[at:at] = changed[at : at + rng.randrange(1, 40)] * rng.choice((1, 2, 50))
        elif kind == 5:
            del changed[at : at + rng.randrange(1, 20)]
        elif kind == 6:
            changed[at : at + 8] = rng.randbytes(rng.randrange(1, 9))
    return bytes(changed)


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """List each place of a JSON value as its container and key."""
    found = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        pairs = (
            list(node.items())
            if isinstance(node, dict)
            else list(enumerate(node))
            if isinstance(node, list)
            else []
        )
        for key, inner in pairs:
            found.append((node, key))
            waiting.append(inner)
    return found


def _value(rng: Random) -> Any:
    """Choose a value; a copy, because a later change may change a list or an object."""
    return copy.deepcopy(rng.choice(VALUES))


def mutate_json(rng: Random, value: Any) -> Any:
    """Replace, delete, rename, or duplicate a few nodes of a JSON value; return the changed one."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        nodes = _nodes(value)
        if not nodes:
            return _value(rng)
        node, key = rng.choice(nodes)
        kind = rng.randrange(8)
        if kind == 0:
            del node[key]
        elif kind == 1:
            holder, other = rng.choice(nodes)
            if key in node if isinstance(node, dict) else key < len(node):
                found = holder.get(other) if isinstance(holder, dict) else None
                node[key] = json.loads(json.dumps(found))
        elif kind == 2 and isinstance(node, dict):
            node[rng.choice(("", "x", "class", str(key).upper()))] = node.pop(key)
        elif kind == 3 and isinstance(node, list):
            node.insert(key, node[key])
        elif kind == 4 and isinstance(node[key], int | float) and node[key] == node[key]:
            number = node[key]
            small = float(number) if abs(number) < 1e300 else 0.5  # float() has a limit
            node[key] = rng.choice((number + 1, -number, number * 1000, small, str(number)))
        else:
            node[key] = _value(rng)
    return value


def mutate_words(rng: Random, data: bytes, words: Sequence[str]) -> bytes:
    """Insert, delete, repeat, or replace words; sometimes change bytes, too."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data)
    parts = data.decode("utf-8", "surrogateescape").split(" ")
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(parts) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            parts.insert(at, rng.choice(words))
        elif kind == 1 and at < len(parts):
            parts[at] = rng.choice(words)
        elif kind == 2:
            del parts[at : at + 1]
        else:
            parts[at:at] = parts[at : at + rng.randrange(1, 5)] * rng.choice((1, 1, 20))
    return " ".join(parts).encode("utf-8", "surrogateescape")
