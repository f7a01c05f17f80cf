"""Random episodes are judged by the truth of their worlds."""

from pathlib import Path

import numpy as np

from eval.completion.__main__ import MEASUREMENT, CompletionConfig
from eval.completion.worlds import BoxWorld, Trouble, carry_out, task_of
from nsrecover import Action


def test_without_trouble_every_episode_is_completed(tmp_path: Path) -> None:
    calm = {name: [0.0] for name in ("fails", "lies", "drops", "changes")}
    found = MEASUREMENT.run(CompletionConfig(episodes=2, workers=1, out=str(tmp_path), **calm))["parts"]
    assert found["all"]["completed"] == found["all"]["completed"] | {"value": 1.0, "of": 8}
    assert found["all"]["false_completion"]["value"] == 0.0
    assert found["cold_store"]["actions"] == len(task_of("cold_store").plan)


def test_a_goal_that_is_undone_unseen_makes_a_completion_false() -> None:
    world = BoxWorld(np.random.default_rng(1), Trouble())
    found, episode = carry_out(world)
    assert (str(episode.status), found.unmet) == ("completed", [])
    moved, below = world.plan[-1].arguments
    world.execute(Action("restore", (moved,), target=(0.7, 0.3, 0.025, 0.05, 0.05, 0.05)))
    assert world.unmet() == [("on", moved, below)]
