"""MuJoCo: cubes in a scene of your own, seen by two rendered cameras and monitored with the shipped weights.

    pip install 'nsrecover[learned]'
    pip install mujoco
    python mujoco_stacking.py

A scripted skill carries the cubes, the physics is MuJoCo's. A cube is pushed away during the last action; the agent
detects it from the images, explains it, and brings the tower about.
"""

from __future__ import annotations

import os

os.environ.setdefault("MUJOCO_GL", "egl")  # renders without a screen
import mujoco
import numpy as np

import nsrecover
from nsrecover import Action, Observation, Plan
from nsrecover.perception.cameras.opengl import camera_of_opengl

HEIGHT, WIDTH, SIDE = 240, 320, 0.05
CUBES = {"red": (0.45, 0.12, "0.8 0.1 0.1"), "green": (0.5, 0.0, "0.1 0.6 0.2"), "blue": (0.48, -0.15, "0.1 0.2 0.8")}
"""Name -> place on the table in metres, and colour; the robot's base is the origin, the table's top is at z = 0."""

SCENE = f"""<mujoco><visual><global offheight="{HEIGHT}" offwidth="{WIDTH}"/></visual><worldbody>
  <light pos="0.5 0 2"/> <light pos="0 1 1.5" dir="0.4 -0.7 -1"/>
  <geom name="table" type="box" pos="0.5 0 -0.02" size="0.6 0.6 0.02" rgba="0.75 0.7 0.6 1"/>
  <body name="aim" pos="0.48 0 0"/>
  <camera name="left" pos="0.5 0.75 0.7" mode="targetbody" target="aim" fovy="45"/>
  <camera name="right" pos="0.5 -0.75 0.7" mode="targetbody" target="aim" fovy="45"/>
  {
    "".join(
        f'<body name="{name}" pos="{x} {y} {SIDE / 2}"><freejoint/><geom name="{name}" type="box" rgba="{rgb} 1" '
        f'size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="0.1"/></body>'
        for name, (x, y, rgb) in CUBES.items()
    )
}
</worldbody></mujoco>"""


class Simulated:
    """The world of the agent: what it sees, and what it can do."""

    def __init__(self, pushed_after: int) -> None:
        self.model = mujoco.MjModel.from_xml_string(SCENE)
        self.data = mujoco.MjData(self.model)
        self.renderer = mujoco.Renderer(self.model, HEIGHT, WIDTH)
        self.actions, self.pushed_after = 0, pushed_after
        self.settle()

    def observe(self) -> Observation:
        """Colour, depth and masks of both cameras; time passes from one look to the next."""
        mujoco.mj_step(self.model, self.data, 10)
        numbers = np.zeros(self.model.ngeom, np.int32)
        for number, name in enumerate(CUBES, start=1):
            numbers[self.model.geom(name).id] = number
        views = []
        for name in ("left", "right"):
            self.renderer.update_scene(self.data, name)
            rgb = self.renderer.render().copy()
            self.renderer.enable_depth_rendering()
            depth_m = self.renderer.render().copy()
            self.renderer.disable_depth_rendering()
            self.renderer.enable_segmentation_rendering()
            ids, kinds = np.moveaxis(self.renderer.render(), -1, 0)
            self.renderer.disable_segmentation_rendering()
            shown = kinds == mujoco.mjtObj.mjOBJ_GEOM
            views.append((rgb, depth_m, np.where(shown, numbers[np.where(shown, ids, 0)], 0), self.camera(name)))
        rgb, depth_m, instances, cameras = zip(*views, strict=True)
        labels = dict(enumerate(CUBES, start=1))
        return Observation(
            np.stack(rgb), np.stack(depth_m), np.stack(instances), cameras, labels, time_s=self.data.time
        )

    def camera(self, name: str) -> nsrecover.Camera:
        """A camera with its pose."""
        pose, camera = np.eye(4), self.model.camera(name)
        pose[:3, :3] = self.data.cam_xmat[camera.id].reshape(3, 3)
        pose[:3, 3] = self.data.cam_xpos[camera.id]
        return camera_of_opengl(float(camera.fovy[0]), HEIGHT, WIDTH, pose, name)

    def execute(self, action: Action) -> None:
        """Carry a cube to where the action has it: `top` with two cubes, or a target beside."""
        moved = action.arguments[0]
        place = np.array(action.target[:3]) if action.target is not None else self.place(action.arguments[1])
        place[2] = SIDE / 2 + 0.002 if action.target is not None and action.operator != "top" else place[2] + SIDE
        self.put(moved, place + np.array([0, 0, 0.002]))
        self.actions += 1
        if self.actions == self.pushed_after:
            self.put(moved, np.array([0.6, 0.25, SIDE / 2]))

    def place(self, name: str) -> np.ndarray:
        """Where the skill finds a cube; a robot asks its own perception."""
        return np.array(self.data.body(name).xpos)

    def put(self, name: str, place: np.ndarray) -> None:
        """Release a cube at a place, and wait."""
        start = self.model.jnt_qposadr[self.model.body(name).jntadr[0]]
        self.data.qpos[start : start + 7] = [*place, 1, 0, 0, 0]
        self.settle()

    def settle(self) -> None:
        """Half a second of physics."""
        for _ in range(250):
            mujoco.mj_step(self.model, self.data)


def main() -> None:
    """Build a tower of three."""
    agent = nsrecover.RecoveryAgent(nsrecover.load(), Simulated(pushed_after=2))
    episode = agent.run(Plan.parse("top(green, red); top(blue, green)"))
    for record in episode.records:
        if record.explanation is not None:
            print(record.explanation.text)
    print(f"{episode.status.value}, {sum(record.discrepancy.deviates for record in episode.records)} error")


if __name__ == "__main__":
    main()
