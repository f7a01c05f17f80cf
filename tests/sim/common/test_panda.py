"""The arm's lighter meshes."""

from xml.etree import ElementTree

from sim.common.panda import panda_urdf


def _faces(path):
    return sum(line.startswith("f ") for line in path.read_text(errors="ignore").splitlines())


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
