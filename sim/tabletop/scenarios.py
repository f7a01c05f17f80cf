"""The scenarios of the demo: a generated scene, a plan and faults, all varied by a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.explanation.audience import participle
from sim.common.cameras import DAYLIGHT, Light
from sim.tabletop.faults import Drop, Fault, HelpingPerson, Misled, Swap
from sim.tabletop.faults.arm import SPEED_M_S, believed_share
from sim.tabletop.sampling import Structure, is_feasible, nominal_box, nominal_graph, sample_plan, sample_scene
from sim.tabletop.scenes import ObjectKind, SceneSpec

OBJECTS = 5
CENTRE_M = (0.54, 0.0)
"""Centre of the workspace: objects that fall from a tower here stay in reach."""
TRIES = 1000
SIDEWAYS = 1.5
"""The arm hits a tower from the side, so that falling objects stay in reach: minimum ratio of the motion in y and x."""

FALL_S = 0.2
"""Duration of a fall from transit height."""
FALL_ROOM_M = 0.045
"""Free space around the expected landing place of an object, which may roll over once."""


@dataclass(frozen=True)
class Scenario:
    """One episode of the demo.

    Attributes:
        name: of the scenario.
        seed: it was generated from this seed.
        scene: its start.
        plan: the robot's plan.
        faults: injected faults.
        step: the action during or after which they strike, from 0.
        description: the events, in a sentence.
        light: the light of the scene.
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
    """A scenario of the demo.

    Args:
        name: a key of `SCENARIOS`.
        seed: other seeds give other scenes, colours, orders and moments.

    Raises:
        InvalidConfiguration: the name is unknown, or no scene was found for it.
    """
    require_known(name, SCENARIOS, "a scenario")
    rng = np.random.default_rng([seed, sorted(SCENARIOS).index(name)])
    for _ in range(TRIES):
        found = SCENARIOS[name](rng, seed)
        if found is not None:
            return found
    raise InvalidConfiguration(f"expected a scene for {name!r} with seed {seed}, found none; use another seed")


def _collapse(rng: np.random.Generator, seed: int) -> Scenario | None:
    """A tower in the centre of the table; the arm underestimates its height and hits it."""
    scene = sample_scene(rng, OBJECTS, seed=seed)
    base, *rest = _nearest_first(scene)
    order = [base, *(str(name) for name in rng.permutation(rest))]
    # an upright brick stays upright in the gripper, and an object on top of it is then too high
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
        f"While {participle(plan[step])}, the arm takes the tower to be lower than it is, and knocks it over.",
    )  # fmt: skip


def _slip(rng: np.random.Generator, seed: int) -> Scenario | None:
    """A row; the next block slips from the gripper, and two blocks of the row are swapped at the same time."""
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
        f"While {participle(plan[2])}, the gripper loses the {slipping}, and a person swaps the {near} and the {far}.",
    )  # fmt: skip


def _helper(rng: np.random.Generator, seed: int) -> Scenario | None:
    """Any structure; a person carries out the second and third action."""
    scene = sample_scene(rng, OBJECTS, seed=seed)
    plan = sample_plan(rng, scene, Structure(str(rng.choice(list(Structure)))), 4)
    moved = {action.arguments[0] for action in plan}
    if len(moved) < len(plan) or any(action.target is not None for action in plan):
        return None
    return Scenario(
        "helper", seed, scene, plan, (HelpingPerson(0, plan.actions[1:3]),), 0,
        f"After {participle(plan[0])}, the robot is helped: a person does the next two steps.",
    )  # fmt: skip


def _nearest_first(scene: SceneSpec) -> list[str]:
    """Object names by distance from the centre of the table."""
    return sorted(scene.names, key=lambda name: math.dist(scene[name].position, CENTRE_M))


def _slip_progress(scene: SceneSpec, plan: Plan, step: int) -> float | None:
    """A moment at which the object that a step carries falls on an empty part of the table.

    Returns:
        Share of the transport's time; None if there is no such moment.
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
        # it lands between the place of its release and the place to which its speed carries it during the fall
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
