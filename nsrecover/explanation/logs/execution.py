"""The cause of a failed subgoal, from what happened before it (REFLECT, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun, same, same_stuff, whole
from nsrecover.domains.household.scene import Household, contents, cover_of, holding, holds, occupant, shut_in, unmet
from nsrecover.explanation.logs import planning
from nsrecover.explanation.logs.findings import Checked, Finding, RootCause
from nsrecover.explanation.logs.inference.effects import OPERATORS, literal_of
from nsrecover.explanation.logs.reading.records import Observation
from nsrecover.explanation.logs.run import Run, alike, state_after

_IN_FRONT = ("occluding", "blocking", "above", "in front of", "on top of")
_HIDING = ("occluding", "blocking", "in front of", "occluded by", "blocked by", "behind")
_BEHIND = ("below", "under", "behind", "occluded by", "blocked by", "inside")


def explain_failure(run: Run, number: int) -> Finding:
    """Why a subgoal failed.

    Args:
        run: the log.
        number: index of the first subgoal that does not hold.
    """
    step, held = run.subgoals[number].step, holding(run.before(number))
    if held and step.operator in ("put_in", "put_on", "pour", "crack_obj") and same_stuff(step.arguments[0], held):
        # The plan may name the object in the gripper differently, or leave its ordinal out.
        step = Action(step.operator, (held, *step.arguments[1:]))
    return _Failure(run, number, step).finding()


@dataclass(frozen=True)
class _Failure:
    """A failed subgoal: its index, and its step with the object in the gripper."""

    run: Run
    number: int
    step: Action

    @property
    def home(self) -> Household:
        return self.run.home

    @property
    def checked(self) -> Checked:
        return self.run.subgoals[self.number]

    @property
    def before(self) -> State:
        return self.run.before(self.number)

    def found(self, cause: RootCause, *objects: str, **details: Any) -> Finding:
        """A finding about this subgoal; with the times of other subgoals if `details` has them."""
        return self.run.finding(cause, self.number, *objects, **{"step": self.step, **details})

    def lacks(self, missing: Action, *objects: str, **details: Any) -> Finding:
        """A step is missing before this subgoal."""
        return self.found(RootCause.MISSING_STEP, *objects, missing=(missing,), **details)

    def finding(self) -> Finding:
        """Why the subgoal failed."""
        step, instead = self.step, self.checked.instead
        if step.operator == "pick_up" and instead:
            return self._ambiguous(step.arguments[0]) or self._mistaken(step.arguments[0], instead)
        needs = unmet(self.before, step, self.home) if step.operator in HOUSEHOLD.operators else []
        # An object missing in the gripper comes before the other conditions on that object.
        for need in sorted(needs, key=lambda need: need[0] not in ("holding", "tool")):
            finding = self._of_need(need)
            if finding is not None:
                return finding
        return self._done_to_another(instead) if instead else self._unexplained()

    def _mistaken(self, thing: str, instead: str) -> Finding:
        return self.found(RootCause.MISTAKEN_OBJECT, thing, instead, step=self.checked.step)

    def _done_to_another(self, instead: str) -> Finding:
        """The action was done with another object or place than the named one."""
        operator, arguments = self.checked.step.operator, self.checked.step.arguments
        if operator in ("put_in", "put_on") and holding(self.before) != instead:
            thing, place = arguments
            if noun(place) != noun(instead) and not self.home.has(instead, Trait.SURFACE):
                return self.found(RootCause.MISTAKEN_OBJECT, place, instead, step=self.checked.step, where=instead)
            return self.found(RootCause.MISPLACED, thing, instead, step=self.checked.step, where=instead)
        return self._mistaken(arguments[-1 if operator == "pour" else 0], instead)

    def _of_need(self, need: StateFact) -> Finding | None:
        """The cause of an unmet precondition; None if it does not explain the failure."""
        run, number, state = self.run, self.number, self.before
        first = self.step.arguments[0]
        match need:
            case ("holding", thing):
                return self._not_in_hand(thing)
            case ("tool",):
                return self._tool_missing()
            case ("remote",):
                remote = self.home.all(Trait.REMOTE)[0]
                if self._last_held(remote) is not None:
                    return self._let_go(remote)
                return self._out_of_order_or_missing(Action("pick_up", (remote,)), ("holding", remote))
            case ("full", thing):
                wanted = [fact[2] for fact in run.wanted if fact[:2] == ("filled", self.step.arguments[-1])]
                content = ("filled", thing, wanted[0] if wanted else "water")
                return self._ambiguous(thing) or planning.explain_condition(run, content, number)
            case ("accessible", place):
                return self._shut(
                    (place if ("open", place) not in state else shut_in(state, place, self.home)) or place
                )
            case ("reachable", thing):
                return self._shut(shut_in(state, thing, self.home) or thing)
            case ("off", thing):
                off = self._out_of_order_or_missing(Action("toggle_off", (thing,)), need)
                if off.cause is RootCause.WRONG_ORDER:
                    return off
                earlier = self._last_done(Action("toggle_on", (thing,)))
                if earlier is None:
                    return self.found(RootCause.ALREADY_RUNNING, thing, unmet=need)
                return self._too_early(earlier, thing, unmet=need)
            case ("room", place, thing):
                return self.found(RootCause.OCCUPIED, place, occupant(state, place, thing, self.home) or "", unmet=need)
            case ("uncovered", thing):
                return self.found(RootCause.BLOCKED, thing, cover_of(state, thing, self.home) or "", unmet=need)
            case ("hand_free",):
                held = holding(state) or ""
                return self.lacks(self._put_down(held), held, first, unmet=need)
            case ("exists", thing):
                return self._out_of_order_or_missing(Action("slice_obj", (whole(thing),)), need)
            case ("set_down", thing):
                return self.lacks(self._put_down(thing), thing, unmet=need)
            case (predicate, thing) if operator := OPERATORS.get(literal_of(predicate)):
                return self._out_of_order_or_missing(Action(operator, (thing,)), need)
        return None

    def _put_down(self, thing: str) -> Action:
        spots = self.home.all(Trait.SURFACE)
        return Action("put_on", (thing, noun(spots[0]) if spots else "countertop"))

    def _too_early(self, earlier: int, *objects: str, **details: Any) -> Finding:
        """An earlier subgoal came before this one, and should have come after it."""
        item = self.run.subgoals[earlier]
        return self.found(
            RootCause.WRONG_ORDER, *objects, times=(item.time, self.checked.time), earlier=item.step, **details
        )

    def _not_in_hand(self, thing: str) -> Finding:
        """The gripper does not hold the object that it should hold."""
        held, need = holding(self.before), ("holding", thing)
        if held is not None and not same_stuff(held, thing):
            taken = self._last_done(Action("pick_up", (held,)))
            times = (*([self.run.subgoals[taken].time] if taken is not None else []), self.checked.time)
            return self._ambiguous(held) or self.found(RootCause.WRONG_OBJECT, thing, held, times=times, unmet=need)
        ambiguous = self._ambiguous(thing)
        if ambiguous:
            return ambiguous
        if self._last_held(thing) is not None:
            return self._let_go(thing)
        return self.lacks(Action("pick_up", (thing,)), thing, unmet=need)

    def _last_held(self, thing: str) -> int | None:
        """The last event before this subgoal in which the gripper held an object."""
        for earlier in range(self.checked.event - 1, -1, -1):
            held = holding(self.run.states[earlier])
            if held is not None and same_stuff(held, thing):
                return earlier
        return None

    def _let_go(self, thing: str) -> Finding:
        """The gripper no longer holds an object: the plan put it down, or it was dropped."""
        run, last = self.run, self._last_held(thing)
        assert last is not None
        frame, need = run.log.events[last + 1], ("holding", thing)
        if frame.step.operator in ("put_in", "put_on") and same_stuff(frame.step.arguments[0], thing):
            placed = next((n for n in range(self.number) if run.subgoals[n].event == last + 1), None)
            if placed is not None and self._may_precede(placed):
                times = (frame.time, self.checked.time)
                objects = (thing, *self.step.arguments[:1])
                return self.found(RootCause.WRONG_ORDER, *objects, times=times, earlier=frame.step, unmet=need)
            return self.lacks(Action("pick_up", (thing,)), thing, unmet=need)
        lost = holding(run.states[last]) or thing
        where = self._seen_afterwards(last + 1, thing)
        return self.found(RootCause.DROPPED, lost, times=(frame.time,), earlier=frame.step, where=where)

    def _seen_afterwards(self, event: int, thing: str) -> str:
        """In or on what a lost object was seen soon after."""
        for frame in self.run.log.events[event : event + 4]:
            for name in frame.observation.states():
                places = frame.observation.places(name) if same_stuff(name, thing) else []
                if places:
                    return places[0][1]
        return ""

    def _may_precede(self, earlier: int) -> bool:
        """Whether an earlier step could have waited until after this one, with all steps between as they are."""
        steps = [*self.run.steps[earlier + 1 : self.number], self.step, self.run.steps[earlier]]
        return state_after(self.home, self.run.before(earlier), steps) is not None

    def _tool_missing(self) -> Finding:
        """There is nothing in the gripper to cut with."""
        tools, food = self.home.all(Trait.CUTS), self.step.arguments[0]
        for tool in tools:
            if self._last_held(tool) is not None:
                return self._let_go(tool)
        taking = Action("pick_up", (tools[0] if tools else "knife",))
        need = ("holding", *taking.arguments)
        later = self._next_done(taking)
        if later is None:
            return self.lacks(taking, *taking.arguments, food, unmet=need)
        times = (self.checked.time, self.run.subgoals[later].time)
        return self.found(RootCause.WRONG_ORDER, *taking.arguments, food, times=times, earlier=self.step, unmet=need)

    def _shut(self, door: str) -> Finding:
        """A door is closed that should be open."""
        objects, need = (door, *self.step.arguments[:1]), ("open", door)
        closed = self._last_done(Action("close_obj", (door,)))
        if closed is not None and self._may_precede(closed):
            return self._too_early(closed, *objects, unmet=need)
        opening = Action("open_obj", (door,))
        finding = self._out_of_order_or_missing(opening, need)
        if finding.cause is RootCause.MISSING_STEP:
            return self.found(RootCause.NEVER_OPENED, *objects, missing=(opening,), unmet=need)
        return finding

    def _out_of_order_or_missing(self, lacking: Action, need: StateFact) -> Finding:
        """A step that should have come before this one: it comes later, or not at all."""
        objects, later = (*lacking.arguments, *self.step.arguments[:1]), self._next_done(lacking)
        if later is not None:
            # Moved here it must not be missed there.
            rest = [*self.run.steps[self.number + 1 : later], *self.run.steps[later + 1 :]]
            if state_after(self.home, self.before, [lacking, self.step, *rest]) is not None:
                times = (self.checked.time, self.run.subgoals[later].time)
                return self.found(
                    RootCause.WRONG_ORDER, *objects, times=times, missing=(lacking,), earlier=self.step, unmet=need
                )
        return self.lacks(lacking, *objects, unmet=need)

    def _last_done(self, step: Action) -> int | None:
        """The last subgoal before this one that does a step and holds."""
        earlier = [n for n in range(self.number) if alike(self.run.steps[n], step) and self.run.subgoals[n].satisfied]
        return earlier[-1] if earlier else None

    def _next_done(self, step: Action) -> int | None:
        """The first subgoal after this one that does a step."""
        return next((n for n in range(self.number + 1, len(self.run.subgoals)) if alike(self.run.steps[n], step)), None)

    def _ambiguous(self, thing: str) -> Finding | None:
        """A step up to this one whose words leave open which object is meant, and that led to this object."""
        for earlier in range(self.number, -1, -1):
            item = self.run.subgoals[earlier]
            for word in {*item.planned.arguments, *item.step.arguments}:
                if not self.home.ambiguous(word) or self.home.has(word, Trait.SURFACE):
                    continue
                reached = holding(self.run.after(earlier)) if item.step.operator == "pick_up" else None
                if thing in (reached, word) or (reached and same(reached, thing)):
                    return self.run.finding(RootCause.AMBIGUOUS_NAME, earlier, reached or thing, word)
        return None

    def _unexplained(self) -> Finding:
        """All known preconditions held: an obstacle, or a failure of the robot itself."""
        step, home, run = self.step, self.home, self.run
        if step.operator in ("put_in", "put_on"):
            place = step.arguments[1]
            # What is occluded at that moment may be seen later.
            views = (self.before, run.after(self.number), run.final)
            # What the plan itself puts there is not in its way.
            own = {done.arguments[0] for done in run.steps if done.operator in ("put_in", "put_on")}
            inside = [
                o for view in views for o in contents(view, place) if home.has(o, Trait.PORTABLE) and o not in own
            ]
            small = home.has(place, Trait.ONE_PLACE) or not home.known(place)
            if inside and small and not home.traits(place) & {Trait.SURFACE, Trait.BASIN, Trait.DISH}:
                return self.found(RootCause.OCCUPIED, place, inside[0])
        taking = step.operator == "pick_up"
        if taking or step.operator in ("open_obj", "toggle_on", "toggle_off", "slice_obj"):
            thing = step.arguments[0]
            door = self._unopened(thing) if taking else None
            if door:
                return self._shut(door)
            other = self._in_the_way(thing, taking)
            if other:
                return self.found(RootCause.BLOCKED, thing, other)
        return self.found(RootCause.MISSED_GRASP if taking else RootCause.ACTION_FAILED, *step.arguments)

    def _unopened(self, thing: str) -> str | None:
        """The closed door behind which an object must be that was not seen so far."""
        frames = self.run.log.events[: self.checked.event + 1]
        if any(frame.observation.sees(thing) or holding(state) == thing
               for frame, state in zip(frames, self.run.states, strict=False)):  # fmt: skip
            return None
        shut = (
            name
            for frame in reversed(frames)
            for name, words in frame.observation.states().items()
            if self.home.has(name, Trait.DOOR) and "closed" in words
        )
        return next((name for name in shut if holds(self.before, ("closed", name), self.home)), None)

    def _in_the_way(self, thing: str, taking: bool) -> str | None:
        """The object that was seen at another one, between it and the robot."""
        start = self.run.subgoals[self.number - 1].event + 1 if self.number else 0
        frames = self.run.log.events[start : self.checked.event + 1]
        return next(filter(None, (self._near(frame.observation, thing, taking) for frame in reversed(frames))), None)

    def _near(self, observation: Observation, thing: str, taking: bool) -> str | None:
        for subject, relation, other in observation.relations():
            # What lies on or under an object keeps it from being taken, not from being turned on.
            if not taking and relation not in _HIDING:
                continue
            # A dish may be the place where the object belongs.
            at_home = relation == "inside" and self.home.has(other, Trait.DISH)
            if same(subject, thing) and relation in _BEHIND and self.home.has(other, Trait.PORTABLE) and not at_home:
                return other
            carried = relation == "on top of" and self.home.has(thing, Trait.DISH)
            if same(other, thing) and relation in _IN_FRONT and self.home.has(subject, Trait.PORTABLE) and not carried:
                return subject
        return None
