"""A robot carries a plan out in a household and writes a log of what an imperfect observer notices."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from nsrecover.core.actions import Action
from sim.logs.failures import Failure
from sim.logs.tasks import ROOM, TABLES, Task
from sim.logs.things import is_a
from sim.logs.wording import Wording, goal_text
from sim.logs.world import World


@dataclass(frozen=True)
class Errors:
    """How often an observer errs, as probabilities.

    Attributes:
        unseen: a thing in view is not listed.
        state: a state of a listed thing is wrong.
        gripper: what the gripper holds is misread.
        merged: a name loses its ordinal, or a slice is taken for the whole.
        late: a frame still shows the moment before.
        sound: a sound is heard that was not there.
        behind: what is merely behind a thing is said to be in it.
        lost: the line of a moment is missing.
        doubled: the line of a moment is there twice.
        joined: two moments share a line: the words of the first, the view of the second.
        misnamed: the line of an action names another thing.
    """

    unseen: float
    state: float
    gripper: float
    merged: float
    late: float
    sound: float
    behind: float
    lost: float = 0.0
    doubled: float = 0.0
    joined: float = 0.0
    misnamed: float = 0.0

    def drawn(self, chance: random.Random) -> Errors:
        """Rates between nothing and these, each drawn by itself."""
        return Errors(*(chance.uniform(0.0, value) for value in vars(self).values()))


STRENGTHS = {
    "light": Errors(0.05, 0.01, 0.005, 0.03, 0.02, 0.15, 0.01),
    "middle": Errors(0.15, 0.03, 0.02, 0.08, 0.06, 0.30, 0.03),
    "strong": Errors(0.30, 0.08, 0.05, 0.15, 0.15, 0.50, 0.08),
}
"""Observation errors at three strengths."""

WIDE = Errors(0.30, 0.06, 0.04, 0.15, 0.15, 0.50, 0.08, 0.10, 0.10, 0.05, 0.03)
"""The highest rates of logs whose rates are drawn, each by itself."""

_STATED = {"vessel": ("filled",), "dish": ("dirty",), "door": ("open",), "lid": ("open",), "switch": ("on",)}


class Observer:
    """Writes down what a robot notices, with errors.

    Args:
        world: the true household; changed by the robot.
        wording: how it is said.
        errors: how often the observer errs.
        chance: source of randomness.
    """

    def __init__(self, world: World, wording: Wording, errors: Errors, chance: random.Random) -> None:
        self.world, self.errors, self.chance = world, errors, chance
        self.words = {key: chance.choice(options) for key, options in wording.states.items()}
        self.sounds, self.held = wording.sounds, chance.choice(wording.held)
        self.inside, self.on_top = chance.choice(wording.inside), chance.choice(wording.on_top)
        self.site = chance.choice(sorted(set(ROOM.values())))
        self.noticed: dict[str, None] = {}

    def site_of(self, name: str) -> str | None:
        """The part of the home that a thing is in; None if it is lost from view."""
        for _ in range(6):
            if name in ROOM:
                return ROOM[name]
            if name == self.world.held:
                return self.site
            places = sorted(self.world.where.get(name, ()))
            if not places:
                return None
            name = places[0]
        return None

    def look(self) -> str:
        """The visual part of a frame."""
        near = [n for n in self.world.things() if self.site_of(n) == self.site and n not in TABLES and n != "floor"]
        seen = [n for n in near if n != self.world.held and not self.world.shut_in(n)]
        seen = [n for n in seen if self.chance.random() >= self.errors.unseen]
        self.chance.shuffle(seen)
        if self.world.held:
            seen.append(self.world.held)
        self.noticed |= dict.fromkeys(seen)
        return self.text(seen, self.world.held)

    def text(self, seen: list[str], held: str | None) -> str:
        """Some things with their states, relations and the gripper, in words."""
        listed = [self._with_states(name) for name in seen]
        relations = [said for name in seen if name != held for said in self._relations(name, seen)]
        shown = held or "nothing"
        if self.chance.random() < self.errors.gripper:
            shown = "nothing" if held else self.chance.choice([n for n in seen if n not in ROOM] or ["nothing"])
        relations.append(self.held.format(self._called(shown)))
        return " ".join(f"{part}." for part in ([", ".join(listed)] if listed else []) + relations)

    def final(self) -> str:
        """What is known at the end, gathered over all frames."""
        told = [name for name in self.noticed if name in self.world.things() and not self.world.shut_in(name)]
        told = [name for name in told if self.site_of(name) and self.chance.random() >= self.errors.unseen / 2]
        return self.text(told, self.world.held)

    def _wrong(self) -> bool:
        return self.chance.random() < self.errors.state

    def _called(self, name: str) -> str:
        if self.chance.random() < self.errors.merged:
            first, _, rest = name.partition(" ")
            if first in ("first", "second", "third"):
                return rest
            return name.removesuffix(" slice")
        return name

    def _with_states(self, name: str) -> str:
        world, words, said = self.world, self.words, list[str]()
        if is_a(name, "door") or is_a(name, "lid"):
            said.append(words["open" if (name in world.open) != self._wrong() else "closed"])
        if is_a(name, "switch"):
            said.append(words["running" if (name in world.on) != self._wrong() else "off"])
        if is_a(name, "vessel"):
            liquid = world.liquid.get(name)
            if self._wrong():
                liquid = None if liquid else "water"
            said.append(words["filled"].format(liquid) if liquid else words["empty"])
        if is_a(name, "dish"):
            said.append(words["dirty" if (name in world.dirty) != self._wrong() else "clean"])
        if name == "egg":
            said.append(words["cracked" if (name in world.cracked) != self._wrong() else "whole"])
        if is_a(name, "cuttable") and not name.endswith(" slice"):
            said.append(words["uncut"])
        called = self._called(name)
        # A state is sometimes said before the name.
        if said and said[-1] == "dirty" and self.chance.random() < 0.3:
            called, said = f"dirty {called}", said[:-1]
        return f"{called} ({' and '.join(said)})" if said else called

    def _relations(self, name: str, seen: list[str]) -> list[str]:
        said = []
        for place in sorted(self.world.where.get(name, ())):
            inside = is_a(place, "hollow") and not is_a(place, "flat")
            said.append(f"{name} {self.inside if inside else self.on_top} {self._called(place)}")
        if name in self.world.cover:
            said.append(f"{name} is {self.chance.choice(('below', 'behind', 'occluded by'))} {self.world.cover[name]}")
        others = [one for one in seen if one != name and one not in ROOM]
        if others and name not in ROOM and self.chance.random() < self.errors.behind:
            said.append(f"{name} {self.inside} {self.chance.choice(others)}")
        if said and self.chance.random() < 0.2:
            said.append(f"{name} is on the {self.chance.choice(('left', 'right'))} of {self.chance.choice(seen)}")
        return said


@dataclass(frozen=True)
class Written:
    """A log with what is true about it.

    Attributes:
        document: the log as JSON, with `truth`.
        end: the household when the robot stopped.
        failure: what was made to go wrong.
    """

    document: dict[str, Any]
    end: World
    failure: Failure


def write(task: Task, failure: Failure, wording: Wording, errors: Errors, chance: random.Random) -> Written:
    """Carry out a run and write its log.

    Args:
        task: the task of the robot.
        failure: what goes wrong.
        wording: how it is said.
        errors: how often the observer errs.
        chance: source of randomness.
    """
    world = failure.world.copy()
    observer = Observer(world, wording, errors, chance)
    clock = chance.randint(1, 9)
    events, ends, spans, done = list[str](), list[str](), list[list[str]](), list[bool]()
    last = observer.look()

    def note(text: str) -> str:
        nonlocal clock, last
        time, now = f"{clock // 60:02d}:{clock % 60:02d}", observer.look()
        shown = last if chance.random() < errors.late else now
        last = now
        named = [name for name in world.things() if name in text]
        if errors.misnamed and named and chance.random() < errors.misnamed:
            text = text.replace(max(named, key=len), chance.choice(sorted(world.things())))
        line = f"{time}. Action: {text}. Visual observation: {shown}"
        if chance.random() < errors.sound:
            line += f" Auditory observation: {chance.choice(wording.sounds)}."
        events.append(line)
        spans[-1].append(time)
        clock += chance.randint(1, 4)
        return line

    for number, step in enumerate(failure.plan):
        spans.append([])
        target = step.arguments[-1] if step.operator in ("put_in", "put_on", "pour") else step.arguments[0]
        go = chance.choice(wording.actions["move_to"]).format(target)
        real = failure.instead.get(number, step)
        site = observer.site_of(real.arguments[-1] if real.operator in ("put_in", "put_on") else target)
        falls = failure.dropped == number and world.held is not None
        if site != observer.site or falls or chance.random() < 0.3:
            note(go)
            if falls:
                tables = [name for name in TABLES if ROOM[name] == observer.site]
                world.drop(tables[0] if tables and chance.random() < 0.5 else None)
                note(go)
            observer.site = site or observer.site
            note(go)
        if failure.fails != number:
            world.do(real)
        done.append(world.done(step))
        line = note(chance.choice(wording.actions[step.operator]).format(*step.arguments))
        ends.append(line.replace(". Action: ", ". Goal: ", 1))
    events, ends = _worn(events, ends, errors, chance)
    document = {
        "task": task.family,
        "plan": [f"({', '.join((step.operator, *step.arguments))})" for step in failure.plan],
        "success_state": goal_text(task.goal, wording, chance),
        "event_summary": events,
        "subgoal_summary": ends,
        "final_state": observer.final(),
        "truth": {
            "kind": failure.kind,
            "steps": _noted([time for number in failure.steps for time in spans[number]], events),
            "indices": list(failure.steps),
            "objects": [list(group) for group in failure.objects],
            "subgoals": done,
            "valid": all(map(world.holds, failure.goal)),
        },
    }
    return Written(document, world, failure)


def _worn(events: list[str], ends: list[str], errors: Errors, chance: random.Random) -> tuple[list[str], list[str]]:
    """The lines of a log without those that are lost, with some twice, and some joined with the next one."""
    if not errors.lost + errors.doubled + errors.joined:
        return events, ends
    kept, gone = list[str](), set[str]()
    for number, line in enumerate(events):
        if chance.random() < errors.lost and 0 < number < len(events) - 1:
            gone.add(line)
            continue
        if chance.random() < errors.joined and number + 1 < len(events):
            words = line.partition(" Visual observation: ")[0]
            joined = f"{words} Visual observation: {events[number + 1].partition(' Visual observation: ')[2]}"
            ends = [joined.replace(". Action: ", ". Goal: ", 1) if _same(end, line) else end for end in ends]
            line = joined
        kept += [line] * (1 + (chance.random() < errors.doubled))
    return kept, [end for end in ends if not any(_same(end, line) for line in gone)]


def _same(end: str, line: str) -> bool:
    return end == line.replace(". Action: ", ". Goal: ", 1)


def _noted(times: list[str], events: list[str]) -> list[str]:
    """Times that the log still has; where the last one is lost, the next that it has counts, too."""
    left = [line.partition(". ")[0] for line in events]
    later = [time for time in left if times and time > times[-1]]
    return [*times, *(later[:1] if times and times[-1] not in left else [])]


def steps_of(lines: list[str]) -> tuple[Action, ...]:
    """Steps from their text, as in the plan of a log."""
    parts = [line.strip("()").split(", ") for line in lines]
    return tuple(Action(operator, tuple(names)) for operator, *names in parts)
