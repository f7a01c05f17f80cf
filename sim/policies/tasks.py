"""Tasks of a policy, and its episodes: another layout each time, and what goes wrong in some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.phrases import instruction
from sim.common.cameras import CameraRig
from sim.tabletop.demonstrations import DemonstrationMix, DemonstrationSpec, specify
from sim.tabletop.faults import FAULTS
from sim.tabletop.faults.base import Fault, Moment
from sim.tabletop.sampling import is_feasible
from sim.tabletop.scenes import ObjectSpec, SceneSpec, footprint_gaps
from sim.tabletop.world import TabletopWorld

MIX = DemonstrationMix(objects=(5,), lengths=(3,))
WRONG_OBJECT = "wrong_object"
"""The policy takes another object than the task says."""
KINDS = (
    WRONG_OBJECT, "drop", "slip", "missed_grasp", "offset_placement", "wrong_support", "push", "push_midway",
)  # fmt: skip
"""What goes wrong, in turn."""
LAYOUTS = 400
TURNS = 20


@dataclass(frozen=True)
class Episode:
    """One episode before it is carried out.

    Attributes:
        task: its number.
        number: of the episode of the task.
        kind: one of `KINDS`, or empty.
        seed: of the physics and the sensor.
        scene: its start.
        plan: what the task means.
        done: what the policy does.
        faults: what happens to it.
        rig: cameras and light.
    """

    task: int
    number: int
    kind: str
    seed: int
    scene: SceneSpec
    plan: Plan
    done: Plan
    faults: tuple[Fault, ...]
    rig: CameraRig

    @property
    def words(self) -> str:
        """The task in words."""
        return in_words(self.plan)


def in_words(plan: Plan) -> str:
    """A plan as an instruction."""
    return ", then ".join(instruction(action) for action in plan)


@cache
def task_of(seed: int, task: int) -> DemonstrationSpec:
    """Objects and plan of a task: one in which no object moves twice."""
    for turn in range(TURNS):
        spec = specify(MIX, seed, task * TURNS + turn)
        moved = [action.arguments[0] for action in spec.plan]
        if len(set(moved)) == len(moved) and all(action.target is None for action in spec.plan):
            return spec
    raise InvalidConfiguration(f"expected a task for seed {seed} and number {task}, found none; use another seed")


def episode_of(seed: int, task: int, number: int, kind: str = "") -> Episode:
    """An episode of a task; the same for the same arguments.

    Raises:
        InvalidConfiguration: the disturbance fits no layout.
    """
    given = task_of(seed, task)
    for turn in range(TURNS):
        rng = np.random.default_rng([seed, task, number, turn])
        scene = _laid_out(given, rng)
        light = MIX.scene.light
        rig = given.rig if light is None else replace(given.rig, light=light.sample(rng))
        own = int(rng.integers(2**31))
        if not kind:
            return Episode(task, number, kind, own, scene, given.plan, given.plan, (), rig)
        step = int(rng.integers(len(given.plan)))
        if kind == WRONG_OBJECT:
            done = _with_another(given.plan, step, scene, rng)
            if done is not None:
                return Episode(task, number, kind, own, scene, given.plan, done, (), rig)
            continue
        fault = _fault(kind, scene, given.plan, step, rng)
        if fault is not None:
            return Episode(task, number, kind, own, scene, given.plan, given.plan, (fault,), rig)
    raise InvalidConfiguration(f"expected a layout in which {kind} can happen, found none; use another seed")


def _laid_out(given: DemonstrationSpec, rng: np.random.Generator) -> SceneSpec:
    """The objects of a task at other places from which the plan can be carried out."""
    for _ in range(LAYOUTS):
        placed: list[ObjectSpec] = []
        for item in given.scene.objects:
            corners = np.array([other.corners() for other in placed]).reshape(-1, 4, 2)
            yaws = np.array([other.yaw for other in placed])
            for _ in range(50):
                x, y = (round(float(rng.uniform(*span)), 4) for span in given.scene.table.start)
                yaw = item.yaw + float(rng.uniform(-0.1, 0.1)) + float(rng.integers(2)) * math.pi / 2
                moved = replace(item, position=(x, y), yaw=yaw)
                if bool(np.all(footprint_gaps(moved, corners, yaws) >= MIX.scene.gap_m)):
                    placed.append(moved)
                    break
        if len(placed) == len(given.scene.objects):
            scene = replace(given.scene, objects=tuple(placed))
            if is_feasible(scene, given.plan):
                return scene
    raise InvalidConfiguration(f"expected a layout for {given.plan}, found none in {LAYOUTS} tries; use another seed")


def _with_another(plan: Plan, step: int, scene: SceneSpec, rng: np.random.Generator) -> Plan | None:
    """The plan with another object moved in one step; None if that cannot be carried out."""
    action = plan[step]
    for name in rng.permutation(scene.names).tolist():
        wrong = Action(action.operator, (str(name), *action.arguments[1:]))
        changed = Plan((*plan.actions[:step], wrong))
        if name not in action.arguments and is_feasible(scene, changed):
            return Plan((*changed.actions, *plan.actions[step + 1 :]))
    return None


def _fault(kind: str, scene: SceneSpec, plan: Plan, step: int, rng: np.random.Generator) -> Fault | None:
    with TabletopWorld(scene, plan=plan) as world:
        for action in plan.actions[:step]:
            world.execute(action)
        before = world.estimates()
        world.execute(plan[step])
        return FAULTS[kind].sample(Moment(step, plan, before, world.estimates()), rng)
