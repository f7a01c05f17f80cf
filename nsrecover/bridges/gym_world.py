"""An nsrecover world as a Gymnasium environment; import it from `nsrecover.bridges.gymnasium`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import top
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import LookingWorld, Perceiver, World
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidAction, InvalidConfiguration, require_known
from nsrecover.loading import load
from nsrecover.perception.function import as_perceiver
from nsrecover.util.extras import needs_extra

with needs_extra("gymnasium", "gymnasium"):
    import gymnasium
    from gymnasium import spaces

Info = dict[str, Any]
StepResult = tuple[Any, SupportsFloat, bool, bool, Info]
"""Result of `step`: observation, reward, terminated, truncated, info."""

REACH_M = 10.0
"""Bound of the box coordinates in the observation space."""

PIXEL_M, SIDE_PIXELS = 0.0025, 320
"""Scale and size of the images of worlds without cameras."""


class WorldEnv(gymnasium.Env[Info, npt.NDArray[np.int64]]):
    """An nsrecover world as an environment: one step is one action of the robot.

    An action is three numbers: the operator, the object to move, and the other object, which operators of one argument
    ignore. An action that cannot be carried out (it names an object twice or a missing object, or a precondition does
    not hold) moves nothing, and `info["refused"]` says why. An observation is "boxes" (N, 6), metres, and "seen" (N,),
    in the order of `info["names"]`, padded with zeros to the number of objects of the environment. The reward is 1 when
    the task is done, which ends the episode, and 0 before.

    Args:
        world: makes a fresh world from a seed, reproducibly. Worlds with a `close` method are closed at the end.
        objects: N, the largest number of objects.
        task: (scene, random number generator) -> a plan whose effects are to be reached, reported as `info["plan"]`;
            without a task there is no reward, and only a time limit ends an episode.
        perceiver: makes a perceiver for each episode; by default that of `nsrecover.load()`.
        operators: names of the operators that can be used; by default all that need no target.
        render_mode: "rgb_array" for images of the first camera, or None.
        domain: has the operators.

    Raises:
        InvalidConfiguration: a setting is out of its range.
        InvalidAction: an operator is unknown.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 1}

    def __init__(
        self,
        world: Callable[[int], World[object]],
        objects: int,
        task: Callable[[SceneGraph, np.random.Generator], Plan] | None = None,
        perceiver: Callable[[], Perceiver[Any] | Callable[..., SceneGraph]] | None = None,
        operators: tuple[str, ...] | None = None,
        render_mode: str | None = None,
        domain: SpatialDomain = TABLETOP,
    ) -> None:
        if objects < 1:
            raise InvalidConfiguration(f"expected at least 1 object, found {objects}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidConfiguration(f"expected render_mode 'rgb_array' or None, found {render_mode!r}")
        if operators is None:
            operators = tuple(
                name
                for name, operator in domain.operators.items()
                if len(operator.arguments) <= 2 and not getattr(operator, "needs_target", False)
            )
        for name in operators:
            require_known(name, domain.operators, "an operator", InvalidAction)
        self.operators, self.objects, self.render_mode = operators, objects, render_mode
        self.observation_space = spaces.Dict(
            {
                "boxes": spaces.Box(-REACH_M, REACH_M, (objects, 6), np.float32),
                "seen": spaces.MultiBinary(objects),
            }
        )
        self.action_space = spaces.MultiDiscrete([len(operators), objects, objects])
        self._make_world, self._task, self._domain = world, task, domain
        self._make_perceiver = load().perceiver if perceiver is None else perceiver
        self._world: World[object] | None = None

    @property
    def graph(self) -> SceneGraph:
        """The scene of the last observation.

        Raises:
            InvalidConfiguration: no episode has begun.
        """
        self._running()
        return self._graph

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Info, Info]:
        """Begin an episode in a fresh world; see `gymnasium.Env.reset`."""
        super().reset(seed=seed)
        self.close()
        world = self._make_world(int(self.np_random.integers(2**31)))
        self._perceiver = as_perceiver(self._make_perceiver())
        self._seen: object = world.observe()
        self._graph = self._first = self._perceiver.reset(self._seen)
        self._world = world
        self._plan = Plan(()) if self._task is None else self._task(self._graph, self.np_random)
        self._domain.check(self._plan, self._graph)
        return self._observation(), self._info(())

    def step(self, action: np.ndarray) -> StepResult:
        """Carry out the action that three numbers stand for; see `gymnasium.Env.step`."""
        chosen = self.action_of(action)
        if chosen is None:
            return self._outcome(("object index out of range, or one object named twice",))
        return self.run(chosen)

    def run(self, action: Action) -> StepResult:
        """Carry out an `Action`, such as one of a recovery (`carry_out` of `MonitorWrapper`)."""
        world = self._running()
        refused = self._domain.operator_of(action).violated(self._graph, action)
        if refused:
            return self._outcome(tuple(map(self._domain.text, refused)))
        world.execute(action)
        return self._see(world.observe())

    def look(self, names: Sequence[str] = ()) -> StepResult:
        """Observe the scene again (`look` of `MonitorWrapper`).

        Args:
            names: what should be seen best, for worlds whose robot can go and look.
        """
        world = self._running()
        return self._see(world.look(names) if isinstance(world, LookingWorld) else world.observe())

    def action_of(self, action: np.ndarray) -> Action | None:
        """Return the action that three numbers stand for; None if an object is missing or named twice."""
        number, moved, other = (int(value) for value in action)
        operator, names = self.operators[number], self.graph.names
        rows = (moved, other)[: len(self._domain.operators[operator].arguments)]
        if len(set(rows)) != len(rows) or max(rows) >= len(names):
            return None
        return Action(operator, tuple(names[row] for row in rows))

    def numbers_of(self, action: Action) -> npt.NDArray[np.int64]:
        """Return the three numbers of an action; for operators of one argument the third is 0.

        Raises:
            InvalidAction: the environment does not have this operator.
            UnknownObject: an object is not in the scene.
        """
        self._domain.operator_of(action)
        require_known(action.operator, self.operators, "an operator of this environment", InvalidAction)
        rows = [self.graph.index(name) for name in action.arguments]
        return np.array([self.operators.index(action.operator), *rows, 0][:3], dtype=np.int64)

    def render(self) -> Any:
        """Return the image (H, W, 3) uint8 of the first camera, or the boxes from above; None without `render_mode`.

        Raises:
            InvalidConfiguration: no episode has begun.
        """
        if self.render_mode is None:
            return None
        graph = self.graph
        return np.array(self._seen.rgb[0]) if isinstance(self._seen, Observation) else from_above(graph)

    def close(self) -> None:
        """Close the world, if it has a `close` method."""
        world, self._world = self._world, None
        if world is not None and hasattr(world, "close"):
            world.close()

    def _running(self) -> World[object]:
        if self._world is None:
            raise InvalidConfiguration("expected an episode to have begun, found none; call reset() first")
        return self._world

    def _see(self, seen: object) -> StepResult:
        self._seen, self._graph = seen, self._perceiver.step(seen)
        return self._outcome(())

    def _outcome(self, refused: tuple[str, ...]) -> StepResult:
        done = bool(self._plan.actions) and all_achieved(self._plan, self._first, self.graph, self._domain)
        return self._observation(), float(done), done, False, self._info(refused)

    def _observation(self) -> Info:
        graph = self.graph
        if len(graph) > self.objects:
            raise InvalidConfiguration(
                f"expected at most {self.objects} objects, found {len(graph)} ({', '.join(graph.names)}); make the "
                f"environment with objects={len(graph)} or more"
            )
        boxes, seen = np.zeros((self.objects, 6), np.float32), np.zeros(self.objects, np.int8)
        boxes[: len(graph)], seen[: len(graph)] = np.clip(graph.boxes, -REACH_M, REACH_M), graph.seen
        return {"boxes": boxes, "seen": seen}

    def _info(self, refused: tuple[str, ...]) -> Info:
        return {"names": self.graph.names, "plan": str(self._plan), "refused": refused}


def all_achieved(plan: Plan, first: SceneGraph, graph: SceneGraph, domain: SpatialDomain = TABLETOP) -> bool:
    """Return whether a plan has been achieved: for every object, the effect of the last action that moves it.

    Args:
        plan: the plan.
        first: the scene before the plan; effects such as "push by 5 cm" count from there.
        graph: the scene to judge.
        domain: has the operators.
    """
    last = {action.arguments[0]: action for action in plan}
    return all(domain.operator_of(action).achieved(first, graph, action) for action in last.values())


def from_above(graph: SceneGraph) -> npt.NDArray[np.uint8]:
    """Return an image (320, 320, 3) of the boxes from above, in the view of the robot; higher objects are brighter."""
    low, high = (graph.boxes[:, :2] + sign * graph.boxes[:, 3:5] / 2 for sign in (-1, 1))
    corner = (low.min(axis=0) + high.max(axis=0)) / 2 - SIDE_PIXELS * PIXEL_M / 2
    edges = np.clip(np.round((np.stack([low, high]) - corner) / PIXEL_M), 0, SIDE_PIXELS).astype(int)
    image = np.zeros((SIDE_PIXELS, SIDE_PIXELS, 3), np.uint8)
    for i in np.argsort(top(graph.boxes)):
        colour = 150 + 100 * np.cos(2 * np.pi * (i / len(graph) + np.arange(3) / 3))
        (row, column), (row_end, column_end) = edges[:, i]
        image[row:row_end, column:column_end] = colour * (0.6 + 0.4 * min(1.0, float(top(graph.boxes[i])) / 0.2))
    return np.ascontiguousarray(image[::-1, ::-1])


def register_world(
    name: str, world: Callable[[int], World[object]], objects: int, max_steps: int = 50, **options: Any
) -> None:
    """Register a world, so that `gymnasium.make(name)` makes a `WorldEnv` of it.

    Args:
        name: an environment id such as "Tabletop-v0".
        world: makes a fresh world from a seed.
        objects: the largest number of objects.
        max_steps: steps after which an episode is truncated.
        options: further arguments of `WorldEnv`; `gymnasium.make` may override them.
    """
    gymnasium.register(
        name,
        entry_point=f"{__name__}:{WorldEnv.__name__}",
        max_episode_steps=max_steps,
        kwargs={"world": world, "objects": objects, **options},
    )
