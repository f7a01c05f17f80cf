"""A home as a readable file (YAML)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from nsrecover.domains.household.names import noun
from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.kinds import CATEGORIES, OPERATOR
from nsrecover.errors import InvalidConfiguration, did_you_mean, require_known
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import JsonObject, read_text
from nsrecover.util.untrusted_yaml import parse_yaml, read_yaml

MOST_BYTES = 200_000
"""Largest accepted file; that of the shipped home has 3,000. YAML takes a second for so many."""
SHIPPED = Path(__file__).parent / "homes"
"""Folder of the homes that come with the library."""


def load_home(source: str | Path) -> Home:
    """Read a home from a YAML file.

    Args:
        source: a file, or the name of a home that comes with the library, such as "apartment".

    Raises:
        InvalidConfiguration: the file cannot be read, or says something that cannot be used.
    """
    path = Path(source)
    if not path.suffix:
        path = SHIPPED / f"{source}.yaml"
        if not path.exists():
            known = [each.stem for each in SHIPPED.glob("*.yaml")]
            raise InvalidConfiguration(
                f"expected a home file (.yaml) or the name of a home, found {str(source)!r}."
                f"{did_you_mean(str(source), known)}"
            )
    try:
        document = read_yaml(path, MOST_BYTES)
    except RecursionError:
        raise InvalidConfiguration(f"expected a YAML file with a home, found {path}: nested too deeply") from None
    except (OSError, ValueError, yaml.YAMLError) as error:  # ValueError: dates that do not exist, and text that is none
        raise InvalidConfiguration(f"expected a YAML file with a home, found {path}: {error}") from None
    return home_of(document, path.stem)


def remember(path: Path, name: str, place: str) -> None:
    """Add an object to a home file, whose other text stays as it is.

    Args:
        path: the file.
        name: of the object.
        place: where it usually is; empty if that is not known.

    Raises:
        InvalidConfiguration: the file cannot be read, or has its objects in braces.
    """
    known, text = load_home(path).items, read_text(path)
    entry = f"  {json.dumps(name)}: {json.dumps({'place': place} if place else {})}\n"
    made = re.sub(r"^objects: *\n", lambda found: found[0] + entry, text, count=1, flags=re.MULTILINE)
    if made == text:
        made = f"{text.rstrip()}\n\nobjects:\n{entry}"
    if set(home_of(parse_yaml(made)).items) != {*known, name}:
        raise InvalidConfiguration(f"expected the objects of {path} on lines of their own, found braces; add {name!r}")
    atomic_write_bytes(path, made.encode())


_PARTS = ("door", "switch")
_TOP = ("name", "robot", "operator", "rooms", "places", "doors", "people", "objects", "categories", "likely")


def home_of(document: object, name: str = "home") -> Home:
    """A home from the content of its file.

    Raises:
        InvalidConfiguration: it says something that cannot be used.
    """
    top = _section(document, "the home", _TOP)
    places: dict[str, Place] = {}
    for room, entry in _section(top.get("rooms"), "rooms").items():
        fields = _section(entry, f"room {room!r}", ("at", "also"))
        places[room] = Place(room, room, _point(fields, f"room {room!r}"), _texts(fields, "also"))
    if not places:
        raise InvalidConfiguration("expected at least one room under 'rooms', found none")
    rooms = list(places)
    for place, entry in _section(top.get("places"), "places").items():
        fields = _section(entry, f"place {place!r}", ("room", "at", "also", "open", "looks", "parts"))
        room = _one_of(fields.get("room"), rooms, f"room of the place {place!r}")
        at = _point(fields, f"place {place!r}", places[room].at)
        _new(place, places)
        parts = tuple(_one_of(each, _PARTS, f"part of the place {place!r}") for each in _texts(fields, "parts"))
        opened = bool(fields.get("open", False))
        looks = _texts(fields, "looks")
        places[place] = Place(place, room, at, _texts(fields, "also"), open=opened, looks=looks, parts=parts)
    for door, entry in _section(top.get("doors"), "doors").items():
        fields = _section(entry, f"door {door!r}", ("between", "at", "open"))
        ends = [_one_of(end, rooms, f"room of the door {door!r}") for end in _texts(fields, "between")]
        if len(ends) != 2:
            raise InvalidConfiguration(f"expected two rooms for 'between' of the door {door!r}, found {ends}")
        _new(door, places)
        at = _point(fields, f"door {door!r}", places[ends[0]].at)
        places[door] = Place(door, ends[0], at, leads_to=ends[1], open=bool(fields.get("open", True)))
    people = {}
    for person, entry in _section(top.get("people"), "people").items():
        fields = _section(entry, f"person {person!r}", ("usually", "also"))
        usual = fields.get("usually")
        at_place = _one_of(usual, places, f"usual place of {person!r}") if usual is not None else ""
        people[person] = Resident(person, at_place, _texts(fields, "also"))
    robot = _one_of(top.get("robot", rooms[0]), places, "place of the robot")
    operator = top.get("operator", robot)
    people[OPERATOR] = Resident(OPERATOR, _one_of(operator, places, "place of the operator"))
    categories = {**CATEGORIES}
    for category, nouns in _section(top.get("categories"), "categories").items():
        categories[category] = tuple(map(str, nouns)) if isinstance(nouns, list) else (str(nouns),)
    items = {}
    for item, entry in _section(top.get("objects"), "objects").items():
        fields = _section(entry, f"object {item!r}", ("kind", "place", "owner", "notes", "also"))
        spot = fields.get("place")
        at_place = _one_of(spot, places, f"place of the object {item!r}") if spot is not None else ""
        owner = fields.get("owner")
        known = _one_of(owner, people, f"owner of the object {item!r}") if owner is not None else ""
        kind, also = str(fields.get("kind", noun(item))), _texts(fields, "also")
        items[item] = Item(item, kind, at_place, known, _texts(fields, "notes"), also)
    likely = {}
    for kind, entry in _section(top.get("likely"), "likely").items():
        weights = _section(entry, f"likely places of {kind!r}")
        for place, weight in weights.items():
            _one_of(place, places, f"likely place of {kind!r}")
            if not _finite(weight) or weight < 0:
                raise InvalidConfiguration(
                    f"expected a weight of 0 or more for {kind!r} at {place!r}, found {weight!r}"
                )
        likely[kind] = {place: float(weight) for place, weight in weights.items()}
    return Home(str(top.get("name", name)), places, items, people, categories, likely, robot)


def _section(value: object, what: str, known: Sequence[str] | None = None) -> JsonObject:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidConfiguration(f"expected names with values for {what}, found {type(value).__name__}: {value!r}")
    for key in value:
        if not isinstance(key, str) or not key.strip():
            raise InvalidConfiguration(f"expected names as text in {what}, found {key!r}; put it in quotes")
        if known is not None:
            require_known(key, known, f"a setting of {what}")
    return {key if known is not None else key.lower(): each for key, each in value.items()}


def _texts(fields: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = fields.get(key, ())
    if isinstance(value, str):
        return (value.lower(),)
    if not isinstance(value, list | tuple) or any(isinstance(each, list | dict) for each in value):
        raise InvalidConfiguration(f"expected a text or a list of texts for {key!r}, found {value!r}")
    return tuple(str(each).lower() for each in value)


def _one_of(value: object, known: Iterable[str], what: str) -> str:
    name = str(value).lower()
    if name not in known:
        raise InvalidConfiguration(f"expected a known name as the {what}, found {value!r}.{did_you_mean(name, known)}")
    return name


def _point(fields: Mapping[str, object], what: str, default: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    value = fields.get("at", default)
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_finite, value)):
        raise InvalidConfiguration(f"expected x and y in metres for 'at' of the {what}, found {value!r}")
    return float(value[0]), float(value[1])


def _finite(value: object) -> bool:
    """Whether a value is a number that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _new(name: str, places: Mapping[str, Place]) -> None:
    if name in places:
        raise InvalidConfiguration(f"expected different names of places, found {name!r} twice")
