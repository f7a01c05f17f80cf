"""What an action needs while it runs, as facts: each has to be as before the action, or as the action leaves it.

Each frame says with some probability that a property is otherwise. Its log odds are added up over time, from 0 upwards,
as in tests for a change (Page, "Continuous Inspection Schemes", 1954): in seconds for which it was certainly wrong,
whatever the rate of frames is. Frames of good actions show some things wrongly for a while: the arm hides what it
carries, and what stands on its place already is not felt any more. How long is learned from successful demonstrations
alone, for each property, and the time that is waited is chosen by split-conformal calibration over whole actions: of
good actions a share of alpha at most is interrupted (Vovk et al., Algorithmic Learning in a Random World, 2005, section
4.2.2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nsrecover.belief.channels import other_values
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
CERTAIN = 0.99
"""A frame that shows something with this probability counts for its whole time, a less certain one for less."""
LEAST = 0.9
"""What is less certainly wrong in a frame does not count: readings while the arm is in view err alike."""
ELSE = "else"
"""Stands for all properties that were never wrong in a demonstration."""
FINE_S = 0.1
"""No time that is waited is below this."""

Key = tuple[str, str]
"""A property, `CARRIED` or `SET_DOWN`, and the object."""
Frame = tuple[float, Mapping[Key, float]]
"""When a frame was made, seconds, and how it weighs: 1 if something is certainly wrong, -1 if it certainly is not."""


@dataclass(frozen=True)
class ConditionModel:
    """What actions of a symbolic domain need while they run.

    What matters are the properties of the objects of an action, and what its conditions rest on; what an empty object
    is filled with matters only if they do. One that is seen, and is neither as before the action nor as the action
    leaves it, is wrong; so is what is not felt any more. Where the action lets go of what it holds, as to grasp it
    anew, it may be in any place. What is wrong for long enough, and in two frames at least, deviates.

    Attributes:
        patience_s: property, `CARRIED`, `SET_DOWN` or `ELSE` -> how long it may be wrong. See `fit_patience`.
    """

    patience_s: Mapping[str, float] = field(default_factory=dict)

    def patience(self, what: str) -> float:
        """How long something may be wrong, seconds."""
        return self.patience_s.get(what, self.patience_s.get(ELSE, 0.0))

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
        self._wrong = WrongFor()
        self._held, self._holds = held(before, self._domain), held(after, self._domain)
        one, other = by_property(before, self._domain), by_property(after, self._domain)
        props = {*one, *other, *((name, each) for name in self._domain.variables for each in action.arguments)}
        known = {prop for prop in props if scene.knows(prop) and not drifts(prop, self._domain)}
        own = {prop for prop in known if prop[1] in action.arguments}
        # what is empty loses no contents, and what seems to be in it can be looked at afterwards
        empty = {prop for prop in own - one.keys() - other.keys() if other_values(prop, self._domain) > 1.0}
        needed = (own - empty).union(rests_on(instance, before, action, known - own | empty))
        self._fits: dict[Property, tuple[State, State]] = {
            prop: (one.get(prop, NOTHING), other.get(prop, NOTHING)) for prop in sorted(needed)
        }

    @property
    def watched(self) -> tuple[Property, ...]:
        """The properties that may be wrong."""
        return tuple(self._fits)

    def judge(self, observation: Observation, robot: RobotState) -> tuple[str, ...]:
        """The objects that deviate in the frames until this one."""
        half = self._wrong.add((observation.time_s, self.weights(observation, robot)))
        late = (key for key, wrong_s in self._wrong.seconds.items() if wrong_s > 0.0 and key in half)
        return tuple(key[1] for key in late if self._wrong.seconds[key] + half[key] > self._model.patience(key[0]))

    def weights(self, observation: Observation, robot: RobotState) -> dict[Key, float]:
        """How a frame weighs, see `Frame`; nothing of what it does not show."""
        # what is still to be put down is held, and what is to be taken is where it was
        done = robot.gripping == (self._holds is not None)
        seen = self._belief.glance(self._after if done else self._before, observation)
        found = by_property(seen.facts, self._domain)
        weights = {prop: self._weight(prop, found, seen, robot) for prop in self._fits if seen.certainty.get(prop, 1.0)}
        lost = (CARRIED, self._holds) if self._holds is not None else (SET_DOWN, self._held or "")
        return weights | {lost: 1.0 if self._feels_lost(observation, robot) else -1.0}

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

    def _weight(self, prop: Property, found: dict[Property, State], seen: FactScene, robot: RobotState) -> float:
        """From 1, a property is certainly wrong, to -1, it certainly fits."""
        now, sure = found.get(prop, NOTHING), seen.certainty.get(prop, 1.0)
        # fingers that were told to let go hide what they have put down; it may be grasped anew
        known = all(name in self._belief.instance.objects for fact in now for name in fact[1:])
        let_go = prop == (PLACE, self._held) and not robot.gripping and known
        chance = 1.0 - sure if now in self._fits[prop] or let_go else sure
        chance = min(max(chance, 1.0 - CERTAIN), CERTAIN)
        if 0.5 < chance < LEAST:
            return 0.0
        return math.log(chance / (1.0 - chance)) / math.log(CERTAIN / (1.0 - CERTAIN))


class WrongFor:
    """For how long what is wrong, by the frames of one action until now.

    Attributes:
        seconds: since it was first seen; 0 for what only one frame has shown.
    """

    def __init__(self) -> None:
        self.seconds: dict[Key, float] = {}
        self._last_s: float | None = None

    def add(self, frame: Frame) -> dict[Key, float]:
        """Add a frame; returns what is wrong in it, and half the time for which it counts: a period ends in between."""
        now_s, weights = frame
        period_s = 0.0 if self._last_s is None else now_s - self._last_s
        self._last_s = now_s
        for key, weight in weights.items():
            if key in self.seconds:
                self.seconds[key] += weight * period_s
            elif weight > 0.0:
                self.seconds[key] = 0.0
            if self.seconds.get(key, 0.0) < 0.0:
                del self.seconds[key]
        return {key: weight * period_s / 2 for key, weight in weights.items() if weight > 0.0}


def longest_s(frames: Sequence[Frame]) -> dict[str, float]:
    """How long each property was wrong in the frames of an action, at the longest and for one object."""
    wrong, longest = WrongFor(), defaultdict[str, float](float)
    for frame in frames:
        half = wrong.add(frame)
        for key, wrong_s in wrong.seconds.items():
            longest[key[0]] = max(longest[key[0]], wrong_s + half.get(key, 0.0) if wrong_s else 0.0)
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
    limits = {ELSE: FINE_S}
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
