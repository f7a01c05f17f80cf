"""IntroPlan's scenes: requests that mean one object, several, or one that has to be asked for.

A scene is a home with one counter on which its objects are, and the places that are named in the requests. Whether a
question is due follows from the file's own category and intent, as in KnowNo: it is due where several objects are
possible and the words do not single one out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nsrecover.domains.service.home import Home, Item, Place, Resident
from nsrecover.domains.service.kinds import OPERATOR

_TARGETS = ("top drawer", "middle drawer", "bottom drawer", "landfill", "recycling", "compost", "microwave")
_CATEGORIES = {
    "drink": "pepsi|coke|sprite|redbull|water|tea|soda|7up",
    "snack": "chips|candy|bar|orange|apple|cookie",
    "chips": "chips",
    "soda": "pepsi|coke|sprite|soda|7up",
    "cola": "pepsi|coke",
    "fruit": "orange$|apple",
}


@dataclass(frozen=True)
class Scene:
    """A request in a scene.

    Attributes:
        request: the sentence.
        home: the scene.
        intended: the objects that may be meant.
        target: where one of them goes; "operator" for handing it over.
        ask: whether a question is due.
    """

    request: str
    home: Home
    intended: frozenset[str]
    target: str
    ask: bool


def scenes_of(path: Path) -> list[Scene]:
    """The scenes of a file."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip())
    return [scene for block in blocks if (scene := _scene(block)) is not None]


def _scene(block: str) -> Scene | None:
    fields = dict(re.findall(r"^([A-Z][\w ()]*): (.*)$", block, re.MULTILINE))
    if "Task" not in fields or "Scene objects" not in fields:
        return None
    objects = [each.strip().lower() for each in fields["Scene objects"].split(",") if each.strip()]
    intended = {each.strip().lower() for each in fields["User intent (object)"].split(",")}
    possible = {each.strip().lower() for each in fields["Possible objects"].split(",")}
    place = fields["User intent (location)"].split(",")[0].strip().lower()
    several = "," in fields.get("Possible locations", "")
    target = OPERATOR if place == "pick-up" else place
    kind = fields.get("Task category", "")
    ask = "ambiguous" in kind and "unambiguous" not in kind
    ask = ask or several or (kind.startswith(("singlelabel", "unsafe", "winograd")) and len(possible) > 1)
    return Scene(fields["Task"], _home(objects), frozenset(intended), target, ask)


def _home(objects: list[str]) -> Home:
    places = {"kitchen": Place("kitchen", "kitchen", (0.0, 0.0)), "counter": Place("counter", "kitchen", (1.0, 0.0))}
    places |= {name: Place(name, "kitchen", (2.0, float(k))) for k, name in enumerate(_TARGETS)}
    categories = {
        name: tuple(each for each in objects if re.search(words, each)) for name, words in _CATEGORIES.items()
    }
    items = {name: Item(name, name, "counter") for name in objects}
    people = {OPERATOR: Resident(OPERATOR, "kitchen")}
    return Home("scene", places, items, people, {k: v for k, v in categories.items() if v}, robot="kitchen")
