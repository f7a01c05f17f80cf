"""An episode is never `completed` while a condition of its goal is false.

Random episodes of boxes and of facts: actions that do nothing, something else, or drop things; changes by others;
observations that lie, hide or miss things. `EPISODES=1000 pytest tests/test_false_completion.py` runs that many, and
`python -m eval.completion` measures how often it happens.
"""

import json
import os
from typing import Any

import numpy as np
import pytest

from eval.completion.worlds import BoxWorld, FactTask, FactWorld, RandomWorld, Trouble, carry_out
from nsrecover.core import EpisodeStatus, StopCode
from nsrecover.records import episode_log
from tests.scenarios import LAB, Facts, Plan

EPISODES = int(os.environ.get("EPISODES", "120"))
TASK = FactTask(
    LAB,
    Facts().state,
    (("spun", "tube"), ("spun", "flask"), ("at", "tube", "rack")),
    Plan.parse("put(tube, centrifuge); spin(tube); put(tube, rack); put(flask, centrifuge); spin(flask)"),
)
KINDS = ("boxes", "facts")


def world_of(kind: str, seed: int, trouble: Trouble) -> RandomWorld[Any]:
    """A random world."""
    rng = np.random.default_rng(seed)
    return BoxWorld(rng, trouble) if kind == "boxes" else FactWorld(rng, trouble, task=TASK, stated=seed % 2 == 0)


@pytest.mark.parametrize("kind", KINDS)
def test_no_episode_is_completed_while_its_goal_is_false(kind: str) -> None:
    completed, false = 0, []
    for seed in range(EPISODES // 2):
        world = world_of(kind, seed, Trouble(fails=0.3, lies=0.05, drops=0.15, changes=0.15))
        found, episode = carry_out(world)
        assert episode.why is not StopCode.GOAL_MISSED, f"seed {seed}: what was seen to be false was not recovered"
        document = json.loads(json.dumps(episode_log.to_document(episode, world.system().domain)))
        assert episode_log.from_document(document).why is episode.why
        completed += found.status == EpisodeStatus.COMPLETED
        false += [seed] if found.status == EpisodeStatus.COMPLETED and found.unmet else []
    assert false == []
    assert completed > EPISODES // 8


@pytest.mark.parametrize("seed", range(30))
def test_with_actions_that_often_fail_it_ends_with_its_goal_or_asks_for_help(seed: int) -> None:
    found, _ = carry_out(world_of("facts", seed, Trouble(fails=0.3)))
    assert found.status in (EpisodeStatus.COMPLETED, EpisodeStatus.ASKED_FOR_HELP)
    assert found.status == EpisodeStatus.ASKED_FOR_HELP or not found.unmet
