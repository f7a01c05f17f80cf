"""Monitoring a third-party environment: the stacking task of panda-gym, from boxes only.

    pip install 'nsrecover[panda-gym]'
    python panda_gym_stacking.py

A scripted gripper stacks the green cube on the blue one, with simulated physics. A cube is pushed away during an
action; the wrapper detects it when the action is finished, plans a recovery, and lets the gripper carry it out.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import gymnasium
import numpy as np
import panda_gym  # registers its environments

import nsrecover
from nsrecover import Action, Plan
from nsrecover.bridges.gymnasium import MonitorWrapper, Response
from nsrecover.core.sessions.requests import Act

SIDE = 0.04
CUBES = {"blue cube": slice(7, 13), "green cube": slice(19, 25)}
"""Cube -> slice of its position (x, y, z) and rotation (roll, pitch, yaw) in an observation."""

BASE_X = 0.6
"""Distance of panda-gym's origin in front of the robot's base, which is the origin here."""

STILL = np.array([0, 0, 0, 1.0], np.float32)
"""The command that leaves the hand where it is, open."""

HIGH = 0.16
"""Height at which the gripper travels."""


def turned_box(place: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Return the upright box (6,) around a cube in the robot's frame, as a detector would."""
    (a, b, c), (d, e, f) = np.cos(turn), np.sin(turn)
    rotation = np.array(
        [
            [b * c, d * e * c - a * f, a * e * c + d * f],
            [b * f, d * e * f + a * c, a * e * f - d * c],
            [-e, d * b, a * b],
        ]
    )
    return np.concatenate([place + np.array([BASE_X, 0, 0]), np.abs(rotation) @ np.full(3, SIDE)])


def boxes_of(observation: dict[str, np.ndarray], info: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return boxes by name, the only input of the monitor."""
    values = {name: observation["observation"][where] for name, where in CUBES.items()}
    return {name: turned_box(value[:3], value[3:]) for name, value in values.items()}


def plan_of(info: dict[str, Any]) -> Plan:
    """Return the plan: the blue cube to its goal, the green one on top of it."""
    x, y, z = info["goal"][:3].tolist()
    return Plan(
        (
            Action("restore", ("blue cube",), target=(x + BASE_X, y, z, SIDE, SIDE, SIDE)),
            Action("top", ("green cube", "blue cube")),
        )
    )


def hand_movements(action: Action, observation: dict[str, np.ndarray]) -> Generator[np.ndarray, Any, None]:
    """Yield commands (dx, dy, dz, fingers) that carry out an action; it is sent every new observation."""

    def place(name: str) -> np.ndarray:
        return observation["observation"][CUBES[name]][:3].astype(float)

    def go(goal: np.ndarray, fingers: float, limit: float = 1.0) -> Generator[np.ndarray, Any, None]:
        nonlocal observation
        for _ in range(60):
            way = goal - observation["observation"][:3]
            if np.linalg.norm(way) < 0.002:
                return
            observation = yield np.array([*np.clip(way / 0.05, -limit, limit), fingers], np.float32)

    def still(fingers: float, steps: int) -> Generator[np.ndarray, Any, None]:
        nonlocal observation
        for _ in range(steps):
            observation = yield np.array([0, 0, 0, fingers], np.float32)

    moved = action.arguments[0]
    start = place(moved)
    goal = (
        place(action.arguments[1]) + np.array([0, 0, SIDE])
        if action.target is None
        else np.array(action.target[:3]) - [BASE_X, 0, 0]
    )
    yield from go(np.array([*start[:2], HIGH]), 1.0)
    yield from go(start, 1.0)
    yield from still(-1.0, 10)
    yield from go(np.array([*start[:2], HIGH]), -1.0)
    yield from go(np.array([*goal[:2], HIGH]), -1.0, limit=0.6)
    # Along the fingers the cube slips, but opening them centres it; across, the target has to be exact.
    goal[0] += np.clip(observation["observation"][0] - place(moved)[0], -0.01, 0.01)
    yield from go(np.array([*goal[:2], goal[2] + 0.03]), -1.0, limit=0.4)
    yield from go(goal + np.array([0, 0, 0.001]), -1.0, limit=0.2)
    yield from still(0.05, 4)
    yield from still(1.0, 4)
    yield from go(np.array([*goal[:2], HIGH]), 1.0)
    yield from still(1.0, 15)


def carry_out(env: gymnasium.Env, action: Action, push_at: int | None = None) -> Any:
    """Carry out one action; the blue cube may be pushed at one of the steps."""
    outcome = env.step(np.zeros(4, np.float32))
    movements = hand_movements(action, outcome[0])
    total, command, step = float(outcome[1]), next(movements), 0
    while True:
        if step == push_at:
            simulation = env.unwrapped.sim  # type: ignore[attr-defined]
            body = simulation._bodies_idx["object1"]
            simulation.physics_client.resetBaseVelocity(body, linearVelocity=[0.6, 0.3, 0.0])
        outcome = env.step(command)
        total, step = total + float(outcome[1]), step + 1
        if outcome[4].get("discrepancy") is not None:  # the wrapper has reported the action
            return outcome
        try:
            command = movements.send(outcome[0])
        except StopIteration:
            return (outcome[0], total, *outcome[2:])


class Settled(gymnasium.Wrapper):
    """Starts episodes at rest with an open gripper; the task itself starts with a falling cube and a closed one."""

    def reset(self, **options: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Reset, and open the gripper."""
        self.env.reset(**options)
        for _ in range(20):
            observation, *_, info = self.env.step(STILL)
        return observation, info | {"goal": observation["desired_goal"]}


class Finished:
    """Detects the end of an action: the gripper was closed, and is open and raised again."""

    def __init__(self) -> None:
        self.grasped = False

    def __call__(self, action: Action, observation: dict[str, np.ndarray], info: dict[str, Any]) -> bool:
        """Return whether the action has ended; called once per step."""
        height, width = observation["observation"][2], observation["observation"][6]
        self.grasped |= bool(width < 0.05)
        over = self.grasped and height > HIGH - 0.005 and width > 0.07
        self.grasped &= not over
        return over


def main() -> None:
    """Run one episode, with a push while the green cube is being carried."""
    print("panda-gym", panda_gym.__version__)
    inner = Settled(gymnasium.make("PandaStack-v3", max_episode_steps=10_000))
    inner.unwrapped.task.distance_threshold = 0.0  # type: ignore[attr-defined]  # otherwise the episode ends while the cube is still held
    system = nsrecover.geometric()
    env = MonitorWrapper(
        inner, lambda scene, info: system.session(plan_of(info), scene), boxes_of, Finished(), Response.REPAIR,
        carry_out, look=lambda env, names: env.step(STILL),
    )  # fmt: skip
    _, info = env.reset(seed=8)
    pushed = False
    while isinstance(info["request"], Act):
        action = info["request"].action
        push_at = 25 if action.operator == "top" and not pushed else None
        pushed = pushed or push_at is not None
        print(f"{action}{', and somebody pushes the blue cube' if push_at else ''}")
        observation, _, _, truncated, info = carry_out(env, action, push_at)
        if info["recovery"] is not None:
            print(system.explainer(info["discrepancy"], info["recovery"]).text)
            print("repaired:", info["repaired"])
        if truncated:
            break
    off = observation["achieved_goal"] - observation["desired_goal"]
    print(f"the tower stands, {1000 * np.abs(off).max():.0f} mm off" if np.abs(off).max() < 0.02 else "no tower")
    env.close()


if __name__ == "__main__":
    main()
