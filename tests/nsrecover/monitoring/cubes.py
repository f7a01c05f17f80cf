"""Four cubes on a table, of which a tower is built."""

from nsrecover import Plan

SIDE = 0.04
PLACES = {"red": (0.45, -0.1), "green": (0.45, 0.0), "blue": (0.55, 0.1), "grey": (0.6, -0.15)}
PLAN = Plan.parse("top(green, red); top(blue, green)")
Boxes = dict[str, tuple[float, ...] | None]


def table(**changed: tuple[float, ...] | None) -> Boxes:
    """The cubes; those that are named have another centre (x, y, z), or None if they are not visible."""
    centres: Boxes = {name: (*place, SIDE / 2) for name, place in PLACES.items()}
    centres |= changed
    return {name: None if centre is None else (*centre, SIDE, SIDE, SIDE) for name, centre in centres.items()}


def on(name: str, level: int = 1) -> tuple[float, ...]:
    return (*PLACES[name], SIDE / 2 + level * SIDE)
