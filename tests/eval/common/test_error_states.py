"""Error states of episodes without an error."""

import pytest

from eval.common import error_states as module
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
