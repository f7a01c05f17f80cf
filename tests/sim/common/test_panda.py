"""The arm's lighter meshes."""

from xml.etree import ElementTree

import numpy as np

from sim.common.panda import panda_urdf, thinned


def _faces(path):
    return sum(line.startswith("f ") for line in path.read_text(errors="ignore").splitlines())


def test_thinning_keeps_the_shape_of_a_fine_sheet():
    side = np.linspace(0.0, 0.1, 41)
    vertices = np.stack([*np.meshgrid(side, side), np.zeros((41, 41))], axis=-1).reshape(-1, 3)
    corner = (np.arange(40)[:, None] * 41 + np.arange(40)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + 42], 1), np.stack([corner, corner + 42, corner + 41], 1)]
    )
    few, kept = thinned(vertices, faces, 0.02)
    assert len(kept) < len(faces) / 10
    corners = few[kept]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert np.all(across > 0), "every triangle still faces up"
    # the rim moves in by less than a cell
    assert 0.06**2 < across.sum() / 2 < 0.1**2


def test_physics_of_the_arm_is_untouched_and_its_look_is_lighter():
    path = panda_urdf()
    assert path == panda_urdf()
    root = ElementTree.parse(path).getroot()
    drawn = [path.parent / mesh.get("filename") for mesh in root.findall("link/visual/geometry/mesh")]
    solid = [mesh.get("filename") for mesh in root.findall("link/collision/geometry/mesh")]
    assert sum(_faces(each) for each in drawn) < 25_000
    assert len(solid) == 11
    assert all("franka_panda/meshes/collision" in each for each in solid)
    assert {each.get("name") for each in root.findall("link/visual/material")} == {"panda_white", "panda_dark"}
