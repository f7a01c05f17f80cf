"""The scenarios of the demo: a generated scene, a plan, and what goes wrong. A seed varies all of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.cameras import DAYLIGHT, Light
from sim.tabletop.faults import Drop, Fault, HelpingPerson, Misled, Swap
from sim.tabletop.faults.drop import SPEED_M_S
from sim.tabletop.faults.misled import believed_share
from sim.tabletop.sampling import Structure, is_feasible, nominal_box, nominal_graph, sample_plan, sample_scene
from sim.tabletop.scenes import ObjectKind, SceneSpec

OBJECTS = 5
CENTRE_M = (0.54, 0.0)
"""Middle of the workspace: what falls from a tower here stays in reach."""
TRIES = 1000
SIDEWAYS = 1.5
"""A tower is swept over from the side, so that what falls stays at an arm's length: farther along y than along x."""

FALL_S = 0.2
"""Time that an object needs to fall from transit height."""
FALL_ROOM_M = 0.045
"""Free space around the place where a falling object is expected to come down: it may roll over once."""


@dataclass(frozen=True)
class Scenario:
    """One episode of the demo.

    Attributes:
        name: of the scenario.
        seed: what it was generated from.
        scene: where it starts.
        plan: what the robot is to do.
        faults: what goes wrong.
        step: the action during or after which it goes wrong, from 0.
        description: what happens, in a sentence.
        light: how it is lit.
    """

    name: str
    seed: int
    scene: SceneSpec
    plan: Plan
    faults: tuple[Fault, ...]
    step: int
    description: str
    light: Light = DAYLIGHT


def scenario(name: str, seed: int = 0) -> Scenario:
    """Generate a scenario.

    Args:
        name: a key of `SCENARIOS`.
        seed: other seeds give other scenes, colours, orders and moments.

    Raises:
        InvalidConfiguration: there is no scenario of that name, or no scene was found for it.
    """
    if name not in SCENARIOS:
        raise InvalidConfiguration(f"expected a scenario, found {name!r}.{did_you_mean(name, SCENARIOS)}")
    rng = np.random.default_rng([seed, sorted(SCENARIOS).index(name)])
    for _ in range(TRIES):
        found = SCENARIOS[name](rng, seed)
        if found is not None:
            return found
    raise InvalidConfiguration(f"expected a scene for {name!r} with seed {seed}, found none; use another seed")


def _collapse(rng: np.random.Generator, seed: int) -> Scenario | None:
    """A tower in the middle of the table; the arm believes it to be lower than it is and sweeps into it."""
    scene = sample_scene(rng, OBJECTS, seed=seed)
    base, *rest = _nearest_first(scene)
    order = [base, *(str(name) for name in rng.permutation(rest))]
    # a brick that comes to stand on end stays so in the gripper, and what is put on it ends up too high
    if any(scene[name].kind is ObjectKind.LEGO for name in order[:-1]):
        return None
    plan = Plan(tuple(Action("top", (upper, lower)) for lower, upper in pairwise(order)))
    if math.dist(scene[base].position, CENTRE_M) > 0.08 or not is_feasible(scene, plan):
        return None
    step = int(rng.choice([len(plan) - 2, len(plan) - 1]))
    x, y = np.abs(np.subtract(scene[order[step + 1]].position, scene[base].position))
    if y < SIDEWAYS * x:
        return None
    tower = order[: step + 1]
    misled = Misled(step, tuple(tower), height_share=believed_share([scene[name].size[2] for name in tower]))
    return Scenario(
        "collapse", seed, scene, plan, (misled,), step,
        f"While it carries out {plan[step]}, the arm is misled about the height of the tower and knocks it over.",
    )  # fmt: skip


def _slip(rng: np.random.Generator, seed: int) -> Scenario | None:
    """A row; something slips while the next block is put on it, and two blocks of the row are swapped meanwhile."""
    scene = sample_scene(rng, OBJECTS, seed=seed)
    base, *rest = _nearest_first(scene)
    near, far, slipping, last = (str(name) for name in rng.permutation(rest))
    side = str(rng.choice(["left", "right", "front", "behind"]))
    support = str(rng.choice([near, far]))
    plan = Plan(
        (
            Action(side, (near, base)),
            Action(side, (far, near)),
            Action("top", (slipping, base)),
            Action("top", (last, support)),
        )
    )
    if not is_feasible(scene, plan):
        return None
    progress = _slip_progress(scene, plan, step=2)
    if progress is None:
        return None
    faults = (Drop(2, progress), Swap(2, near, far))
    return Scenario(
        "slip", seed, scene, plan, faults, 2,
        f"While it carries out {plan[2]}, the {slipping} slips out of the gripper, and somebody swaps the {near} and "
        f"the {far}.",
    )  # fmt: skip


def _helper(rng: np.random.Generator, seed: int) -> Scenario | None:
    """Any structure; a person does the second and third step."""
    scene = sample_scene(rng, OBJECTS, seed=seed)
    plan = sample_plan(rng, scene, Structure(str(rng.choice(list(Structure)))), 4)
    moved = {action.arguments[0] for action in plan}
    if len(moved) < len(plan) or any(action.target is not None for action in plan):
        return None
    return Scenario(
        "helper", seed, scene, plan, (HelpingPerson(0, plan.actions[1:3]),), 0,
        f"After {plan[0]}, a person does {plan[1]} and {plan[2]}.",
    )  # fmt: skip


def _nearest_first(scene: SceneSpec) -> list[str]:
    """Object names, those in the middle of the table first."""
    return sorted(scene.names, key=lambda name: math.dist(scene[name].position, CENTRE_M))


def _slip_progress(scene: SceneSpec, plan: Plan, step: int) -> float | None:
    """A moment at which the object that is carried in a step falls on an empty part of the table.

    Returns:
        Share of the time of the transport; None if the way leads over other objects everywhere.
    """
    graph = nominal_graph(scene)
    for action in plan.actions[:step]:
        graph = graph.with_node(graph.index(action.arguments[0]), nominal_box(graph, action))
    moved = graph.index(plan[step].arguments[0])
    start, goal = graph.boxes[moved], np.asarray(nominal_box(graph, plan[step]))
    others = np.delete(graph.boxes, moved, axis=0)
    distance = float(np.linalg.norm(goal[:2] - start[:2]))
    seconds = max(distance / SPEED_M_S, 0.05)
    best, widest = None, FALL_ROOM_M
    for progress in np.arange(0.2, 0.65, 0.05):
        # it comes down somewhere between where it is let go and where its speed would carry it meanwhile
        share = _smooth(progress)
        thrown = share + 6 * progress * (1 - progress) * FALL_S / seconds
        landings = start[:2] + np.linspace(share, thrown, 5)[:, None] * (goal[:2] - start[:2])
        gap = np.abs(others[None, :, :2] - landings[:, None]) - (others[:, 3:5] + start[3:5]) / 2
        room = min(float(gap.max(axis=2).min()), share * distance - FALL_ROOM_M)
        if room > widest:
            best, widest = round(float(progress), 2), room
    return best


def _smooth(time: float) -> float:
    return time * time * (3 - 2 * time)


SCENARIOS: dict[str, Callable[[np.random.Generator, int], Scenario | None]] = {
    "collapse": _collapse,
    "slip": _slip,
    "helper": _helper,
}
"""Every scenario by its name."""
