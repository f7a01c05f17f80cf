"""Whether a step of a plan had its effect: the observation at its end against what the action promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from nsrecover.core.actions import Action
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait, could_mean
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import Household, holding, holds, liquid
from nsrecover.explanation.logs.inference.effects import SEEN, SWITCHES
from nsrecover.explanation.logs.inference.tracking import in_hand
from nsrecover.explanation.logs.reading.records import Observation


class CheckResult(NamedTuple):
    """Whether a subgoal holds.

    Attributes:
        satisfied: whether it holds, as far as can be seen.
        why: the observation that decides, as text.
        instead: the object that was acted on by mistake.
    """

    satisfied: bool
    why: str
    instead: str | None = None


@dataclass(frozen=True)
class _Moment:
    """The end of a step: the believed states before and now, and the observation that decides."""

    step: Action
    before: State
    seen: Observation
    now: State
    home: Household

    @property
    def thing(self) -> str:
        return self.step.arguments[0]

    @property
    def carried(self) -> str | None:
        """What the gripper held before."""
        return holding(self.before)

    def other_carried(self) -> CheckResult | None:
        """The result if the gripper held nothing before, or another object than the step's."""
        if self.carried is None:
            return CheckResult(False, "the gripper was empty") if self.seen.held is not None else None
        if _can_be(self.thing, self.carried):
            return None
        return CheckResult(False, f"the gripper held the {self.carried}", self.carried)


def verify(step: Action, before: State, after: Observation, now: State, home: Household) -> CheckResult:
    """Check one subgoal.

    An object out of view does not count as a failure, sounds alone decide nothing, and a slice counts as the object it
    was cut from once slicing has succeeded.

    Args:
        step: the action.
        before: the believed state just before the end of the action.
        after: the observation at its end.
        now: the believed state then.
        home: the objects of the log.
    """
    check = _CHECKS.get(step.operator, _switched if SWITCHES.get(step.operator) in SEEN.values() else None)
    if check is None or not step.arguments:
        return CheckResult(True, "not an action whose effect is known")
    return check(_Moment(step, before, after, now, home))


def _can_be(word: str, name: str) -> bool:
    return could_mean(word, name) or same_stuff(word, name)


def _pick_up(at: _Moment) -> CheckResult:
    thing, held = at.thing, in_hand(at.before, at.seen)
    if held is None:
        return CheckResult(True, "what the gripper holds is not said")
    if not held:
        return CheckResult(False, "the gripper is empty")
    cut = is_slice(thing) and ("sliced", thing) in at.before
    if could_mean(thing, held) or (same_stuff(thing, held) and (cut or not is_slice(thing))):
        return CheckResult(True, f"the gripper holds the {held}")
    mistaken = at.carried != held and not same_stuff(thing, held)
    return CheckResult(False, f"the gripper holds the {held}", held if mistaken else None)


def _put(at: _Moment) -> CheckResult:
    place = at.step.arguments[1]
    if refuted := at.other_carried():
        return refuted if refuted.instead else refuted._replace(why=f"{refuted.why} before")
    if at.seen.held:
        return CheckResult(False, f"the {at.seen.held} is still in the gripper")
    thing = at.carried or at.thing
    found = at.seen.places(thing)
    if not found or is_slice(thing) or any(same(place, other) or could_mean(place, other) for _, other in found):
        return CheckResult(True, "the gripper let go of it")
    if any(at.seen.shows_at(other, place) for _, other in found):
        return CheckResult(True, f"the {thing} is in something that is there")
    relation, other = found[0]
    return CheckResult(False, f"the {thing} is {relation} the {other}", other)


def _switched(at: _Moment) -> CheckResult:
    """The result for an action that sets a visible state: opening, closing, turning on and off."""
    thing, states = at.thing, at.seen.states()
    predicate, value = SWITCHES[at.step.operator]
    words_of = {literal: word for word, literal in reversed(SEEN.items())}
    right, wrong = words_of[predicate, value], words_of[predicate, not value]
    shown = {name: words for name, words in states.items() if same(thing, name)}
    if any(right in words for words in shown.values()):
        return CheckResult(True, f"the {thing} is {right}")
    other = next(
        (name for name, words in states.items()
         if right in words and not same(name, thing) and ((predicate, name) in at.before) != value), None
    )  # fmt: skip
    # Of several objects that may be meant, one out of view may be the right one.
    all_shown = not at.home.ambiguous(thing) or set(at.home.instances(thing)) <= set(shown)
    if all_shown and any(wrong in words for words in shown.values()):
        return CheckResult(False, f"the {thing} is {wrong}", other)
    return CheckResult(other is None, "it is out of view" if other is None else f"the {other} is {right}", other)


def _slice(at: _Moment) -> CheckResult:
    thing, states = at.thing, at.seen.states()
    if any(same(name, slice_of(thing)) or (same(name, thing) and "sliced" in words) for name, words in states.items()):
        return CheckResult(True, f"the {thing} is in slices")
    if any(same(name, thing) for name in states):
        fresh = [n for n in states if is_slice(n) and ("sliced", n) not in at.before and whole(n) != thing]
        return CheckResult(False, f"the {thing} is whole", whole(fresh[0]) if fresh else None)
    cutting = holds(at.before, ("tool",), at.home)
    return CheckResult(cutting, "it is out of view" if cutting else "nothing to cut with was in the gripper")


def _crack(at: _Moment) -> CheckResult:
    thing = at.thing
    words = next((words for name, words in at.seen.states().items() if same(name, thing)), None)
    for word in ("cracked", "not cracked"):
        if words is not None and word in words:
            return CheckResult(word == "cracked", f"the {thing} is {word}")
    near = (at.carried is not None and same_stuff(at.carried, thing)) or words is not None
    return CheckResult(near, "it is out of view" if near else f"there was no {thing} to crack")


def _pour(at: _Moment) -> CheckResult:
    target = at.step.arguments[1]
    if refuted := at.other_carried():
        return refuted
    source = at.carried or at.thing
    if liquid(at.now, source) is not None:
        return CheckResult(False, f"the {source} is still filled with {liquid(at.now, source)}")
    if not at.home.has(target, Trait.VESSEL):
        return CheckResult(True, f"the {source} is empty")
    if at.seen.sees(target) and liquid(at.now, target) is None:
        filled = [fact[1] for fact in at.now - at.before if fact[0] == "filled" and noun(fact[1]) != noun(source)]
        return CheckResult(False, f"the {target} is empty", next(iter(filled), None))
    poured = liquid(at.before, source) is not None
    return CheckResult(poured, "it is out of view" if poured else f"the {source} was empty before")


_CHECKS: dict[str, Callable[[_Moment], CheckResult]] = {
    "pick_up": _pick_up,
    "put_in": _put,
    "put_on": _put,
    "slice_obj": _slice,
    "crack_obj": _crack,
    "pour": _pour,
}
