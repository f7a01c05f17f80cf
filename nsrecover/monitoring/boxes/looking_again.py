"""Several observations of the same scene, brought together object by object.

Errors of sensors and segmenters (a missing, merged or split mask, noise) differ from one observation to the next; real
deviations stay. What most observations agree on is therefore taken to be so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy, Phase, Unseen, UnseenReason
from nsrecover.core.protocols import ReportingPerceiver
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.core.sensing import SensorFinding
from nsrecover.monitoring.boxes.expected_trace import ExpectedTrace, RestingPlaces
from nsrecover.util.python310 import Self

Seen = TypeVar("Seen")


@dataclass
class MonitorState(Generic[Seen]):
    """Everything that a monitor knows at one moment.

    Attributes:
        perceiver: with its memory.
        graph: the scene as it was seen last.
        expected: the expected scenes.
        places: where every object was put down.
        num_executed: number of actions that are done.
        errors: the last two discrepancies with deviations.
        unconfirmed: objects that an action should have moved and that have not been seen since.
        hidden: objects of the original plan that have not been seen since the last action.
        unseen: why objects are not seen in the last observation, as far as the perceiver says so.
        sensors: what is wrong with the cameras, as far as the perceiver says so.
        changed: objects that look different than before, as far as the perceiver says so.
    """

    perceiver: ReportingPerceiver[Seen]
    graph: SceneGraph
    expected: ExpectedTrace
    places: RestingPlaces
    num_executed: int = 0
    errors: tuple[Discrepancy, ...] = ()
    unconfirmed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    sensors: tuple[SensorFinding, ...] = ()
    changed: frozenset[str] = frozenset()

    def copy(self) -> Self:
        """A copy that changes independently, with the same perceiver."""
        return replace(self, expected=self.expected.copy(), places=self.places.copy())

    def fork(self) -> Self:
        """A copy with a perceiver of its own; with the same one if it cannot be copied."""
        return replace(self.copy(), perceiver=self.perceiver.fork())


@dataclass(frozen=True, eq=False)
class Look(Generic[Seen]):
    """One observation and what it says alone.

    Attributes:
        state: of the monitor after the observation, before its conclusions.
        found: the discrepancy according to this observation alone.
    """

    state: MonitorState[Seen]
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
class Judged(Generic[Seen]):
    """A step or check that was judged, and can be judged again with further observations.

    Attributes:
        before: the state before its first observation.
        phase: whether it is a check before the action or a step with it.
        action: the action of a step; None for a check.
        looks: its observations.
        found: what they say together.
        made: how many observations were made, those that cannot be used included.
    """

    before: MonitorState[Seen]
    phase: Phase
    action: Action | None
    looks: list[Look[Seen]]
    found: Discrepancy
    made: int = 1

    @property
    def settled(self) -> bool:
        """Whether another observation is not worth while.

        What was looked for without success after an earlier step is not looked for again, unless an action needs it.
        """
        old = self.before.unconfirmed - set(self.found.action.arguments)
        if any(isinstance(each, Unseen) and each.name not in old for each in self.found.missing_to_tell):
            return False
        if not self.found.deviates:
            return True
        return len(self.looks) > 1 and self.looks[-1].shown == self.looks[-2].shown


def agreement(looks: Sequence[Look[Seen]], newcomers: Collection[str]) -> MonitorState[Seen]:
    """The state after several observations of the same scene, before any conclusions.

    An object deviates if it does so in the last two observations that tell, or in most of them, and in two at least if
    there are two. One on which they disagree counts as not seen. One that deviates is where it was seen last, if half
    of the observations see it.

    Args:
        looks: the observations in order, at least one.
        newcomers: objects that do not count.
    """
    names = [name for name in looks[-1].graph.names if name not in newcomers]
    votes = {name: [_deviates(look, name, looks) for look in looks] for name in names}
    verdicts = {name: _majority(cast) for name, cast in votes.items()}

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
    state.changed = frozenset(name for look in looks for name in look.state.changed if verdicts.get(name))
    return state


def _deviates(look: Look[Seen], name: str, looks: Sequence[Look[Seen]]) -> bool | None:
    """Whether an object deviates according to one observation; None if that does not tell."""
    if name in look.found.deviating:
        return True
    if name not in look.graph.names:
        return None
    match look.graph.visibility(look.graph.index(name)):
        case Visibility.SEEN:
            return False
        case Visibility.UNKNOWN:
            # something in its place speaks against an observation that its place is empty, and against nothing else
            gone = [each for each in looks if name in each.found.deviating]
            return False if gone and all(each.graph.missing[each.graph.index(name)] for each in gone) else None
        case _:
            return None


def _majority(votes: Sequence[bool | None]) -> bool | None:
    """What the last two votes agree on, else what most say; None if they disagree, or a single one of several does."""
    cast = [vote for vote in votes if vote is not None]
    if len(cast) >= 2 and cast[-1] == cast[-2]:
        return cast[-1]
    against = 2 * sum(cast) - len(cast)
    if against == 0 or (against > 0 and sum(cast) < min(len(votes), 2)):
        return None
    return against > 0
