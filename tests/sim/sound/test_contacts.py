"""Contacts in PyBullet: impulses of drops, silence at rest, sliding and rolling."""

import pybullet
import pytest

from sim.sound.bodies import Body, Material, Shape
from sim.sound.contacts import ContactRecorder
from sim.sound.events import SoundKind

STEP_S = 1 / 240
SIDE_M, MASS_KG = 0.04, 0.1
TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.2, 1.2, 0.03), thickness_m=0.03)
CUBE = Body("cube", Material.METAL, Shape.SOLID, (SIDE_M,) * 3, MASS_KG)


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=number)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=STEP_S, numSolverIterations=80, deterministicOverlappingPairs=1, physicsClientId=number
    )
    yield number
    pybullet.disconnect(physicsClientId=number)


class _Scene:
    def __init__(self, client):
        self.client, self.time_s = client, 0.0
        ground = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[1, 1, 0.05], physicsClientId=client)
        self.ground = pybullet.createMultiBody(0.0, ground, -1, [0, 0, -0.05], physicsClientId=client)
        self.bodies = {self.ground: TABLE}
        self.recorder = None

    def cube(self, height_m, body=CUBE, at=(0.0, 0.0), shape=None):
        if shape is None:
            shape = pybullet.createCollisionShape(
                pybullet.GEOM_BOX, halfExtents=[SIDE_M / 2] * 3, physicsClientId=self.client
            )
        place = [*at, SIDE_M / 2 + height_m]
        number = pybullet.createMultiBody(body.mass_kg, shape, -1, place, physicsClientId=self.client)
        pybullet.changeDynamics(number, -1, restitution=0.0, lateralFriction=0.5, physicsClientId=self.client)
        self.bodies[number] = body
        return number

    def run(self, seconds):
        if self.recorder is None:
            self.recorder = ContactRecorder(self.client, self.bodies, STEP_S)
        for _ in range(round(seconds / STEP_S)):
            pybullet.stepSimulation(physicsClientId=self.client)
            self.time_s += STEP_S
            self.recorder.step(self.time_s)
        return self.recorder.take(self.time_s)


def test_a_link_that_is_driven_into_a_cube_is_heard(client):
    """The whole body of the arm is listed, not the link."""
    scene = _Scene(client)
    scene.cube(0.0)
    shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.02] * 3, physicsClientId=client)
    arm = pybullet.createMultiBody(
        0.0, -1, -1, [-0.15, 0, 0.03], linkMasses=[1.0], linkCollisionShapeIndices=[shape],
        linkVisualShapeIndices=[-1], linkPositions=[[0, 0, 0]], linkOrientations=[[0, 0, 0, 1]],
        linkInertialFramePositions=[[0, 0, 0]], linkInertialFrameOrientations=[[0, 0, 0, 1]], linkParentIndices=[0],
        linkJointTypes=[pybullet.JOINT_PRISMATIC], linkJointAxis=[[1, 0, 0]], physicsClientId=client,
    )  # fmt: skip
    scene.bodies[arm] = Body("arm", Material.PLASTIC, Shape.SOLID, (0.04,) * 3, 1.0)
    pybullet.setJointMotorControl2(
        arm, 0, pybullet.VELOCITY_CONTROL, targetVelocity=0.5, force=100.0, physicsClientId=client
    )
    impacts = [event for event in scene.run(0.5) if event.kind is SoundKind.IMPACT]
    assert {body.name for body in impacts[0].bodies} == {"arm", "cube"}
    # the faces are 11 cm apart
    assert impacts[0].start_s == pytest.approx(0.11 / 0.5, abs=0.02)
    assert impacts[0].strength == pytest.approx(MASS_KG * 0.5, rel=0.3)


def test_a_tower_at_rest_is_silent(client):
    scene = _Scene(client)
    for level in range(5):
        scene.cube(level * SIDE_M)
    scene.run(0.5)
    assert scene.run(3.0) == []


def test_a_steady_push_is_no_impact(client):
    """As fingers that close on an object, the force rises to many times the weight, but brings no change of speed."""
    scene = _Scene(client)
    cube = scene.cube(0.0)
    scene.run(0.5)
    for _ in range(100):
        pybullet.applyExternalForce(cube, -1, [0, 0, -20.0], [0, 0, 0], pybullet.LINK_FRAME, physicsClientId=client)
        pybullet.stepSimulation(physicsClientId=client)
        scene.time_s += STEP_S
        scene.recorder.step(scene.time_s)
    assert scene.recorder.take(scene.time_s) == []


def test_a_pushed_cube_slides_and_a_ball_rolls(client):
    scene = _Scene(client)
    cube = scene.cube(0.0)
    round_ = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=SIDE_M / 2, physicsClientId=client)
    apple = Body("apple", Material.FOOD, Shape.SOLID, (SIDE_M,) * 3, MASS_KG)
    ball = scene.cube(0.0, apple, (0.0, 0.3), round_)
    scene.run(0.2)
    pybullet.resetBaseVelocity(cube, [1.0, 0, 0], [0, 0, 0], physicsClientId=client)
    pybullet.resetBaseVelocity(ball, [0.4, 0, 0], [0, 0.4 / (SIDE_M / 2), 0], physicsClientId=client)
    begin = scene.time_s
    events = scene.run(0.6)
    (slide,) = [event for event in events if event.kind is SoundKind.SLIDE]
    rolls = [event for event in events if event.kind is SoundKind.ROLL]
    assert slide.bodies[0].name == "cube"
    # it stops after v / (mu g); friction of the ground is 0.5, too, and they multiply
    assert slide.start_s == pytest.approx(begin, abs=0.03)
    assert slide.duration_s == pytest.approx(1.0 / (0.25 * 9.81), abs=0.06)
    assert {event.bodies[0].name for event in rolls} == {"apple"}
    assert max(event.duration_s for event in rolls) > 0.3
    assert slide.strength == pytest.approx(MASS_KG * 9.81 * 0.5, rel=0.65)  # half the speed on average
