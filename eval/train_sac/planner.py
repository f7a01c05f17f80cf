"""Recovery planner with a policy: it acts in imagination until the scene matches the expectation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from eval.common.plans import PlannerSetting
from eval.sweep.controllers import Recovering
from eval.train_sac.space import Slots
from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.system import System
from nsrecover.util.english import amount

POLICY = "policy.zip"
DRAWS = 20
"""Most proposals of the policy for one action."""

SHIPPED = Path(__file__).parent / "tabletop"
"""Folder of the shipped policy."""


@dataclass
class PolicySetting(PlannerSetting):
    """Setting of a trained policy as planner.

    Attributes:
        policy: the file, or the folder of `python -m eval.train_sac`; the shipped one if None.
        tries: most actions, for each object of the scene.
    """

    policy: str | None = None
    tries: int = 2

    def recover(self, system: System) -> Callable[..., Recovery]:
        """Return the planning function, called like `RecoveryPlanner.recover`."""
        return PolicyPlanner(system, load_policy(self.policy or SHIPPED), self.tries).recover


def sac(name: str = "sac", policy: str | None = None, tries: int = 2, **others: Any) -> Recovering:
    """Return the library's agent with the policy as its planner.

    Args:
        name: in tables.
        policy: the file, or the folder of `python -m eval.train_sac`; the shipped one if None.
        tries: most actions, for each object of the scene.
        others: the other fields of a `Recovering`.
    """
    return Recovering(name, PolicySetting(policy=policy, tries=tries), **others)


@lru_cache(maxsize=2)
def load_policy(policy: str | Path) -> Any:
    """Load the policy of a file or folder.

    Raises:
        InvalidConfiguration: there is none, or stable-baselines3 is not installed.
    """
    path = Path(policy)
    path = path / POLICY if path.is_dir() else path
    if not path.is_file():
        raise InvalidConfiguration(f"expected a policy at {path}, found no file; run `python -m eval.train_sac` first")
    sac_class()  # raises if it is not installed
    from stable_baselines3.sac.policies import MultiInputPolicy

    return MultiInputPolicy.load(str(path), device="cpu")


def sac_class() -> Any:
    """`stable_baselines3.SAC`.

    Raises:
        InvalidConfiguration: it is not installed.
    """
    try:
        from stable_baselines3 import SAC
    except ImportError:
        raise InvalidConfiguration(
            "expected stable-baselines3 for the SAC baseline, found none; pip install 'nsrecover[rl]'"
        ) from None
    return SAC


class PolicyPlanner:
    """Planner that acts in imagination.

    Args:
        system: imagination and comparison.
        model: predicts actions, see `eval.train_sac.space`; a policy of stable-baselines3.
        tries: most actions, for each object of the scene.
    """

    def __init__(self, system: System, model: Any, tries: int) -> None:
        self._system, self._model, self._tries = system, model, tries
        self._slots = Slots(model.action_space.shape[0] - 2)

    def recover(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        **limits: object,
    ) -> Recovery:
        """Return actions that lead to the expected state, in imagination; it needs no limits of a search.

        If only a precondition of the next action does not hold, they lead to the state after that action.
        """
        began = time.perf_counter()
        done = discrepancy.step + (discrepancy.phase is Phase.AFTER)
        done += bool(discrepancy.unmet) and not discrepancy.deviations
        if len(graph) > self._slots.count:
            reason = f"the policy knows scenes of up to {self._slots.count} objects, this one has {len(graph)}"
            return Recovery(RecoveryStatus.BUDGET_EXHAUSTED, note=reason)
        goal, now = trace.graphs[done], graph
        actions, graphs = list[Action](), list[SceneGraph]()
        while not self._there(now, trace, done):
            if len(actions) == self._tries * len(graph):
                return Recovery(
                    RecoveryStatus.BUDGET_EXHAUSTED,
                    expansions=len(actions),
                    seconds=time.perf_counter() - began,
                    note=f"the policy does not reach the goal in {amount(len(actions), 'action')}",
                )
            action = self._proposed(now, goal)
            if action is None:
                return Recovery(
                    RecoveryStatus.BUDGET_EXHAUSTED,
                    expansions=len(actions),
                    seconds=time.perf_counter() - began,
                    note="the policy proposes nothing that the robot could do",
                )
            actions.append(action)
            now = self._system.imagination.step(now, actions[-1])
            graphs.append(now)
        return Recovery(
            RecoveryStatus.RECOVERED if actions else RecoveryStatus.ALREADY_AT_SUBGOAL,
            tuple(actions),
            tuple(graphs),
            subgoal=done,
            rest=trace.graphs[done + 1 :],
            cost=float(len(actions) + len(trace.plan) - done),
            expansions=len(actions),
            seconds=time.perf_counter() - began,
        )

    def _proposed(self, now: SceneGraph, goal: SceneGraph) -> Action | None:
        """Return the first applicable proposal: the mean of the policy, then its samples."""
        seen = {
            "observation": self._slots.observation(now.boxes),
            "achieved_goal": self._slots.boxes(now.boxes),
            "desired_goal": self._slots.boxes(goal.boxes),
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # deterministic episodes
            for draw in range(DRAWS):
                chosen = self._model.predict(seen, deterministic=draw == 0)[0]
                action = self._slots.action(now.names, now.boxes, chosen, goal.boxes[:, 3:])
                if not operator_of(action).violated(now, action):
                    return action
        return None

    def _there(self, graph: SceneGraph, trace: Trace, done: int) -> bool:
        """Whether no object deviates before the next action, or after the last one."""
        comparison = self._system.comparison
        if done == len(trace.plan):
            return not comparison.after(graph, trace, done - 1).deviates
        return not comparison.before(graph, trace, done).deviations
