"""The base of facts of a run: what was done, what happened and who did it, what was decided, and what is open now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import UNDONE, AnyDeviation, Cause, Phase
from nsrecover.core.episode import Episode, EpisodeStatus, Fate
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.core.sensing import SensorFinding
from nsrecover.core.sessions.requests import Answer
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.relations import support_name
from nsrecover.explanation.answers.numbering import Turn, clock, distinct_errors, turns
from nsrecover.explanation.audience import Phrasing
from nsrecover.explanation.facts import PLACED
from nsrecover.explanation.phrases import done_text, instruction
from nsrecover.explanation.templates import ALTHOUGH, PHRASES
from nsrecover.explanation.why import Agent, agent_of
from nsrecover.util.english import Forms, capital, listed, the

_GONE = {Cause.MISSING, Cause.REPLACED, Cause.TOPPLED, Cause.MOVED, Cause.SWAPPED}
"""Causes after which what was handled is not where it was put."""
MOST_ACTIONS = 8
"""An answer lists so many actions at most, the last ones."""
_FAILED = {*UNDONE, Cause.MISPLACED, Cause.DROPPED, Cause.MISTAKEN}
"""Causes of what an action should have changed in another way than it did."""


@dataclass(frozen=True, eq=False)
class Deed:
    """An action that was executed."""

    turn: Turn
    action: Action
    only_looks: bool = False
    in_hand: bool = False

    @property
    def worked(self) -> bool | None:
        """Whether what it should have changed was seen to be so; None if that could not be seen."""
        found, own = self.turn.discrepancy, self.action.arguments
        if self._causes:
            return False
        unsure = {each.name for each in found.missing_to_tell if not isinstance(each, SensorFinding)}
        return None if unsure & {*own} or (found.missing_to_tell and not unsure) else True

    @property
    def done(self) -> bool | None:
        """Whether the robot did it; None if another agent may have undone it, or it was not seen."""
        own = self.only_looks or self.in_hand or self._causes <= {Cause.NOT_LIFTED, Cause.MISTAKEN}
        return None if self.worked is False and not own else self.worked

    @property
    def _causes(self) -> set[Cause]:
        """How its objects, and what else it should have changed, deviated after it."""
        found, own = self.turn.discrepancy.deviations, self.action.arguments
        failed = {each.cause for each in found if each.name in own or each.cause in UNDONE} & _FAILED
        return failed | {each.cause for each in found if each.name in own[:1]} & _GONE

    def moves(self, domain: Domain) -> bool:
        """Whether the action moves its object; looking for it does not."""
        operator = domain.operators.get(self.action.operator)
        effects = operator.effects if operator is not None else ()
        facts = [fact for effect in effects for fact in (*effect.adds, *effect.deletes)]
        return (
            domain.relation(Role.HELD) is None
            or not facts
            or any(domain.relations.get(fact[0]) is Role.HELD for fact in facts)
        )


@dataclass(frozen=True, eq=False)
class Happening:
    """What happened to an object, and who did it."""

    turn: Turn
    deviation: AnyDeviation
    agent: Agent


@dataclass(frozen=True, eq=False)
class AskedRun:
    """A run that is asked about.

    Attributes:
        episode: the run so far.
        every: its turns.
        phrasing: words and readers.
        waits_for: what a person is asked now; empty if the robot waits for nobody.
        before: the scene before its first turn, if it is a part of a run.
        cut: whether it is a part of a run.
    """

    episode: Episode
    every: Sequence[Turn]
    phrasing: Phrasing
    waits_for: str = ""
    before: SceneGraph | FactScene | None = None
    cut: bool = False

    @property
    def domain(self) -> Domain:
        """Has the words of facts and actions."""
        return self.phrasing.domain

    @cached_property
    def scenes(self) -> list[SceneGraph | FactScene]:
        """The scenes, from the first to that of the last turn."""
        return [self.before or self.episode.start, *(turn.record.graph for turn in self.every)]

    @property
    def scene(self) -> SceneGraph | FactScene:
        """As it was seen last."""
        return self.scenes[-1]

    @cached_property
    def names(self) -> list[str]:
        """All objects that were seen, or that the plan needs."""
        planned = {name for action in self.episode.plan for name in action.arguments}
        facts = [fact for scene in self.scenes if isinstance(scene, FactScene) for fact in scene.facts]
        places = {fact[-1] for fact in facts if self.domain.relations.get(fact[0]) is Role.LOCATION}
        return sorted(planned.union(places, *(scene.names for scene in self.scenes)))

    @property
    def built(self) -> list[str]:
        """The objects that the plan moves."""
        return list(dict.fromkeys(action.arguments[0] for action in self.episode.plan if action.arguments))

    @cached_property
    def deeds(self) -> list[Deed]:
        """The executed actions."""
        deeds = [Deed(turn, turn.record.action) for turn in self.every if turn.record.action is not None]
        return [
            replace(each, only_looks=not each.moves(self.domain), in_hand=self._in_hand(each.turn)) for each in deeds
        ]

    def _in_hand(self, turn: Turn) -> bool:
        """Whether what a turn lacks is that the gripper holds something: nobody else can undo that."""
        lacking = [fact for each in turn.discrepancy.deviations for fact in each.expected if isinstance(fact, tuple)]
        return any(self.domain.relations.get(str(fact[0])) is Role.HELD for fact in lacking)

    @property
    def by_others(self) -> list[Deed]:
        """The actions in which a person did what the robot asked for: their words are passive."""
        return [each for each in self.deeds if each.worked and done_text(each.action, self.domain).startswith("was ")]

    @cached_property
    def happenings(self) -> list[Happening]:
        """What happened to objects, each time it was new."""
        return [
            Happening(turn, each, agent_of(each, turn.by_hand))
            for turn in self.changes
            for each in turn.discrepancy.deviations
        ]

    @cached_property
    def changes(self) -> list[Turn]:
        """The turns at which something was not as expected that was as expected before."""
        return distinct_errors(self.every)

    @cached_property
    def errors(self) -> list[Turn]:
        """Those of the changes that do not only help the plan."""
        causes = [(turn, {each.cause for each in turn.discrepancy.deviations}) for turn in self.changes]
        return [turn for turn, found in causes if found != {Cause.HELPED}]

    @property
    def decisive(self) -> Turn | None:
        """The error that stopped the run, or is being recovered from; of a run that ended well, what cost most."""
        if self.episode.status in (EpisodeStatus.COMPLETED, EpisodeStatus.REVIEWED):
            return max(self.errors, key=lambda turn: len(turn.carried_out), default=None)
        return self.errors[-1] if self.errors else None

    @property
    def recoveries(self) -> list[tuple[Turn, Recovery]]:
        """The recoveries, with the turns at which they were found."""
        return [(turn, turn.recovery) for turn in self.every if turn.discrepancy.deviates and turn.recovery is not None]

    @property
    def proposed(self) -> Recovery | None:
        """The way back that a person is asked about now."""
        last = self.every[-1] if self.every else None
        undecided = last is not None and last.record.fate is Fate.PROPOSED and self.running
        return last.recovery if undecided and last is not None else None

    @property
    def still_otherwise(self) -> list[str]:
        """What happened unprompted and was left as it is, in words."""
        scene = self.scene
        found: list[str] = []
        for each in self.happenings:
            if isinstance(scene, FactScene):
                facts = [fact for fact in each.deviation.observed or () if fact in scene.facts]
                found += [self.domain.text(fact) for fact in facts if each.deviation.cause is not Cause.HELPED]
            elif each.turn.recovery is not None and each.deviation.name in each.turn.recovery.staying:
                later = [deed for deed in self.deeds if deed.action.arguments[:1] == (each.deviation.name,)]
                if each.turn.carried_out and not any(
                    deed.turn.record.time_s > each.turn.record.time_s for deed in later
                ):
                    found.append(state_of(each.deviation, each.turn.record.graph, self.domain))
        return list(dict.fromkeys(found))

    @property
    def running(self) -> bool:
        """Whether the run has not ended."""
        return self.episode.status is EpisodeStatus.RUNNING

    @property
    def left(self) -> tuple[Action, ...]:
        """What is left of the plan, a recovery that is followed included."""
        return actions_left(self.episode)

    def when(self, turn: Turn) -> str:
        """When a turn was."""
        when = "before" if turn.discrepancy.phase is Phase.BEFORE else "after"
        step = self.phrasing.step(turn.step) if turn.step else "an action of the recovery"
        at_s = turn.record.time_s - self.episode.start_s
        return f"{when} {step}" + (f", at {clock(at_s)} of the run" if at_s > 0 else "")

    def took(self, turn: Turn) -> float:
        """How long a turn took, seconds."""
        records = self.episode.records
        index = records.index(turn.record)
        return max(turn.record.time_s - (records[index - 1].time_s if index else self.episode.start_s), 0.0)

    def when_seen(self, number: int) -> str:
        """When the scene of a number was seen, the first of which is that before the first turn."""
        return self.when(self.every[number - 1]) if number else "at the start"

    def instruction(self, action: Action) -> str:
        """An action as an instruction."""
        return instruction(action, domain=self.domain)

    def told(self, deeds: Sequence[Deed]) -> str:
        """When actions were executed, the last ones, as sentences."""
        return " ".join(f"{capital(self.when(each.turn))}, {self.done(each)}." for each in deeds[-MOST_ACTIONS:])

    def done(self, deed: Deed) -> str:
        """What the robot did: `I put the red cube on the blue cube`, or tried to do."""
        return (
            f"I {done_text(deed.action, self.domain) if deed.worked else f'tried to {self.instruction(deed.action)}'}"
        )


def asked_run(episode: Episode, phrasing: Phrasing, waits_for: str = "") -> AskedRun:
    """A run with its turns."""
    return AskedRun(episode, tuple(turns(episode)), phrasing, waits_for)


def actions_left(episode: Episode) -> tuple[Action, ...]:
    """What is left of the plan, a recovery that is followed included."""
    if not episode.records:
        return episode.plan.actions
    record = episode.records[-1]
    found, way = record.discrepancy, record.recovery
    open_ = record.fate is Fate.PROPOSED and episode.status is EpisodeStatus.RUNNING
    if way is not None and way.found and (record.fate is Fate.ACCEPTED or open_):
        return (*way.actions, *record.plan.actions[way.resumes_at(len(record.plan)) :])
    return record.plan.actions[found.step + (found.phase is Phase.AFTER and not found.deviates) :]


def waited_s(episode: Episode) -> float:
    """The time in which people put something right before the robot looked again, seconds."""
    total = 0.0
    for before, now in pairwise(episode.records):
        if now.action is None and any(each.answer == Answer.LOOK_AGAIN for each in before.decided):
            total += max(now.time_s - before.time_s, 0.0)
    return total


def lost_s(episode: Episode) -> float:
    """The time lost to errors, seconds: all but the last execution of each step of the plan, without waiting.

    So recoveries, repeated steps, and further looks are lost.
    """
    times = (episode.start_s, *(record.time_s for record in episode.records))
    took = [max(now - before, 0.0) for before, now in pairwise(times)]
    steps = {turn.step: s for s, turn in zip(took, turns(episode), strict=True) if turn.step and turn.record.action}
    return max(sum(took) - sum(steps.values()) - waited_s(episode), 0.0)


def support_of(scene: SceneGraph, name: str) -> str:
    """What an object stands on; what is missing bears nothing."""
    there = scene.without([n for n, gone in zip(scene.names, scene.missing, strict=True) if gone and n != name])
    return support_name(there, there.index(name))


def state_of(deviation: AnyDeviation, scene: SceneGraph | FactScene, domain: Domain) -> str:
    """The deviation of an object as a clause."""
    name, cause = deviation.name, deviation.cause
    phrase = PHRASES[cause].partition(",")[0].replace("[is]", "[was]").replace("[has]", "had")
    if not isinstance(scene, SceneGraph) and cause in ALTHOUGH and deviation.observed:
        return listed(domain.text(fact) for fact in deviation.observed)
    if cause is Cause.SWAPPED:
        phrase += f" with {the(deviation.other or 'something else')}"
    elif cause is Cause.REPLACED:
        phrase += f" by {the(deviation.other or 'something else')}"
    elif cause is Cause.BLOCKING and deviation.other:
        phrase += f" of {the(deviation.other)}"
    elif not isinstance(scene, SceneGraph):
        now = [domain.text(fact) for fact in deviation.observed or ()]
        now = now or [domain.text(fact, holds=False) for fact in deviation.expected]
        phrase += f": {listed(now)}"
    elif cause in PLACED:
        still = "still " if cause is Cause.NOT_LIFTED else ""
        phrase += f", and [was] {still}on {the(support_of(scene, name))}"
    return f"{the(name)} {Forms.of([name]).agree(phrase)}"
