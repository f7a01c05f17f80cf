"""Whether a step of a plan did what it should: the observation at its end against what the action promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait, could_mean
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import Household, holding, holds, liquid
from nsrecover.explanation.logs.records import Observation, Step
from nsrecover.explanation.logs.tracking import in_hand


@dataclass(frozen=True)
class Verdict:
    """Whether a subgoal holds.

    Attributes:
        satisfied: whether it does, as far as can be seen.
        instead: the thing to which happened what should have happened to another.
        why: the observation that decides, in words.
    """

    satisfied: bool
    instead: str | None = None
    why: str = ""


def verify(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    """Check one subgoal.

    Observations are taken for what they are: what is out of view is not counted against the robot, sounds decide
    nothing, and a slice counts as what it was cut from where a slicing succeeded.

    Args:
        step: what was to be done.
        before: what was believed just before the action.
        after: what was noticed at its end.
        now: what is believed then.
        home: the things of the log.
    """
    check = _CHECKS.get(step.operator)
    if check is None or not step.arguments:
        return Verdict(True, why="not an action whose effect is known")
    return check(step, before, after, now, home)


def _pick_up(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    thing, held = step.arguments[0], in_hand(before, after)
    if held is None:
        return Verdict(True, why="what the gripper holds is not said")
    if not held:
        return Verdict(False, why="the gripper is empty")
    cut = is_slice(thing) and ("sliced", thing) in before
    if could_mean(thing, held) or (same_stuff(thing, held) and (cut or not is_slice(thing))):
        return Verdict(True, why=f"the gripper holds the {held}")
    mistaken = holding(before) != held and not same_stuff(thing, held)
    return Verdict(False, held if mistaken else None, f"the gripper holds the {held}")


def _put(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    thing, place = step.arguments[:2]
    carried, held = holding(before), after.held
    if carried is None and held is not None:
        return Verdict(False, why="the gripper was empty before")
    if carried is not None and not (could_mean(thing, carried) or same_stuff(thing, carried)):
        return Verdict(False, carried, f"the gripper held the {carried}")
    if held:
        return Verdict(False, why=f"the {held} is still in the gripper")
    thing = carried or thing
    found = after.places(thing)
    if not found or is_slice(thing) or any(same(place, other) or could_mean(place, other) for _, other in found):
        return Verdict(True, why="the gripper let go of it")
    if any(_within(after, other, place) for _, other in found):
        return Verdict(True, why=f"the {thing} is in something that is there")
    relation, other = found[0]
    return Verdict(False, other, f"the {thing} is {relation} the {other}")


def _within(observation: Observation, thing: str, place: str) -> bool:
    return any(same(place, other) for _, other in observation.places(thing))


Check = Callable[[Step, State, Observation, State, Household], Verdict]
"""A step, what was believed before, what was noticed after, what is believed then, the things of the log."""


def _stateful(right: str, wrong: str, predicate: str, so: bool) -> Check:
    """A check of a state that can be read off an object: open or closed, turned on or off."""

    def check(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
        thing, states = step.arguments[0], after.states()
        shown = {name: words for name, words in states.items() if same(thing, name)}
        if any(right in words for words in shown.values()):
            return Verdict(True, why=f"the {thing} is {right}")
        # Of several that may be meant, one out of view may be the one.
        all_shown = not home.ambiguous(thing) or set(home.instances(thing)) <= set(shown)
        if all_shown and any(wrong in words for words in shown.values()):
            return Verdict(
                False, _changed_instead(thing, before, states, right, predicate, so), f"the {thing} is {wrong}"
            )
        other = _changed_instead(thing, before, states, right, predicate, so)
        return Verdict(other is None, other, "it is out of view" if other is None else f"the {other} is {right}")

    return check


def _changed_instead(
    thing: str, before: State, states: dict[str, tuple[str, ...]], right: str, predicate: str, so: bool
) -> str | None:
    """Another thing that went into the state just now."""
    for name, words in states.items():
        if right in words and not same(name, thing) and ((predicate, name) in before) != so:
            return name
    return None


def _slice(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    thing, states = step.arguments[0], after.states()
    if any(same(name, slice_of(thing)) or (same(name, thing) and "sliced" in words) for name, words in states.items()):
        return Verdict(True, why=f"the {thing} is in slices")
    fresh = [n for n in states if is_slice(n) and ("sliced", n) not in before and whole(n) != thing]
    if any(same(name, thing) for name in states):
        return Verdict(False, whole(fresh[0]) if fresh else None, f"the {thing} is whole")
    cutting = holds(before, ("tool",), home)
    return Verdict(cutting, why="it is out of view" if cutting else "nothing to cut with was in the gripper")


def _crack(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    thing, states = step.arguments[0], after.states()
    words = next((words for name, words in states.items() if same(name, thing)), None)
    if words is not None and "cracked" in words:
        return Verdict(True, why=f"the {thing} is cracked")
    if words is not None and "not cracked" in words:
        return Verdict(False, why=f"the {thing} is not cracked")
    held = holding(before)
    near = (held is not None and same_stuff(held, thing)) or words is not None
    return Verdict(near, why="it is out of view" if near else f"there was no {thing} to crack")


def _pour(step: Step, before: State, after: Observation, now: State, home: Household) -> Verdict:
    source, target = step.arguments[:2]
    carried = holding(before)
    if carried is None and after.held is not None:
        return Verdict(False, why="the gripper was empty")
    if carried is not None and not (could_mean(source, carried) or same_stuff(source, carried)):
        return Verdict(False, carried, f"the gripper held the {carried}")
    source = carried or source
    emptied = liquid(now, source) is None
    if not emptied:
        return Verdict(False, why=f"the {source} is still filled with {liquid(now, source)}")
    if not home.has(target, Trait.VESSEL):
        return Verdict(True, why=f"the {source} is empty")
    if after.sees(target) and liquid(now, target) is None:
        other = next((fact[1] for fact in now - before if fact[0] == "filled" and noun(fact[1]) != noun(source)), None)
        return Verdict(False, other, f"the {target} is empty")
    poured = liquid(before, source) is not None
    return Verdict(poured, why="it is out of view" if poured else f"the {source} was empty before")


_CHECKS: dict[str, Check] = {
    "pick_up": _pick_up,
    "put_in": _put,
    "put_on": _put,
    "open_obj": _stateful("open", "closed", "open", True),
    "close_obj": _stateful("closed", "open", "open", False),
    "toggle_on": _stateful("turned on", "turned off", "running", True),
    "toggle_off": _stateful("turned off", "turned on", "running", False),
    "slice_obj": _slice,
    "crack_obj": _crack,
    "pour": _pour,
}
