"""What an action needs while it runs, as facts: each has to be as before the action, or as the action leaves it.

Frames of good actions show some things wrongly for a while: the arm hides what it carries, and what stands on its place
already is not felt any more. How long is learned from successful demonstrations alone, for each property, and the time
that is waited is chosen by split-conformal calibration over whole actions: of good actions a share of alpha at most is
interrupted (Vovk et al., Algorithmic Learning in a Random World, 2005, section 4.2.2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneT
from nsrecover.domains.base import State
from nsrecover.domains.properties import by_property, drifts, held
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.models.conformal import conformal_threshold
from nsrecover.monitoring.fact_belief import FactBelief
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.outlook import imagine, rests_on

NOTHING: State = frozenset()
"""What a property is that no fact is about."""
CARRIED, SET_DOWN = "felt while it is carried", "felt until it is set down"
"""What is wrong if fingers that are to hold something do not feel it any more, besides the names of properties."""
BARELY = ", barely seen"
"""Follows a property of which something else is the most probable, but not more probable than not."""
ELSE = "else"
"""Stands for all properties that were never wrong in a demonstration."""
FINE_S = 0.1
"""No time that is waited is below this."""

Wrong = frozenset[tuple[str, str]]
"""What is wrong in a frame: a property, with `BARELY` or without, `CARRIED` or `SET_DOWN`, and the object."""
Frame = tuple[float, Wrong]
"""When a frame was made, seconds, and what is wrong in it."""


@dataclass(frozen=True)
class ConditionModel:
    """What actions of a symbolic domain need while they run.

    What matters are the properties of the objects of an action, and what its conditions rest on. One that is seen, and
    is neither as before the action nor as the action leaves it, is wrong; so is what is not felt any more. What is
    wrong for long enough deviates.

    Attributes:
        patience_s: property, `CARRIED`, `SET_DOWN` or `ELSE`, with `BARELY` or without -> how long it may be wrong.
            Without times, what is barely seen does not count, and all else from the second frame on. See
            `fit_patience`.
        sure: a property of a frame counts if it is more probable than this.
    """

    patience_s: Mapping[str, float] = field(default_factory=dict)
    sure: float = 0.5

    def patience(self, what: str) -> float:
        """How long something may be wrong, seconds."""
        other = (ELSE + BARELY, math.inf) if what.endswith(BARELY) else (ELSE, 0.0)
        return self.patience_s.get(what, self.patience_s.get(*other))

    def frames(self, monitor: Monitor[SceneT], action: Action, time_s: float) -> FactFrames:
        """What judges the frames of an action; see `nsrecover.monitoring.during.ActionModel`."""
        if not isinstance(monitor.belief, FactBelief):
            raise InvalidConfiguration(
                "expected scenes of facts while actions are watched by their conditions, found scenes of boxes"
            )
        return FactFrames(self, monitor.belief, action)


class FactFrames:
    """Judges the frames of one action in a scene of facts.

    Args:
        model: what matters.
        belief: of the plan; the action is its next one.
        action: what runs.
    """

    def __init__(self, model: ConditionModel, belief: FactBelief, action: Action) -> None:
        instance, scene = belief.instance, belief.scene
        before, after = scene.facts, imagine(instance, scene.facts, action)
        self._model, self._belief, self._domain = model, belief, instance.domain
        self._before, self._after, self._felt = before, after, False
        self._since: dict[tuple[str, str], float] = {}
        self._held, self._holds = held(before, self._domain), held(after, self._domain)
        one, other = by_property(before, self._domain), by_property(after, self._domain)
        props = {*one, *other, *((name, each) for name in self._domain.variables for each in action.arguments)}
        known = {prop for prop in props if scene.knows(prop) and not drifts(prop, self._domain)}
        own = {prop for prop in known if prop[1] in action.arguments}
        needed = own.union(rests_on(instance, before, action, known - own))
        self._fits: dict[Property, tuple[State, State]] = {
            prop: (one.get(prop, NOTHING), other.get(prop, NOTHING)) for prop in sorted(needed)
        }

    def judge(self, observation: Observation, robot: RobotState) -> tuple[str, ...]:
        """The objects that deviate in this frame, and in those before it for long enough."""
        wrong, now_s = self.wrong(observation, robot), observation.time_s
        self._since = {each: self._since.get(each, now_s) for each in sorted(wrong)}
        return tuple(
            name for (what, name), since_s in self._since.items() if now_s - since_s > self._model.patience(what)
        )

    def wrong(self, observation: Observation, robot: RobotState) -> Wrong:
        """What is wrong in a frame."""
        # what is still to be put down is held, and what is to be taken is where it was
        done = robot.gripping == (self._holds is not None)
        seen = self._belief.glance(self._after if done else self._before, observation)
        found = by_property(seen.facts, self._domain)
        wrong = frozenset(
            (prop[0] + how, prop[1])
            for prop in self._fits
            if (how := self._deviates(prop, found, seen, robot)) is not None
        )
        if not self._feels_lost(observation, robot):
            return wrong
        return wrong | {(CARRIED, self._holds) if self._holds is not None else (SET_DOWN, self._held or "")}

    def confirmed(self, name: str) -> bool:
        """Whether a property of an object now is neither as before the action nor as the action leaves it."""
        scene = self._belief.scene
        found = by_property(scene.facts, self._domain)
        return any(
            prop[1] == name and found.get(prop, NOTHING) not in fits and scene.knows(prop)
            for prop, fits in self._fits.items()
        )

    def _feels_lost(self, observation: Observation, robot: RobotState) -> bool:
        """Whether fingers that are to hold something have felt it, and do not any more."""
        holds = robot.gripping and (self._held is not None or self._holds is not None)
        self._felt = holds and (self._felt or observation.holding)
        return self._felt and not observation.holding

    def _deviates(self, prop: Property, found: dict[Property, State], seen: FactScene, robot: RobotState) -> str | None:
        """Empty if a property is wrong, `BARELY` if it may be; None: it fits, or nothing of it is seen."""
        now, certainty = found.get(prop, NOTHING), seen.certainty.get(prop, 1.0)
        # fingers that were told to let go hide what they have put down
        hidden = not now and prop == (PLACE, self._held) and not robot.gripping
        if now in self._fits[prop] or certainty <= 0 or hidden:
            return None
        return "" if certainty > self._model.sure else BARELY


def longest_s(frames: Sequence[Frame]) -> dict[str, float]:
    """How long each property was wrong in the frames of an action, at the longest and for one object."""
    since_s: dict[tuple[str, str], float] = {}
    longest: dict[str, float] = defaultdict(float)
    for now_s, wrong in frames:
        since_s = {each: since_s.get(each, now_s) for each in wrong}
        for (what, _), begun_s in since_s.items():
            longest[what] = max(longest[what], now_s - begun_s)
    return dict(longest)


def fit_patience(actions: Sequence[Sequence[Frame]], alpha: float) -> dict[str, float]:
    """Learn for how long properties may be wrong, see `ConditionModel`.

    Every second action says how long each property may be wrong, the others by how much all of these times have to be
    multiplied.

    Args:
        actions: frames of successful actions.
        alpha: share of good actions that are interrupted at most.

    Raises:
        InvalidRecording: there are too few actions for the rate.
        InvalidConfiguration: the rate is out of its range, see `conformal_threshold`.
    """
    limits = {ELSE: FINE_S, ELSE + BARELY: FINE_S}
    for found in map(longest_s, actions[::2]):
        limits |= {what: max(length_s, limits.get(what, FINE_S)) for what, length_s in found.items()}
    scores = sorted(
        -max((length_s / limits.get(what, FINE_S) for what, length_s in longest_s(frames).items()), default=0.0)
        for frames in actions[1::2]
    )  # low is bad there
    if len(scores) < (needed := round(1 / alpha)):
        raise InvalidRecording(
            f"expected at least {2 * needed} successful actions to promise {alpha:g}, found {len(actions)}"
        )
    times = max(1.0, -conformal_threshold(scores, len(scores), alpha))
    return {what: round(times * limit_s, 3) for what, limit_s in sorted(limits.items())}
