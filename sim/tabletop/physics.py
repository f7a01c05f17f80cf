"""The physics scene: a table, objects and possibly an arm in one PyBullet client, advanced step by step."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import UnknownObject, require_known
from sim.common.arm import STEP_S, Arm
from sim.common.physics import PhysicsClient
from sim.common.rotations import matrix_of
from sim.common.rounding import rounded
from sim.tabletop.objects import create_mat, create_object, create_table
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.shapes import outline_of
from sim.tabletop.truth import Truth, read_truth

Array = npt.NDArray[np.float64]

GONE_BELOW_M = -0.10
"""An object whose centre is lower has fallen off the table."""
SOLVER_ITERATIONS = 80
"""Maximum iterations of the constraint solver in a physics step; with fewer, a gripped object creeps."""
SOLVER_ITERATIONS_EMPTY = 20
"""The same while the empty gripper moves: nothing is pressed then, and it takes a fifth of the time."""
SOLVER_ITERATIONS_TOWER = 200
"""The same while there is a tall tower. With fewer, its contacts are not solved to the end, and it leans and falls."""
_PIT_M = -50.0
_SETTLE_STEPS = 200
_TALL = 4
"""A tower of this many objects is tall. With `SOLVER_ITERATIONS_EMPTY` some towers of five fall, with
`SOLVER_ITERATIONS` some of nine, with `SOLVER_ITERATIONS_TOWER` none."""
_COLUMN_M = 0.05
"""Objects farther than this from the highest one, horizontally, do not belong to its tower."""


class PhysicsScene(PhysicsClient):
    """A table with objects, and possibly a robot arm, in a physics client of its own.

    Use it as a context manager, or call `close`.

    Attributes:
        scene: what stood on the table at the start.
        client: number of the physics client.
        table: body number of the table.
        arm: the robot arm; None in a scene without one.
        log: what happened, in words, for debugging.
        step: actions executed so far.
        time_s: simulated time.
        struck_s: when the last fault struck during a motion, by the simulated time; infinite before.
        halting: whether the motion that runs is to be stopped at the next physics step.
        ticks: physics steps so far.
    """

    def __init__(self, scene: SceneSpec, with_arm: bool = True) -> None:
        """Build the scene; it is not at rest yet.

        Args:
            scene: what stands on the table.
            with_arm: whether a robot arm stands at it.

        Raises:
            InvalidConfiguration: the scene does not fit; the message names the object.
        """
        scene.check()
        super().__init__(SOLVER_ITERATIONS, solverResidualThreshold=1e-5)
        client, self.scene = self.client, scene
        self.log: list[str] = []
        self.step, self.time_s = 0, 0.0
        self.struck_s, self.halting = math.inf, False
        self.table = create_table(client, scene.table, scene.seed)
        if scene.room_counts:
            create_mat(client, scene.table)
        # objects that fell off the table are kept on this ground, out of sight
        ground = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=client)
        pybullet.createMultiBody(0.0, ground, -1, [0, 0, _PIT_M], physicsClientId=client)
        self.arm = Arm(client) if with_arm else None
        self._outlines = {item.name: outline_of(item) for item in scene.objects}
        self._bodies = {item.name: create_object(client, item, scene.seed + i) for i, item in enumerate(scene.objects)}

    def body(self, name: str) -> int:
        """Body number of an object.

        Raises:
            UnknownObject: the scene has no object of that name.
        """
        require_known(name, self._bodies, "an object of the scene", UnknownObject)
        return self._bodies[name]

    def pose(self, name: str) -> tuple[Array, Array]:
        """True centre (3,), metres, and orientation (4,), a quaternion xyzw, of an object.

        The centre is that of its own box, also where its centre of mass is elsewhere.
        """
        position, orientation = pybullet.getBasePositionAndOrientation(self.body(name), physicsClientId=self.client)
        return np.array(position) - self._from_centre(name, orientation), np.array(orientation)

    def mass_centre(self, name: str) -> Array:
        """Centre of mass (3,) of an object in its own frame, metres."""
        outline = self._outlines[name]
        return np.zeros(3) if outline is None else outline.mass_centre

    def _from_centre(self, name: str, orientation: npt.ArrayLike) -> Array:
        """From the centre of an object's box to its centre of mass, (3,), metres, in the world's axes."""
        outline = self._outlines[name]
        return np.zeros(3) if outline is None else rounded(matrix_of(orientation) @ outline.mass_centre)

    def in_hand(self, name: str) -> tuple[Array, Array]:
        """Pose of an object in the tool's frame: position (3,), metres, and rotation (3, 3). Needs an arm."""
        assert self.arm is not None, "without an arm there is no tool frame"
        (position, orientation), (tool, attitude) = self.pose(name), self.arm.tool()
        return attitude.T @ (position - tool), attitude.T @ matrix_of(orientation)

    def put(
        self, name: str, position: npt.ArrayLike, orientation: npt.ArrayLike, velocity: npt.ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """Set an object's centre (3,), its orientation (quaternion xyzw) and its velocity (3,) m/s at once."""
        middle = np.asarray(position, float) + self._from_centre(name, orientation)
        place, attitude, speed = (rounded(values).tolist() for values in (middle, orientation, velocity))
        pybullet.resetBasePositionAndOrientation(self.body(name), place, attitude, physicsClientId=self.client)
        pybullet.resetBaseVelocity(self.body(name), speed, [0.0, 0.0, 0.0], physicsClientId=self.client)

    def put_out_of_sight(self, name: str) -> None:
        """Remove an object from the table for good."""
        self.put(name, [5.0 + list(self._bodies).index(name), 0.0, _PIT_M + 0.03], [0, 0, 0, 1])

    def advance(self) -> None:
        """Run one physics step."""
        super().advance()
        self.time_s += STEP_S

    def settle(self) -> None:
        """Advance until nothing moves, or for one second."""
        if self.has_tall_tower():
            self.limit_iterations(SOLVER_ITERATIONS_TOWER)
        for step in range(_SETTLE_STEPS):
            self.advance()
            if step % 8 == 7 and self.rests(self._bodies.values(), 0.004, 0.08):
                break
        for name in self._bodies:
            position = self.pose(name)[0]
            if _PIT_M + 1.0 < position[2] < GONE_BELOW_M:
                self.note(f"the {name} fell off the table")
                self.put_out_of_sight(name)

    def limit_iterations(self, most: int) -> None:
        """Set the maximum iterations of the constraint solver; a tall tower needs `SOLVER_ITERATIONS_TOWER`."""
        iterations = SOLVER_ITERATIONS_TOWER if self.has_tall_tower() else most
        pybullet.setPhysicsEngineParameter(numSolverIterations=iterations, physicsClientId=self.client)

    def has_tall_tower(self) -> bool:
        """Whether a tower is so high that it needs more solver iterations."""
        positions = np.array([self.pose(name)[0] for name in self._bodies]).reshape(-1, 3)
        if len(positions) < _TALL:
            return False
        distances = np.linalg.norm(positions[:, :2] - positions[positions[:, 2].argmax(), :2], axis=1)
        return int((distances < _COLUMN_M).sum()) >= _TALL

    def estimates(self) -> PoseEstimates:
        """Exact poses of all objects that are on the table."""
        names = [name for name in self._bodies if self.pose(name)[0][2] > GONE_BELOW_M]
        poses = [self.pose(name) for name in names]
        return PoseEstimates(
            tuple(names),
            np.array([position for position, _ in poses]).reshape(-1, 3),
            np.array([orientation for _, orientation in poses]).reshape(-1, 4),
            np.array([self.scene[name].size for name in names]).reshape(-1, 3),
            self.scene.table,
            {name: outline.points for name, outline in self._outlines.items() if outline is not None},
            self.scene.room_counts,
        )

    def truth(self) -> Truth:
        """Poses and supports of all objects, for judging outcomes."""
        poses = [self.pose(name) for name in self._bodies]
        sizes = np.array([item.size for item in self.scene.objects]) if self.scene.room_counts else None
        return read_truth(self.client, self._bodies, poses, self.table, GONE_BELOW_M, sizes)

    def note(self, text: str) -> None:
        """Add a line to the log."""
        self.log.append(f"step {self.step}: {text}")
