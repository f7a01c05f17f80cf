"""Pictures of the fast home from above: furniture, people, the robot, and one object."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from eval.common.demo_result import Picture
from eval.common.video import FRAME_SIZE
from nsrecover.domains.service.kinds import OPERATOR
from sim.home.world import FastHome

_MARGIN = 30
_FLOOR, _FURNITURE, _TEXT = (244, 241, 234), (196, 184, 165), (60, 56, 50)
_ROBOT, _PERSON, _THING = (43, 108, 176), (98, 148, 96), (200, 40, 40)
_SIZE = 5


def floor_plan(world: FastHome, thing: str) -> Picture:
    """The home from above, as it truly is.

    Args:
        world: the home.
        thing: the object that is shown; it is where it lies, or with who holds it.
    """
    places = world.home.places
    spots = np.array([place.at for place in places.values()])
    low, high = spots.min(axis=0), spots.max(axis=0)
    scale = (np.array(FRAME_SIZE) - 2 * _MARGIN) / (high - low)
    image = Image.new("RGB", FRAME_SIZE, _FLOOR)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(9)

    def at(place: str) -> tuple[float, float]:
        x, y = (np.array(places[place].at) - low) * scale
        return float(x + _MARGIN), float(FRAME_SIZE[1] - _MARGIN - y)

    def dot(x: float, y: float, size: int, colour: tuple[int, int, int]) -> None:
        draw.ellipse((x - size, y - size, x + size, y + size), fill=colour)

    for name in world.home.furniture:
        x, y = at(name)
        draw.rectangle((x - _SIZE, y - _SIZE, x + _SIZE, y + _SIZE), fill=_FURNITURE)
        draw.text((x, y + _SIZE), name, _TEXT, font, anchor="ma")
    for name, someone in world.people.items():
        x, y = at(someone.place)
        dot(x - 9, y - 9, _SIZE, _PERSON)
        draw.text((x - 9, y - 15), "you" if name == OPERATOR else name, _PERSON, font, anchor="mb")
    x, y = at(world.robot)
    dot(x + 9, y - 9, _SIZE + 2, _ROBOT)
    draw.text((x + 9, y - 17), "robot", _ROBOT, font, anchor="mb")
    holder = world.objects.get(thing, "")
    if world.held == thing:
        dot(x + 9, y - 9, 3, _THING)
    elif holder in places:
        dot(*at(holder), 3, _THING)
    elif holder in world.people:
        x, y = at(world.people[holder].place)
        dot(x - 9, y - 9, 3, _THING)
    return np.asarray(image)
