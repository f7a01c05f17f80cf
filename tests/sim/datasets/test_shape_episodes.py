"""Episodes with other shapes: the same number gives the same episode, and its errors are real ones."""

from sim.datasets.kinds import generate
from sim.datasets.replay import replay
from sim.datasets.shapes import FAMILIES
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.kinematic import Fidelity


def test_an_episode_is_the_same_after_json_and_replays_its_errors() -> None:
    episode = generate(FAMILIES["bottles"], 3, 0).episode
    assert ErrorEpisode.from_json(episode.to_json()) == episode
    assert episode.fidelity is Fidelity.KINEMATIC
    assert len(episode.errors) == 2
    assert sum("bottle" in item.name for item in episode.scene.objects) >= 3
    found = [step.error for step in replay(episode) if step.error is not None]
    assert [(each.step, {*each.deviations}) for each in found] == [
        (each.step, {*each.deviations}) for each in episode.errors
    ]
