"""Logs of one's own household robot in the text format of REFLECT: key frames from scenes of facts and what was heard.

A moment becomes a line of the event level if an action ends, if what is seen has changed, or if something is heard that
was not heard in the line before (Liu et al. 2023, section III-B).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property

SURE = 0.8
"""What is seen with less certainty is not written."""
STATES = ("open", "running", "filled", "dirty", "cracked")
"""Variables whose values a log says, in this order."""
SOUNDS: Mapping[str, str] = {
    "running_water": "water runs in sink",
    "shatter": "object drops or cracks on hard surface",
    "impact": "object drops or cracks on hard surface",
    "egg_crack": "egg cracks",
    "toaster_pop": "toaster pops up",
    "pouring": "liquid is poured",
}
"""Class of a sound, or its first word -> what a log says; other sounds are the robot's or go on all the time."""


@dataclass(frozen=True)
class LogMoment:
    """What the robot perceives at a time.

    Attributes:
        time_s: seconds since the start.
        action: the action during which, or at whose end, this is.
        scene: what is seen now, without what is remembered.
        names: the objects in view.
        heard: classes of the sounds since the moment before.
        ends: whether the action has ended.
    """

    time_s: float
    action: Action
    scene: FactScene
    names: frozenset[str]
    heard: tuple[str, ...] = ()
    ends: bool = False


def document_of_run(task: str, plan: Plan, goal: str, moments: Sequence[LogMoment], home: Instance) -> dict[str, Any]:
    """A log that `log_of` reads, as JSON.

    Args:
        task: in words.
        plan: that the robot was given.
        goal: the success condition in words.
        moments: in their order, at about one a second.
        home: the household.
    """
    events, ends = list[str](), list[str]()
    before, last_heard = frozenset[StateFact](), set[str]()
    known: dict[Property, frozenset[StateFact]] = {}
    names = dict[str, None]()
    for moment in moments:
        seen = _seen(moment, home)
        for prop in seen:
            known[prop] = seen[prop]
        names |= dict.fromkeys(sorted(moment.names))
        shown = frozenset[StateFact]().union(*seen.values())
        heard = {said for label in moment.heard if (said := SOUNDS.get(label) or SOUNDS.get(label.split()[0]))}
        if moment.ends or shown != before or heard - last_heard:
            line = f"{_clock(moment.time_s)}. {{}}: {_instruction(moment.action)}. Visual observation: "
            sound = f" Auditory observation: {', '.join(sorted(heard))}." if heard else ""
            line += _text(moment.names, seen, home) + sound
            events.append(line.format("Action"))
            if moment.ends:
                ends.append(line.format("Goal"))
        before, last_heard = shown, heard
    return {
        "task": task,
        "plan": [f"({', '.join((action.operator, *action.arguments))})" for action in plan],
        "success_state": goal,
        "event_summary": events,
        "subgoal_summary": ends,
        "final_state": _text(names, known, home),
    }


def _seen(moment: LogMoment, home: Instance) -> dict[Property, frozenset[StateFact]]:
    """The properties that are known, with their facts; no fact: the normal value, or the place is not known."""
    groups = by_property(moment.scene.facts, home.domain)
    every = {*groups, *((variable, name) for variable in STATES for name in moment.names)}
    sure = (prop for prop in every if moment.scene.certainty.get(prop, 1.0) >= SURE)
    return {prop: frozenset(groups.get(prop, frozenset())) for prop in sure}


def _text(names: Collection[str], seen: Mapping[Property, frozenset[StateFact]], home: Instance) -> str:
    """Objects with their states, where they are, and what the gripper holds."""
    listed, relations, held = list[str](), list[str](), "nothing"
    for name in names:
        stated = [variable for variable in _variables(name, home) if (variable, name) in seen]
        said = [_state(variable, seen[variable, name]) for variable in stated]
        listed.append(f"{name} ({' and '.join(said)})" if said else name)
        for fact in sorted(seen.get((PLACE, name), ())):
            if fact[0] == "holding":
                held = name
            else:
                inside = Trait.HOLLOW in home.objects.get(fact[2], ()) and fact[0] == "at"
                relations.append(f"{name} is {'inside' if inside else 'on top of'} {fact[2]}")
    return " ".join(f"{part}." for part in (", ".join(listed), *relations, f"{held} is inside robot gripper") if part)


def _variables(name: str, home: Instance) -> list[str]:
    traits = home.objects.get(name, frozenset[str]())
    needs = {"open": {Trait.DOOR, Trait.LID}, "running": {Trait.SWITCH}, "filled": {Trait.VESSEL},
             "dirty": {Trait.DISH}, "cracked": {Trait.CRACKABLE}}  # fmt: skip
    return [variable for variable in STATES if traits & needs[variable]]


def _state(variable: str, facts: frozenset[StateFact]) -> str:
    """The value of a variable in the words of logs."""
    value = next((fact[2] for fact in facts if len(fact) == 3), "")
    normal, other = {
        "open": ("closed", "open"),
        "running": ("turned off", "turned on"),
        "filled": ("empty", f"filled with {value}"),
        "dirty": ("clean", "dirty"),
        "cracked": ("not cracked", "cracked"),
    }[variable]
    return other if facts else normal


def _instruction(action: Action) -> str:
    """An action as logs say it: `Put jug in sink`."""
    first, *rest = action.arguments
    verb, _, relation = action.operator.partition("_")
    words = {"pick": "Pick up", "put": "Put", "open": "Open", "close": "Close", "slice": "Slice", "crack": "Crack",
             "pour": "Pour", "toggle": f"Toggle {relation}"}  # fmt: skip
    joined = f" {relation if verb == 'put' else 'into'} {rest[0]}" if rest else ""
    return f"{words.get(verb, verb.capitalize())} {first}{joined}"


def _clock(time_s: float) -> str:
    return f"{int(time_s) // 60:02d}:{int(time_s) % 60:02d}"
