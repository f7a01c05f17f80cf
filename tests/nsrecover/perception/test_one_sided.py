"""What no camera sees of an object is not taken for an error."""

from collections.abc import Mapping

import pytest

from nsrecover import Observation, Plan, load
from nsrecover.monitoring.comparison import Circumstances
from nsrecover.perception.cameras.visibility import one_sided
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


@pytest.fixture(scope="module")
def front() -> Observation:
    return observed(FRONT)


def test_what_is_put_beside_something_may_stand_farther_away_by_what_is_not_seen(front: Observation) -> None:
    system = load()
    perceiver = system.perceiver()
    start = perceiver.reset(front)
    assert one_sided(front)
    assert not one_sided(observed(LEFT, RIGHT))
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
