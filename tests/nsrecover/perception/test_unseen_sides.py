"""The half of an object that no camera sees is completed, and how far the rest hides is not taken for an error."""

from collections.abc import Mapping

import numpy as np
import pytest

from nsrecover import load
from nsrecover.core import FloatArray, Observation, Plan
from nsrecover.monitoring.comparison import Circumstances
from nsrecover.perception.lifting import box_around, view_points
from nsrecover.perception.objects.unseen_sides import one_sided, with_unseen_sides
from sim.common.cameras import FRONT, LEFT, RIGHT, CameraRig, View
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

SCENE = SceneSpec(
    (
        ObjectSpec("green bottle", ObjectKind.BOTTLE, "green", (0.06, 0.06, 0.12), (0.5, 0.0), 0.2),
        ObjectSpec("white cube", ObjectKind.CUBE, "white", (0.05, 0.05, 0.05), (0.6, -0.2), 0.0),
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.04, 0.04, 0.04), (0.5, 0.2), 0.0),
    )
)


def observed(*views: View) -> Observation:
    with TabletopWorld(SCENE, rig=CameraRig(views), fidelity=Fidelity.KINEMATIC) as world:
        return world.observe()


def points_of(observation: Observation, name: str) -> FloatArray:
    number = next(number for number, label in observation.labels.items() if label == name)
    parts = [view_points(observation, view) for view in range(len(observation.cameras))]
    return np.concatenate([points[owners == number] for points, owners in parts])


@pytest.fixture(scope="module")
def front() -> Observation:
    return observed(FRONT)


def test_a_bottle_is_as_deep_as_wide(front: Observation) -> None:
    seen = points_of(front, "green bottle")
    (completed,) = with_unseen_sides(front, [seen])
    assert box_around(seen)[3] < 0.048
    assert box_around(completed) == pytest.approx([0.5, 0.0, 0.06, 0.06, 0.06, 0.12], abs=0.006)


def test_a_cube_stays_as_deep_as_its_top(front: Observation) -> None:
    seen = points_of(front, "white cube")
    (completed,) = with_unseen_sides(front, [seen])
    assert box_around(completed) == pytest.approx(box_around(seen), abs=0.004)


def test_nothing_is_added_where_a_camera_sees_through(front: Observation) -> None:
    near = points_of(front, "green bottle")
    near = near[near[:, 0] > np.median(near[:, 0])]  # as if the object ended in its middle
    lifted = near + np.array([0.0, 0.0, 0.15], np.float32)  # high up the camera sees the table behind it
    (completed,) = with_unseen_sides(front, [lifted])
    assert len(completed) == len(lifted)


def test_opposite_cameras_leave_nothing_to_complete() -> None:
    both = observed(LEFT, RIGHT)
    seen = points_of(both, "green bottle")
    assert not one_sided(both)
    assert with_unseen_sides(both, [seen])[0] is seen


def test_what_is_put_beside_something_may_stand_farther_away_by_what_is_not_seen(front: Observation) -> None:
    system = load()
    perceiver = system.perceiver()
    start = perceiver.reset(front)
    assert one_sided(front)
    uncertain = perceiver.reported.uncertain_m
    assert 0.008 < uncertain["white cube"] < 0.02
    trace = system.imagination.trace(start, Plan.parse("left(red cube, white cube)"))
    moved = start.index("red cube")

    def blamed(offset_m: float, uncertain: Mapping[str, float]) -> bool:
        box = trace.graphs[1].boxes[moved].copy()
        box[1] += offset_m
        known = Circumstances(uncertain_m=uncertain)
        found = system.comparison.after(trace.graphs[1].with_node(moved, box), trace, 0, known)
        assert all(each.uncertain_m == uncertain.get(each.name, 0.0) for each in found.deviations)
        return found.deviates

    assert blamed(0.027, {})
    assert not blamed(0.027, uncertain)
    assert blamed(0.040, uncertain)
    assert blamed(-0.027, uncertain), "nearer than expected is never explained by what is hidden"
