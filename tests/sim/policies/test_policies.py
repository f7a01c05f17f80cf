"""Datasets of a policy: what is written comes back, and the truth about an episode is what its disturbance does."""

from pathlib import Path

import numpy as np
import pytest

from nsrecover.bridges.lerobot import LeRobotView, episodes_of, read_episode
from nsrecover.core.actions import Plan
from nsrecover.inspection.dataset import VERSIONS, DatasetLayout, RecordedFrames, images, write_dataset
from nsrecover.records.recording import example
from sim.policies.recording import record
from sim.policies.tasks import episode_of
from sim.sensors.sensor import EXACT


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_written_comes_back(tmp_path: Path, version: str) -> None:
    run = example()
    names = tuple(sorted(run.observations[0].labels.values()))
    frames = [{**images(each, names), "observation.state": [0.08, 0.3, 0.0, 0.4]} for each in run.observations]
    cameras = run.observations[0].cameras
    layout = DatasetLayout(version, 2.0, cameras, run.observations[0].rgb.shape[1:3], names)
    write_dataset(tmp_path, [RecordedFrames(frames[:2], "one"), RecordedFrames(frames, "two")], layout)
    assert [(each.index, each.task) for each in episodes_of(tmp_path)] == [(0, "one"), (1, "two")]
    views = [LeRobotView(f"observation.images.{each.name}", f"observation.depth.{each.name}", each) for each in cameras]
    plan = Plan(run.plan.actions[:1])
    found = read_episode(tmp_path, 1, plan, [0, 2], views, lambda rgb: (rgb[..., 0].astype(np.int32), {}))
    for seen, number in zip(found.observations, (0, 2), strict=True):
        np.testing.assert_array_equal(seen.rgb, run.observations[number].rgb)
        np.testing.assert_allclose(seen.depth_m, run.observations[number].depth_m, atol=0.00051)
    assert found.observations[1].time_s == 1.0


def test_the_truth_names_step_and_objects() -> None:
    episode = episode_of(3, 0, 0, "wrong_object")
    step = next(n for n, (done, meant) in enumerate(zip(episode.done, episode.plan, strict=True)) if done != meant)
    frames, truth = record(episode, EXACT, episode.scene.names, 0.5)
    assert (truth.succeeded, truth.step) == (False, step)
    assert episode.plan[step].arguments[0] in truth.objects
    assert len(frames) > len(episode.plan)
