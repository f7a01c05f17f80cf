"""Goal-conditioned gymnasium environment in the kinematic simulator: move objects to their goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from eval.train_sac.space import GONE, Slots, Vector
from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.operators import moved_object
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import boxes
from sim.tabletop.sampling import Structure, nominal_box, nominal_graph, sample_plan, sample_scene
from sim.tabletop.world import SavedWorld, TabletopWorld

Observed = dict[str, Vector]
GOALS_PER_SCENE = 10
"""Several goals use the same world, because building one takes as long as a dozen actions."""


class ReachGoals(gymnasium.Env[Observed, Vector]):
    """Environment whose goals are the results of random plans.

    The observation has the boxes of the objects, as the agent perceives them. An action chooses an object and a place
    on the table; the simulator executes it. The reward is 0 at the goal and -1 elsewhere.

    Args:
        counts: numbers of objects, equally often.
        lengths: numbers of actions of the plan to the goal, equally often.
        tries: actions in an episode, as a multiple of the plan's.
        slots: size of the vectors.

    Raises:
        InvalidConfiguration: there are more objects than slots.
    """

    metadata = {"render_modes": []}

    def __init__(
        self, counts: Sequence[int] = (3,), lengths: Sequence[int] = (1,), tries: int = 5, slots: int = 5
    ) -> None:
        self.slots = Slots(slots)
        if not counts or not lengths or max(counts) > slots or min(counts) < 2:
            raise InvalidConfiguration(
                f"expected scenes of 2 to {slots} objects and plans of at least one action, found "
                f"counts={list(counts)} and lengths={list(lengths)}; set slots for more objects"
            )
        self._counts, self._lengths, self._tries = tuple(counts), tuple(lengths), tries
        goal = spaces.Box(-10.0, 10.0, (6 * slots,), np.float32)
        self.observation_space: spaces.Space[Observed] = spaces.Dict(  # type: ignore[assignment]
            {
                "observation": spaces.Box(-10.0, 10.0, (7 * slots,), np.float32),
                "achieved_goal": goal,
                "desired_goal": goal,
            }
        )
        self.action_space = spaces.Box(-1.0, 1.0, (self.slots.action_size,), np.float32)
        self._world: TabletopWorld | None = None
        self._start: SavedWorld | None = None
        self._goals = 0
        self._desired = self.slots.boxes([])
        self._left = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observed, dict[str, Any]]:
        """Start an episode; a seed starts a new scene."""
        super().reset(seed=seed)
        if seed is not None or self._goals == GOALS_PER_SCENE or self._world is None:
            self._new_scene()
        while True:
            world, start = self._world, self._start
            assert world is not None
            assert start is not None
            world.restore(start)
            length = int(self.np_random.choice(self._lengths))
            structure = Structure(str(self.np_random.choice(list(Structure))))
            try:
                plan = sample_plan(self.np_random, world.scene, structure, length)
            except InvalidConfiguration:  # no such plan in this scene
                self._new_scene()
                continue
            break
        graph = nominal_graph(world.scene)
        for action in plan:
            graph = graph.with_node(moved_object(graph, action), nominal_box(graph, action))
        self._desired = self.slots.boxes(graph.boxes)
        self._left, self._goals = self._tries * length, self._goals + 1
        return self._observed(), {}

    def step(self, action: Vector) -> tuple[Observed, float, bool, bool, dict[str, Any]]:
        """Execute an action."""
        world = self._world
        assert world is not None
        world.execute(self.slots.action(world.scene.names, self._boxes(), action))
        self._left -= 1
        seen = self._observed()
        reached = bool(self.slots.reached(seen["achieved_goal"], self._desired))
        reward = float(self.compute_reward(seen["achieved_goal"], self._desired, {}))
        return seen, reward, reached, self._left <= 0 and not reached, {"is_success": reached}

    def compute_reward(self, achieved_goal: Vector, desired_goal: Vector, info: Any) -> FloatArray:
        """Reward: 0 at the goal, -1 elsewhere; for one pair of goals or many."""
        return self.slots.reached(achieved_goal, desired_goal).astype(np.float32) - 1.0

    def close(self) -> None:
        """Close the simulator."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _new_scene(self) -> None:
        self.close()
        scene = sample_scene(self.np_random, int(self.np_random.choice(self._counts)))
        self._world = TabletopWorld(scene, fidelity=Fidelity.KINEMATIC)
        self._start, self._goals = self._world.save(), 0

    def _boxes(self) -> FloatArray:
        assert self._world is not None
        estimates = self._world.estimates()
        every = dict(zip(estimates.names, boxes(estimates).astype(np.float32), strict=True))
        return np.array([every.get(name, GONE) for name in self._world.scene.names])

    def _observed(self) -> Observed:
        now = self._boxes()
        return {
            "observation": self.slots.observation(now),
            "achieved_goal": self.slots.boxes(now),
            "desired_goal": self._desired.copy(),
        }
