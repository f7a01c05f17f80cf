"""Runs as ROS 2 bags: the same verdicts as directly, whatever the encodings, and one line for what is missing."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.records.bags import writing
from nsrecover.records.bags.images import colour_of, depth_of, labels_of
from nsrecover.records.bags.messages import PLAN, plan_of
from nsrecover.records.bags.reading import read_bag
from nsrecover.records.bags.writing import BagSettings, Depth, Storage, write_bag
from nsrecover.records.recording import Recording, example
from nsrecover.records.review import review
from nsrecover.records.runs import read_run
from tests.commands import run

nsr = partial(run, "nsrecover.cli.app")


@pytest.fixture(scope="module")
def episode() -> Recording:
    """The two last steps of the example: a good one, and the collapse."""
    whole = example()
    return Recording(Plan(whole.plan.actions[2:4]), whole.observations[2:5])


def verdicts(episode: Recording) -> list[tuple[Any, ...]]:
    found = review(nsrecover.load(), episode).records
    return [(each.discrepancy.verdict, each.discrepancy.deviating, bool(each.recovery)) for each in found]


@pytest.fixture(scope="module")
def direct(episode: Recording) -> list[tuple[Any, ...]]:
    return verdicts(episode)


LATE = {"/left/masks": 0.7, "/right/depth/image_raw": 1.3, "/tf": 0.4, "/left/color/camera_info": 0.9}


@pytest.mark.parametrize(
    "settings",
    [
        BagSettings(jpeg_quality=85, delays_s=LATE),
        BagSettings(Storage.SQLITE, Depth.METRES),
        BagSettings(detections=True),
    ],
    ids=["mcap, mm, jpeg and late", "sqlite and m", "run lengths"],
)
def test_a_bag_gives_the_same_verdicts(
    settings: BagSettings, episode: Recording, direct: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    path = write_bag(episode, tmp_path / "bag", settings)
    found = read_bag(path)
    assert found.plan == episode.plan
    assert [each[0].value for each in direct] == ["as_expected", "deviating"]
    assert verdicts(found) == direct
    for one, other in zip(found.observations, episode.observations, strict=True):
        assert np.abs(one.depth_m - other.depth_m).max() <= 0.00051
        np.testing.assert_array_equal(one.instances > 0, other.instances > 0)
        for camera, given in zip(one.cameras, other.cameras, strict=True):
            np.testing.assert_allclose(camera.world_from_camera, given.world_from_camera, atol=1e-5)


def test_the_data_file_alone_can_be_checked(episode: Recording, tmp_path: Path) -> None:
    path = write_bag(episode, tmp_path / "bag")
    (file,) = path.glob("*.mcap")
    done = nsr("check", str(file))
    assert done.code == 1, done.err
    assert "1 of 2 steps did not go as expected" in done.out
    assert read_run(file).plan == episode.plan


def test_the_run_of_a_bag_is_written_as_a_recording(episode: Recording, tmp_path: Path) -> None:
    done = nsr("record", str(write_bag(episode, tmp_path / "bag")), "--out", str(tmp_path / "runs"))
    assert done.code == 0, done.err
    assert read_run(tmp_path / "runs" / "bag.npz").plan == episode.plan
    done = nsr("record", str(tmp_path / "runs"), "--out", str(tmp_path / "more"))
    assert done.code == 2
    assert "expected a ROS 2 bag" in done.err


def test_a_missing_plan_is_named(episode: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PLAN", "/other")
    with pytest.raises(InvalidRecording, match=f"expected the topic .*{PLAN}.*Record it, too"):
        read_bag(write_bag(episode, tmp_path / "bag"))


def test_two_moments_may_be_equal_and_what_is_no_bag_is_named(episode: Recording, tmp_path: Path) -> None:
    fewer = replace(episode.observations[1], time_s=episode.observations[0].time_s)
    same = Recording(episode.plan, (episode.observations[0], fewer, episode.observations[2]))
    assert len(read_bag(write_bag(same, tmp_path / "same")).observations) == 3
    with pytest.raises(InvalidRecording, match="expected a ROS 2 bag"):
        read_bag(tmp_path / "none")
    broken = write_bag(episode, tmp_path / "broken")
    (file,) = broken.glob("*.mcap")
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(InvalidRecording, match="mcap recover"):
        read_bag(broken)
    with pytest.raises(InvalidConfiguration, match="expected a new folder"):
        write_bag(episode, broken)


def test_plans_are_lines_or_json_with_targets() -> None:
    assert plan_of("top(a, b)\nleft(c, b)\n") == Plan.parse("top(a, b); left(c, b)")
    target = [0.5, 0.0, 0.02, 0.04, 0.04, 0.04]
    assert plan_of(f'{{"plan": ["restore(a)"], "targets": [{target}]}}').actions[0].target == tuple(target)


class Message:
    def __init__(self, encoding: str, pixels: np.ndarray[Any, Any], pad: int = 0, big: bool = False) -> None:
        data = pixels.astype(pixels.dtype.newbyteorder(">")) if big else pixels
        rows = np.ascontiguousarray(data).view(np.uint8).reshape(len(pixels), -1)
        self.data = np.pad(rows, ((0, 0), (0, pad))).ravel()
        self.height, self.width, self.encoding, self.is_bigendian = *pixels.shape[:2], encoding, int(big)
        self.step = rows.shape[1] + pad


@pytest.mark.parametrize("pad", [0, 6])
@pytest.mark.parametrize("big", [False, True])
def test_encodings_paddings_and_byte_orders(pad: int, big: bool) -> None:
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    bgra = np.concatenate([rgb[..., ::-1], rgb[..., :1]], axis=2)
    np.testing.assert_array_equal(colour_of(Message("bgra8", bgra, pad, big), "t"), rgb)
    metres = np.array([[0.5, np.nan, np.inf], [1.0, -1.0, 0.0]], np.float32)
    expected = np.array([[0.5, 0, 0], [1.0, 0, 0]], np.float32)
    np.testing.assert_allclose(depth_of(Message("32FC1", metres, pad, big), "t"), expected)
    np.testing.assert_allclose(depth_of(Message("16UC1", (expected * 1000).astype(np.uint16), pad, big), "t"), expected)
    np.testing.assert_array_equal(
        labels_of(Message("16UC1", np.array([[0, 700]], np.uint16), pad, big), "t"), [[0, 700]]
    )
    with pytest.raises(InvalidRecording, match="expected depth as 16UC1"):
        depth_of(Message("rgb8", rgb, pad), "t")
