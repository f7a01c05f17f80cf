"""Several observations of the same scene, brought together object by object.

Errors of sensors and segmenters (a missing, merged or split mask, noise) differ from one observation to the next; real
deviations stay. An object deviates, or is as expected, once the observations together say so surely enough.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nsrecover.belief.objects import OVERLOOKED, after_looks, changed, evidence
from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Discrepancy, Phase, Unseen, UnseenReason
from nsrecover.core.protocols import ReportingPerceiver
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.core.sensing import SensorFinding
from nsrecover.monitoring.box_goal import GoalScene
from nsrecover.monitoring.expected_trace import ExpectedTrace
from nsrecover.monitoring.resting_places import RestingPlaces
from nsrecover.util.python310 import Self


@dataclass
class MonitorState:
    """Everything that a monitor knows at one moment.

    Attributes:
        perceiver: with its memory.
        graph: the scene as it was seen last.
        expected: the expected scenes, and how many actions are done.
        places: where every object was put down.
        errors: the last two discrepancies with deviations.
        unconfirmed: objects that an action should have moved and that have not been seen since.
        goal: what the plan should lead to.
        doubts: object of the goal -> probability that it is not as the goal has it.
        unseen: why objects are not seen in the last observation, as far as the perceiver says so.
        sensors: what is wrong with the cameras, as far as the perceiver says so.
        changed: objects that look different than before, or stand otherwise, and the cause.
    """

    perceiver: ReportingPerceiver[Any]
    graph: SceneGraph
    expected: ExpectedTrace[SceneGraph]
    places: RestingPlaces
    goal: GoalScene
    doubts: Mapping[str, float] = field(default_factory=dict)
    errors: tuple[Discrepancy, ...] = ()
    unconfirmed: frozenset[str] = frozenset()
    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    sensors: tuple[SensorFinding, ...] = ()
    changed: Mapping[str, Cause] = field(default_factory=dict)

    def copy(self) -> Self:
        """A copy that changes independently, with the same perceiver."""
        return replace(self, expected=self.expected.copy(), places=self.places.copy())

    def fork(self) -> Self:
        """A copy with a perceiver of its own; with the same one if it cannot be copied."""
        return replace(self.copy(), perceiver=self.perceiver.fork())


@dataclass(frozen=True, eq=False)
class SettledLook:
    """One observation and what it says alone.

    Attributes:
        state: of the monitor after the observation, before its conclusions.
        found: the discrepancy according to this observation alone.
    """

    state: MonitorState
    found: Discrepancy

    @property
    def graph(self) -> SceneGraph:
        """The scene according to this observation alone."""
        return self.state.graph

    @property
    def shown(self) -> dict[str, bool]:
        """Deviating objects, and whether each is seen."""
        return {name: self.sees(name) for name in self.found.deviating}

    def sees(self, name: str) -> bool:
        """Whether an object is seen."""
        return name in self.graph.names and bool(self.graph.seen[self.graph.index(name)])


@dataclass(eq=False)
class JudgedBoxes:
    """A step or check that was judged, and can be judged again with further observations.

    Attributes:
        before: the state before its first observation.
        phase: whether it is a check before the action or a step with it.
        action: the action of a step; None for a check.
        looks: its observations.
        found: what they say together.
        alarm: accepted probability that the verdict is wrong.
        made: how many observations were made, those that cannot be used included.
    """

    before: MonitorState
    phase: Phase
    action: Action | None
    looks: list[SettledLook]
    found: Discrepancy
    alarm: float
    made: int = 1

    @property
    def moved(self) -> frozenset[str]:
        """What the action moves."""
        return frozenset(() if self.action is None else self.action.arguments[:1])

    @property
    def unsure(self) -> bool:
        """Whether observations tell of some object, and not surely enough, whether it deviates."""
        names = set(self.found.observed.names) - set(self.found.newcomers)
        return any(
            self.alarm < _doubt(_told(self.looks, name), name in self.moved) < 1.0 - self.alarm for name in names
        )

    @property
    def settled(self) -> bool:
        """Whether another observation is not worth while.

        What was looked for without success after an earlier step is not looked for again, unless an action needs it.
        """
        old = self.before.unconfirmed - set(self.found.action.arguments)
        if any(isinstance(each, Unseen) and each.name not in old for each in self.found.missing_to_tell):
            return False
        alike = len(self.looks) > 1 and self.looks[-1].shown == self.looks[-2].shown
        return not self.unsure and (alike or not self.found.deviates)


def agreement(judged: JudgedBoxes, newcomers: Collection[str]) -> MonitorState:
    """The state after several observations of the same scene, before any conclusions.

    An object of which nothing is sure enough counts as not seen, if an observation says that it deviates. One that
    deviates is where it was seen last, if half of the observations see it.

    Args:
        judged: the step or check, with its observations in order.
        newcomers: objects that do not count.
    """
    looks, moved, alarm = judged.looks, judged.moved, judged.alarm
    names = [name for name in looks[-1].graph.names if name not in newcomers]
    told = {name: _told(looks, name) for name in names}
    votes = {name: [None if each is None else each < 0.0 for each in told[name]] for name in names}
    verdicts = {name: _verdict(votes[name], _doubt(told[name], name in moved), alarm) for name in names}

    def differs(number: int) -> tuple[int, int, int]:
        against = sum(votes[name][number] is not verdicts[name] for name in names)
        return against, len(looks[number].graph), -number

    base = min(range(len(looks)), key=differs)
    graph = looks[base].graph
    for name, verdict in verdicts.items():
        if votes[name][base] is not verdict:
            # a disputed object is assumed to be in its place
            wanted = [verdict] if verdict is not None else [False, None]
            sources = [look for vote in wanted for look, cast in zip(looks, votes[name], strict=True) if cast is vote]
            graph = graph.with_nodes_of(sources[0].graph, [name])
        elif verdict and not looks[base].sees(name):
            seeing = [look for look in looks if look.sees(name)]
            if 2 * len(seeing) >= len(looks):
                graph = graph.with_nodes_of(seeing[-1].graph, [name])
    disputed = [name for name in names if verdicts[name] is None and any(votes[name])]
    state = looks[base].state.copy()
    state.graph = graph.doubted(disputed) if disputed else graph
    reasons = {name: why for look in looks for name, why in look.state.unseen.items()}
    state.unseen = {
        **reasons, **state.unseen, **{name: Unseen(name, UnseenReason.LOOKS_DISAGREE) for name in disputed}
    }  # fmt: skip
    state.sensors = looks[-1].state.sensors
    state.changed = {name: why for look in looks for name, why in look.state.changed.items() if verdicts.get(name)}
    return state


def _verdict(votes: Sequence[bool | None], doubt: float, alarm: float) -> bool | None:
    """Whether an object deviates; None if that is not sure enough, and the observations do not all say the same."""
    cast = [vote for vote in votes if vote is not None]
    if cast and not alarm < doubt < 1.0 - alarm:
        return doubt > 0.5
    return cast[0] if len(cast) >= min(len(votes), 2) and len(set(cast)) == 1 else None


def _doubt(told: Sequence[float | None], moved: bool) -> float:
    """Probability that an object deviates, by what each observation says of it; 0 if none tells."""
    known = [each for each in told if each is not None]
    return after_looks(changed(moved=moved), known) if known else 0.0


def _told(looks: Sequence[SettledLook], name: str) -> list[float | None]:
    """What each observation of a scene says of an object."""
    return [_evidence(look, name, looks) for look in looks]


def _evidence(look: SettledLook, name: str, looks: Sequence[SettledLook]) -> float | None:
    """What one observation says of an object, positive if it is as expected; None if that does not tell."""
    if name not in look.graph.names:
        return None
    row = look.graph.index(name)
    visibility, deviates = look.graph.visibility(row), name in look.found.deviating
    if visibility is Visibility.MISSING and deviates:
        return evidence(0.0, misread=OVERLOOKED)
    if visibility is Visibility.SEEN or deviates:
        return evidence(float(look.found.probabilities[row]), look.found.threshold)
    # something in its place speaks against an observation that its place is empty, and against nothing else
    gone = [each for each in looks if name in each.found.deviating and visibility is Visibility.UNKNOWN]
    return evidence(1.0) if gone and all(each.graph.missing[each.graph.index(name)] for each in gone) else None
