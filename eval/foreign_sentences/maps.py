"""HuRIC's maps of a room → homes.

The coordinates of the maps are drawn at random, so the room of a piece of furniture comes from the sentence: what a
command presupposes ("the table in the kitchen") is true in its home.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.kinds import OPERATOR

Entity = Mapping[str, Any]

_ROOMS = (
    "bathroom|bedroom|building|corridor|diningroom|garden|hall|house|kitchen|laundryroom|livingroom|pantry|room|studio"
)
_CARRIED = "bag|bottle|box|can|case|cup|envelope|garbage|glass|jar|kettle|tray|vase|wallet"
_FIXED = (
    "blinds|bookshelf|cabinet|closet|corner|cupboard|dishwasher|door|fences|fridge|furniture|light|microwave|mirror|oven|"
    "powersocket|radio|router|shower|sink|socket|stairs|stove|switch|tap|television|thermostat|toilet|wall|wifi|window"
)
_SWITCHED = (
    "boiler|dishwasher|light|microwave|oven|radio|router|shower|stove|switch|tap|television|thermostat|washingmachine"
)
_OPENED = "blinds|cabinet|closet|cupboard|dishwasher|door|drawer|fridge|microwave|oven|washingmachine|window"
"""Types of entities, as regular expressions."""
_NOBODY = ("person", "man", "woman", "guy", "user", "me", "mother")
_ELSEWHERE = "somewhere"


def home_of_map(entities: Sequence[Entity], sentence: str) -> Home:
    """The home that a map shows.

    Args:
        entities: of the map.
        sentence: the command, for the room of a piece of furniture.
    """
    places: dict[str, Place] = {_ELSEWHERE: Place(_ELSEWHERE, _ELSEWHERE, (0.0, 0.0))}
    items: dict[str, Item] = {}
    people: dict[str, Resident] = {OPERATOR: Resident(OPERATOR, _ELSEWHERE)}
    kinds = {_kind(each): _names(each) for each in entities}
    for each in sorted(entities, key=lambda each: not re.fullmatch(_ROOMS, _kind(each))):
        kind, names, at = _kind(each), _names(each), (float(each["x"]), float(each["y"]))
        name, others = names[0], tuple(names[1:])
        if kind == "robot" or name in places or name in items:
            continue
        if re.fullmatch(_ROOMS, kind):
            places[name] = Place(name, name, at, others)
        elif kind == "person":
            people |= {person: Resident(person) for person in names if person not in _NOBODY}
        elif re.fullmatch(_FIXED, kind) or (
            (each["contains"] or each["supports"]) and not re.fullmatch(_CARRIED, kind)
        ):
            parts = tuple(part for part, has in (("switch", _SWITCHED), ("door", _OPENED)) if re.fullmatch(has, kind))
            room = _room(names, sentence, [kinds[each] for each in kinds if re.fullmatch(_ROOMS, each)])
            places[name] = Place(name, room if room in places else _ELSEWHERE, at, others, parts=parts)
        else:
            items[name] = Item(name, name, also=others)
    if not any(not place.is_room for place in places.values()):
        places["rack"] = Place("rack", _ELSEWHERE, (1.0, 0.0))
    return Home("map", places, items, people, robot=_ELSEWHERE)


def _kind(entity: Entity) -> str:
    return re.sub(r"[^a-z]", "", str(entity["type"]).lower())


def _names(entity: Entity) -> list[str]:
    """The names of an entity, the type's own first."""
    names = [str(each).replace("_", " ") for each in entity["names"]]
    own = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", str(entity["type"])).lower()
    return [own, *(each for each in names if each != own)] if own in names else names


def _room(names: Sequence[str], sentence: str, rooms: Sequence[Sequence[str]]) -> str:
    """The room in which the sentence says that a piece of furniture is; empty if it does not."""
    for room in rooms:
        for name in names:
            for other in room:
                inside = rf"\b{re.escape(name)}s? (?:in|inside|of) (?:the )?{re.escape(other)}\b"
                if re.search(rf"{inside}|\b{re.escape(other)} {re.escape(name)}\b", sentence):
                    return room[0]
    return ""
