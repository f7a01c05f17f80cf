"""Dataset VI: tables on which nothing more fits, and errors that the centres of objects do not show."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core.actions import Action
from sim.datasets import DATASETS, ErrorEpisode, generate
from sim.datasets.crowded import CROWDED, full_table
from sim.datasets.verify import differences
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec, TableSpec, footprint_gap, footprint_gaps
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld

TABLE = TableSpec(x_m=(0.42, 0.60), y_m=(-0.1, 0.1))


def _brick(name: str, x: float, y: float, yaw: float = 0.0) -> ObjectSpec:
    return ObjectSpec(f"{name} lego", ObjectKind.LEGO, name, (0.064, 0.032, 0.032), (x, y), yaw)


BRICKS = SceneSpec(
    (_brick("red", 0.45, -0.05), _brick("blue", 0.55, -0.05), _brick("green", 0.5, 0.06)), table=TABLE, room_counts=True
)


@pytest.fixture(scope="module")
def episode() -> ErrorEpisode:
    return generate(DATASETS["VI"], 78, 12).episode


@pytest.mark.parametrize("count", [8, 15])
def test_no_further_object_fits_on_a_full_table(count: int) -> None:
    scene = full_table(np.random.default_rng(count), count)
    scene.check()
    assert len(scene.objects) == count
    pairs = [(a, b) for i, a in enumerate(scene.objects) for b in scene.objects[:i]]
    assert min(footprint_gap(a, b) for a, b in pairs) >= CROWDED.gap_m
    assert len({round(item.yaw % 1.57, 1) for item in scene.objects}) > 4, "objects stand at any yaw"
    corners = np.array([item.corners() for item in scene.objects])
    yaws = np.array([item.yaw for item in scene.objects])
    rng, fitting = np.random.default_rng(0), 0
    for _ in range(300):
        place = (float(rng.uniform(*scene.table.x_m)), float(rng.uniform(*scene.table.y_m)))
        item = ObjectSpec("more", ObjectKind.CUBE, "red", (0.042,) * 3, place, float(rng.uniform(0, 3)))
        fitting += bool(np.all(footprint_gaps(item, corners, yaws) >= CROWDED.gap_m))
    assert fitting <= 6, "at most 2 % of random places are free"


@pytest.mark.parametrize(("yaw", "why"), [(1.5708, "turned: 32 mm wider"), (0.2, None)])
def test_a_turned_brick_deviates_where_room_counts(yaw: float, why: str | None) -> None:
    with TabletopWorld(BRICKS, fidelity=Fidelity.KINEMATIC) as world:
        before = world.truth()
        world.external_agent.carry("green lego", world.pose("green lego")[0], yaw=yaw)
        found = deviations(world.truth(), before)
        assert set(found) == ({"green lego"} if why else set())
        assert why is None or why in found["green lego"]
        assert not deviations(replace(world.truth(), room=None), before)
        # back to the box in which it should be
        box = (*before.position("green lego"), *before.room[before.index("green lego")])
        world.execute(Action("restore", ("green lego",), tuple(float(value) for value in box)))
        assert not deviations(world.truth(), before)


def test_an_episode_has_an_error_after_every_step_and_replays(episode: ErrorEpisode) -> None:
    assert episode.scene.room_counts
    assert episode.drawn_in_place
    assert 8 <= len(episode.scene.objects) <= 15
    assert [error.step for error in episode.errors] == list(range(len(episode.plan)))
    assert ErrorEpisode.from_json(episode.to_json()) == episode
    assert differences(episode) == []
