"""A household that enforces its physics symbolically, by which corrections are judged.

It shares no code with the household domain, its search or its reader. One gripper; doors have to be open; running
machines accept nothing and do not open; a place for one thing holds one; metal stays out of running microwaves; what is
not heat-proof stays off burners; what is too large goes in nowhere; liquids do not mix.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from sim.logs.things import carried, head, is_a


@dataclass
class World:
    """True state of a household.

    Attributes:
        held: what the gripper holds.
        where: thing -> what it is directly in or on (several only for slices).
        open: open things.
        on: running things.
        liquid: vessel -> liquid.
        dirty: dirty things.
        cracked: cracked things.
        cut: sliced things.
        hot: heated things.
        cover: thing -> what is in front of it.
    """

    held: str | None = None
    where: dict[str, set[str]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    on: set[str] = field(default_factory=set)
    liquid: dict[str, str] = field(default_factory=dict)
    dirty: set[str] = field(default_factory=set)
    cracked: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    cover: dict[str, str] = field(default_factory=dict)

    def copy(self) -> World:
        """An independent copy."""
        return copy.deepcopy(self)

    def do(self, step: Action) -> str | None:
        """Carry a step out; the reason why it is impossible, in which case nothing changes."""
        action = getattr(self, f"_{step.operator}", None)
        if action is None:
            return f"no such action: {step}"
        try:
            refused: str | None = action(*step.arguments)
        except TypeError:
            return f"wrong number of objects: {step}"
        if refused is None:
            self.settle()
        return refused

    # -- questions

    def shut_in(self, thing: str) -> bool:
        """Whether a thing is behind a closed door."""
        places = self.where.get(thing, set())
        return bool(places) and all(
            (is_a(place, "door") and place not in self.open) or self.shut_in(place) for place in places
        )

    def inside(self, thing: str, place: str) -> bool:
        """Whether a thing is in or on a place, directly or in something else."""
        return any(one == place or self.inside(one, place) for one in self.where.get(thing, set()))

    def contents(self, place: str) -> list[str]:
        """What is directly in or on a place."""
        return sorted(thing for thing, places in self.where.items() if place in places and thing not in self.cut)

    # -- actions

    def _missing(self, thing: str) -> str | None:
        whole = thing.removesuffix(" slice")
        if thing != whole:
            return None if whole in self.cut else f"there is no {thing}"
        known = thing in self.where or thing == self.held or any(thing in places for places in self.where.values())
        return None if known and thing not in self.cut else f"there is no {thing}"

    def _pick_up(self, thing: str) -> str | None:
        if self.held:
            return f"the gripper holds the {self.held}"
        if refused := self._missing(thing):
            return refused
        if not carried(thing):
            return f"the {thing} cannot be carried"
        if self.shut_in(thing):
            return f"the {thing} is behind a closed door"
        if thing in self.cover:
            return f"the {self.cover[thing]} is in the way"
        self.held = thing
        if not thing.endswith(" slice"):
            self.where[thing] = set()
        self.cover = {one: other for one, other in self.cover.items() if other != thing}
        return None

    def _put_in(self, thing: str, place: str) -> str | None:
        if self.held != thing:
            return f"the gripper does not hold the {thing}"
        if refused := self._missing(place):
            return refused
        if is_a(place, "door") and place not in self.open:
            return f"the {place} is closed"
        if self.shut_in(place):
            return f"the {place} is behind a closed door"
        if is_a(place, "machine") and place in self.on:
            return f"the {place} is running"
        if (is_a(thing, "wide") and is_a(place, "narrow")) or (is_a(thing, "bulky") and is_a(place, "compact")):
            return f"the {thing} is too large for the {place}"
        others = [one for one in self.contents(place) if one.removesuffix(" slice") != thing.removesuffix(" slice")]
        if is_a(place, "single") and others:
            return f"the {others[0]} is in the {place}"
        self.held = None
        self.where.setdefault(thing, set()).add(place)
        return None

    _put_on = _put_in

    def _open_obj(self, thing: str) -> str | None:
        if is_a(thing, "machine") and thing in self.on:
            return f"the {thing} is running"
        self.open.add(thing)
        return None

    def _close_obj(self, thing: str) -> str | None:
        self.open.discard(thing)
        return None

    def _toggle_on(self, thing: str) -> str | None:
        if is_a(thing, "door") and thing in self.open:
            return f"the {thing} is open"
        inside = [one for one in self.where if self.inside(one, thing)]
        if head(thing) == "microwave" and any(is_a(one, "metal") for one in inside):
            return "metal in the microwave"
        if head(thing) == "stove burner" and any(is_a(one, "soft") for one in self.contents(thing)):
            return "what stands on the burner is not heat-proof"
        if head(thing) == "television" and "remote control" in self.where and self.held != "remote control":
            return "the remote control is not in the gripper"
        self.on.add(thing)
        return None

    def _toggle_off(self, thing: str) -> str | None:
        if head(thing) == "television" and "remote control" in self.where and self.held != "remote control":
            return "the remote control is not in the gripper"
        self.on.discard(thing)
        return None

    def _slice_obj(self, thing: str) -> str | None:
        if self.held is None or head(self.held) != "knife":
            return "no knife in the gripper"
        if self._missing(thing) or not is_a(thing, "cuttable"):
            return f"there is no {thing} to cut"
        if not all(is_a(place, "flat") or head(place) in ("sink", "cutting board") for place in self.where[thing]):
            return f"the {thing} does not lie on something flat"
        if self.shut_in(thing) or thing in self.cover:
            return f"the {thing} is out of reach"
        self.cut.add(thing)
        self.where[f"{thing} slice"] = set(self.where.pop(thing))
        return None

    def _crack_obj(self, thing: str) -> str | None:
        if self.held != thing:
            return f"the gripper does not hold the {thing}"
        self.cracked.add(thing)
        return None

    def _pour(self, source: str, target: str) -> str | None:
        if self.held != source:
            return f"the gripper does not hold the {source}"
        if source not in self.liquid:
            return f"the {source} is empty"
        if refused := self._missing(target):
            return refused
        if is_a(target, "vessel"):
            # What is poured onto a plant seeps away.
            if carried(target) and self.liquid.get(target, self.liquid[source]) != self.liquid[source]:
                return f"the {target} is full of {self.liquid[target]}"
            self.liquid[target] = self.liquid[source]
            if source in self.hot:
                self.hot.add(target)
        del self.liquid[source]
        return None

    def settle(self) -> None:
        """What follows by itself: taps fill, clean and cool, coffee machines fill, heaters heat."""
        for machine in sorted(self.on):
            match head(machine):
                case "faucet":
                    for thing in self.contents("sink"):
                        self.dirty.discard(thing)
                        self.hot.discard(thing)
                        if is_a(thing, "vessel") and thing not in self.liquid:
                            self.liquid[thing] = "water"
                case "coffee machine":
                    for thing in self.contents(machine):
                        if is_a(thing, "vessel") and thing not in self.liquid:
                            self.liquid[thing] = "coffee"
                            self.hot.add(thing)
                case "microwave" | "stove burner" | "toaster" | "oven":
                    if not (is_a(machine, "door") and machine in self.open):
                        self.hot.update(one for one in self.where if self.inside(one, machine))
