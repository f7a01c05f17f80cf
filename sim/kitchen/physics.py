"""The physics scene of a kitchen: floor, furniture and things in one PyBullet client, advanced step by step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import UnknownObject, did_you_mean
from sim.common.arm import STEP_S
from sim.common.memory import give_back
from sim.common.physics import PhysicsClient
from sim.common.rotations import matrix_of, quaternion_of
from sim.common.rounding import rounded
from sim.kitchen.assemblies import assembly_of
from sim.kitchen.fixtures import Fixture
from sim.kitchen.scenes import KitchenSpec, ThingSpec
from sim.kitchen.shapes import Assembly, Link, box, create_body, hold_joint
from sim.kitchen.things import Form, Material

Array = npt.NDArray[np.float64]

SOLVER_ITERATIONS = 80
"""Maximum iterations of the constraint solver in a physics step; with fewer, a gripped object creeps."""
_SETTLE_STEPS = 300
_ROLLING = {Form.BODY: 2e-3, Form.BOTTLE: 5e-4, Form.SLICE: 2e-3}
_FRICTION = {Material.METAL: 0.6, Material.CERAMIC: 0.6, Material.GLASS: 0.5, Material.FOOD: 0.8, Material.SHELL: 0.8,
             Material.PLASTIC: 0.6}  # fmt: skip
_FLOOR_M = 8.0


class KitchenPhysics(PhysicsClient):
    """Furniture and things in a physics client of their own.

    Use it as a context manager, or call `close`.

    Attributes:
        spec: what the kitchen was at the start.
        client: number of the physics client.
        fixtures: by name.
        things: by name.
        ticks: physics steps so far.
        log: what happened, in words, for debugging.
    """

    def __init__(self, spec: KitchenSpec) -> None:
        """Build the scene; it is not at rest yet."""
        self.spec = spec
        super().__init__(SOLVER_ITERATIONS, solverResidualThreshold=1e-5)
        client = self.client
        self.log: list[str] = []
        floor = Link((box((_FLOOR_M, _FLOOR_M, 0.1), (0.0, 0.0, -0.05), spec.finish.floor),), 0.0)
        self.floor = create_body(client, Assembly(floor), (0.0, 0.0, 0.0), fixed=True)
        self.fixtures = {fixture.name: fixture for fixture in spec.fixtures}
        self.things = {thing.name: thing for thing in spec.things}
        self._bodies = {
            fixture.name: create_body(client, fixture.assembly, fixture.position, fixture.yaw, fixed=True)
            for fixture in spec.fixtures
        }
        for body in (self.floor, *self._bodies.values()):
            for link in range(-1, pybullet.getNumJoints(body, physicsClientId=client)):
                pybullet.changeDynamics(body, link, lateralFriction=0.8, restitution=0.0, physicsClientId=client)
        for thing in spec.things:
            self._bodies[thing.name] = self._create(thing)

    @property
    def time_s(self) -> float:
        """Simulated time."""
        return self.ticks * STEP_S

    def body(self, name: str) -> int:
        """Body number of a fixture or thing.

        Raises:
            UnknownObject: the kitchen has nothing of that name.
        """
        if name not in self._bodies:
            raise UnknownObject(f"expected something in the kitchen, found {name!r}.{did_you_mean(name, self._bodies)}")
        return self._bodies[name]

    def bodies(self) -> dict[str, int]:
        """Name -> body number of everything in the kitchen."""
        return dict(self._bodies)

    def pose(self, name: str) -> tuple[Array, Array]:
        """True centre (3,), metres, and rotation (3, 3) of a thing; the frame of a fixture."""
        position, orientation = pybullet.getBasePositionAndOrientation(self.body(name), physicsClientId=self.client)
        return np.array(position), matrix_of(orientation)

    def bottom(self, name: str) -> Array:
        """The middle of the bottom of an upright thing, (3,), metres."""
        position, _ = self.pose(name)
        return position - [0.0, 0.0, self.things[name].kind.height_m / 2]

    def speed(self, name: str) -> float:
        """Speed of a thing, m/s."""
        linear, _ = pybullet.getBaseVelocity(self.body(name), physicsClientId=self.client)
        return float(np.linalg.norm(linear))

    def joint(self, name: str, number: int) -> float:
        """Position of a joint of a fixture, radians or metres."""
        return float(pybullet.getJointState(self.body(name), number, physicsClientId=self.client)[0])

    def set_joint(self, name: str, number: int, position: float) -> None:
        """Put a joint of a fixture at a position at once; for scenes that start with an open door or a running tap."""
        pybullet.resetJointState(self.body(name), number, position, physicsClientId=self.client)

    def drive_joint(self, name: str, number: int, position: float) -> None:
        """Let the spring of a joint of a fixture pull to a position from now on."""
        joint = self.fixtures[name].assembly.joints[number]
        hold_joint(self.client, self.body(name), number, joint, position)

    def put(self, name: str, position: npt.ArrayLike, yaw: float = 0.0) -> None:
        """Set the centre (3,) of a thing and its yaw at once, at rest and upright; for setting up a scene."""
        pybullet.resetBasePositionAndOrientation(
            self.body(name),
            rounded(position).tolist(),
            pybullet.getQuaternionFromEuler([0.0, 0.0, yaw]),
            physicsClientId=self.client,
        )
        pybullet.resetBaseVelocity(self.body(name), [0.0] * 3, [0.0] * 3, physicsClientId=self.client)

    def grip_of(self, fixture: Fixture, joint: int, point: npt.ArrayLike) -> tuple[Array, Array]:
        """World position (3,) of a point of a moving link, and the rotation (3, 3) of the link."""
        return self.link_point(fixture.name, joint, point)

    def link_point(self, name: str, joint: int, point: npt.ArrayLike) -> tuple[Array, Array]:
        """World position (3,) of a point of a moving link of anything, and the rotation (3, 3) of the link."""
        state = pybullet.getLinkState(self.body(name), joint, computeForwardKinematics=1, physicsClientId=self.client)
        rotation = matrix_of(state[5])
        return np.array(state[4]) + rotation @ np.asarray(point, float), rotation

    def touching(self, name: str) -> set[str]:
        """Names of what touches a thing; `floor` and `robot` are not among them."""
        body = self.body(name)
        numbers = {number: other for other, number in self._bodies.items()}
        found = set()
        for number in {point[2] for point in pybullet.getContactPoints(bodyA=body, physicsClientId=self.client)}:
            if number in numbers:
                found.add(numbers[number])
        return found

    def bring(self, thing: ThingSpec, position: npt.ArrayLike, rotation: Array) -> None:
        """Create a thing with its centre (3,) at a position, with a rotation (3, 3)."""
        self._bodies[thing.name] = body = self._create(thing)
        self.things[thing.name] = thing
        pybullet.resetBasePositionAndOrientation(
            body, rounded(position).tolist(), rounded(quaternion_of(rotation)).tolist(), physicsClientId=self.client
        )

    def take_away(self, name: str) -> None:
        """Remove a thing for good."""
        pybullet.removeBody(self.body(name), physicsClientId=self.client)
        del self._bodies[name], self.things[name]

    def let_pass(self, first: str, second: str, passing: bool) -> None:
        """Whether two things pass through each other, as a blade through food."""
        for one in range(-1, pybullet.getNumJoints(self.body(first), physicsClientId=self.client)):
            pybullet.setCollisionFilterPair(
                self.body(first), self.body(second), one, -1, int(not passing), physicsClientId=self.client
            )

    def settle(self, steps: int = _SETTLE_STEPS) -> None:
        """Advance until nothing moves, or for a number of steps."""
        for step in range(steps):
            self.advance()
            if step % 10 == 9 and self.rests((self._bodies[name] for name in self.things), 0.005, 0.1):
                return

    def note(self, text: str) -> None:
        """Add a line to the log."""
        self.log.append(f"{self.time_s:.2f} s: {text}")

    def close(self) -> None:
        """End the physics client. A second call does nothing."""
        super().close()
        give_back()

    def _create(self, thing: ThingSpec) -> int:
        x, y, z = thing.position
        middle = (x, y, z + thing.kind.height_m / 2 + 0.001)
        body = create_body(self.client, assembly_of(thing.kind, thing.colour), middle, thing.yaw)
        pybullet.changeDynamics(
            body,
            -1,
            lateralFriction=_FRICTION.get(thing.kind.material, 0.8),
            rollingFriction=_ROLLING.get(thing.kind.form, 0.0),
            spinningFriction=1e-3,
            restitution=0.0,
            linearDamping=0.04,
            angularDamping=0.04,
            physicsClientId=self.client,
        )
        return body
