"""Episodes with other shapes: the same number gives the same episode, and its errors are real ones."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.datasets.inject import draw_fault
from sim.datasets.kinds import generate
from sim.datasets.replay import replay
from sim.datasets.shapes import FAMILIES, KINDS, family_of
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults import FAULTS, Moment
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.poses import poses_of


def test_an_episode_is_the_same_after_json_and_replays_its_errors() -> None:
    episode = generate(FAMILIES["bottles"], 3, 0).episode
    assert generate(FAMILIES["bottles"], 3, 0).episode == episode
    assert ErrorEpisode.from_json(episode.to_json()) == episode
    assert episode.fidelity is Fidelity.KINEMATIC
    assert len(episode.errors) == 2
    assert sum("bottle" in item.name for item in episode.scene.objects) >= 3
    found = [step.error for step in replay(episode) if step.error is not None]
    assert [(each.step, {*each.deviations}) for each in found] == [
        (each.step, {*each.deviations}) for each in episode.errors
    ]


def test_episodes_of_boxes_are_written_as_before() -> None:
    episode = generate(FAMILIES["boxes"], 3, 0).episode
    assert "fidelity" in episode.to_json()
    plain = ErrorEpisode("I", 0, episode.scene, episode.plan, (), 0)
    assert "fidelity" not in plain.to_json()


def test_faults_of_shapes_are_not_drawn_for_the_other_datasets() -> None:
    assert {*KINDS} <= {*FAULTS}
    episode = generate(FAMILIES["bottles"], 3, 0).episode
    step = next(replay(episode))
    poses = [poses_of(truth, episode.scene) for truth in (step.before, step.fault_free)]
    moment, rng = Moment(0, episode.plan, *poses), np.random.default_rng(0)
    drawn = {fault.kind for _ in range(80) if (fault := draw_fault(moment, rng, by_robot=False)) is not None}
    assert "displaced" in drawn
    assert "toppled" not in drawn
    assert FAULTS["toppled"].sample(moment, rng) is not None


def test_an_unknown_family_is_named() -> None:
    with pytest.raises(InvalidConfiguration, match="Did you mean 'bottles'"):
        family_of("botles")
