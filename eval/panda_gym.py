"""`python -m eval.panda_gym`: detection of disturbances in panda-gym's stacking task, from boxes alone.

Physics, task and robot are panda-gym's; the controller is the script of examples/panda_gym_stacking.py. During or after
an action a cube is pushed or displaced. The monitor sees boxes by name only; true places are used only for judging.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import panda_gym  # registers its environments, too
from tqdm import tqdm

import nsrecover
from eval.common.tables import Columns, columns_table, document
from eval.metrics import Metric, columns, share, summary
from eval.run import Measurement, Run, Settings, run
from examples.panda_gym_stacking import BASE_X, CUBES, SIDE, Settled, boxes_of, hand_movements, plan_of
from nsrecover.core.actions import Action, Plan
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.system import System

LONGEST_STEPS = 110
"""Latest step of a disturbance; actions take about 60 steps, so many disturbances come after the action."""

APART_M = 0.08
"""Least distance of the cubes from each other and from the goal: the gripper needs this room."""

ELSEWHERE_M = (0.025, 0.15)
"""Range of displacements."""

PUSH_M_S = (0.4, 1.2)
"""Range of speeds after a push."""

BODIES = {"blue cube": "object1", "green cube": "object2"}
"""Name of a cube -> its name in panda-gym."""

Boxes = Mapping[str, np.ndarray]


class Disturbance(StrEnum):
    """Kind of disturbance."""

    PUSHED = "pushed"
    """The cube is pushed from the side, and slides or falls."""
    DISPLACED = "displaced"
    """The cube is put down elsewhere."""


@dataclass
class PandaGymConfig(Settings):
    """Measure the detection of disturbances in panda-gym's stacking task, from boxes alone.

      python -m eval.panda_gym                                                  450 episodes; seven minutes
      python -m eval.panda_gym disturbances=20 undisturbed=10 calibration=20 alpha=0.05 out=DIR    a quick look

    A scripted policy stacks two cubes in panda-gym's task, with its physics. A disturbance counts if a cube is more
    than 2 cm from its expected place afterwards. Writes metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other episodes.
        disturbances: number of episodes in which a cube is moved by more than 2 cm.
        undisturbed: number of episodes without disturbance, to count false alarms.
        calibration: number of other episodes without disturbance, to calibrate with.
        alpha: promised rate of false alarms per step, of the calibrated threshold.
        noise_mm: noise of the boxes' centres: standard deviation on each axis, millimetres.
    """

    disturbances: int = 200
    undisturbed: int = 150
    calibration: int = 100
    alpha: float = 0.005
    noise_mm: list[float] = field(default_factory=lambda: [0.0, 2.0])
    out: str = "outputs/panda_gym"


@dataclass(frozen=True, eq=False)
class StackingStep:
    """Observation after an action, and ground truth.

    Attributes:
        boxes: by name, exact.
        off_m: distance of each cube from its expected place.
        kind: disturbance since the last observation, if any.
    """

    boxes: Boxes
    off_m: Mapping[str, float]
    kind: Disturbance | None = None

    @property
    def wrong(self) -> frozenset[str]:
        """Deviating cubes."""
        return frozenset(name for name, off in self.off_m.items() if off > REACHED_M)


@dataclass(frozen=True, eq=False)
class StackingEpisode:
    """One episode.

    Attributes:
        plan: the plan.
        start: boxes by name before the first action.
        looks: observations after each action, up to the first deviation.
    """

    plan: Plan
    start: Boxes
    looks: tuple[StackingStep, ...]


def stacking() -> gymnasium.Env[Any, Any]:
    """Return a new environment; a used one keeps contacts and joints of the last episode."""
    with _nothing_printed():
        return gymnasium.make("PandaStack-v3", max_episode_steps=1_000_000)


@contextlib.contextmanager
def _nothing_printed() -> Iterator[None]:
    """Suppress the output of PyBullet when it creates a simulation."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def places(boxes: Boxes) -> dict[str, np.ndarray]:
    """Return the centre of each cube, (3,)."""
    return {name: box[:3] for name, box in boxes.items()}


def can_begin(env: gymnasium.Env[Any, Any], seed: int) -> bool:
    """Whether cubes and goal of a seed are far enough apart for the gripper."""
    observation, info = env.reset(seed=seed)
    blue, green = places(boxes_of(observation, info)).values()
    goal = observation["desired_goal"][:3] + np.array([BASE_X, 0, 0])
    return min(float(np.linalg.norm((a - b)[:2])) for a, b in ((blue, green), (green, goal))) > APART_M


def record(seed: int, disturbed: bool) -> StackingEpisode | None:
    """Record an episode of the scripted controller.

    Args:
        seed: of the task and of the disturbance.
        disturbed: whether to disturb one of the two actions; the episode ends after it.

    Returns:
        The episode; None if the disturbance displaced no cube.
    """
    env = Settled(stacking())
    try:
        return _recorded(env, seed, disturbed)
    finally:
        env.close()


def _recorded(env: gymnasium.Env[Any, Any], seed: int, disturbed: bool) -> StackingEpisode | None:
    rng = np.random.default_rng([seed, 1])
    observation, info = env.reset(seed=seed)
    plan, boxes = plan_of(info), boxes_of(observation, info)
    start, goal = boxes, np.array(plan[0].target[:3])  # type: ignore[index]
    disturbed_step = int(rng.integers(len(plan))) if disturbed else None
    looks: list[StackingStep] = []
    for number, action in enumerate(plan):
        before = places(boxes)
        should = {**before, action.arguments[0]: goal if number == 0 else before["blue cube"] + [0, 0, SIDE]}
        moment = int(rng.integers(LONGEST_STEPS)) if number == disturbed_step else None
        observation, kind = act(env, action, observation, moment, rng)
        for _ in range(20):
            observation = env.step(np.array([0, 0, 0, 1.0], np.float32))[0]
        boxes = boxes_of(observation, info)
        off = {name: float(np.linalg.norm(place - should[name])) for name, place in places(boxes).items()}
        looks.append(StackingStep(boxes, off, kind))
        if kind is not None and not looks[-1].wrong:
            return None
        if looks[-1].wrong:
            break
    return StackingEpisode(plan, start, tuple(looks))


def act(
    env: gymnasium.Env[Any, Any], action: Action, observation: Any, moment: int | None, rng: np.random.Generator
) -> tuple[Any, Disturbance | None]:
    """Execute an action with a disturbance at a step or afterwards."""
    movements, kind, step = hand_movements(action, observation), None, 0
    command = next(movements)
    while True:
        if step == moment:
            kind = disturb(env, observation, rng)
        observation, step = env.step(command)[0], step + 1
        try:
            command = movements.send(observation)
        except StopIteration:
            break
    if moment is not None and kind is None:
        kind = disturb(env, observation, rng)
    return observation, kind


def disturb(env: gymnasium.Env[Any, Any], observation: Any, rng: np.random.Generator) -> Disturbance:
    """Push or displace a cube that is not in the gripper."""
    hand, width = observation["observation"][:3], observation["observation"][6]
    now = {name: observation["observation"][where][:3] for name, where in CUBES.items()}
    loose = [name for name, place in now.items() if width > 0.05 or np.linalg.norm(place - hand) > 0.03]
    name = loose[int(rng.integers(len(loose)))]
    simulation, body = env.unwrapped.sim, BODIES[name]  # type: ignore[attr-defined]
    angle = rng.uniform(0, 2 * np.pi)
    direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    if rng.random() < 0.5:
        number = simulation._bodies_idx[body]
        simulation.physics_client.resetBaseVelocity(number, linearVelocity=list(rng.uniform(*PUSH_M_S) * direction))
        return Disturbance.PUSHED
    others = [place for other, place in now.items() if other != name] + [hand]
    for _ in range(1000):
        goal = now[name] + rng.uniform(*ELSEWHERE_M) * direction
        if abs(goal[0]) < 0.2 and abs(goal[1]) < 0.3 and min(np.linalg.norm((goal - o)[:2]) for o in others) > 0.07:
            break
        angle = rng.uniform(0, 2 * np.pi)
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
    simulation.set_base_pose(body, np.array([*goal[:2], SIDE / 2]), np.array([0.0, 0.0, 0.0, 1.0]))
    return Disturbance.DISPLACED


def episodes(
    count: int, first_seed: int, disturbed: bool, wanted: Callable[[StackingEpisode], bool], label: str
) -> list[StackingEpisode]:
    """Record episodes, from a seed on, until `count` of them are wanted ones; the others are returned too."""
    found: list[StackingEpisode] = []
    good, scout = 0, stacking()
    with tqdm(total=count, desc=label, unit="episode") as bar:
        for seed in itertools.count(first_seed):
            recorded = record(seed, disturbed) if can_begin(scout, seed) else None
            if recorded is not None:
                found.append(recorded)
                good += wanted(recorded)
                bar.update(wanted(recorded))
            if good >= count:
                break
    scout.close()
    return found


def noisy(boxes: Boxes, noise_m: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return boxes with normal noise on every axis of their centres."""
    return {name: box + np.concatenate([rng.normal(0, noise_m, 3), np.zeros(3)]) for name, box in boxes.items()}


def judge(system: System, recorded: Sequence[StackingEpisode], noise_m: float, seed: int) -> Iterator[Blamed]:
    """Yield each observation with the cubes that the monitor blames, from noisy boxes."""
    for number, episode in enumerate(recorded):
        rng = np.random.default_rng([seed, number, 2])
        monitor = system.monitor(episode.plan, noisy(episode.start, noise_m, rng))
        for action, look in zip(episode.plan, episode.looks, strict=False):
            yield Blamed(look, frozenset(monitor.step(action, noisy(look.boxes, noise_m, rng)).deviating))


@dataclass(frozen=True)
class Blamed:
    """An observation, and the cubes that the monitor blames."""

    look: StackingStep
    cubes: frozenset[str]

    @property
    def disturbed(self) -> bool:
        """Whether something was done to a cube since the last observation."""
        return self.look.kind is not None


def _noticed(name: str, title: str, where: Callable[[Blamed], bool]) -> Metric:
    return share(name, title, lambda each: bool(each.cubes), where, counted=True)


METRICS = (
    _noticed("detection", "disturbances noticed", lambda each: each.disturbed),
    *(_noticed(f"by_kind.{kind}", kind.value, partial(lambda kind, each: each.look.kind is kind, kind))
      for kind in Disturbance),
    share("culprits_exact", "culprits right", lambda each: each.look.wrong == each.cubes, lambda each: each.disturbed,
          counted=True),
    _noticed("false_alarms", "false alarms", lambda each: not each.disturbed and not each.look.wrong),
    _noticed("own_failures", "", lambda each: not each.disturbed and bool(each.look.wrong)),
)  # fmt: skip


def measure(config: PandaGymConfig, run: Run) -> dict[str, Any]:
    """Record, calibrate and judge."""
    base = 1_000_000 * config.seed

    def went_well(recorded: StackingEpisode) -> bool:
        return not any(look.wrong for look in recorded.looks)

    def was_disturbed(recorded: StackingEpisode) -> bool:
        return recorded.looks[-1].kind is not None

    calibration = episodes(config.calibration, base, False, went_well, "to calibrate with")
    recorded = episodes(config.undisturbed, base + 300_000, False, went_well, "undisturbed")
    recorded += episodes(config.disturbances, base + 600_000, True, was_disturbed, "disturbed")
    rows: dict[str, Any] = {}
    for noise_mm in config.noise_mm:
        noise_m, rng = noise_mm / 1000, np.random.default_rng([config.seed, 3])
        plain = nsrecover.geometric()
        successes = [
            (one.plan, [noisy(boxes, noise_m, rng) for boxes in (one.start, *(look.boxes for look in one.looks))])
            for one in calibration
            if went_well(one)
        ]
        calibrated = plain.calibrated(successes, config.alpha)
        for name, system in {"2 cm": plain, "calibrated": calibrated}.items():
            noticed_from = REACHED_M * float(np.sqrt(-np.log2(system.model.models.threshold)))
            rows[f"{name}, noise {noise_mm:g} mm"] = {
                "tolerance_mm": round(1000 * noticed_from, 1),
                **summary(list(judge(system, recorded, noise_m, config.seed)), METRICS),
            }
    return {"seed": config.seed, "alpha": config.alpha, "panda_gym": panda_gym.__version__, "settings": rows}


def markdown(metrics: Mapping[str, Any]) -> str:
    """Table with one line for each setting."""
    own = next(iter(metrics["settings"].values()))["own_failures"]
    shown: Columns = (("noticed from", lambda row: f"{row['tolerance_mm']} mm"), *columns(METRICS))
    return document(
        columns_table(["tolerance"], metrics["settings"], shown),
        f"In brackets 95 % intervals. The hand itself failed {own['of']} times, which are counted in none of these.",
    )


LEAST = {"disturbances": 1, "undisturbed": 1, "calibration": 1, "noise_mm": 0}
MEASUREMENT = Measurement(PandaGymConfig, measure, markdown, least=LEAST, checkpoint=None)

if __name__ == "__main__":
    run(MEASUREMENT)
