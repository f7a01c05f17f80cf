"""Error states of episodes without an error."""

import pytest

from eval import identity
from eval.common import error_states as module
from eval.common import recordings
from eval.common.error_states import error_states, states_of
from nsrecover.errors import InvalidConfiguration
from sim.datasets.shipped import shipped


def test_an_episode_without_an_error_has_no_error_states(tmp_path, monkeypatch):
    episodes = [episode for episode in shipped("IV", 0, 20) if not episode.errors]
    assert episodes, "most episodes of dataset IV go well"
    assert error_states(episodes[0], tmp_path / "footage", tmp_path / "states") == ()
    monkeypatch.setattr(module, "episodes_of", lambda *_: episodes)
    with pytest.raises(InvalidConfiguration, match=r"with an error, found none among \{'IV': 5\}"):
        states_of({"IV": 5}, str(tmp_path / "footage"), str(tmp_path / "states"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("edited", ["sim.datasets.replay", "nsrecover.monitoring.imagination", "eval.logs.__main__"])
def test_other_code_makes_other_recordings_and_states(edited, monkeypatch):
    (episode,) = shipped("I", 0, 1)
    source, before = identity._source, (recordings._key(episode), module._key(episode, None))
    monkeypatch.setattr(identity, "_source", lambda name: f"{source(name)} edited" if name == edited else source(name))
    after = (recordings._key(episode), module._key(episode, None))
    changed = [one != other for one, other in zip(before, after, strict=True)]
    assert changed == [edited.startswith("sim."), not edited.startswith("eval.")]


def test_other_weights_and_other_episodes_make_other_states():
    one, other = shipped("I", 0, 2)
    keys = {module._key(one, None), module._key(one, "tabletop"), module._key(other, None)}
    assert len(keys) == 3
    assert module._key(one, None) == module._key(one, "tabletop_sensors")
    assert recordings._key(one) != recordings._key(other)
