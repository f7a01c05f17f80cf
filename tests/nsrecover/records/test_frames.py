"""Chains of transforms lead from the base to a camera, whatever turns on the way."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsrecover.errors import InvalidRecording
from nsrecover.records.bags.frames import TransformTree


def transform(parent: str, child: str, moved: tuple[float, float, float], turned_deg: float) -> SimpleNamespace:
    x, y, z, w = Rotation.from_euler("z", turned_deg, degrees=True).as_quat()
    translation = SimpleNamespace(x=moved[0], y=moved[1], z=moved[2])
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=parent),
        child_frame_id=child,
        transform=SimpleNamespace(translation=translation, rotation=SimpleNamespace(x=x, y=y, z=z, w=w)),
    )


def test_a_camera_on_a_turned_arm_is_where_the_chain_says() -> None:
    frames = TransformTree("base_link")
    frames.add(transform("arm", "/camera", (1.0, 0.0, 0.0), 0.0), 0.0, fixed=True)
    frames.add(transform("base_link", "arm", (0.0, 0.0, 0.5), 90.0), 1.0, fixed=False)
    frames.add(transform("base_link", "arm", (0.0, 0.0, 0.5), 180.0), 2.0, fixed=False)
    for moment, place, age in (
        (1.0, (0.0, 1.0, 0.5), 0.0),
        (1.5, (-(0.5**0.5), 0.5**0.5, 0.5), 0.5),
        (2.1, (-1.0, 0.0, 0.5), np.inf),
    ):
        pose, apart = frames.pose_and_age("camera", moment)
        np.testing.assert_allclose(pose[:3, 3], place, atol=1e-6)
        assert apart == pytest.approx(age)
    with pytest.raises(InvalidRecording, match="expected transforms from base_link to lens"):
        frames.pose("lens", 1.0)


def test_transforms_in_a_circle_are_refused() -> None:
    frames = TransformTree("base_link")
    for parent, child in (("a", "b"), ("b", "a")):
        frames.add(transform(parent, child, (0.0, 0.0, 0.0), 0.0), 0.0, fixed=True)
    with pytest.raises(InvalidRecording, match="none to a"):
        frames.pose("a", 0.0)
