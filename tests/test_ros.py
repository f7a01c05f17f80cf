"""The ROS 2 node on rclpy, where `make ros` has built what it needs."""

import pytest

from tests.ros import workspace


def test_an_episode_is_recovered_over_dds() -> None:
    built = workspace.cache()
    if not (built / "install").is_dir():
        pytest.skip("the ROS 2 packages are not built here: `make ros` does it in a minute or two")
    assert workspace.run(built, "-k", "collapse") == 0
