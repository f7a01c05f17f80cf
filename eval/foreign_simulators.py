"""`python -m eval.foreign_simulators`: towers in scenes of MuJoCo, a simulator that no part was trained on."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import grouped
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import columns_table, document
from eval.metrics import FALSE_COMPLETION, columns, share, summary, total
from eval.run import Measurement, Run, Settings, run
from nsrecover.agent import RecoveryAgent
from nsrecover.core import Action, Camera, Episode, EpisodeStatus, Observation, Plan
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.cameras.opengl import camera_of_opengl

HEIGHT, WIDTH, CAMERAS = 240, 320, ("left", "right")
COLOURS = {
    "red": "0.8 0.1 0.1", "green": "0.1 0.6 0.2", "blue": "0.1 0.2 0.8", "yellow": "0.85 0.75 0.1",
    "purple": "0.5 0.1 0.6",
}  # fmt: skip
NEAR_M = 0.02
"""What is no farther from where it should be is there."""
APART_M = 0.09
FAULTS = ("none", "not_taken", "beside", "pushed", "other_pushed", "removed")
"""The action moves nothing; its cube lands 4 cm beside; is pushed away; another one is; or its cube is taken away."""


@dataclass
class SimulatorConfig(Settings):
    """Build towers of cubes in random MuJoCo scenes, with own cameras, light and textures, with and without faults.

      pip install mujoco
      python -m eval.foreign_simulators                    60 episodes
      python -m eval.foreign_simulators seed=7 episodes=6  a quick look

    Each kind of fault strikes in as many episodes. The robot is a scripted skill; everything is seen in images.

    Attributes:
        episodes: number of scenes.
        checkpoint: folder of the networks; the shipped one if null.
    """

    episodes: int = 60
    checkpoint: str | None = None


@dataclass(frozen=True)
class SimulatorRow:
    """An episode: steps without a fault, alarms at them, whether the fault was noticed with the right name, its end."""

    fault: str
    good: int
    alarms: int
    noticed: bool
    named: bool
    reached: bool
    completed: bool

    @property
    def false_completion(self) -> bool:
        """Whether the agent said so although the tower does not stand."""
        return self.completed and not self.reached


def scene_xml(rng: np.random.Generator, names: list[str]) -> str:
    """A table with cubes that do not touch, two lights, and two cameras that look at it."""
    places: list[Any] = []
    while len(places) < len(names):
        place = rng.uniform((0.36, -0.22), (0.6, 0.22))
        if all(np.hypot(*(place - other)) > APART_M for other in places):
            places.append(place)
    cubes = "".join(
        f'<body name="{name}" pos="{x} {y} {half}"><freejoint/><geom name="{name}" type="box" mass="0.1" '
        f'size="{half} {half} {half}" rgba="{COLOURS[name]} 1"/></body>'
        for name, (x, y) in zip(names, places, strict=True)
        for half in (round(float(rng.uniform(0.02, 0.028)), 4),)
    )
    cameras = "".join(
        f'<camera name="{name}" pos="{_numbers(rng.uniform((0.35, 0.6, 0.55), (0.6, 0.85, 0.8)) * (1, side, 1))}" '
        f'mode="targetbody" target="aim" fovy="{rng.uniform(40, 50)}"/>'
        for name, side in zip(CAMERAS, (1, -1), strict=True)
    )
    first, second = rng.uniform(0.2, 0.5, (2, 3))
    return f"""<mujoco><visual><global offheight="{HEIGHT}" offwidth="{WIDTH}"/></visual>
      <asset><texture name="wood" type="2d" builtin="checker" width="64" height="64" rgb1="{_numbers(first)}"
        rgb2="{_numbers(first + 0.08)}"/><material name="wood" texture="wood" texrepeat="9 9"/></asset>
      <worldbody><light pos="0.5 {rng.uniform(-0.6, 0.6)} 2"/><light pos="0 1 1.5" dir="0.4 -0.7 -1" diffuse="{
        _numbers(second)
    }"/>
      <geom name="table" type="box" pos="0.5 0 -0.02" size="0.6 0.6 0.02" material="wood"/>
      <body name="aim" pos="0.48 0 0"/>{cameras}{cubes}</worldbody></mujoco>"""


def _numbers(values: Any) -> str:
    return " ".join(f"{each:.3f}" for each in values)


class MujocoTable:
    """A table in MuJoCo: the world of an agent, with a fault during one action of the plan."""

    def __init__(self, mujoco: Any, rng: np.random.Generator, names: list[str], fault: str, at: int) -> None:
        self._mujoco, self._rng, self.names, self.fault, self.at = mujoco, rng, names, fault, at
        self.model = mujoco.MjModel.from_xml_string(scene_xml(rng, names))
        self.data = mujoco.MjData(self.model)
        self._renderer = mujoco.Renderer(self.model, HEIGHT, WIDTH)
        self.actions, self.struck = 0, ""
        self._settle()

    def close(self) -> None:
        """Free the renderer."""
        self._renderer.close()

    def observe(self) -> Observation:
        """Colour, depth and masks of both cameras."""
        self._mujoco.mj_step(self.model, self.data, 10)
        numbers = np.zeros(self.model.ngeom, np.int32)
        for number, name in enumerate(self.names, start=1):
            numbers[self.model.geom(name).id] = number
        rgb, depth_m, instances = zip(*(self._rendered(name, numbers) for name in CAMERAS), strict=True)
        labels = dict(enumerate(self.names, start=1))
        cameras = tuple(map(self._camera, CAMERAS))
        return Observation(
            np.stack(rgb), np.stack(depth_m), np.stack(instances), cameras, labels, time_s=self.data.time
        )

    def _rendered(self, camera: str, numbers: Any) -> tuple[Any, Any, Any]:
        renderer = self._renderer
        renderer.update_scene(self.data, camera)
        rgb = renderer.render().copy()
        renderer.enable_depth_rendering()
        depth_m = renderer.render().copy()
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        ids, kinds = np.moveaxis(renderer.render(), -1, 0)
        renderer.disable_segmentation_rendering()
        shown = kinds == self._mujoco.mjtObj.mjOBJ_GEOM
        return rgb, depth_m, np.where(shown, numbers[np.where(shown, ids, 0)], 0)

    def _camera(self, name: str) -> Camera:
        pose, camera = np.eye(4), self.model.camera(name)
        pose[:3, :3], pose[:3, 3] = self.data.cam_xmat[camera.id].reshape(3, 3), self.data.cam_xpos[camera.id]
        return camera_of_opengl(float(camera.fovy[0]), HEIGHT, WIDTH, pose, name)

    def execute(self, action: Action) -> None:
        """Carry a cube onto another one, or to a place beside; at its time the fault strikes."""
        fault = self.fault if self.actions == self.at else "none"
        self.actions += 1
        moved = action.arguments[0]
        if action.target is None:
            below = action.arguments[1]
            place = self.place(below)
            place[2] += self._half(below) + self._half(moved)
        else:
            place = np.array([*action.target[:2], self._half(moved)])
        match fault:
            case "not_taken":
                pass
            case "beside":
                place[1] += 0.04 * self._rng.choice((-1, 1))
                self._put(moved, place)
            case "pushed":
                self._put(moved, self._free_place(moved))
            case "removed":
                self._put(moved, np.array([3.0, 3.0, 0.02]))
            case _:
                self._put(moved, place)
        self.struck = "" if fault == "none" else moved
        if fault == "other_pushed":
            others = [name for name in self.names if self.place(name)[2] < 0.04 and name not in action.arguments]
            self.struck = str(self._rng.choice(others))
            self._put(self.struck, self._free_place(self.struck))

    def place(self, name: str) -> Any:
        """Where the skill finds a cube; a robot asks its own perception."""
        return np.array(self.data.body(name).xpos)

    def stands(self, plan: Plan) -> bool:
        """Whether every cube stands where the plan has it."""
        return all(
            np.hypot(*(self.place(upper) - self.place(lower))[:2]) < NEAR_M
            and self.place(upper)[2] > self.place(lower)[2]
            for upper, lower in (action.arguments for action in plan)
        )

    def _half(self, name: str) -> float:
        return float(self.model.geom(name).size[0])

    def _free_place(self, name: str) -> Any:
        others = [self.place(other)[:2] for other in self.names]
        while True:
            place = self._rng.uniform((0.34, -0.26), (0.62, 0.26))
            if all(np.hypot(*(place - other)) > APART_M for other in others):
                return np.array([*place, self._half(name)])

    def _put(self, name: str, place: Any) -> None:
        start = self.model.jnt_qposadr[self.model.body(name).jntadr[0]]
        self.data.qpos[start : start + 7] = [*place[:2], place[2] + 0.002, 1, 0, 0, 0]
        self._settle()

    def _settle(self) -> None:
        for _ in range(250):
            self._mujoco.mj_step(self.model, self.data)


def judge(number: int, config: SimulatorConfig) -> SimulatorRow:
    """Run an episode and compare what the agent said with what the simulator did."""
    rng, fault = np.random.default_rng([config.seed, number]), FAULTS[number % len(FAULTS)]
    names = [str(name) for name in rng.permutation(list(COLOURS))[: int(rng.integers(4, 6))]]
    plan = Plan(tuple(Action("top", pair) for pair in zip(names[1:3], names[:2], strict=True)))
    table = MujocoTable(_mujoco(), rng, names, fault, int(rng.integers(len(plan))))
    struck: list[str] = []

    class Watched:
        """The table, which notes what was struck at each turn."""

        observe = staticmethod(table.observe)

        @staticmethod
        def execute(action: Action) -> None:
            table.execute(action)
            struck.append(table.struck)

    try:
        episode: Episode[Any] = RecoveryAgent(system_of(config.checkpoint), Watched()).run(plan)
        reached = table.stands(plan)
    finally:
        table.close()
    return _row(fault, episode, struck, reached)


def _row(fault: str, episode: Episode[Any], struck: list[str], reached: bool) -> SimulatorRow:
    steps = [record for record in episode.records if record.action is not None]
    good = [record for record, name in zip(steps, struck, strict=False) if not name]
    bad = [(record, name) for record, name in zip(steps, struck, strict=False) if name]
    noticed = [(record.discrepancy, name) for record, name in bad if record.discrepancy.deviates]
    return SimulatorRow(
        fault,
        len(good),
        sum(record.discrepancy.deviates for record in good),
        bool(noticed),
        all(found.deviating == (name,) for found, name in noticed),
        reached,
        episode.status is EpisodeStatus.COMPLETED,
    )


def _mujoco() -> Any:
    os.environ.setdefault("MUJOCO_GL", "egl")  # renders without a screen
    try:
        return importlib.import_module("mujoco")
    except ImportError as problem:
        raise InvalidConfiguration("expected MuJoCo, found none; pip install mujoco") from problem


def _check(config: SimulatorConfig) -> None:
    check_checkpoint(config)
    _mujoco()


METRICS = (
    total("episodes", "episodes"),
    share("false_alarms", "alarms at good steps", lambda row: [k < row.alarms for k in range(row.good)], counted=True),
    share("noticed", "faults noticed", lambda row: row.noticed, lambda row: row.fault != "none", counted=True),
    share("named", "right name alone", lambda row: row.named, lambda row: row.noticed),
    share("reached", "tower stands in the end", lambda row: row.reached, lambda row: row.fault != "removed"),
    FALSE_COMPLETION,
)


def measure(config: SimulatorConfig, run: Run) -> dict[str, Any]:
    """Run all episodes."""
    rows = run.each(partial(judge, config=config), range(config.episodes), "episode")
    faults = {name: summary(found, METRICS) for name, found in grouped(rows, lambda row: row.fault).items()}
    return {"seed": config.seed, "overall": summary(rows, METRICS), "faults": faults}


def table(found: Mapping[str, Any]) -> str:
    """A line for each kind of fault, and one for all."""
    return document(
        "Towers of cubes in MuJoCo, with the shipped weights",
        columns_table(["fault"], {**found["faults"], "all": found["overall"]}, columns(METRICS)),
    )


MEASUREMENT = Measurement(SimulatorConfig, measure, table, check=_check, least={"episodes": 1}, adds=("episodes",))

if __name__ == "__main__":
    run(MEASUREMENT)
