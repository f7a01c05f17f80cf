"""Executors of plans: the library's agent with any planner, and one that does not look."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from eval.common.plans import PlannerSetting, typed_setting
from eval.common.systems import system_of
from eval.sweep.evaluation_world import EpisodeEnd, EvaluationWorld, PlannerTurn
from nsrecover.agent import RecoveryAgent
from nsrecover.core import Discrepancy, EpisodeStatus, Recovery, SceneGraph, StepRecord, Trace, World
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.explanation.facts import violated_texts
from nsrecover.models.bundle import RULED_PARTS
from nsrecover.records.recording import example
from nsrecover.records.review import review
from nsrecover.system import System
from sim.tabletop.truth import ROOM_M

T = TypeVar("T")

OVERHANG_M = 0.02
"""Tables of the simulator limit the centres of objects, those of the library their footprints, which reach this much
farther."""

MEASURED_M = 0.005
"""Error of the sides of measured boxes, by which the agent is stricter than the ground truth."""


@dataclass(frozen=True)
class Recovering:
    """The library's agent: it monitors every action and plans recoveries.

    Attributes:
        name: in tables.
        setting: of the planner.
        checkpoint: folder of the learned parts; the shipped ones if None.
        max_expansions: nodes of one search; this budget gives the same result on any machine.
        budget_s: wall time of one search; None: no limit.
        max_recoveries: recoveries in one episode before the agent asks for help.
        rules: learned parts that hand-written rules replace, see `Bundle.with_rules`; None: those of `nsrecover.load`.
    """

    name: str
    setting: PlannerSetting = field(default_factory=PlannerSetting)
    checkpoint: str | None = None
    max_expansions: int = 20_000
    budget_s: float | None = None
    max_recoveries: int = 10
    rules: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for part in self.rules or ():
            require_known(part, RULED_PARTS, "parts in planner.rules")
        limits = {name: getattr(self, name) for name in ("max_expansions", "budget_s", "max_recoveries")}
        if not all(value is None or (isinstance(value, int | float) and value >= 0) for value in limits.values()):
            found = ", ".join(f"{name}={value}" for name, value in limits.items())
            raise InvalidConfiguration(f"expected limits of a planner as numbers of at least 0, found {found}")

    def prepare(self) -> None:
        """Load the checkpoint and the planner."""
        self.setting.recover(system_of(self.checkpoint))

    def run(self, world: EvaluationWorld, /) -> EpisodeEnd:
        """Execute the plan of the world."""
        agent, planner = self._agent(world)
        episode = agent.run(world.plan, lambda record: world.turned(turn_of(record, planner.spent())))
        return EpisodeEnd(episode.status, episode.reason)

    def agent(self, world: World[Any]) -> RecoveryAgent:
        """Return the library's agent in a world, with this planner."""
        return self._agent(world)[0]

    def _agent(self, world: World[Any]) -> tuple[RecoveryAgent, _TimedPlanner]:
        system = _at_its_table(warm_system(self.checkpoint), world)
        if self.rules is not None:
            system = system.with_model(replace(system.model, models=system.model.bundle.with_rules(self.rules)))
        recover = partial(self.setting.recover(system), max_expansions=self.max_expansions)
        otherwise = self.setting.otherwise(system)
        planner = _TimedPlanner(recover) if otherwise is None else _TimedPlannerOfOtherWays(recover, otherwise)
        return RecoveryAgent(replace(system, planner=planner), world, self.budget_s, self.max_recoveries), planner


@dataclass(frozen=True)
class Blind:
    """Open-loop baseline: it executes the plan without observations."""

    name: str = "none"

    def prepare(self) -> None:
        """Nothing to load."""

    def run(self, world: EvaluationWorld, /) -> EpisodeEnd:
        """Execute the plan of the world."""
        for step, action in enumerate(world.plan):
            world.execute(action)
            world.turned(PlannerTurn(world.plan, step, looked=False))
        return EpisodeEnd(EpisodeStatus.COMPLETED)


def recovering(name: str, setting: Mapping[str, Any], **others: Any) -> Recovering:
    """Return a `Recovering` from the plain settings of a configuration.

    Args:
        name: in tables.
        setting: fields of a `PlannerSetting` that differ from the defaults; choices by name.
        others: the other fields of a `Recovering`.

    Raises:
        InvalidConfiguration: there is no such setting or choice.
    """
    typed = typed_setting(setting)
    if typed.budget_s is not None:
        raise InvalidConfiguration(
            "expected the planning time of episodes as planner.budget_s, found "
            f"planner.setting.budget_s={typed.budget_s}"
        )
    return Recovering(name, typed, **others)


def turn_of(record: StepRecord, cpu_s: float = 0.0) -> PlannerTurn:
    """Return a turn of the library's agent as the evaluation world records it."""
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
    """Return the system of a checkpoint, warmed up once in each process, because first calls take longer."""
    system = system_of(checkpoint)
    review(system, example("collapse"))
    return system


def _at_its_table(system: System, world: World[Any]) -> System:
    """Return the system for the table of an episode, if its scene says that room counts there."""
    if not isinstance(world, EvaluationWorld) or not world.episode.scene.room_counts:
        return system
    (x_min, x_max), (y_min, y_max) = world.episode.scene.table.x_m, world.episode.scene.table.y_m
    table = (x_min - OVERHANG_M, y_min - OVERHANG_M, x_max + OVERHANG_M, y_max + OVERHANG_M)
    return system.with_model(system.model.on_table(table, ROOM_M - MEASURED_M))


class _TimedPlanner:
    """Planner that adds up its processor time."""

    def __init__(self, recover: Callable[..., Recovery]) -> None:
        self._recover, self._cpu_s = recover, 0.0

    def spent(self) -> float:
        """Return the processor time since the last call."""
        spent, self._cpu_s = self._cpu_s, 0.0
        return spent

    def recover(self, observed: SceneGraph, trace: Trace, discrepancy: Discrepancy, /, **limits: Any) -> Recovery:
        """Plan a recovery."""
        return self._timed(self._recover, observed, trace, discrepancy, **limits)

    def _timed(self, plan: Callable[..., T], *error: Any, **limits: Any) -> T:
        began = time.process_time()
        found = plan(*error, **limits)
        self._cpu_s += time.process_time() - began
        return found


class _TimedPlannerOfOtherWays(_TimedPlanner):
    """The same for a planner that knows other ways (`OtherWays`)."""

    def __init__(self, recover: Callable[..., Recovery], otherwise: Callable[..., Recovery | None]) -> None:
        super().__init__(recover)
        self._otherwise = otherwise

    def otherwise(self, *error: Any, **limits: Any) -> Recovery | None:
        """Plan another recovery."""
        return self._timed(self._otherwise, *error, **limits)
