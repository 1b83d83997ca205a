"""What `find_duplicates` may be asked for, and what it is told otherwise."""

from typing import Literal, TypeAlias

from textkin._validation import Constraint, one_of, real
from textkin.learn._measures import METRIC
from textkin.transport import TokenMover, WordMover

__all__ = ["EQUAL", "By", "check_by", "check_threshold", "name_of", "refuse", "refuse_one_sided"]

By: TypeAlias = Literal["text", "bag"] | str | WordMover | TokenMover

EQUAL = ("text", "bag")
_ONE_SIDED = ("rwmd-query", "rwmd-document")
_BY: Constraint = one_of(*EQUAL) | METRIC
_TYPICAL = {
    "cosine": "0.1",
    "hellinger": "0.3",
    "jaccard": "0.2",
    "weighted-jaccard": "0.2",
    "l2": "0.4",
    "squared-l2": "0.2",
    "l1": "0.5",
    "edit": "2",
    "wmd": "0.5",
    "rwmd": "0.5",
    "wcd": "0.25",
}


def check_by(by: object) -> None:
    """Refuse what nothing can be compared by."""
    _BY.check("by", by)


def name_of(by: By) -> str:
    """Return the name of what is compared."""
    return by if isinstance(by, str) else type(by).__name__


def check_threshold(threshold: object, by: By) -> None:
    """Refuse a metric without a threshold, equality with one, and what is no distance."""
    if isinstance(by, str) and by in EQUAL:
        if threshold is not None:
            raise ValueError(
                f"by={by!r} finds equal documents and takes no threshold; got {threshold!r}. For "
                "near duplicates choose a metric, such as by='cosine' with threshold=0.1."
            )
        return
    if threshold is None:
        usual = _TYPICAL.get(name_of(by))
        such = f", such as {usual}" if usual else ""
        raise ValueError(
            f"by={name_of(by)!r} needs a threshold, the largest distance of duplicates{such}; "
            "lower it if groups have strangers in them. For equal documents choose by='bag'."
        )
    real(0).check("threshold", threshold)


def refuse_one_sided(by: By) -> None:
    """Refuse metrics that depend on which document of a pair comes first."""
    name = by if isinstance(by, str) else by.algorithm
    if name in _ONE_SIDED:
        raise ValueError(
            f"{name!r} is one-sided: it depends on which document of a pair comes first. Choose "
            "'rwmd' or 'wmd', or ask one set against another."
        )


def refuse(by: str, **given: object) -> None:
    """Refuse arguments that equality has no use for."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for near duplicates; by={by!r} has no use for it.")
