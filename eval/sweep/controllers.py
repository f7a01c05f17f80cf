"""Planners that carry out a plan: the library's agent around any planning setting, and two that do not plan."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.common.plans import PlannerSetting
from eval.common.systems import system_of
from eval.sweep.evaluation_world import EpisodeEnd, EvaluationWorld, PlannerTurn
from nsrecover.agent import MAX_RECOVERIES, RecoveryAgent
from nsrecover.core.actions import Trace
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import EpisodeStatus, StepRecord
from nsrecover.core.protocols import World
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.facts import violated_texts
from nsrecover.records.recording import example
from nsrecover.records.review import review
from nsrecover.system import System


@dataclass(frozen=True)
class Recovering:
    """The library's agent: it watches every action, and lets a planner find the way back.

    Attributes:
        name: what tables call it.
        setting: how it plans.
        checkpoint: folder of the learned parts; the shipped ones if None.
        max_expansions: nodes of one search: the planning budget, which gives the same result on any machine.
        budget_s: wall time of one search; None: no limit.
        max_recoveries: recoveries in one episode before it asks for help.
    """

    name: str
    setting: PlannerSetting = field(default_factory=PlannerSetting)
    checkpoint: str | None = None
    max_expansions: int = 20_000
    budget_s: float | None = None
    max_recoveries: int = MAX_RECOVERIES

    def prepare(self) -> None:
        """Load the checkpoint and what plans."""
        self.setting.recover(system_of(self.checkpoint))

    def run(self, world: EvaluationWorld, /) -> EpisodeEnd:
        """Execute the plan of the world."""
        agent, planner = self._agent(world)
        episode = agent.run(world.plan, lambda record: world.turned(turn_of(record, planner.spent())))
        return EpisodeEnd(episode.status, episode.reason)

    def agent(self, world: World[Any]) -> RecoveryAgent:
        """The library's agent in a world, with this planner."""
        return self._agent(world)[0]

    def _agent(self, world: World[Any]) -> tuple[RecoveryAgent, _TimedPlanner]:
        system = warm_system(self.checkpoint)
        planner = _TimedPlanner(self.setting, system, self.max_expansions)
        timed = _SystemWithPlanner(system.bundle, system.explainer, planner=planner)
        budget_s = math.inf if self.budget_s is None else self.budget_s
        return RecoveryAgent(timed, world, budget_s, self.max_recoveries), planner


@dataclass(frozen=True)
class Repeating:
    """It watches every action and repeats the one that failed; in the end it goes on without it.

    It has failed if the object that it moves is among the culprits; what others did, trying again cannot put right.

    Attributes:
        name: what tables call it.
        checkpoint: folder of the learned parts; the shipped ones if None.
        tries: how often an action is carried out at most.
    """

    name: str = "retry"
    checkpoint: str | None = None
    tries: int = 3

    def prepare(self) -> None:
        """Load the checkpoint."""
        system_of(self.checkpoint)

    def run(self, stage: EvaluationWorld) -> EpisodeEnd:
        """Carry out the plan of the stage."""
        monitor = warm_system(self.checkpoint).monitor(stage.plan, stage.observe())
        tried = 0
        while (action := monitor.next_action) is not None:
            step, plan = monitor.num_executed, monitor.plan
            if tried == 0 and (doubt := monitor.check()):
                stage.turned(turn_of(StepRecord(None, False, monitor.graph, doubt, plan)))
            stage.execute(action)
            tried += 1
            discrepancy = monitor.step(action, stage.observe())
            again = None
            if action.arguments[0] in discrepancy.deviating and tried < self.tries:
                graphs, cost = monitor.trace.graphs, float(len(plan) - step)
                again = Recovery(
                    RecoveryStatus.RECOVERED,
                    (action,),
                    graphs[step + 1 : step + 2],
                    step + 1,
                    graphs[step + 2 :],
                    cost=cost,
                )
            stage.turned(turn_of(StepRecord(action, False, monitor.graph, discrepancy, plan, again)))
            if again is not None:
                monitor.rejoin(again)
            else:
                tried = 0
        return EpisodeEnd(EpisodeStatus.COMPLETED)


@dataclass(frozen=True)
class Blind:
    """It carries out the plan and looks at nothing."""

    name: str = "none"

    def prepare(self) -> None:
        """It needs nothing."""

    def run(self, stage: EvaluationWorld) -> EpisodeEnd:
        """Carry out the plan of the stage."""
        for step, action in enumerate(stage.plan):
            stage.execute(action)
            stage.turned(PlannerTurn(stage.plan, step, looked=False))
        return EpisodeEnd(EpisodeStatus.COMPLETED)


def recovering(name: str, setting: Mapping[str, Any], **others: Any) -> Recovering:
    """A `Recovering` from plain settings, as configurations have them.

    Args:
        name: what tables call it.
        setting: the fields of a `PlannerSetting` that differ from its defaults; choices by their names.
        others: the other fields of a `Recovering`.

    Raises:
        InvalidConfiguration: there is no such setting or choice.
    """
    try:
        given = OmegaConf.create(dict(setting))
        typed = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(PlannerSetting), given))
    except OmegaConfBaseException as problem:
        raise InvalidConfiguration(f"expected planner.setting as in conf/planner, found: {problem}") from None
    assert isinstance(typed, PlannerSetting)
    typed.wanted()
    if typed.budget_s is not None:
        raise InvalidConfiguration(
            "expected the planning time of episodes as planner.budget_s, found "
            f"planner.setting.budget_s={typed.budget_s}"
        )
    return Recovering(name, typed, **others)


def turn_of(record: StepRecord, cpu_s: float = 0.0) -> PlannerTurn:
    """A turn of the library's agent as the stage takes it down."""
    discrepancy = record.discrepancy
    return PlannerTurn(
        record.plan,
        discrepancy.step,
        ran=record.action is not None,
        culprits={culprit.name: culprit.cause.value for culprit in discrepancy.deviations},
        violated=violated_texts(discrepancy),
        recovery=record.recovery,
        cpu_s=cpu_s if record.recovery is not None else 0.0,
    )


@lru_cache(maxsize=4)
def warm_system(checkpoint: str | None) -> System:
    """The system around a checkpoint, once in each process; what is done for the first time takes longer."""
    system = system_of(checkpoint)
    for _ in review(system, example("collapse")):
        pass
    return system


class _TimedPlanner:
    """A planner as the agent asks it, which notes the processor time that it takes."""

    def __init__(self, setting: PlannerSetting, system: System, max_expansions: int) -> None:
        self._recover, self._max_expansions = setting.recover(system), max_expansions
        self._cpu_s = 0.0

    def spent(self) -> float:
        """Processor time since this was asked last."""
        spent, self._cpu_s = self._cpu_s, 0.0
        return spent

    def recover(self, graph: SceneGraph, trace: Trace, discrepancy: Discrepancy, budget_s: float | None) -> Recovery:
        began = time.process_time()
        recovery = self._recover(graph, trace, discrepancy, budget_s=budget_s, max_expansions=self._max_expansions)
        self._cpu_s += time.process_time() - began
        return recovery


@dataclass(frozen=True, kw_only=True)
class _SystemWithPlanner(System):
    """The library's system with another planner."""

    planner: Any = None
