"""A world as a Gymnasium environment, and a wrapper that detects errors in it and recovers.

    pip install 'nsrecover[gymnasium]'
    python gymnasium_blocks.py

The observations are boxes: no cameras, no checkpoint, no torch.
"""

from __future__ import annotations

from itertools import pairwise

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import nsrecover
from nsrecover import Action, Plan
from nsrecover.bridges.gymnasium import MonitorWrapper, Response, register_world
from nsrecover.core.sessions.requests import Act
from nsrecover.domains.tabletop.operators import OPERATORS

SIDE = 0.04
NAMES = ("red", "green", "blue", "grey")


class Blocks:
    """Four blocks, and a gripper that drops one in three of them next to its place."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        spots = [(0.40 + 0.1 * x, 0.1 * y) for x in range(3) for y in range(-2, 3)]
        chosen = self._rng.permutation(len(spots))[: len(NAMES)]
        self._boxes = {name: (*spots[i], SIDE / 2, SIDE, SIDE, SIDE) for name, i in zip(NAMES, chosen, strict=True)}

    def observe(self) -> dict[str, tuple[float, ...]]:
        """Return boxes by name, as a detector would."""
        return dict(self._boxes)

    def execute(self, action: Action) -> None:
        """Put the block where the action says, or drop it on the way."""
        graph = nsrecover.scene_of_boxes(self._boxes)
        box = action.target or OPERATORS[action.operator].place(graph, action)
        if action.operator != "restore" and self._rng.random() < 0.33:
            box = (box[0] - 0.06, box[1] - 0.06, SIDE / 2, *box[3:])
        self._boxes[action.arguments[0]] = box


def tower(graph: nsrecover.SceneGraph, rng: np.random.Generator) -> Plan:
    """Return the task of an episode: a tower of all blocks, in random order."""
    order = [graph.names[i] for i in rng.permutation(len(graph))]
    return Plan(tuple(Action("top", (upper, lower)) for lower, upper in pairwise(order)))


register_world(
    "Blocks-v0", Blocks, objects=4, task=tower, perceiver=nsrecover.BoxesPerceiver,
    operators=("top", "left", "right", "front", "behind"),
)  # fmt: skip
check_env(gymnasium.make("Blocks-v0").unwrapped)
print("Blocks-v0 passes gymnasium's check_env")


def watched(response: Response) -> MonitorWrapper:
    """Return the environment with a session, which reads the task from the `info` of the environment."""
    env, system = gymnasium.make("Blocks-v0"), nsrecover.geometric()
    return MonitorWrapper(
        env,
        session=lambda scene, info: system.session(Plan.parse(info["plan"]), scene),
        scene_of=lambda observation, info: env.unwrapped.graph,
        finished=lambda action, observation, info: True,  # every step of this environment is one action
        response=response,
        carry_out=lambda env, action: env.unwrapped.run(action),
        look=lambda env, names: env.unwrapped.look(names),
    )


for response in (Response.END, Response.REPAIR):
    env, built = watched(response), 0
    for seed in range(10):
        _, info = env.reset(seed=seed)
        terminated = truncated = False
        while isinstance(info["request"], Act) and not (terminated or truncated):
            action = env.unwrapped.numbers_of(info["request"].action)
            _, reward, terminated, truncated, info = env.step(action)
            if info["recovery"] is not None and seed < 2:
                culprits = [f"{each.name} {each.cause}" for each in info["discrepancy"].deviations]
                print(f"  episode {seed}: {culprits}, recovery: {[str(each) for each in info['recovery'].actions]}")
        built += terminated
    print(f"{response}: {built} of 10 towers were built")
