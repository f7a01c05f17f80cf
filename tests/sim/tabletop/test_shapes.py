"""Objects that are no boxes: they stand where they should, are as large as their boxes, and errors name the fix."""

import math

import numpy as np
import pytest

from nsrecover.core.actions import Action
from sim.common.cameras import LEFT, RIGHT, take_picture
from sim.common.rotations import matrix_of, upright_axis
from sim.tabletop.blobs import HELD_OUT, TRAINING, blob_model, blob_size
from sim.tabletop.faults import Toppled
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.placing import boxes
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

BLOB = 3
MUG = ObjectSpec("red mug", ObjectKind.MUG, "red", (0.078, 0.060, 0.08), (0.45, 0.15), 0.7)
SCENE = SceneSpec(
    (
        MUG,
        ObjectSpec("blue cylinder", ObjectKind.CYLINDER, "blue", (0.05, 0.05, 0.07), (0.45, -0.15), 0.4),
        ObjectSpec("green bottle", ObjectKind.BOTTLE, "green", (0.06, 0.06, 0.12), (0.6, 0.0), 0.2),
        ObjectSpec("cyan blob", ObjectKind.BLOB, "cyan", blob_size(BLOB) or (0, 0, 0), (0.6, 0.2), 1.0, model=BLOB),
        ObjectSpec("white cube", ObjectKind.CUBE, "white", (0.05, 0.05, 0.05), (0.6, -0.2), 0.3),
    )
)


def test_they_stand_still_where_they_were_put() -> None:
    with TabletopWorld(SCENE, fidelity=Fidelity.KINEMATIC) as world:
        for item in SCENE.objects:
            position, orientation = world.pose(item.name)
            assert position == pytest.approx([*item.position, item.size[2] / 2], abs=0.002), item.name
            yaw = 2 * math.atan2(orientation[2], orientation[3])
            assert yaw == pytest.approx(item.yaw, abs=0.02), item.name
            assert world.truth().supports[item.name] == "table"


def test_their_boxes_are_what_cameras_see() -> None:
    with TabletopWorld(SCENE, fidelity=Fidelity.KINEMATIC) as world:
        expected = boxes(world.estimates())
        views = (LEFT, RIGHT)
        pictures = [take_picture(world.client, view, 640, 480, world.rig.light) for view in views]
        for row, item in enumerate(SCENE.objects):
            points = []
            for view, picture in zip(views, pictures, strict=True):
                camera = view.camera(640, 480)
                rows, columns = np.nonzero(picture.bodies == world.body(item.name))
                depth, k = picture.depth_m[rows, columns], camera.intrinsics
                rays = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1], 0 * depth + 1])
                pose = camera.world_from_camera
                points.append((rays * depth).T @ pose[:3, :3].T + pose[:3, 3])
            seen = np.concatenate(points)
            low, high = seen.min(axis=0), seen.max(axis=0)
            assert (low + high)[:2] / 2 == pytest.approx(expected[row, :2], abs=0.004), item.name
            assert (high - low)[:2] == pytest.approx(expected[row, 3:5], abs=0.008), item.name
            assert high[2] == pytest.approx(expected[row, 2] + expected[row, 5] / 2, abs=0.004), item.name


@pytest.mark.parametrize("name", ["green bottle", "blue cylinder", "red mug"])
def test_what_is_toppled_lies_near_its_place(name: str) -> None:
    with TabletopWorld(SCENE, fidelity=Fidelity.KINEMATIC) as world:
        before, _ = world.pose(name)
        world.faults = (Toppled(0, name, 2.6),)
        world.execute(Action("free", ("white cube",), (0.4, 0.0, 0.025, 0.05, 0.05, 0.05)))
        after, orientation = world.pose(name)
    assert upright_axis(matrix_of(orientation))[0] != 2
    assert 0.02 < np.linalg.norm(after - before) < 0.3


def test_blobs_stand_on_their_best_face_and_are_split_by_number() -> None:
    assert blob_model(168) is None  # its file has no numbers
    assert {*TRAINING} | {*HELD_OUT} == {*range(1000)}
    assert len(HELD_OUT) == 200
    assert not {*TRAINING} & {*HELD_OUT}
    model = blob_model(BLOB)
    assert model is not None
    assert np.ptp(model.vertices, axis=0) == pytest.approx(model.size)
    assert model.size[0] >= model.size[1]
    # the centre of mass is above the face that it stands on
    face = model.vertices[model.vertices[:, 2] < model.vertices[:, 2].min() + 1e-4]
    assert (face[:, :2].min(axis=0) < model.mass_centre[:2]).all()
    assert (face[:, :2].max(axis=0) > model.mass_centre[:2]).all()
