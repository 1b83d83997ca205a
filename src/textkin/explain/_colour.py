"""From cheap to dear in seven steps of colour, told apart by people of any colour vision."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "DARK",
    "GROUPS_DARK",
    "GROUPS_LIGHT",
    "LEVELS",
    "LIGHT",
    "CostScale",
    "Rgb",
    "hexadecimal",
]

LEVELS = 7

Rgb = tuple[int, int, int]

# Blue to vermilion over a neutral grey: these ends differ in every common kind of colour
# blindness (Okabe and Ito 2002). On a dark ground both are lighter.
_LIGHT_STOPS: tuple[Rgb, Rgb, Rgb] = ((0, 114, 178), (150, 146, 158), (205, 84, 0))
_DARK_STOPS: tuple[Rgb, Rgb, Rgb] = ((86, 180, 233), (152, 148, 158), (240, 150, 50))


def _ramp(stops: tuple[Rgb, Rgb, Rgb]) -> tuple[Rgb, ...]:
    cheap, middle, dear = stops
    half = (LEVELS - 1) / 2
    colours = []
    for level in range(LEVELS):
        start, end = (cheap, middle) if level <= half else (middle, dear)
        part = level / half if level <= half else (level - half) / half
        colours.append(
            (
                round(start[0] + (end[0] - start[0]) * part),
                round(start[1] + (end[1] - start[1]) * part),
                round(start[2] + (end[2] - start[2]) * part),
            )
        )
    return tuple(colours)


LIGHT = _ramp(_LIGHT_STOPS)
DARK = _ramp(_DARK_STOPS)

# Eight kinds of things, after Okabe and Ito; their yellow is too pale for a light ground.
GROUPS_LIGHT: tuple[Rgb, ...] = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (122, 106, 0),
    (92, 92, 104),
)
GROUPS_DARK: tuple[Rgb, ...] = (
    (74, 163, 223),
    (240, 127, 60),
    (47, 195, 154),
    (227, 163, 198),
    (245, 192, 74),
    (143, 208, 245),
    (217, 207, 74),
    (184, 184, 196),
)


def hexadecimal(colour: Rgb) -> str:
    """Return a colour as ``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


@dataclass(frozen=True, slots=True)
class CostScale:
    """The costs that the ends of the colours stand for."""

    low: float
    high: float

    @classmethod
    def of(cls, costs: Iterable[float]) -> "CostScale":
        """Span the costs that are not zero."""
        paid = [cost for cost in costs if cost > 0]
        return cls(min(paid, default=0.0), max(paid, default=0.0))

    def level(self, cost: float) -> int:
        """Return the step of a cost, 0 (cheap) to `LEVELS` - 1 (dear)."""
        if self.high <= self.low:
            return (LEVELS - 1) // 2
        part = (cost - self.low) / (self.high - self.low)
        return min(LEVELS - 1, max(0, int(part * LEVELS)))
