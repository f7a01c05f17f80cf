"""Settings of the compared planners, and their plans for error states, timed in one thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.common.error_states import ErrorState
from eval.common.rejoin import RecoveryRoute
from eval.common.replan import RePlanner
from nsrecover.core import Discrepancy, Recovery
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.explanation.reasons import reason_text
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from nsrecover.planning.setting_aside import PlacementSampler, ProposedPlace, enumerated_places, nearest_place
from nsrecover.planning.subgoals import Subgoals
from nsrecover.system import System


class Method(Enum):
    """Planning method."""

    recovery = "recovery"
    """The library's planner."""
    replan = "replan"
    """Forward search to the final goal (`eval.common.replan`); ignores the other settings except the budget."""


class FreePlaceSource(Enum):
    """Source of places for blocking objects."""

    nearest = "nearest"
    """The nearest free place, by exact geometry."""
    learned = "learned"
    """The free-space transformer, checked."""
    enumerated = "enumerated"
    """Every free place of a grid."""


@dataclass
class PlannerSetting:
    """Setting of a planner; `setting` of an option in conf/planner.

    Attributes:
        method: planning method.
        rejoin: criterion for being back on the plan.
        subgoals: states of the trace to plan for: `all`, `step`, `goal`, or the number of nearest states.
        free_places: source of places for blocking objects.
        budget_s: planning time, seconds; that of the command if None.
    """

    method: Method = Method.recovery
    rejoin: Rejoin = Rejoin.POSE
    subgoals: Any = "all"
    free_places: FreePlaceSource = FreePlaceSource.nearest
    budget_s: float | None = None

    def wanted(self) -> Subgoals | int:
        """Return `subgoals` in the type of the planner.

        Raises:
            InvalidConfiguration: it is neither a number of at least 1 nor one of the words.
        """
        words = [word.value for word in Subgoals]
        if isinstance(self.subgoals, int) and self.subgoals >= 1:
            return self.subgoals
        require_known(
            self.subgoals, words, f"subgoals of a planner as a number of at least 1 or one of {', '.join(words)}"
        )
        return Subgoals(self.subgoals)

    def recover(self, system: System) -> Callable[..., Recovery]:
        """Return the planning function, called like `RecoveryPlanner.recover` without `subgoals`."""
        if self.method is Method.replan:
            return RePlanner(system.model.bundle).recover
        return partial(self._planner(system).recover, subgoals=self.wanted())

    def otherwise(self, system: System) -> Callable[..., Recovery | None] | None:
        """Return the function for another recovery (`OtherWays`); None for RePlan and fewer subgoals, baselines."""
        full = self.method is Method.recovery and self.wanted() is Subgoals.ALL
        return self._planner(system).otherwise if full else None

    def _planner(self, system: System) -> RecoveryPlanner:
        samplers: dict[FreePlaceSource, PlacementSampler] = {
            FreePlaceSource.nearest: nearest_place,
            FreePlaceSource.learned: ProposedPlace(system.model.bundle),
            FreePlaceSource.enumerated: enumerated_places,
        }
        return RecoveryPlanner(system.model.bundle, rejoin=self.rejoin, placement_sampler=samplers[self.free_places])


def typed_setting(setting: Mapping[str, Any]) -> PlannerSetting:
    """Return a setting from plain values, as configurations have them.

    Args:
        setting: the fields that differ from their defaults; enumerations by the names of their members.

    Raises:
        InvalidConfiguration: there is no such field or choice.
    """
    try:
        given = OmegaConf.create(dict(setting))
        typed = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(PlannerSetting), given))
    except OmegaConfBaseException as problem:
        raise InvalidConfiguration(f"expected planner.setting as in conf/planner, found: {problem}") from None
    assert isinstance(typed, PlannerSetting)
    typed.wanted()
    return typed


def planner_settings(options: Mapping[str, Any]) -> dict[str, PlannerSetting]:
    """Return the settings of several options of conf/planner, under the names that tables give them.

    Raises:
        InvalidConfiguration: there is no option, or one that is not a search for recoveries.
    """
    if not options:
        raise InvalidConfiguration("expected at least one planner, found none; choose some: planner=[ours,replan]")
    for name, option in options.items():
        if "setting" not in option:
            raise InvalidConfiguration(
                f"expected planners that search for recoveries, found planner={name}; `python -m eval planner={name}` "
                "runs it in whole episodes"
            )
    return {option.get("label", option["name"]): typed_setting(option["setting"]) for option in options.values()}


@dataclass(frozen=True)
class Planned:
    """Plan of one planner for an error state.

    Attributes:
        status: of the search.
        way: the actions; None if no recovery was found.
        cost: of the recovery and the rest of the plan, in actions.
        proven: whether the planner has proven that no cheaper recovery exists.
        expansions: nodes of the search.
        seconds: wall time of planning.
        cpu_s: processor time of planning.
        reason: why there is no recovery, in words.
        blamed: objects that cause this.
    """

    status: str
    way: RecoveryRoute | None
    cost: float
    proven: bool
    expansions: int
    seconds: float
    cpu_s: float
    reason: str = ""
    blamed: tuple[str, ...] = ()


def plan_all(
    state: ErrorState,
    discrepancy: Discrepancy,
    settings: Mapping[str, PlannerSetting],
    system: System,
    budget_s: float,
) -> dict[str, Planned]:
    """Plan a recovery from an error state with every planner.

    Args:
        state: the error state.
        discrepancy: verdict of the monitor.
        settings: planners by name.
        system: the learned parts.
        budget_s: planning time of planners without a budget in their setting.
    """
    plans = {}
    for name, setting in settings.items():
        recover = partial(
            setting.recover(system),
            state.graph,
            state.trace,
            discrepancy,
            budget_s=setting.budget_s or budget_s,
            max_expansions=None,
        )
        started, cpu = time.perf_counter(), time.process_time()
        recovery = recover()
        seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu
        plans[name] = Planned(
            recovery.status.value,
            way_of(state, recovery),
            recovery.cost,
            recovery.proven_optimal,
            recovery.expansions,
            seconds,
            cpu_s,
            reason_text(recovery),
            recovery.blamed,
        )
    return plans


def way_of(state: ErrorState, recovery: Recovery) -> RecoveryRoute | None:
    """Return the actions of a recovery and the rest of the plan; None if no recovery was found."""
    if not recovery.found or recovery.subgoal is None:
        return None
    return RecoveryRoute(recovery.actions, state.trace.plan.actions[recovery.subgoal :], recovery.subgoal)


def warm_up(states: Sequence[tuple[ErrorState, Discrepancy]], system: System) -> None:
    """Plan a few times without timing, because first calls take longer."""
    for state, discrepancy in states[:3]:
        system.planner.recover(state.graph, state.trace, discrepancy, budget_s=5.0)
