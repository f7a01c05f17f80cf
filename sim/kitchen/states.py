"""What is true of things and appliances besides their poses: contents, heat, dirt, and whether they are whole."""

from __future__ import annotations

from dataclasses import dataclass

ROOM_C = 21.0
"""Temperature of the room, degrees Celsius."""


@dataclass(frozen=True)
class ObjectState:
    """State of one thing or fixture; fields that do not apply keep their defaults.

    Attributes:
        temperature_c: of the thing with its contents.
        liquid: kind of its liquid, see `LIQUIDS` of the household domain; empty for none.
        volume_l: of the liquid, litres.
        dirty: whether it has stains.
        cooked: 0 raw, 1 cooked or toasted, 2 burnt.
        cracked: an egg whose shell is open.
        sliced: whether it has been cut; its slices are separate things.
        broken: whether it lies in pieces.
        opened: position of its door or drawer, as a share of the travel.
        open: whether it counts as open.
        on: whether it runs.
    """

    temperature_c: float = ROOM_C
    liquid: str = ""
    volume_l: float = 0.0
    dirty: bool = False
    cooked: float = 0.0
    cracked: bool = False
    sliced: bool = False
    broken: bool = False
    opened: float = 0.0
    open: bool = False
    on: bool = False
