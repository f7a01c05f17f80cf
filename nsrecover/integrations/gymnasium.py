"""Gymnasium: a wrapper that watches over episodes of any environment, and environments made of any nsrecover world.

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
from nsrecover.integrations.gym_world import Info, Outcome, WorldEnv, all_achieved, register_world
from nsrecover.monitoring.monitor import Monitor
from nsrecover.system import System

# isort: split
import gymnasium  # after gym_world, which says what to install if it is missing

__all__ = ["MonitorWrapper", "Response", "WorldEnv", "all_achieved", "register_world"]


class Response(StrEnum):
    """What the wrapper does when something is not as expected."""

    TELL = "tell"
    """Nothing but putting it into `info`."""
    END = "end"
    """The episode is truncated."""
    REPAIR = "repair"
    """The cheapest way back onto the plan is looked for and carried out; if there is none, the episode is truncated."""


class MonitorWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Watches over the episodes of an environment, which need not know of it.

    There are two ways to say what is expected. With `plan` and `finished`, an action of the plan may take many steps of
    the environment, and is judged when it is finished. With `action_of`, every step of the environment is an action.

    `info` always has "discrepancy" (`nsrecover.Discrepancy`, None in steps in which nothing was judged) and "following"
    (the action of the plan that is expected next, None at the end). Where a way back was looked for it has "recovery"
    (`nsrecover.Recovery`), and "repaired" says whether the scene is back on the plan, as seen and not as hoped.

    Args:
        env: any environment.
        system: what to imagine and compare with: `nsrecover.load()` for images, `nsrecover.geometric()` for boxes.
        scene_of: (observation, info) -> what is to be seen: boxes by name, a scene graph, or an
            `nsrecover.Observation`; info is that of `reset` or `step`.
        plan: what is to be done in an episode, or what makes it from the first observation and info.
        finished: (action, observation, info) -> whether an action of the plan is finished, well or not.
        action_of: action of the environment -> the action that it stands for; None: this step is not judged.
        response: what to do when something is wrong.
        carry_out: (environment, action) -> what its last `step` returned, with the rewards added up; carries out one
            action of a recovery. Needed for `Response.REPAIR`.
        budget_s: planning time for one recovery, seconds.
        max_recoveries: ways back that are tried in one episode.

    Raises:
        InvalidConfiguration: what is expected is said in both ways or in none, or `carry_out` is missing.
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
        carry_out: Callable[[gymnasium.Env[Any, Any], Action], Outcome] | None = None,
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
                "expected plan and carry_out for Response.REPAIR, found one of them missing; a way back leads to a "
                "plan, and somebody has to go it"
            )
        self._system, self._scene_of, self._plan, self._finished = system, scene_of, plan, finished
        self._action_of, self._response, self._carry_out = action_of, Response(response), carry_out
        self._budget_s, self._max_recoveries = budget_s, max_recoveries
        self._recoveries = 0
        self._monitor: Monitor[Any] | None = None

    @property
    def monitor(self) -> Monitor[Any]:
        """The monitor of the present episode.

        Raises:
            InvalidConfiguration: no episode has begun.
        """
        if self._monitor is None:
            raise InvalidConfiguration("expected an episode to have begun, found none; call reset() first")
        return self._monitor

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode, with a monitor of its own: nothing is kept of the last one."""
        observation, info = self.env.reset(seed=seed, options=options)
        plan = self._plan(observation, info) if callable(self._plan) else self._plan
        self._monitor = self._system.monitor(plan or Plan(()), self._scene_of(observation, info))
        self._recoveries = 0
        return observation, self._told(info, None)

    def step(self, action: Any) -> Outcome:
        """Act, and judge what came of it."""
        monitor = self.monitor
        outcome = self.env.step(action)
        observation, _, _, _, info = outcome
        done = monitor.next_action
        if self._action_of is not None:
            done = self._action_of(action)
            if done is not None:
                monitor.set_plan(Plan((done,)))
        elif done is not None and self._finished is not None and not self._finished(done, observation, info):
            done = None
        if done is None:
            return (*outcome[:4], self._told(info, None))
        found = monitor.step(done, self._scene_of(observation, info))
        told = self._told(info, found)
        if not found or self._response is Response.TELL:
            return (*outcome[:4], told)
        if self._response is Response.END:
            return (*outcome[:3], True, told)
        return self._repair((*outcome[:4], told), found)

    def _repair(self, outcome: Outcome, found: Discrepancy) -> Outcome:
        """Carry out ways back until one has worked, or there is none, or the episode has ended."""
        first, recovery, stuck, repaired = found, None, False, False
        while not (repaired or stuck or outcome[2] or outcome[3]):
            recovery = self._system.planner.recover(found.observed, self.monitor.trace, found, budget_s=self._budget_s)
            self._recoveries += 1
            stuck = not recovery.found or self._recoveries > self._max_recoveries
            if not stuck:
                self.monitor.rejoin(recovery)
                outcome, found = self._go_back(recovery.actions, outcome, found)
                repaired = self.monitor.num_executed == len(recovery.actions) and (not found or not recovery.actions)
        observation, reward, terminated, truncated, info = outcome
        told = self._told(info, first) | {"recovery": recovery, "repaired": repaired}
        return observation, reward, terminated, truncated or stuck, told

    def _go_back(
        self, actions: tuple[Action, ...], outcome: Outcome, found: Discrepancy
    ) -> tuple[Outcome, Discrepancy]:
        """Carry out the actions of a recovery as long as all goes well and the episode lasts.

        Returns:
            What the environment returned last, with the rewards added up, and what was wrong last.
        """
        assert self._carry_out is not None
        total = float(outcome[1])
        for action in actions:
            found = self.monitor.check()
            if found:
                break
            outcome = self._carry_out(self.env, action)
            total += float(outcome[1])
            found = self.monitor.step(action, self._scene_of(outcome[0], outcome[4]))
            if found or outcome[2] or outcome[3]:
                break
        return (outcome[0], total, *outcome[2:]), found

    def _told(self, info: Info, found: Discrepancy | None) -> Info:
        following = None if self._action_of is not None else self.monitor.next_action
        return {**info, "discrepancy": found, "following": following}
