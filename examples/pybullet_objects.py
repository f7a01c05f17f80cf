"""PyBullet: objects that come with the simulator, seen by two rendered cameras and monitored with the shipped weights.

    pip install 'nsrecover[learned]'
    pip install pybullet
    python pybullet_objects.py

A scripted skill carries a toy brick and a wooden block; the physics is PyBullet's. The brick is pushed off during the
last action; the agent detects it from the images, explains it, and brings the tower about.
"""

from __future__ import annotations

import numpy as np
import pybullet
import pybullet_data

import nsrecover
from nsrecover import Action, Observation, Plan
from nsrecover.perception.cameras.opengl import camera_of_opengl

HEIGHT, WIDTH, FOVY_DEG, NEAR_M, FAR_M = 240, 320, 45.0, 0.05, 3.0
OBJECTS = {
    "cube": ("cube_small.urdf", (0.5, 0.0), 1.0),
    "brick": ("lego/lego.urdf", (0.45, 0.15), 1.5),
    "block": ("jenga/jenga.urdf", (0.48, -0.16), 1.0),
}
"""Name -> file of pybullet_data, place on the table in metres, and scale."""
EYES = {"left": (0.5, 0.75, 0.7), "right": (0.5, -0.75, 0.7)}


class Simulated:
    """The world of the agent: what it sees, and what it can do."""

    def __init__(self, pushed_after: int) -> None:
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setAdditionalSearchPath(pybullet_data.getDataPath())
        pybullet.setGravity(0, 0, -9.81)
        half = [0.6, 0.6, 0.02]
        shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half)
        look = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=half, rgbaColor=(0.75, 0.7, 0.6, 1))
        pybullet.createMultiBody(0, shape, look, (0.5, 0, -0.02))  # its top is at z = 0
        self.bodies = {
            name: pybullet.loadURDF(file, (*place, 0.1), globalScaling=scale)
            for name, (file, place, scale) in OBJECTS.items()
        }
        self.time_s, self.actions, self.pushed_after = 0.0, 0, pushed_after
        self.settle()

    def observe(self) -> Observation:
        """Colour, depth and masks of both cameras; time passes from one look to the next."""
        self.time_s += 0.02
        numbers = np.zeros(max(self.bodies.values()) + 1, np.int32)
        numbers[list(self.bodies.values())] = range(1, len(self.bodies) + 1)
        projection = pybullet.computeProjectionMatrixFOV(FOVY_DEG, WIDTH / HEIGHT, NEAR_M, FAR_M)
        views = []
        for name, eye in EYES.items():
            view = pybullet.computeViewMatrix(eye, (0.48, 0, 0), (0, 0, 1))
            _, _, rgba, buffer, ids = pybullet.getCameraImage(WIDTH, HEIGHT, view, projection, shadow=0)
            depth = FAR_M * NEAR_M / (FAR_M - (FAR_M - NEAR_M) * np.reshape(buffer, (HEIGHT, WIDTH)))
            ids = np.reshape(ids, (HEIGHT, WIDTH))
            pose = np.linalg.inv(np.reshape(view, (4, 4)).T)  # the columns of OpenGL's matrices come first
            camera = camera_of_opengl(FOVY_DEG, HEIGHT, WIDTH, pose, name)
            rgb = np.reshape(rgba, (HEIGHT, WIDTH, 4))[..., :3].astype(np.uint8)
            views.append((rgb, depth.astype(np.float32), np.where(ids > 0, numbers[np.maximum(ids, 0)], 0), camera))
        rgb, depth_m, instances, cameras = zip(*views, strict=True)
        labels = dict(enumerate(self.bodies, start=1))
        return Observation(np.stack(rgb), np.stack(depth_m), np.stack(instances), cameras, labels, time_s=self.time_s)

    def execute(self, action: Action) -> None:
        """Carry an object to where the action has it: on another one, or to a target."""
        moved = action.arguments[0]
        (x, y, _), _ = pybullet.getBasePositionAndOrientation(self.bodies[moved])
        if action.target is not None:
            self.put(moved, action.target[0], action.target[1], action.target[2] - action.target[5] / 2)
        else:
            low, high = map(np.array, pybullet.getAABB(self.bodies[action.arguments[1]]))
            x, y = (low + high)[:2] / 2
            self.put(moved, x, y, high[2])
        self.actions += 1
        if self.actions == self.pushed_after:
            self.put("brick", 0.62, 0.2, 0.0)

    def put(self, name: str, x: float, y: float, z: float) -> None:
        """Release an object with its middle above a point and its lower end at a height, and wait."""
        body = self.bodies[name]
        place, turn = pybullet.getBasePositionAndOrientation(body)
        low, high = map(np.array, pybullet.getAABB(body))
        shift = np.array([x, y, z + 0.002]) - [*(low + high)[:2] / 2, low[2]]
        pybullet.resetBasePositionAndOrientation(body, np.array(place) + shift, turn)
        self.settle()

    def settle(self) -> None:
        """A second of physics."""
        for _ in range(240):
            pybullet.stepSimulation()
        self.time_s += 1.0


def main() -> None:
    """Put the brick on the cube, and the block on the brick."""
    agent = nsrecover.RecoveryAgent(nsrecover.load(), Simulated(pushed_after=2))
    episode = agent.run(Plan.parse("top(brick, cube); top(block, brick)"))
    for record in episode.records:
        if record.explanation is not None:
            print(record.explanation.text)
    print(f"{episode.status.value}, {sum(record.discrepancy.deviates for record in episode.records)} error")


if __name__ == "__main__":
    main()
