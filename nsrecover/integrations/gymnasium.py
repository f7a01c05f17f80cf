"""Gymnasium: a wrapper that monitors episodes of any environment, and nsrecover worlds as environments.

    from nsrecover.integrations.gymnasium import MonitorWrapper, Response, register_world

    env = MonitorWrapper(env, nsrecover.geometric(), boxes_of, plan, finished, response=Response.END)
    observation, reward, terminated, truncated, info = env.step(action)
    if info["discrepancy"]:
        print(info["discrepancy"].deviations)

    register_world("Tabletop-v0", make_world, objects=5)
    env = gymnasium.make("Tabletop-v0")

Needs gymnasium: `pip install 'nsrecover[gymnasium]'`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.gym_world import Info, StepResult, WorldEnv, all_achieved, register_world
from nsrecover.monitoring.monitor import Monitor
from nsrecover.system import System

# isort: split
import gymnasium  # after gym_world, which says what to install if it is missing

__all__ = ["MonitorWrapper", "Response", "WorldEnv", "all_achieved", "register_world"]


class Response(StrEnum):
    """Response of the wrapper to a discrepancy."""

    TELL = "tell"
    """Report it in `info`."""
    END = "end"
    """Truncate the episode."""
    REPAIR = "repair"
    """Search for the cheapest recovery and carry it out; if there is none, truncate the episode."""


class MonitorWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Monitors the episodes of an unmodified environment.

    The expectation is given in one of two ways. With `plan` and `finished`, an action of the plan may take many steps
    of the environment, and is checked when it is finished. With `action_of`, every step is one action.

    `info` always has "discrepancy" (`nsrecover.Discrepancy`, None in steps without a check) and "following" (the next
    action of the plan, None at the end). After a search for a recovery it also has "recovery" (`nsrecover.Recovery`)
    and "repaired" (whether the scene was observed to be back on the plan).

    Args:
        env: any environment.
        system: `nsrecover.load()` for images, `nsrecover.geometric()` for boxes.
        scene_of: (observation, info) -> boxes by name, a scene graph, or an `nsrecover.Observation`; info is that of
            `reset` or `step`.
        plan: the plan of an episode, or a function that makes it from the first observation and info.
        finished: (action, observation, info) -> whether an action of the plan has ended, successfully or not.
        action_of: action of the environment -> the action that it stands for; None: no check in this step.
        response: what to do about a discrepancy.
        carry_out: (environment, action) -> the result of the last `step`, with the rewards added up; carries out one
            action of a recovery. Required for `Response.REPAIR`.
        budget_s: planning time for one recovery, seconds.
        max_recoveries: largest number of recoveries in one episode.

    Raises:
        InvalidConfiguration: the expectation is given in both ways or in none, or `carry_out` is missing.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        system: System,
        scene_of: Callable[[Any, Info], Any],
        plan: Plan | Callable[[Any, Info], Plan] | None = None,
        finished: Callable[[Action, Any, Info], bool] | None = None,
        action_of: Callable[[Any], Action | None] | None = None,
        response: Response = Response.TELL,
        carry_out: Callable[[gymnasium.Env[Any, Any], Action], StepResult] | None = None,
        budget_s: float = 1.0,
        max_recoveries: int = 3,
    ) -> None:
        super().__init__(env)
        if (plan is None) != (finished is None) or (plan is None) == (action_of is None):
            raise InvalidConfiguration(
                "expected either plan and finished, or action_of, found another choice of them; see MonitorWrapper"
            )
        if response is Response.REPAIR and (carry_out is None or plan is None):
            raise InvalidConfiguration(
                "expected plan and carry_out for Response.REPAIR, found one of them missing; a recovery needs a plan "
                "to rejoin and a function that carries it out"
            )
        self._system, self._scene_of, self._plan, self._finished = system, scene_of, plan, finished
        self._action_of, self._response, self._carry_out = action_of, Response(response), carry_out
        self._budget_s, self._max_recoveries = budget_s, max_recoveries
        self._recoveries = 0
        self._monitor: Monitor[Any] | None = None

    @property
    def monitor(self) -> Monitor[Any]:
        """The monitor of the current episode.

        Raises:
            InvalidConfiguration: no episode has begun.
        """
        if self._monitor is None:
            raise InvalidConfiguration("expected an episode to have begun, found none; call reset() first")
        return self._monitor

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode with a fresh monitor; see `gymnasium.Env.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        plan = self._plan(observation, info) if callable(self._plan) else self._plan
        self._monitor = self._system.monitor(plan or Plan(()), self._scene_of(observation, info))
        self._recoveries = 0
        return observation, self._with_findings(info, None)

    def step(self, action: Any) -> StepResult:
        """Carry out a step and check its result; see `gymnasium.Env.step`."""
        monitor = self.monitor
        result = self.env.step(action)
        observation, _, _, _, info = result
        done = monitor.next_action
        if self._action_of is not None:
            done = self._action_of(action)
            if done is not None:
                monitor.set_plan(Plan((done,)))
        elif done is not None and self._finished is not None and not self._finished(done, observation, info):
            done = None
        if done is None:
            return (*result[:4], self._with_findings(info, None))
        found = monitor.step(done, self._scene_of(observation, info))
        info = self._with_findings(info, found)
        if not found.deviates or self._response is Response.TELL:
            return (*result[:4], info)
        if self._response is Response.END:
            return (*result[:3], True, info)
        return self._repair((*result[:4], info), found)

    def _repair(self, result: StepResult, found: Discrepancy) -> StepResult:
        """Carry out recoveries until one has worked, none is found, or the episode has ended."""
        first, recovery, stuck, repaired = found, None, False, False
        while not (repaired or stuck or result[2] or result[3]):
            recovery = self._system.planner.recover(found.observed, self.monitor.trace, found, budget_s=self._budget_s)
            self._recoveries += 1
            stuck = not recovery.found or self._recoveries > self._max_recoveries
            if not stuck:
                self.monitor.rejoin(recovery)
                result, found = self._go_back(recovery.actions, result, found)
                repaired = self.monitor.num_executed == len(recovery.actions) and (
                    not found.deviates or not recovery.actions
                )
        observation, reward, terminated, truncated, info = result
        info = self._with_findings(info, first) | {"recovery": recovery, "repaired": repaired}
        return observation, reward, terminated, truncated or stuck, info

    def _go_back(
        self, actions: tuple[Action, ...], result: StepResult, found: Discrepancy
    ) -> tuple[StepResult, Discrepancy]:
        """Carry out the actions of a recovery until a discrepancy or the end of the episode.

        Returns:
            The last result of the environment, with the rewards added up, and the last discrepancy.
        """
        assert self._carry_out is not None
        total = float(result[1])
        for action in actions:
            found = self.monitor.check()
            if found.deviates:
                break
            result = self._carry_out(self.env, action)
            total += float(result[1])
            found = self.monitor.step(action, self._scene_of(result[0], result[4]))
            if found.deviates or result[2] or result[3]:
                break
        return (result[0], total, *result[2:]), found

    def _with_findings(self, info: Info, found: Discrepancy | None) -> Info:
        following = None if self._action_of is not None else self.monitor.next_action
        return {**info, "discrepancy": found, "following": following}
