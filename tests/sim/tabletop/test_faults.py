"""Every fault really changes what it claims to change, only that, only then, and always in the same way."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pybullet
import pytest

from nsrecover.core import Cause
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration
from sim.common.arm import FINGER_FRICTION, GRIP_FORCE_N
from sim.common.rotations import matrix_of, rotation_vector
from sim.tabletop.faults import (
    FAULTS,
    BlockedPlace,
    Fault,
    Moment,
    fault_from_dict,
)
from sim.tabletop.placing import true_graph
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import SavedWorld, TabletopWorld
from tests.sim.samplers import check_sampler

MOMENTS = (
    (Structure.ROW, 1, 3),
    (Structure.MIXED, 2, 1),
    (Structure.TOWER, 3, 2),
    (Structure.TOWER, 4, 2),
    (Structure.TOWER, 5, 3),
)
"""Structure, seed and step."""
ENOUGH = 3
"""Moments that every fault is tried at."""
NEAR_M = 0.15
"""What comes nearer than this to something that a fault acts on may have been hit by it."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A world that is about to carry out an action, and what comes of it if nothing goes wrong."""

    world: TabletopWorld
    saved: SavedWorld
    moment: Moment
    twin: Truth

    def run(self, *faults: Fault) -> Truth:
        """What comes of the action with faults."""
        self.world.restore(self.saved)
        self.world.faults = faults
        self.world.execute(self.moment.action)
        return self.world.truth()


@pytest.fixture(scope="module")
def branches() -> Iterator[list[Branch]]:
    made = []
    for structure, seed, step in MOMENTS:
        rng = np.random.default_rng(seed)
        scene = sample_scene(rng, 6, seed=seed)
        plan = sample_plan(rng, scene, structure, 5)
        world = TabletopWorld(scene, plan=plan)
        for action in plan.actions[:step]:
            world.execute(action)
        saved, before = world.save(), world.estimates()
        world.execute(plan[step])
        made.append(Branch(world, saved, Moment(step, plan, before, world.estimates()), world.truth()))
    yield made
    for branch in made:
        branch.world.close()


def _sampled(name: str, branches: list[Branch]) -> list[tuple[Branch, Fault]]:
    """A fault of a kind for each of the first moments that it fits."""
    pairs = [(branch, FAULTS[name].sample(branch.moment, np.random.default_rng(7))) for branch in branches]
    found = [(branch, fault) for branch, fault in pairs if fault is not None][:ENOUGH]
    assert len(found) == ENOUGH, f"{name} fits too few moments"
    return found


def _turned(truth: Truth, twin: Truth, name: str) -> float:
    """Angle between two orientations of an object, radians."""
    first, second = (matrix_of(state.orientations[state.index(name)]) for state in (truth, twin))
    return float(np.linalg.norm(rotation_vector(first.T @ second)))


def _distance_to_way(point: np.ndarray, corners: list[np.ndarray]) -> float:
    """Horizontal distance of a point from a way along corners."""
    points = [a + share * (b - a) for a, b in pairwise(corners) for share in np.linspace(0, 1, 20)]
    return min(float(np.linalg.norm((point - other)[:2])) for other in points)


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_really_does_what_it_claims_and_only_that(name, branches):
    for branch, fault in _sampled(name, branches):
        action, moment, twin = branch.moment.action, branch.moment, branch.twin
        truth = branch.run(fault)
        touched = fault.touched(action)
        wrong = deviations(truth, twin)
        assert touched
        assert touched <= set(moment.before.names)
        if name in ("wrong_yaw", "turned"):  # errors only where room counts
            assert all(_turned(truth, twin, item) > math.radians(20.0) for item in touched)
        else:
            assert touched & set(wrong), f"{fault} changed nothing: {wrong}"
        assert all(isinstance(fault.cause_of(item, action), Cause) for item in touched)
        gone = {item for item, here in zip(truth.names, truth.present, strict=True) if not here}
        assert gone == (touched if name == "removed" else set())
        # whatever else is elsewhere was near enough to be hit
        ways = {
            item: [moment.before.positions[moment.before.index(item)], twin.position(item), truth.position(item)]
            for item in touched - gone
        }
        for item in set(truth.names) - touched:
            off = float(np.linalg.norm(truth.position(item) - twin.position(item)))
            reached = min((_distance_to_way(twin.position(item), way) for way in ways.values()), default=math.inf)
            assert off < 0.003 or reached < NEAR_M, f"{fault} moved the {item} by {off} m"


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_strikes_at_its_step_repeats_itself_and_leaves_no_trace(name, branches):
    branch, fault = _sampled(name, branches)[0]
    read = fault_from_dict(json.loads(json.dumps(fault.to_dict())))
    assert read == fault
    first = branch.run(fault)
    arm, client = branch.world.arm, branch.world.client
    constraints = pybullet.getNumConstraints(physicsClientId=client)
    np.testing.assert_array_equal(branch.run(read).positions, first.positions)
    assert pybullet.getNumConstraints(physicsClientId=client) == constraints
    assert arm.grip_force_n == GRIP_FORCE_N
    assert pybullet.getDynamicsInfo(arm.body, 9, physicsClientId=client)[1] == FINGER_FRICTION
    for other in (branch.moment.step - 1, branch.moment.step + 1):
        np.testing.assert_array_equal(branch.run(replace(fault, at_step=other)).positions, branch.twin.positions)


@pytest.mark.parametrize("name", list(FAULTS))
def test_samplers_follow_the_generator_and_leave_alone_what_is_taken(name, branches):
    for moment in (branch.moment for branch in branches):
        check_sampler(FAULTS[name], moment, 4, (moment.step,), frozenset(moment.before.names))


def test_a_blocked_place_bars_a_later_action(branches):
    for branch, fault in _sampled("blocked_place", branches):
        branch.run(fault)
        graph = true_graph(branch.world.estimates())
        later = branch.moment.plan.actions[branch.moment.step + 1 :]
        assert isinstance(fault, BlockedPlace)
        reasons = [reason for action in later for reason in operator_of(action).violated(graph, action)]
        assert any(fault.name in str(reason) for reason in reasons), (later, fault, reasons)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"fault": "slipp", "at_step": 1}, "Did you mean 'slip'"),
        ({"fault": "slip", "at_step": 1, "progres": 0.5}, "Did you mean 'progress'"),
        ({"fault": "slip", "at_step": 1, "progress": "half"}, "'progress' of the fault 'slip' as float"),
        (
            {"fault": "helping_person", "at_step": 1, "actions": [{"action": "top(a, b)", "target": [1, 2]}]},
            "6 numbers in 'actions'",
        ),
    ],
)
def test_wrong_files_are_refused_by_name(data, message):
    with pytest.raises(InvalidConfiguration, match=message.replace("(", r"\(")):
        fault_from_dict(data)
