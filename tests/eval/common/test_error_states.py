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


def test_other_code_makes_other_recordings_and_states(monkeypatch):
    (episode,) = shipped("I", 0, 1)
    before = (recordings._key(episode), module._key(episode, None))
    for each in (identity, module, recordings):
        monkeypatch.setattr(each, "code_state", lambda: "edited", raising=False)
    after = (recordings._key(episode), module._key(episode, None))
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_other_weights_and_other_episodes_make_other_states():
    one, other = shipped("I", 0, 2)
    keys = {module._key(one, None), module._key(one, "tabletop"), module._key(other, None)}
    assert len(keys) == 3
    assert module._key(one, None) == module._key(one, "tabletop_sensors")
    assert recordings._key(one) != recordings._key(other)
