"""What an action needs while it runs, as facts: each has to be as before the action, or as the action leaves it."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneT
from nsrecover.domains.base import State
from nsrecover.domains.properties import by_property, drifts, held
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.facts.monitor import FactMonitor
from nsrecover.monitoring.facts.outlook import imagine, rests_on
from nsrecover.monitoring.monitor import Monitor

NOTHING: State = frozenset()
"""What a property is that no fact is about."""


@dataclass(frozen=True)
class ConditionModel:
    """What actions of a symbolic domain need while they run.

    What matters are the properties of the objects of an action, and what its conditions rest on. One that is seen, and
    is neither as before the action nor as the action leaves it, deviates.

    Attributes:
        sure: a property of a frame counts if it is more probable than this.
    """

    sure: float = 0.5

    def frames(self, monitor: Monitor[SceneT], action: Action, time_s: float) -> FactFrames:
        """What judges the frames of an action; see `nsrecover.monitoring.during.ActionModel`."""
        if not isinstance(monitor, FactMonitor):
            raise InvalidConfiguration(
                "expected scenes of facts while actions are watched by their conditions, found scenes of boxes"
            )
        return FactFrames(self, monitor, action)


class FactFrames:
    """Judges the frames of one action in a scene of facts.

    Args:
        model: what matters.
        monitor: of the plan; the action is its next one.
        action: what runs.
    """

    def __init__(self, model: ConditionModel, monitor: FactMonitor, action: Action) -> None:
        instance, scene = monitor.instance, monitor.graph
        before, after = scene.facts, imagine(instance, scene.facts, action)
        self._sure, self._monitor, self._domain = model.sure, monitor, instance.domain
        self._before, self._after, self._felt = before, after, False
        self._held, self._holds = held(before, self._domain), held(after, self._domain)
        one, other = by_property(before, self._domain), by_property(after, self._domain)
        props = {*one, *other, *((name, each) for name in self._domain.variables for each in action.arguments)}
        known = {prop for prop in props if scene.knows(prop) and not drifts(prop, self._domain)}
        own = {prop for prop in known if prop[1] in action.arguments}
        needed = own.union(rests_on(instance, before, action, known - own))
        self._fits: dict[Property, tuple[State, State]] = {
            prop: (one.get(prop, NOTHING), other.get(prop, NOTHING)) for prop in sorted(needed)
        }

    def judge(self, observation: Observation, robot: RobotState) -> str | None:
        """The object that deviates in a frame; None: none does."""
        if self._feels_lost(observation, robot):
            return self._held or self._holds
        # what is still to be put down is held, and what is to be taken is where it was
        done = robot.gripping == (self._holds is not None)
        seen = self._monitor.glance(self._after if done else self._before, observation)
        found = by_property(seen.facts, self._domain)
        return next((prop[1] for prop in self._fits if self._deviates(prop, found, seen, robot)), None)

    def _feels_lost(self, observation: Observation, robot: RobotState) -> bool:
        """Whether fingers that are to hold something have felt it, and do not any more."""
        holds = robot.gripping and (self._held is not None or self._holds is not None)
        self._felt = holds and (self._felt or observation.holding)
        return self._felt and not observation.holding

    def _deviates(self, prop: Property, found: dict[Property, State], seen: FactScene, robot: RobotState) -> bool:
        now = found.get(prop, NOTHING)
        if now in self._fits[prop] or seen.certainty.get(prop, 1.0) <= self._sure:
            return False
        # fingers that were told to let go hide what they have put down
        return bool(now) or prop != (PLACE, self._held) or robot.gripping
